/** Settings and commands against the real program: gateway rows 60–62, 66, and the keys this build serves. */
import { startGateway } from "../../support/gateway_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { makeRig } from "../../support/program.ts";
import { withGateway } from "./scene.ts";

Deno.test("config.get answers every short key; an unknown one is 4002", async () => {
  await withGateway({ config: { display: { busy_input_mode: "queue" } } }, async ({ host, rig }) => {
    const get = (key: string, more = {}) => host.request("config.get", { key, ...more });
    assertEquals(await get("busy"), { value: "queue" });
    assertEquals(await get("approvals.mode"), { value: "manual" });
    assertEquals(await get("approval_mode"), { value: "manual" });
    assertEquals(await get("reasoning"), { value: "medium", display: "show" });
    assertEquals((await get("full")).config.display, { busy_input_mode: "queue" });
    assert((await get("mtime")).mtime > 1_700_000_000);
    assertEquals(await get("profile"), { home: rig.home, display: rig.home });
    const provider = await get("provider");
    assertEquals([provider.model, provider.provider], ["scripted", "custom"]);
    assertEquals(await get("project"), { cwd: rig.workspace, branch: "" });
    assertEquals(await get("skin"), { value: "default" });
    for (const key of ["nope", "", "constructor", "__proto__"]) {
      assertEquals((await host.refused("config.get", { key })).code, 4002, key);
    }
    assertEquals((await host.refused("config.get", {})).code, 4002);
    assertEquals((await host.refused("config.get", { key: "busy", session_id: "ffffffff" })).code, 4001);
  });
});

Deno.test("gateway 66: a value that is none and a key that is none are 4002 and write nothing", async () => {
  await withGateway({}, async ({ host, rig }) => {
    const before = await Deno.readTextFile(`${rig.home}/config.jsonc`);
    const { sid } = await host.session();
    const bad = [["busy", "nope"], ["nope", "x"], ["approvals.mode", "always"], ["reasoning", "hardest"], [
      "fast",
      "fast",
    ]];
    for (const [key, value] of bad) {
      assertEquals((await host.refused("config.set", { key, value, session_id: sid })).code, 4002, key!);
    }
    assertEquals((await host.refused("config.set", { key: "model", value: "", session_id: sid })).code, 4002);
    assertEquals(
      (await host.refused("config.set", { key: "cwd", value: "/does/not/exist", session_id: sid })).code,
      4017,
    );
    assertEquals(await Deno.readTextFile(`${rig.home}/config.jsonc`), before);
  });
});

Deno.test("config.set changes a session where it is the session's, the file where it is the file's", async () => {
  await withGateway({}, async ({ host, rig }) => {
    const before = await Deno.readTextFile(`${rig.home}/config.jsonc`);
    const { sid } = await host.session();
    const set = (key: string, value: string, more = {}) =>
      host.request("config.set", { key, value, session_id: sid, ...more });
    assertEquals(await set("reasoning", "high"), { key: "reasoning", value: "high" });
    assertEquals(host.eventsOf("session.info", sid).at(-1)!.payload.reasoning_effort, "high");
    assertEquals(await set("cwd", rig.home), {
      key: "terminal.cwd",
      value: rig.home,
      cwd: rig.home,
      branch: "",
    });
    assertEquals(host.eventsOf("session.info", sid).at(-1)!.payload.cwd, rig.home);
    assertEquals(await Deno.readTextFile(`${rig.home}/config.jsonc`), before);
    assertEquals(await set("approvals.mode", "off"), { key: "approvals.mode", value: "off" });
    const info = host.eventsOf("session.info", sid).at(-1)!.payload;
    assertEquals([info.approval_mode, info.yolo], ["off", true]);
    assertEquals(await set("yolo", "off", { scope: "global" }), { key: "yolo", value: "0", scope: "global" });
    assertEquals(await host.request("config.get", { key: "approvals.mode" }), { value: "manual" });
  });
});

Deno.test("gateway 60, 61: /model by command.dispatch stays in the session; with --global it is written", async () => {
  await withGateway(
    { model: { turns: ["1", "2"], models: ["scripted", "other"] } },
    async ({ host, model, rig }) => {
      const before = await Deno.readTextFile(`${rig.home}/config.jsonc`);
      const { sid } = await host.session();
      const done = await host.request("command.dispatch", { session_id: sid, command: "/model other" });
      assertEquals([done.type, done.value, done.provider, done.scope], [
        "exec",
        "other",
        "custom",
        "session",
      ]);
      assertMatch(done.output, /other/);
      assertEquals(host.eventsOf("session.info", sid).at(-1)!.payload.model, "other");
      await host.turn(sid, "hi");
      assertEquals(model.calls()[0]!.body.model, "other");
      assertEquals(await Deno.readTextFile(`${rig.home}/config.jsonc`), before);
      const global = await host.request("command.dispatch", {
        session_id: sid,
        name: "model",
        arg: "other --global",
      });
      assertEquals(global.scope, "global");
      assertMatch(await Deno.readTextFile(`${rig.home}/config.jsonc`), /"default": "other"/);
    },
  );
});

Deno.test("gateway 60: while a turn runs the model cannot be changed", async () => {
  await withGateway({ model: { turns: [{ steps: [{ text: "a" }, { stall: true }] }] } }, async ({ host }) => {
    const { sid } = await host.session();
    await host.request("prompt.submit", { session_id: sid, text: "go" });
    await host.event("message.delta", sid);
    const command = "/model other";
    const dispatch = await host.refused("command.dispatch", { session_id: sid, command });
    assertEquals(dispatch.code, 4009);
    assertMatch(dispatch.message, /^session busy/);
    assertEquals(
      (await host.refused("config.set", { key: "model", value: "other", session_id: sid })).code,
      4009,
    );
    const slash = await host.request("slash.exec", { session_id: sid, command });
    assertEquals(slash.output, "");
    assertMatch(slash.warning, /^session busy/);
    await host.request("session.interrupt", { session_id: sid });
  });
});

Deno.test("gateway 62: commands resolve by name and alias, any case; unknown ones are 4011", async () => {
  await using rig = await makeRig();
  await using host = await startGateway({ rig, args: ["--demo"] });
  assertEquals((await host.request("command.resolve", { name: "/Q" })).canonical, "queue");
  assertEquals((await host.request("command.resolve", { name: "help" })).canonical, "help");
  assertEquals((await host.refused("command.resolve", { name: "nope" })).code, 4011);
  const catalog = await host.request("commands.catalog");
  assert(catalog.pairs.some(([name]: [string]) => name === "/model"));
  assertEquals([catalog.canon["/q"], catalog.warning], ["/queue", ""]);
  const inCategories = catalog.categories.flatMap((category: { pairs: unknown[] }) => category.pairs);
  assertEquals(inCategories.length, catalog.pairs.length);
});

Deno.test("gateway 63: command.dispatch gives directives; slash.exec prints text", async () => {
  await using rig = await makeRig();
  await using host = await startGateway({ rig, args: ["--demo"] });
  const { sid } = await host.session();
  const dispatch = (command: string) => host.request("command.dispatch", { session_id: sid, command });
  assertEquals(await dispatch("/queue do this"), { type: "send", message: "do this" });
  assertEquals(await dispatch("/steer go left"), { type: "send", message: "go left" });
  assertEquals((await dispatch("/help")).type, "exec");
  assertEquals((await host.refused("command.dispatch", { session_id: sid, name: "queue" })).code, 4004);
  assertEquals((await host.refused("command.dispatch", { session_id: sid, command: "/nope" })).code, 4018);
  assertEquals((await host.refused("command.dispatch", { session_id: sid })).code, 4018);
  assertEquals((await host.refused("command.dispatch", { command: "/status" })).code, 4001);
  const both = { session_id: sid, command: "/queue x", name: "help" };
  assertEquals(await host.request("command.dispatch", both), { type: "send", message: "x" });
  const version = await host.request("slash.exec", { session_id: sid, command: "version" });
  assertEquals(Object.keys(version), ["output"]);
  assertMatch(version.output, /\d+\.\d+\.\d+/);
  assertEquals(await host.request("slash.exec", { session_id: sid, command: "/q later" }), {
    type: "send",
    message: "later",
  });
  assertEquals((await host.refused("slash.exec", { session_id: sid, command: " " })).code, 4004);
  assertEquals((await host.refused("slash.exec", { session_id: sid, command: "/nope" })).code, 4018);
});

Deno.test("gateway 42–45, FC-11: a rewind that is not fully confirmed changes nothing and starts nothing", async () => {
  await withGateway({ model: { turns: ["1", "2", "3"] } }, async ({ host, model }) => {
    const { sid } = await host.session();
    for (const text of ["one", "two", "three"]) await host.turn(sid, text);
    const before = await host.request("session.history", { session_id: sid });
    const users = before.messages.filter((row: { role: string }) => row.role === "user");
    const row = users[1].row_id;
    const refused = async (params: Record<string, unknown>) =>
      (await host.refused("prompt.submit", { session_id: sid, text: "again", ...params })).code;
    assertEquals(await refused({ truncate_before_row_id: row }), 4029);
    assertEquals(await refused({ truncate_before_user_ordinal: 2 }), 4029);
    assertEquals(await refused({ confirm_truncate: true }), 4004);
    assertEquals(await refused({ truncate_before_user_ordinal: true, confirm_truncate: true }), 4004);
    assertEquals(await refused({ truncate_before_user_ordinal: 1, confirm_truncate: true }), 4004);
    assertEquals(
      await refused({
        truncate_before_row_id: 99999,
        truncate_before_user_ordinal: 1,
        confirm_truncate: true,
      }),
      4018,
    );
    assertEquals(
      await refused({ truncate_before_row_id: row, truncate_before_user_ordinal: 0, confirm_truncate: true }),
      4030,
    );
    assertEquals(await refused({ truncate_before_row_id: users[0].row_id, confirm_truncate: true }), 4028);
    assertEquals(await host.request("session.history", { session_id: sid }), before);
    assertEquals(model.calls().length, 3);
    assertEquals(host.eventsOf("message.start", sid).length, 3);
  });
});

Deno.test("model.options names the current model of the session", async () => {
  await withGateway({}, async ({ host }) => {
    const { sid } = await host.session();
    const options = await host.request("model.options", { session_id: sid });
    assertEquals(options.model, "scripted");
    assert(Array.isArray(options.providers));
    assertEquals((await host.refused("model.options", { session_id: "ffffffff" })).code, 4001);
  });
});

Deno.test("reload.env counts what changed", async () => {
  await withGateway({}, async ({ host, rig }) => {
    assertEquals(await host.request("reload.env"), { updated: 0 });
    await Deno.writeTextFile(`${rig.home}/.env`, "SOME_SETTING=1\n");
    assertEquals(await host.request("reload.env"), { updated: 1 });
  });
});

Deno.test("core E.4: hosts learn which commands throw a conversation away, and whether to ask before they send one", async () => {
  await withGateway({}, async ({ host, rig }) => {
    const { destructive, pairs } = await host.request("commands.catalog");
    assertEquals(destructive, ["/new", "/clear", "/undo"]);
    const names = pairs.map(([name]: string[]) => name);
    assertEquals(destructive.filter((name: string) => !names.includes(name)), []);
    const key = "approvals.destructive_slash_confirm";
    const get = () => host.request("config.get", { key });
    const set = (value: unknown) => host.request("config.set", { key, value });
    assertEquals([await get(), await set("")], [{ value: "on" }, { key, value: "on" }]);
    assertEquals((await host.refused("config.set", { key, value: "perhaps" })).code, 4002);
    assertEquals([await set(false), await get()], [{ key, value: "off" }, { value: "off" }]);
    assert(
      (await Deno.readTextFile(`${rig.home}/config.jsonc`)).includes('"destructive_slash_confirm": false'),
    );
    // Who sends the command has asked: it runs.
    const { sid } = await host.session();
    await set("on");
    const opened = await host.request("command.dispatch", { session_id: sid, command: "/new" });
    assertEquals(opened.type, "exec");
  });
});
