/** What the environment of the start says (tui-gateway.md I), and the sequence with which terminal hosts begin. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { call, calling } from "../../support/core_driver.ts";
import type { Json } from "../../support/gateway_driver.ts";
import { eventually, runProgram } from "../../support/program.ts";
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

Deno.test("core E.5 HERMES_SESSION_SOURCE: what the sessions of a host are called, listed and resumed as any other", async () => {
  const env = { HERMES_SESSION_SOURCE: "my-host_2" };
  await withGateway({ model: { respond: () => "ok" }, env }, async ({ host, rig }) => {
    const { sid, stored } = await host.session();
    await host.turn(sid, "hi");
    const named = await host.session({ source: "desktop" });
    await host.turn(named.sid, "hi");
    const branch = await host.request("session.branch", { session_id: sid });
    const listed = async () =>
      new Map((await host.request("session.list")).sessions.map((row: Json) => [row.id, row.source]));
    const sources = await listed();
    assertEquals([stored, named.stored, branch.stored_session_id].map((id) => sources.get(id)), [
      "my-host_2",
      "desktop",
      "my-host_2",
    ]);
    assertEquals((await host.request("session.most_recent")).source, "my-host_2");
    const sessions = await host.request("slash.exec", { session_id: sid, command: "/sessions" });
    assert(sessions.output.includes(stored), sessions.output);
    await host.request("session.close", { session_id: sid });
    assertEquals((await host.request("session.resume", { session_id: stored })).message_count, 2);
    const only = await runProgram(["sessions", "list", "--json", "--source", "my-host_2"], { rig });
    const rows = only.stdout.trim().split("\n").map((line) => JSON.parse(line));
    assertEquals(rows.map(({ id }) => id).sort(), [stored, branch.stored_session_id].sort());
  });
});

Deno.test("core E.5 HERMES_SESSION_SOURCE: one that is none, or is another door's, is told and not used", async () => {
  for (
    const [name, why] of [
      ["My Host", "use 1 to 32 of a-z"],
      ["x".repeat(33), "use 1 to 32"],
      ["subagent", "reserved"],
      ["tool", "reserved"],
      ["api_server", "reserved"],
      ["acp", "reserved"],
      ["cron", "reserved"],
    ]
  ) {
    await withGateway(
      { model: { respond: () => "ok" }, env: { HERMES_SESSION_SOURCE: name! } },
      async ({ host }) => {
        const { sid } = await host.session();
        await host.turn(sid, "hi");
        assertEquals((await host.request("session.list")).sessions.map((row: Json) => row.source), ["tui"]);
        const { stderr } = await host.end();
        assertEquals(stderr.match(/HERMES_SESSION_SOURCE/g)?.length, 1, stderr);
        assert(stderr.includes(why!), stderr);
      },
    );
  }
});
