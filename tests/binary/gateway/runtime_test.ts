/** Program-wide methods against the real program: gateway rows 64 and 65, and what B.16–B.18 list beside them. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import type { Json } from "../../support/gateway_driver.ts";
import { stdioServer } from "../../support/mcp_server.ts";
import { toolTurn, withGateway } from "./scene.ts";

Deno.test("gateway 64: cli.exec runs this program, and blocks what waits for a person or owns its stdout", async () => {
  await withGateway({}, async ({ host, rig }) => {
    const exec = (argv: unknown) => host.request("cli.exec", { argv });
    const version = await exec(["--version"]);
    assertEquals([version.blocked, version.code], [false, 0]);
    assertMatch(version.output, /\d+\.\d+\.\d+/);
    for (
      const argv of [[], ["gateway"], ["setup"], ["acp"], ["serve", "--port", "0"], ["sessions", "browse"], [
        "config",
        "edit",
      ]]
    ) {
      const { hint, ...rest } = await exec(argv);
      assertEquals(rest, { blocked: true, code: -1, output: "" }, argv.join(" "));
      assert(hint.length > 10);
    }
    for (const argv of ["x", ["a", 1], undefined, {}]) {
      assertEquals((await host.refused("cli.exec", { argv })).code, 4003);
    }
    const path = await exec(["config", "path"]);
    assert(path.output.startsWith(rig.home), path.output);
    const wrong = await exec(["no-such-command"]);
    assert(wrong.code !== 0 && wrong.output !== "(no output)");
  });
});

Deno.test("gateway 65: spawn trees are saved, listed and loaded, and nothing outside of them", async () => {
  await withGateway({}, async ({ host, rig }) => {
    const { sid } = await host.session();
    const tree = {
      session_id: "a/b 1",
      subagents: [{ id: "sa-0", goal: "look" }],
      started_at: 100,
      finished_at: 200,
      label: "first",
    };
    const saved = await host.request("spawn_tree.save", tree);
    assertEquals(saved.session_id, "a/b 1");
    assertMatch(saved.path, /\/spawn-trees\/a_b_1\/\d{8}T\d{6}\.json$/);
    assertEquals(await host.request("spawn_tree.load", { path: saved.path }), tree);
    const again = await host.request("spawn_tree.save", { ...tree, finished_at: 300, label: "second" });
    assert(again.path !== saved.path);
    await host.request("spawn_tree.save", { session_id: "other", subagents: [1], finished_at: 250 });
    const labels = async (params: Json) =>
      (await host.request("spawn_tree.list", params)).entries.map((
        entry: Json,
      ) => [entry.label, entry.count]);
    assertEquals(await labels({ session_id: "a/b 1" }), [["second", 1], ["first", 1]]);
    assertEquals(await labels({ session_id: "a/b 1", limit: 1 }), [["second", 1]]);
    assertEquals(await labels({ session_id: "a/b 1", cross_session: true }), [["second", 1], ["", 1], [
      "first",
      1,
    ]]);
    await Deno.remove(again.path);
    assertEquals(await labels({ session_id: "a/b 1" }), [["first", 1]]);

    await Deno.symlink("/etc/passwd", `${rig.home}/spawn-trees/other/link.json`);
    const load = async (path: unknown) => (await host.refused("spawn_tree.load", { path })).code;
    assertEquals(await load("../../etc/passwd"), 4030);
    assertEquals(await load("/etc/passwd"), 4030);
    assertEquals(await load(`${rig.home}/spawn-trees/other/link.json`), 4030);
    assertEquals(await load(`${rig.home}/spawn-trees`), 4030);
    assertEquals(await load(`${rig.home}/spawn-trees/nothing.json`), 5000);
    assertEquals([await load(""), await load(undefined)], [4000, 4000]);
    for (const subagents of [[], undefined, "x"]) {
      assertEquals((await host.refused("spawn_tree.save", { session_id: sid, subagents })).code, 4000);
    }
  });
});

Deno.test("delegation is idle, can be paused, and knows no subagent", async () => {
  await withGateway({}, async ({ host }) => {
    const idle = { active: [], paused: false, max_spawn_depth: 1, max_concurrent_children: 3 };
    assertEquals(await host.request("delegation.status"), idle);
    assertEquals(await host.request("delegation.pause"), { paused: true });
    assertEquals((await host.request("delegation.status")).paused, true);
    assertEquals(await host.request("delegation.pause", { paused: false }), { paused: false });
    assertEquals(await host.request("subagent.interrupt", { subagent_id: "sa-0-1" }), {
      found: false,
      subagent_id: "sa-0-1",
    });
    assertEquals((await host.refused("subagent.interrupt")).code, 4000);
    const { sid } = await host.session();
    const steer = { session_id: sid, subagent_id: "sa-0-1", text: "hurry" };
    assertEquals(await host.request("subagent.steer", steer), {
      status: "rejected",
      subagent_id: "sa-0-1",
      text: "hurry",
    });
    const refused = async (params: Json) =>
      (await host.refused("subagent.steer", { ...steer, ...params })).code;
    assertEquals([
      await refused({ subagent_id: "" }),
      await refused({ text: " " }),
      await refused({ session_id: "x" }),
    ], [
      4000,
      4002,
      4001,
    ]);
  });
});

Deno.test("process.list shows the background processes of a session, and process.kill ends one", async () => {
  const model = {
    turns: [toolTurn({ tool: "terminal", args: { command: "sleep 60", background: true } }), "ok"],
  };
  await withGateway({ model }, async ({ host }) => {
    const { sid } = await host.session();
    assertEquals(await host.request("process.list", { session_id: sid }), { processes: [] });
    await host.turn(sid, "start");
    const list = async () => (await host.request("process.list", { session_id: sid })).processes;
    const [running] = await list();
    assertEquals([running.command, running.status], ["sleep 60", "running"]);
    const other = await host.session();
    const kill = (params: Json) => host.refused("process.kill", { session_id: sid, ...params });
    assertEquals((await kill({})).code, 4012);
    assertEquals((await kill({ process_id: "proc_none" })).code, 4044);
    assertEquals((await kill({ session_id: other.sid, process_id: running.session_id })).code, 4044);
    const done = await host.request("process.kill", { session_id: sid, process_id: running.session_id });
    assertEquals(done, { killed: true, process_id: running.session_id });
    const [ended] = await list();
    assertEquals([ended.status, ended.completion_reason], ["exited", "killed"]);
  });
});

Deno.test("tools.configure takes a toolset away from the next turn and gives it back; the history stays", async () => {
  await withGateway({ model: { turns: ["1", "2", "3"] } }, async ({ host, model }) => {
    const { sid } = await host.session();
    await host.turn(sid, "one");
    const configure = (action: string, ...names: string[]) =>
      host.request("tools.configure", { session_id: sid, action, names });
    const off = await configure("disable", "todo", "nonsense");
    assertEquals([off.changed, off.unknown, off.reset, off.missing_servers], [
      ["todo"],
      ["nonsense"],
      false,
      [],
    ]);
    assert(!off.enabled_toolsets.includes("todo") && off.enabled_toolsets.includes("terminal"));
    assertEquals("todo" in off.info.tools, false);
    assertEquals((await configure("disable", "todo")).changed, []);
    await host.turn(sid, "two");
    const on = await configure("enable", "todo");
    assertEquals([on.changed, on.enabled_toolsets.includes("todo")], [["todo"], true]);
    await host.turn(sid, "three");
    const offered = (n: number) => model.calls()[n]!.body.tools.map((tool: Json) => tool.function.name);
    assertEquals([0, 1, 2].map((n) => offered(n).includes("todo")), [true, false, true]);
    assertEquals(model.calls()[2]!.body.messages.filter((m: Json) => m.role === "user").length, 3);
    const slash = async (command: string) =>
      (await host.request("slash.exec", { session_id: sid, command })).output.split("\n");
    assertEquals((await slash("/tools disable todo nope")).slice(0, 2), [
      "Off: todo",
      "No such toolset: nope",
    ]);
    assert(!(await slash("/tools")).some((line: string) => line.startsWith("todo:")));
    assertEquals((await slash("/tools enable todo"))[0], "On: todo");
    assertEquals((await host.request("commands.catalog")).sub["/tools"], ["list", "disable", "enable"]);
    const refused = async (params: Json) => (await host.refused("tools.configure", params)).code;
    assertEquals(await refused({ action: "explode", names: ["todo"] }), 4017);
    assertEquals(await refused({ action: "enable", names: [] }), 4018);
  });
});

Deno.test("model.save_key stores a key in .env and shows it nowhere; model.disconnect takes it away", async () => {
  await withGateway({}, async ({ host, rig }) => {
    const key = "sk-or-v1-0123456789abcdef0123456789abcdef";
    const { provider } = await host.request("model.save_key", { slug: "openrouter", api_key: key });
    assertEquals([provider.slug, provider.authenticated, provider.key_env], [
      "openrouter",
      true,
      "OPENROUTER_API_KEY",
    ]);
    assert((await Deno.readTextFile(`${rig.home}/.env`)).includes(key));
    assertEquals(await host.request("model.disconnect", { slug: "openrouter" }), {
      slug: "openrouter",
      name: provider.name,
      disconnected: true,
    });
    assert(!(await Deno.readTextFile(`${rig.home}/.env`)).includes(key));
    const save = async (params: Json) => (await host.refused("model.save_key", params)).code;
    assertEquals(await save({ slug: "openrouter" }), 4001);
    assertEquals(await save({ slug: "nobody", api_key: key }), 4002);
    assertEquals(await save({ slug: "builtin", api_key: key }), 4003);
    const off = async (params: Json) => (await host.refused("model.disconnect", params)).code;
    assertEquals([await off({}), await off({ slug: "openrouter" }), await off({ slug: "nobody" })], [
      4001,
      4005,
      4002,
    ]);
    assert(host.lines.every((line) => !line.includes(key)) && !host.stderr.includes(key));
  });
});

Deno.test("setup.runtime_check calls the model once, and tells why it cannot", async () => {
  await withGateway({ model: { turns: ["pong"] } }, async ({ host, model }) => {
    const ok = await host.request("setup.runtime_check");
    assertEquals([ok.ok, ok.model, ok.provider], [true, "scripted", "custom"]);
    assertEquals(model.calls().length, 1);
    await model.close();
    const down = await host.request("setup.runtime_check");
    assertEquals([down.ok, typeof down.error], [false, "string"]);
  });
});

Deno.test("session.context_breakdown counts what the next request would hold", async () => {
  await withGateway({ model: { turns: ["a short answer"] } }, async ({ host }) => {
    const { sid } = await host.session();
    await host.turn(sid, "x".repeat(4000));
    const { categories, estimated_total: total } = await host.request("session.context_breakdown", {
      session_id: sid,
    });
    const by = Object.fromEntries(categories.map((one: Json) => [one.name, one.tokens]));
    assertEquals([by.user, by.tool_results], [1001, 0]);
    assert(by.system_prompt > 100 && by.tools > 500 && by.assistant > 0);
    assertEquals(total, categories.reduce((sum: number, one: Json) => sum + one.tokens, 0));
  });
});

Deno.test("B.17: what this program does not have answers in its own shape, never as an unknown method", async () => {
  await withGateway({}, async ({ host }) => {
    assertEquals((await host.request("credits.view")).logged_in, false);
    for (const name of ["charge", "charge_status", "auto_reload", "step_up"]) {
      const answer = await host.request(`billing.${name}`, { amount: 1 });
      assertEquals([answer.ok, answer.error], [false, "not_logged_in"]);
    }
    assertEquals((await host.request("billing.state")).logged_in, false);
    for (const name of ["pet.cells", "pet.gallery"]) assertEquals((await host.request(name)).enabled, false);
    assertEquals((await host.refused("pet.select")).code, 4004);
    assertEquals((await host.request("plugins.manage")).plugins, []);
    assertEquals((await host.refused("plugins.manage", { action: "toggle" })).code, 4019);
    assertEquals(await host.request("browser.manage"), { connected: false });
    assertEquals((await host.refused("browser.manage", { action: "connect", url: "x" })).code, 5031);
    for (const name of ["voice.toggle", "voice.record"]) assertEquals((await host.refused(name)).code, 5025);
    for (const name of ["frames", "detail", "delete", "edit"]) {
      assertEquals((await host.refused(`learning.${name}`, { id: "1" })).code, 5000);
    }
  });
});

Deno.test("gateway 67: reload.mcp asks first, then restarts the servers; always stops the asking", async () => {
  const config = { mcp_servers: { own: stdioServer({ tools: ["echo"] }) } };
  await withGateway({ config, model: { turns: ["ok"] } }, async ({ host, rig }) => {
    const { sid } = await host.session();
    await host.turn(sid, "start the servers");
    const info = await host.until(
      () => host.eventsOf("session.info", sid).find((e) => e.payload.mcp_servers[0]?.connected),
      "a connected server",
    );
    assertEquals(info.payload.mcp_servers, [
      { name: "own", transport: "stdio", tools: 1, connected: true, status: "connected" },
    ]);
    assertEquals(info.payload.tools["mcp__own"], ["mcp__own__echo"]);
    const asked = await host.request("reload.mcp", { session_id: sid });
    assertEquals([asked.status, typeof asked.message], ["confirm_required", "string"]);
    const slash = await host.request("slash.exec", { session_id: sid, command: "/reload-mcp" });
    assertEquals(slash.output, `${asked.message}.`);
    const before = host.eventsOf("session.info", sid).length;
    assertEquals(await host.request("reload.mcp", { confirm: true }), { status: "reloaded" });
    assert(host.eventsOf("session.info", sid).length > before);
    assertEquals((await host.request("reload.mcp")).status, "confirm_required");
    assertEquals(await host.request("reload.mcp", { always: true }), { status: "reloaded" });
    assert((await Deno.readTextFile(`${rig.home}/config.jsonc`)).includes('"mcp_reload_confirm": false'));
    assertEquals(await host.request("reload.mcp"), { status: "reloaded" });
    const again = await host.request("slash.exec", { session_id: sid, command: "/reload_mcp" });
    assertEquals(again.output, "The MCP servers are reloaded.");
  });
});
