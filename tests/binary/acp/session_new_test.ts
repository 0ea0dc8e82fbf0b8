/** Opening sessions (acp.md E, rows 9–13, 39, 50; FC-03.2, FC-05, FC-13.1). */
import { type Json, startAcp, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { makeRig } from "../../support/program.ts";

const COMMANDS = ["help", "model", "tools", "context", "reset", "compact", "steer", "queue", "version"];

Deno.test("acp 9: session/new gives id, modes, options and provenance, the rest comes after it", async () => {
  await withAcp({}, async ({ acp, rig }) => {
    const sent = acp.send("session/new", { cwd: rig.workspace, mcpServers: [] });
    const { result } = await sent.answer;
    assertMatch(result.sessionId, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assertEquals(result.modes.currentModeId, "default");
    assertEquals(result.modes.availableModes.map((m: { id: string }) => m.id), [
      "default",
      "accept_edits",
      "dont_ask",
      "plan",
    ]);
    assertEquals(result.configOptions.map((o: { id: string }) => o.id), ["model", "edit_approval_policy"]);
    assertEquals(result.configOptions[0].currentValue, "custom:scripted");
    assertEquals(result._meta.hermes.sessionProvenance, {
      acpSessionId: result.sessionId,
      currentHermesSessionId: result.sessionId,
      rootHermesSessionId: result.sessionId,
      parentHermesSessionId: null,
      sessionKind: "root",
      compressionDepth: 0,
      chainStatus: "ok",
    });
    await acp.update((u) => u.sessionUpdate === "usage_update");
    const after = acp.updates(result.sessionId, acp.indexOfAnswer(sent.id));
    assertEquals(after.map((u) => u.sessionUpdate), ["available_commands_update", "usage_update"]);
    assertEquals(acp.updates(result.sessionId).length, 2);
    assertEquals(after[0].availableCommands.map((c: { name: string }) => c.name), COMMANDS);
    assertEquals(
      after[0].availableCommands.filter((c: Json) => c.input).map((c: Json) => [c.name, c.input.hint]),
      [
        ["model", "model name to switch to"],
        ["steer", "guidance for the active turn"],
        ["queue", "prompt to run next"],
      ],
    );
    assertEquals(after[1].size, 128000);
  });
});

Deno.test("FC-03.2: twenty sessions opened at once are each announced before they are named", async () => {
  await withAcp({}, async ({ acp, rig }) => {
    const sent = Array.from(
      { length: 20 },
      () => acp.send("session/new", { cwd: rig.workspace, mcpServers: [] }),
    );
    const ids = (await Promise.all(sent.map((one) => one.answer))).map(({ result }) => result.sessionId);
    assertEquals(new Set(ids).size, 20);
    for (const [i, id] of ids.entries()) {
      const first = acp.frames.findIndex(({ frame }) => frame.params?.sessionId === id);
      assert(first === -1 || first > acp.indexOfAnswer(sent[i]!.id));
    }
  });
});

Deno.test("acp 10: an unusable cwd is -32602 with its reason and opens nothing", async () => {
  await withAcp({}, async ({ acp, rig }) => {
    await Deno.writeTextFile(`${rig.workspace}/file`, "x");
    const reasons: unknown[] = [];
    for (const cwd of ["src", "", "/no/such/dir", `${rig.workspace}/file`]) {
      const { error } = await acp.ask("session/new", { cwd, mcpServers: [] });
      assertEquals(error?.code, -32602);
      assertEquals([error?.data.field, error?.data.value], ["cwd", cwd]);
      reasons.push(error?.data.reason);
    }
    assertEquals(reasons, ["not_absolute", "not_absolute", "not_found", "not_a_directory"]);
  });
});

Deno.test("C4, FC-13: a load or resume in what is no directory is refused; in one that is gone it is told", async () => {
  await withAcp({ turns: ["ok"] }, async ({ acp, rig, sessionId }) => {
    await acp.prompt(sessionId, "go");
    const file = `${rig.workspace}/file`;
    await Deno.writeTextFile(file, "x");
    for (const method of ["session/load", "session/resume"]) {
      const { error } = await acp.ask(method, { sessionId, cwd: file, mcpServers: [] });
      assertEquals([error?.code, error?.data.reason], [-32602, "not_a_directory"]);
      assert((await acp.ask(method, { sessionId, cwd: `${rig.workspace}/gone`, mcpServers: [] })).result);
    }
  });
});

Deno.test("acp 10, acp 50: off WSL a Windows path is refused, and so is a relative additional directory", async () => {
  await withAcp({ env: { HERMES_WSL: "0" } }, async ({ acp, rig }) => {
    const windows = await acp.ask("session/new", { cwd: "E:\\x", mcpServers: [] });
    assertEquals([windows.error?.code, windows.error?.data.reason], [-32602, "windows_path"]);
    const more = await acp.ask("session/new", {
      cwd: rig.workspace,
      mcpServers: [],
      additionalDirectories: ["sub"],
    });
    assertEquals([more.error?.code, more.error?.data.field], [-32602, "additionalDirectories"]);
  });
});

Deno.test("acp 11, FC-13.1: under WSL every spelling is translated before it is looked for", async () => {
  await withAcp({ env: { HERMES_WSL: "1", WSL_DISTRO_NAME: "Ubuntu" } }, async ({ acp, rig }) => {
    const table: [string, string | null, string][] = [
      ["E:\\Projects\\a b", "/mnt/e/Projects/a b", "not_found"],
      ["e:/Projects", "/mnt/e/Projects", "not_found"],
      ["\\\\wsl.localhost\\Ubuntu\\home\\u\\p", "/home/u/p", "not_found"],
      ["\\\\wsl$\\Ubuntu\\home\\u\\p", "/home/u/p", "not_found"],
      ["\\\\wsl$\\Debian\\home", null, "other_distro"],
      ["\\\\nas\\share\\x", null, "unc_not_mounted"],
    ];
    for (const [cwd, translated, reason] of table) {
      const { error } = await acp.ask("session/new", { cwd, mcpServers: [] });
      assertEquals([error?.data.translated, error?.data.reason], [translated, reason], cwd);
    }
    const unc = `\\\\wsl$\\ubuntu${rig.workspace.replaceAll("/", "\\")}`;
    assertMatch(await acp.newSession(unc), /^[0-9a-f-]{36}$/);
    assertEquals((await acp.ask("session/list", { cwd: "\\\\nas\\x\\y" })).error?.code, -32602);
  });
});

/** The whole table of acp.md C4; `null` = refused for the reason. */
const WSL_TABLE: readonly (readonly [string, string | null, string])[] = [
  ["E:\\Projects\\AI\\app", "/mnt/e/Projects/AI/app", "not_found"],
  ["D:/code/app", "/mnt/d/code/app", "not_found"],
  ["e:/a\\b/c", "/mnt/e/a/b/c", "not_found"],
  ["Q:", "/mnt/q", "not_found"],
  ["Q:\\", "/mnt/q", "not_found"],
  ["/Q:/Users/x", "/mnt/q/Users/x", "not_found"],
  ["\\\\?\\Q:\\x", "/mnt/q/x", "not_found"],
  ["\\\\.\\Q:\\x", "/mnt/q/x", "not_found"],
  ["\\\\?\\UNC\\wsl$\\Ubuntu\\no\\such", "/no/such", "not_found"],
  ["\\\\wsl.localhost\\Ubuntu\\no\\p", "/no/p", "not_found"],
  ["//wsl$/Ubuntu/no/u", "/no/u", "not_found"],
  ["file:///Q:/My%20Code", "/mnt/q/My Code", "not_found"],
  ["file://wsl.localhost/Ubuntu/no-srv", "/no-srv", "not_found"],
  ["/no/u/a\\b", "/no/u/a\\b", "not_found"],
  ["\\\\wsl$\\Debian\\home", null, "other_distro"],
  ["\\\\nas\\share\\x", null, "unc_not_mounted"],
  ["Q:proj", null, "drive_relative"],
  ["src", null, "not_absolute"],
  ["", null, "not_absolute"],
];

Deno.test("acp 11, FC-13.1: the whole table under WSL, for cwd and for additional directories", async () => {
  await withAcp({ env: { HERMES_WSL: "1", WSL_DISTRO_NAME: "Ubuntu" } }, async ({ acp, rig }) => {
    for (const [path, translated, reason] of WSL_TABLE) {
      const cwd = await acp.ask("session/new", { cwd: path, mcpServers: [] });
      assertEquals([cwd.error?.code, cwd.error?.data], [-32602, {
        field: "cwd",
        value: path,
        translated,
        reason,
      }]);
      const more = { cwd: rig.workspace, mcpServers: [], additionalDirectories: [path] };
      const { error } = await acp.ask("session/new", more);
      assertEquals(error?.data, { field: "additionalDirectories", value: path, translated, reason });
    }
    assertMatch(await acp.newSession("\\\\WSL$\\ubuntu"), /^[0-9a-f-]{36}$/);
  });
});

Deno.test("FC-13.1: pwd in a session that was named in a foreign way shows the translated directory", async () => {
  const env = { HERMES_WSL: "1", WSL_DISTRO_NAME: "Ubuntu" };
  const respond = (request: { body: Json }) =>
    request.body.messages.at(-1).role === "user"
      ? { steps: [{ tool: "terminal", args: { command: "pwd" } }] }
      : "ok";
  await withAcp({ env, respond }, async ({ acp, rig }) => {
    const folder = `${rig.workspace}/a b`;
    await Deno.mkdir(folder);
    const spellings = [
      `\\\\wsl.localhost\\Ubuntu${folder.replaceAll("/", "\\")}`,
      `//wsl$/Ubuntu${folder}`,
      `file://${encodeURI(folder)}`,
      `file://wsl.localhost/Ubuntu${encodeURI(folder)}/./`,
    ];
    for (const cwd of spellings) {
      const sessionId = await acp.newSession(cwd);
      await acp.prompt(sessionId, "where");
      const end = acp.updates(sessionId).findLast((u) => u.sessionUpdate === "tool_call_update");
      assertEquals(end.content[0].content.text.trim(), folder);
    }
    const { sessions } = await acp.request("session/list", { cwd: spellings[0] });
    assertEquals(sessions.map((s: Json) => s.cwd), spellings.map(() => folder));
  });
});

Deno.test("acp 50: additional directories must be there, are a whole new list on load, and omitted means none", async () => {
  const respond = (request: { body: Json }) => {
    const last = request.body.messages.at(-1);
    return last.role === "user"
      ? { steps: [{ tool: "write_file", args: { path: last.content, content: "x" } }] }
      : "ok";
  };
  await withAcp({ respond }, async ({ acp, rig }) => {
    acp.onPermission = () => ({ outcome: { outcome: "selected", optionId: "deny" } });
    const [one, two] = ["one", "two"].map((name) => `${rig.home}/../${name}`);
    for (const dir of [one!, two!]) await Deno.mkdir(dir);
    await Deno.writeTextFile(`${rig.workspace}/file`, "");
    for (const [path, reason] of [["/no/such", "not_found"], [`${rig.workspace}/file`, "not_a_directory"]]) {
      const more = { cwd: rig.workspace, mcpServers: [], additionalDirectories: [path] };
      assertEquals((await acp.ask("session/new", more)).error?.data.reason, reason);
    }
    const sessionId = await acp.newSession(rig.workspace, { additionalDirectories: [one, one] });
    await acp.request("session/set_mode", { sessionId, modeId: "accept_edits" });
    const asked = async (path: string) => {
      const before = acp.requests("session/request_permission").length;
      await acp.prompt(sessionId, path);
      return acp.requests("session/request_permission").length - before;
    };
    assertEquals([await asked(`${one}/a.txt`), await asked(`${two}/a.txt`)], [0, 1]);
    const place = { sessionId, cwd: rig.workspace, mcpServers: [] };
    await acp.request("session/load", { ...place, additionalDirectories: [two] });
    assertEquals([await asked(`${one}/b.txt`), await asked(`${two}/b.txt`)], [1, 0]);
    await acp.request("session/resume", place);
    assertEquals([await asked(`${one}/c.txt`), await asked(`${two}/c.txt`)], [1, 1]);
  });
});

Deno.test("acp 12: missing or malformed mcpServers are -32602", async () => {
  await withAcp({}, async ({ acp, rig }) => {
    for (const mcpServers of [undefined, [{ type: "weird", name: "x" }], [{ name: "x" }]]) {
      const { error } = await acp.ask("session/new", { cwd: rig.workspace, mcpServers });
      assertEquals(error?.code, -32602);
      assertMatch(error!.data.issues[0].path, /^mcpServers/);
    }
  });
});

Deno.test("acp 39, FC-05: an unknown session is -32002 with its id, whatever asks for it", async () => {
  await withAcp({}, async ({ acp, rig }) => {
    const sessionId = "does-not-exist";
    const place = { sessionId, cwd: rig.workspace, mcpServers: [] };
    const table: [string, unknown][] = [
      ["session/load", place],
      ["session/resume", place],
      ["session/fork", place],
      ["session/prompt", { sessionId, prompt: [{ type: "text", text: "x" }] }],
      ["session/set_mode", { sessionId, modeId: "default" }],
      ["session/set_model", { sessionId, modelId: "x" }],
      ["session/set_config_option", { sessionId, configId: "model", value: "x" }],
      ["session/close", { sessionId }],
    ];
    for (const [method, params] of table) {
      const { error } = await acp.ask(method, params);
      assertEquals([error?.code, error?.data], [-32002, { sessionId }], method);
    }
    assertEquals(await acp.request("session/delete", { sessionId }), {});
    assertEquals(await acp.request("session/list", {}), { sessions: [] });
  });
});

Deno.test("D6: a database of a newer version refuses sessions with a clear text", async () => {
  await using rig = await makeRig();
  await Deno.writeTextFile(`${rig.home}/hermes.db`, "");
  const { DatabaseSync } = await import("node:sqlite");
  const db = new DatabaseSync(`${rig.home}/hermes.db`, { timeout: 10_000 });
  db.exec(
    "CREATE TABLE schema_version (version INTEGER NOT NULL); INSERT INTO schema_version VALUES (100000)",
  );
  db.close();
  await using acp = startAcp(rig, { args: ["--demo"] });
  await acp.initialize();
  const { error } = await acp.ask("session/new", { cwd: rig.workspace, mcpServers: [] });
  assertEquals(error?.code, -32603);
  assertMatch(error!.data.details, /newer/i);
});
