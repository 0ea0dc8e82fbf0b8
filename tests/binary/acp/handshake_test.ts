/** The first contact (acp.md E, rows 1–8 and 47; FC-01.3, FC-02.1): framing, versions, auth methods, flags. */
import config from "../../../deno.json" with { type: "json" };
import { ALLOW, startAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig, runProgram } from "../../support/program.ts";

const CAPABILITIES = {
  loadSession: true,
  promptCapabilities: { image: true, audio: false, embeddedContext: true },
  mcpCapabilities: { http: true, sse: true },
  auth: {},
  sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {}, additionalDirectories: {}, fork: {} },
  _meta: { hermes: { sessionProvenance: {}, background: {} } },
};

for (const version of [1, 2, 0]) {
  Deno.test(`acp 1: initialize with protocol version ${version} is answered with 1 and the full result`, async () => {
    await using rig = await makeRig();
    await using acp = startAcp(rig);
    const result = await acp.request("initialize", { protocolVersion: version });
    assertEquals(result.protocolVersion, 1);
    assertEquals(result.agentInfo, { name: "hermes-agent", title: "Hermes Agent", version: config.version });
    assertEquals(result.agentCapabilities, CAPABILITIES);
    assertEquals(result._meta, { steering: { supported: true } });
    assert(result.authMethods.length > 0);
    assertEquals(acp.frames[0]!.frame.id, 1);
    assertEquals((await acp.close()).code, 0);
  });
}

Deno.test("acp 2: a bad initialize is -32602 and the process stays usable", async () => {
  await using rig = await makeRig();
  await using acp = startAcp(rig);
  for (
    const params of [{ protocolVersion: "1" }, undefined, { protocolVersion: 1.5 }, {
      protocolVersion: 70_000,
    }]
  ) {
    assertEquals((await acp.ask("initialize", params)).error?.code, -32602);
  }
  assertEquals((await acp.initialize()).protocolVersion, 1);
});

Deno.test("acp 3: a request before initialize is -32600; afterwards it works", async () => {
  await using rig = await makeRig();
  await using acp = startAcp(rig, { args: ["--demo"] });
  const params = { cwd: rig.workspace, mcpServers: [] };
  assertEquals((await acp.ask("session/new", params)).error?.code, -32600);
  await acp.initialize();
  assertMatch((await acp.request("session/new", params)).sessionId, /^[0-9a-f-]{36}$/);
});

Deno.test("acp 3: initialize and session/new in one write, then the end of input, are both answered", async () => {
  await using rig = await makeRig();
  const frame = (id: number, method: string, params: unknown) =>
    JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\n";
  const input = frame(1, "initialize", { protocolVersion: 1 }) +
    frame(2, "session/new", { cwd: rig.workspace, mcpServers: [] });
  const { code, stdout } = await runProgram(["acp", "--demo"], { rig, input });
  assertEquals(code, 0);
  const frames = stdout.trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(frames[0].result.protocolVersion, 1);
  assertMatch(frames.find((f) => f.id === 2).result.sessionId, /^[0-9a-f-]{36}$/);
});

Deno.test("acp 4, FC-01.3, FC-02.1: every malformed line gets its exact error and the next one is read", async () => {
  await using rig = await makeRig();
  await using acp = startAcp(rig);
  await acp.raw(new Uint8Array([0xff, 0xfe, 0x7b, 0x0a]));
  await acp.initialize();
  const lines = [
    "not json",
    "{bad",
    "[]",
    "42",
    '"x"',
    "null",
    '{"jsonrpc":"2.0","id":7,"method":42}',
    '{"jsonrpc":"2.0","id":{},"method":"x"}',
    "",
    '{"jsonrpc":"2.0","id":8,"method":"no.such"}\r',
    '{"jsonrpc":"2.0","id":9,"method":"session/list","params":[]}',
  ];
  await acp.raw(lines.join("\n") + "\n");
  await eventually(() => acp.lines.length >= 12);
  const seen = acp.frames.map(({ frame }) => [frame.id, frame.error?.code ?? "result"]);
  assertEquals(seen, [
    [null, -32700],
    [1, "result"],
    [null, -32700],
    [null, -32700],
    [null, -32600],
    [null, -32600],
    [null, -32600],
    [null, -32600],
    [7, -32600],
    [null, -32600],
    [8, -32601],
    [9, -32602],
  ]);
  assertEquals((await acp.request("session/list", {})).sessions, []);
});

Deno.test("acp 5: unknown requests are -32601, unknown notifications are ignored, probes are not logged", async () => {
  await using rig = await makeRig();
  await using acp = startAcp(rig);
  await acp.initialize();
  for (
    const method of ["foo/bar", "ping", "health", "healthcheck", "toString", "__proto__", "session/set_title"]
  ) {
    assertEquals((await acp.ask(method, {})).error?.code, -32601, method);
  }
  await acp.notify("foo/bar", {});
  await acp.notify("$/cancel_request", { requestId: 4711 });
  assertEquals((await acp.request("session/list", {})).sessions, []);
  assertEquals(acp.lines.length, 9);
  assertEquals(acp.stderr, "");
});

Deno.test("acp 6: a line of 33 MiB is refused and the next one is answered", async () => {
  await using rig = await makeRig();
  await using acp = startAcp(rig);
  await acp.initialize();
  const piece = new Uint8Array(1024 * 1024).fill(0x61);
  for (let i = 0; i < 33; i++) await acp.raw(piece);
  await acp.raw("\n");
  assertEquals((await acp.request("session/list", {})).sessions, []);
  const refused = acp.frames.filter(({ frame }) => frame.error);
  assertEquals(refused.map(({ frame }) => [frame.id, frame.error.code]), [[null, -32600]]);
});

Deno.test("acp 7: the auth methods fit what the client can do, the demo comes last", async () => {
  await using rig = await makeRig();
  await using acp = startAcp(rig);
  const methods = async (caps: unknown) => (await acp.initialize(caps)).authMethods;
  const terminal = await methods({ auth: { terminal: true } });
  assertEquals(terminal.map((m: { id: string }) => m.id), ["hermes-setup", "builtin-demo"]);
  assertEquals([terminal[0].type, terminal[0].args], ["terminal", ["--setup"]]);
  const plain = await methods({});
  assertEquals(plain.map((m: { id: string }) => m.id), ["hermes-credentials", "builtin-demo"]);
  assert(plain.every((m: object) => !("type" in m)));
  const legacy = await methods({ _meta: { "terminal-auth": true } });
  assertEquals(legacy.map((m: { id: string }) => m.id), ["hermes-setup", "builtin-demo"]);
  assert(!("type" in legacy[0]) && !("args" in legacy[0]));
  assertEquals(legacy[0]._meta["terminal-auth"].args, ["acp", "--setup"]);
});

Deno.test("acp 8: a provider without its key, and nothing configured, are -32000 with what to do", async () => {
  await using keyless = await makeRig({ config: { model: { default: "x", provider: "openrouter" } } });
  await using nothing = await makeRig();
  for (const rig of [keyless, nothing]) {
    await using acp = startAcp(rig);
    await acp.initialize();
    const { error } = await acp.ask("session/new", { cwd: rig.workspace, mcpServers: [] });
    assertEquals(error?.code, -32000);
    assertEquals(error?.data, {
      authMethods: ["hermes-credentials", "builtin-demo"],
      hint: "hermes acp --setup",
    });
    assertEquals(await acp.request("session/list", {}), { sessions: [] });
  }
});

Deno.test("acp 8: authenticate with builtin-demo makes a session that runs the demo and says so", async () => {
  await using rig = await makeRig();
  await Deno.writeTextFile(`${rig.workspace}/here.txt`, "x");
  await using acp = startAcp(rig);
  await acp.initialize();
  assertEquals(await acp.request("authenticate", { methodId: " Builtin-Demo " }), {});
  const opened = await acp.request("session/new", { cwd: rig.workspace, mcpServers: [] });
  assertEquals(opened.configOptions[0].currentValue, "builtin:demo");
  const result = await acp.prompt(opened.sessionId, "list the files");
  assertEquals(result.stopReason, "end_turn");
  const kinds = acp.updates(opened.sessionId).map((u) => u.sessionUpdate);
  assert(kinds.includes("tool_call") && kinds.includes("tool_call_update"));
  assertMatch(acp.text(opened.sessionId), /demo/i);
  assert(!(await Deno.stat(`${rig.home}/config.jsonc`).then(() => true, () => false)));
});

Deno.test("acp 8: authenticate takes an offered id in any case and refuses others", async () => {
  await using model = await startModelServer();
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using acp = startAcp(rig);
  const { authMethods } = await acp.initialize();
  const [provider] = authMethods;
  assertEquals(provider.id, "custom");
  assertEquals(await acp.request("authenticate", { methodId: provider.id }), {});
  assertEquals(await acp.request("authenticate", { methodId: provider.id.toUpperCase() }), {});
  assertEquals((await acp.ask("authenticate", { methodId: "who" })).error?.code, -32602);
  assertEquals((await acp.ask("authenticate", {})).error?.code, -32602);
});

Deno.test("acp 47: another manifest version is served and told", async () => {
  await using rig = await makeRig();
  await using acp = startAcp(rig, { env: { HERMES_ACP_MANIFEST_VERSION: "9.9.9" } });
  const result = await acp.initialize();
  assertEquals(result.agentCapabilities, CAPABILITIES);
  assertEquals(result.agentInfo._meta, {
    hermes: { manifestMismatch: { manifest: "9.9.9", binary: config.version } },
  });
  // It is told once the rest is loaded, which a client that leaves at once does not wait for.
  const warning = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \[WARNING\] .*9\.9\.9/m;
  await eventually(() => warning.test(acp.stderr), 5_000, "the warning");
  await acp.close();
});

Deno.test("acp 47: --version, --check, --setup without a terminal, unknown flags", async () => {
  await using rig = await makeRig();
  assertEquals(await runProgram(["acp", "--version"], { rig }), {
    code: 0,
    stdout: `${config.version}\n`,
    stderr: "",
  });
  const check = await runProgram(["acp", "--check"], { rig });
  assertEquals([check.code, check.stdout], [0, "Hermes ACP check OK\n"]);
  const setup = await runProgram(["acp", "--setup"], { rig });
  assertEquals([setup.code, setup.stdout], [1, ""]);
  assert(setup.stderr.length > 20);
  for (const args of [["--bogus"], ["serve"], ["--model"]]) {
    const wrong = await runProgram(["acp", ...args], { rig });
    assertEquals([wrong.code, wrong.stdout], [2, ""]);
    assertMatch(wrong.stderr, /hermes acp/);
  }
  assertEquals((await runProgram(["acp", "--setup-browser", "--yes"], { rig })).code, 1);
});

Deno.test("acp 47: --check fails for a broken config and says why", async () => {
  await using rig = await makeRig({ config: "{ broken" });
  const check = await runProgram(["acp", "--check"], { rig });
  assertEquals([check.code, check.stdout], [1, ""]);
  assertMatch(check.stderr, /config\.jsonc/);
});

Deno.test("FC-01.1: first run with debug logging writes frames and nothing else on stdout", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ tool: "terminal", args: { command: "echo out; echo err >&2" } }] }, "done"],
  });
  await using rig = await makeRig({ config: modelConfig(model.url, { logging: { level: "DEBUG" } }) });
  await using acp = startAcp(rig);
  acp.onPermission = () => ALLOW;
  await acp.initialize();
  const sessionId = await acp.newSession(rig.workspace);
  assertEquals((await acp.prompt(sessionId, "go")).stopReason, "end_turn");
  const done = acp.updates(sessionId).findLast((u) => u.sessionUpdate === "tool_call_update");
  assertEquals(done.status, "completed");
  assertMatch(done.content[0].content.text, /out\nerr/);
  assertEquals((await acp.close()).code, 0);
});
