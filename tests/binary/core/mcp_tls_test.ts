/** MCP servers behind TLS of a company's own, through the real program (core G.1). */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { startMcpHttp } from "../../support/mcp_server.ts";
import { makeRig, runProgram } from "../../support/program.ts";
import { startTlsFront, writeCertificates } from "../../support/tls.ts";

Deno.test("core G.1: ssl_verify, client_cert and client_key work in the program as it is delivered", async () => {
  await using rig = await makeRig();
  const { ca, client, ...certificates } = await writeCertificates(rig.workspace);
  await using plain = await startMcpHttp({ tools: ["echo"] });
  const origin = new URL(plain.url).origin;
  await using front = await startTlsFront(origin, { ca, client, ...certificates });
  await using strict = await startTlsFront(origin, { ca, client, ...certificates }, { mutual: true });
  const identity = { client_cert: client.cert, client_key: "client.key" };
  await rig.writeConfig({
    mcp_servers: {
      known: { url: `${front.origin}/mcp`, ssl_verify: ca },
      believed: { url: `${front.origin}/mcp`, ssl_verify: false },
      old: { url: `${front.origin}/sse`, transport: "sse", ssl_verify: false },
      mutual: { url: `${strict.origin}/mcp`, ssl_verify: ca, ...identity },
      lax: { url: `${strict.origin}/mcp`, ssl_verify: false, ...identity },
      stranger: { url: `${front.origin}/mcp` },
      nobody: { url: `${strict.origin}/mcp`, ssl_verify: ca },
    },
  });
  const { code, stdout, stderr } = await runProgram(["mcp", "test", "--json"], { rig, timeoutMs: 40_000 });
  const { servers } = JSON.parse(stdout);
  assertEquals(servers.map((one: Record<string, unknown>) => [one.name, one.connected]), [
    ["known", true],
    ["believed", true],
    ["old", true],
    ["mutual", true],
    ["lax", true],
    ["stranger", false],
    ["nobody", false],
  ], stderr);
  assertEquals([code, new Set(strict.shown)], [1, new Set(["test-client"])]);
  assertMatch(servers[5].error, /certificate/i);
  const told = await runProgram(["mcp", "test", "stranger"], { rig, timeoutMs: 40_000 });
  assertMatch(told.stderr, /do: +name the file of its CA in ssl_verify/);
});
