/** What the environment of the start says (tui-gateway.md I), and the sequence with which terminal hosts begin. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { call, calling } from "../../support/core_driver.ts";
import type { Json } from "../../support/gateway_driver.ts";
import { eventually } from "../../support/program.ts";
import { terminal, toolTurn, withGateway } from "./scene.ts";
import { withWsGateway } from "./ws_scene.ts";

Deno.test("HERMES_TUI_MAX_TURNS bounds the model calls of a turn", async () => {
  const turns = [toolTurn(terminal("echo 1")), toolTurn(terminal("echo 2")), "summary"];
  await withGateway({ model: { turns }, env: { HERMES_TUI_MAX_TURNS: "1" } }, async ({ host, model }) => {
    const { sid } = await host.session();
    const done = await host.turn(sid, "go on for ever");
    assertEquals([done.status, done.partial], ["complete", true]);
    assertEquals(model.calls().length, 2);
  });
});

Deno.test("HERMES_TUI_PROVIDER chooses the provider of new sessions and is not written anywhere", async () => {
  const config = {
    model: { default: "scripted", provider: "builtin" },
    providers: { box: { base_url: "http://127.0.0.1:9/v1", model: "boxed" } },
  };
  const env = { HERMES_TUI_PROVIDER: "custom:box", HERMES_MODEL: "boxed" };
  await withGateway({ config, env }, async ({ host, rig }) => {
    const before = await Deno.readTextFile(`${rig.home}/config.jsonc`);
    const { info } = await host.request("session.create");
    assertEquals([info.model, info.provider], ["boxed", "custom:box"]);
    const named = await host.request("session.create", { model: "demo", provider: "builtin" });
    assertEquals([named.info.model, named.info.provider], ["demo", "builtin"]);
    assertEquals(await Deno.readTextFile(`${rig.home}/config.jsonc`), before);
  });
});

Deno.test("HERMES_TUI_CHECKPOINTS=0 keeps nothing, and rollback.list says so", async () => {
  const turns = [calling(call("write_file", { path: "a.txt", content: "1\n" })), "a"];
  await withGateway({ model: { turns }, env: { HERMES_TUI_CHECKPOINTS: "0" } }, async ({ host, rig }) => {
    await Deno.mkdir(`${rig.workspace}/w`);
    const { sid } = await host.session({ cwd: rig.workspace });
    await host.turn(sid, "write");
    assertEquals((await host.request("rollback.list", { session_id: sid })).enabled, false);
    assertEquals(await Array.fromAsync(Deno.readDir(`${rig.home}/snapshots`)).catch(() => []), []);
  });
});

Deno.test("HERMES_TUI_SLASH_TIMEOUT_S: slash.exec gives a command up with 5030 and ends what it started", async () => {
  const mark = `sleep 25; : ${crypto.randomUUID()}`;
  const config = { quick_commands: { wait: { type: "exec", command: mark } } };
  await withGateway({ config, env: { HERMES_TUI_SLASH_TIMEOUT_S: "1" } }, async ({ host, rig }) => {
    const { sid } = await host.session({ cwd: rig.workspace });
    const { code, message } = await host.refused("slash.exec", { session_id: sid, command: "/wait" });
    // Less than 5 s counts as 5.
    assertEquals([code, message], [5030, "/wait did not answer within 5 s"]);
    await eventually(
      async () => (await countRunning(mark)) === 0 || undefined,
      5_000,
      "the end of the shell",
    );
    assertEquals(
      (await host.request("slash.exec", { session_id: sid, command: "/version" })).output.length > 0,
      true,
    );
  });
});

/** How many processes of that shell line are left on this machine. */
async function countRunning(mark: string): Promise<number> {
  let count = 0;
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const line = await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "");
    if (line.includes(mark)) count++;
  }
  return count;
}

type Ask = (method: string, params?: Json) => Promise<Json>;

/** What a terminal host asks before it shows its first screen, and what it needs of the answers. */
async function firstScreen(ask: Ask): Promise<void> {
  assertEquals((await ask("setup.status")).provider_configured, true);
  const { config } = await ask("config.get", { key: "full" });
  assertEquals(typeof config, "object");
  assertEquals(typeof (await ask("config.get", { key: "mtime" })).mtime, "number");
  const created = await ask("session.create", { cols: 120 });
  assertMatch(created.session_id, /^[0-9a-f]{8}$/);
  assertEquals([created.info.lazy, created.info.desktop_contract], [true, 3]);
  const catalog = await ask("commands.catalog");
  assert(catalog.pairs.some(([name]: string[]) => name === "/help"));
  assertEquals(catalog.canon["/q"], "/queue");
  assertEquals(await ask("terminal.resize", { session_id: created.session_id, cols: 80 }), { cols: 80 });
  assert(
    (await ask("complete.slash", { text: "/mo" })).items.some((item: Json) => item.text.includes("model")),
  );
  assertEquals((await ask("delegation.status")).paused, false);
  assertEquals((await ask("session.usage", { session_id: created.session_id })).total, 0);
  assertEquals((await ask("session.most_recent")).session_id, null);
  for (
    const key of [
      "skin",
      "details_mode",
      "thinking_mode",
      "compact",
      "statusbar",
      "mouse",
      "indicator",
      "busy",
    ]
  ) {
    assertEquals(typeof (await ask("config.get", { key })).value, "string", key);
  }
}

Deno.test("a terminal host starts the gateway as a child process: ready, then its first screen and a turn", async () => {
  await withGateway({ model: { turns: ["hello"] } }, async ({ host }) => {
    assertEquals(host.frames[0].params.type, "gateway.ready");
    await firstScreen((method, params) => host.request(method, params));
    const sid = (await host.request("session.active_list")).sessions[0].id;
    assertEquals((await host.turn(sid, "hi")).text, "hello");
  });
});

Deno.test("a terminal host attaches to ws://…/api/ws?token=…: ready, then its first screen and a turn", async () => {
  await withWsGateway({ model: { turns: ["hello"] } }, async ({ connect }) => {
    const host = await connect();
    assertEquals(host.frames[0].params.type, "gateway.ready");
    await firstScreen((method, params) => host.request(method, params));
    const sid = (await host.request("session.active_list")).sessions[0].id;
    await host.request("prompt.submit", { session_id: sid, text: "hi" });
    assertEquals((await host.event("message.complete", sid)).text, "hello");
  });
});
