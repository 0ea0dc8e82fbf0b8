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
    `no MCP servers; they stand under mcp_servers in ${rig.home}/config.jsonc\n`,
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
  for (const args of [["tst"], ["test"], ["test", "unknown"], ["test", "box", "mute"]]) {
    const { code, stdout, stderr } = await runProgram(["mcp", ...args], { rig });
    assertEquals([args, code, stdout], [args, 2, ""]);
    assertMatch(stderr, /see: hermes mcp --help/);
  }
});
