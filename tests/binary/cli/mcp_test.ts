/** `hermes mcp`: what is configured, and whether it works. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { stdioServer } from "../../support/mcp_server.ts";
import { makeRig, runProgram } from "../../support/program.ts";

const SERVERS = {
  box: stdioServer({ tools: ["echo", "where"] }),
  off: stdioServer({}, { enabled: false }),
  bad: { url: "nowhere" },
  crash: stdioServer({ exit: 4, stderr: "no luck today" }),
  mute: stdioServer({ silent: true }),
};

Deno.test("mcp list shows the servers of the config and starts none", async () => {
  await using rig = await makeRig({ config: { mcp_servers: SERVERS } });
  const { code, stdout } = await runProgram(["mcp", "list", "--json"], { rig });
  assertEquals(code, 0);
  const { servers } = JSON.parse(stdout);
  assertEquals(servers.map((one: Record<string, unknown>) => [one.name, one.transport, one.status]), [
    ["box", "stdio", "configured"],
    ["off", "stdio", "disabled"],
    ["bad", "http", "failed"],
    ["crash", "stdio", "configured"],
    ["mute", "stdio", "configured"],
  ]);
  const text = await runProgram(["mcp"], { rig });
  assertMatch(text.stdout, /^bad +http +failed: url must start with http/m);
});

Deno.test("mcp list without servers says where they stand", async () => {
  await using rig = await makeRig();
  const { code, stdout } = await runProgram(["mcp"], { rig });
  assertEquals([code, stdout], [
    0,
    `no MCP servers; they stand under mcp_servers in ${rig.home}/config.jsonc\n` +
    "  to add one: hermes mcp add --help\n",
  ]);
});

Deno.test("mcp test starts one server, lists its tools and ends it", async () => {
  await using rig = await makeRig({ config: { mcp_servers: SERVERS } });
  const { code, stdout, stderr } = await runProgram(["mcp", "test", "box"], { rig });
  assertEquals([code, stderr], [0, ""]);
  assertMatch(stdout, /^box works: 2 tools, ready in \d+ ms\n {2}mcp__box__echo +Does echo\n/);
  const off = await runProgram(["mcp", "test", "off", "--json"], { rig });
  assertEquals([off.code, JSON.parse(off.stdout).connected], [0, true]);
});

Deno.test("mcp test exits 1 with the reason when the server does not work", async () => {
  await using rig = await makeRig({ config: { mcp_servers: SERVERS } });
  const cases: [string[], RegExp][] = [
    [["bad"], /does not work: url must start with http/],
    [["crash"], /does not work: the server ended with code 4 \(no luck today\)/],
    [["mute", "--timeout", "0.5"], /does not work: no answer within 0\.5 s/],
  ];
  for (const [args, pattern] of cases) {
    const { code, stdout, stderr } = await runProgram(["mcp", "test", ...args], { rig });
    assertEquals([args, code, stdout], [args, 1, ""]);
    assertMatch(stderr, pattern);
  }
});

Deno.test("mcp with wrong words is wrong usage, exit 2", async () => {
  await using rig = await makeRig({ config: { mcp_servers: SERVERS } });
  for (const args of [["tst"], ["test", "unknown"], ["test", "box", "mute"]]) {
    const { code, stdout, stderr } = await runProgram(["mcp", ...args], { rig });
    assertEquals([args, code, stdout], [args, 2, ""]);
    assertMatch(stderr, /see: hermes mcp --help/);
  }
});

Deno.test("mcp test without a name tries all that are enabled, side by side, and says what to do", async () => {
  await using rig = await makeRig({
    config: { mcp_servers: { ...SERVERS, gone: { command: "/no/such/program" } } },
  });
  const { code, stdout, stderr } = await runProgram(["mcp", "test", "--timeout", "8"], { rig });
  assertEquals(code, 1);
  assertMatch(stdout, /^box works: 2 tools, ready in \d+ ms\n/);
  assertMatch(
    stderr,
    /"gone" does not work: .*\n {2}do: +install the program, or give its full path in command\n/,
  );
  assertMatch(
    stderr,
    /"mute" does not work: no answer within 8 s\n {2}do: +hermes mcp test mute --timeout 60 /,
  );
  const all = await runProgram(["mcp", "test", "--json", "--timeout", "8"], { rig });
  const { servers } = JSON.parse(all.stdout);
  assertEquals(servers.map((one: Record<string, unknown>) => [one.name, one.connected]), [
    ["box", true],
    ["bad", false],
    ["crash", false],
    ["mute", false],
    ["gone", false],
  ]);
  await using empty = await makeRig();
  const none = await runProgram(["mcp", "test"], { rig: empty });
  assertEquals(none.code, 0);
  assertMatch(none.stdout, /^no MCP servers to test/);
});

Deno.test("mcp add writes an entry and keeps comments, mcp remove takes it out; both refuse what cannot be meant", async () => {
  await using rig = await makeRig({ config: '{\n  // mine\n  "mcp_servers": {}\n}\n' });
  const [program, ...more] = [stdioServer({ tools: ["echo"] })].flatMap((
    { command, args },
  ) => [command, ...args]);
  const added = await runProgram(["mcp", "add", "box", "--", program!, ...more], { rig });
  assertEquals([added.code, added.stderr], [0, ""]);
  assertMatch(added.stdout, /^box: written to .*config\.jsonc\n {2}now: hermes mcp test box\n$/);
  assertMatch((await runProgram(["mcp", "test", "box"], { rig })).stdout, /^box works: 1 tool/);
  const desk = ["mcp", "add", "desk", "https://h.test/mcp", "--oauth", "--sse"];
  assertMatch((await runProgram(desk, { rig })).stdout, /now: hermes mcp login desk/);
  const again = await runProgram(["mcp", "add", "box", "https://h.test"], { rig });
  assertEquals([again.code, again.stdout], [1, ""]);
  assertMatch(again.stderr, /already; take it out first: hermes mcp remove box/);
  const path = `${rig.home}/config.jsonc`;
  const written = await Deno.readTextFile(path);
  assertMatch(written, /\/\/ mine/);
  const { mcp_servers } = JSON.parse(written.replace("// mine", ""));
  assertEquals(mcp_servers.desk, { url: "https://h.test/mcp", transport: "sse", auth: "oauth" });
  for (
    const args of [
      ["add"],
      ["add", "x"],
      ["add", "a b", "https://h"],
      ["add", "x", "ftp://h"],
      ["add", "x", "https://h", "more"],
      ["add", "x", "--sse", "--", "srv"],
      ["remove"],
      ["remove", "nobody"],
    ]
  ) {
    const { code, stdout } = await runProgram(["mcp", ...args], { rig });
    assertEquals([args, code, stdout], [args, 2, ""]);
  }
  assertEquals(await Deno.readTextFile(path), written);
  assertEquals((await runProgram(["mcp", "remove", "box"], { rig })).code, 0);
  assertMatch((await runProgram(["mcp", "remove", "desk"], { rig })).stdout, /^desk: taken out of /);
  assertMatch((await runProgram(["mcp"], { rig })).stdout, /^no MCP servers/);
});

Deno.test("mcp test that runs out of time says what the last try met", async () => {
  await using rig = await makeRig();
  // Ends at its first start, and says nothing at its second.
  const flag = `${rig.home}/../started`;
  const script = `test -e '${flag}' && exec sleep 20; touch '${flag}'; read line; exit 3`;
  assertEquals((await runProgram(["mcp", "add", "slow", "--", "sh", "-c", script], { rig })).code, 0);
  const { code, stderr } = await runProgram(["mcp", "test", "slow", "--timeout", "4"], { rig });
  assertEquals(code, 1);
  assertMatch(stderr, /no answer within 4 s; the last try: .*ended with code 3/);
  assertMatch(stderr, /do: {2}run the command of the entry by hand/);
});

Deno.test("mcp test names the exit code of a program that ends before it is spoken to", async () => {
  await using rig = await makeRig();
  assertEquals((await runProgram(["mcp", "add", "gone", "--", "sh", "-c", "exit 7"], { rig })).code, 0);
  const { code, stderr } = await runProgram(["mcp", "test", "gone"], { rig });
  assertEquals(code, 1);
  assertMatch(stderr, /^hermes: MCP server "gone" does not work: the server ended with code 7\n/);
  assertMatch(stderr, /do: {2}run the command of the entry by hand/);
});
