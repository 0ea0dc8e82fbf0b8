/** Servers behind a URL: Streamable HTTP and SSE. */
import { assertEquals, assertMatch } from "../support/assert.ts";
import { startMcpHttp } from "../support/mcp_server.ts";
import { eventually } from "../support/program.ts";
import { makeBench } from "./mcp_support.ts";

Deno.test("core G.1: Streamable HTTP with headers; the session is ended at the server", async () => {
  await using server = await startMcpHttp({ tools: ["echo"] });
  await using bench = await makeBench();
  const seat = bench.session({ servers: [{ name: "web", url: server.url, headers: { "X-Key": "k1" } }] });
  assertEquals(await seat.json("mcp__web__echo", { text: "over http" }), { result: "over http" });
  assertEquals([...new Set(server.requests.map(({ headers }) => headers["x-key"]))], ["k1"]);
  assertEquals(seat.tools.status(), [
    { name: "web", transport: "http", tools: 1, connected: true, disabled: false, status: "connected" },
  ]);
  await seat.tools.close();
  assertEquals(server.requests.at(-1)!.method, "DELETE");
});

Deno.test("core G.1: SSE for servers of the older kind", async () => {
  await using server = await startMcpHttp({ tools: ["echo"] });
  await using bench = await makeBench({ servers: { old: { url: server.sseUrl, transport: "sse" } } });
  const seat = bench.session();
  assertEquals(await seat.json("mcp__old__echo", { text: "over sse" }), { result: "over sse" });
  assertEquals(seat.tools.status()[0]!.transport, "sse");
  await bench.mcp.close();
});

Deno.test("core G.3: a session the server has forgotten is opened anew and the call made again", async () => {
  await using server = await startMcpHttp({ tools: ["echo"] });
  await using bench = await makeBench({ servers: { web: { url: server.url } } });
  const seat = bench.session();
  await seat.json("mcp__web__echo", { text: "one" });
  server.forget();
  assertEquals(await seat.json("mcp__web__echo", { text: "two" }), { result: "two" });
  await bench.mcp.close();
});

Deno.test("core G.3: a URL where nobody listens is a failed server, not a failed session", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  await using bench = await makeBench({ servers: { gone: { url: `http://127.0.0.1:${port}/mcp` } } });
  const seat = bench.session();
  await eventually(() => seat.reports.length > 0, 10_000, "the report");
  assertMatch(seat.reports[0]!, /^MCP server "gone" cannot be used: .*(refused|error sending request)/i);
});

Deno.test("core G.1: a server that knows the newest revision only is spoken to in that", async () => {
  await using server = await startMcpHttp({ tools: ["echo"], modern: true });
  await using bench = await makeBench({ servers: { web: { url: server.url } } });
  const seat = bench.session();
  assertEquals(await seat.json("mcp__web__echo", { text: "newest" }), { result: "newest" });
  assertEquals(server.requests.at(-1)!.headers["mcp-protocol-version"], "2026-07-28");
  await bench.mcp.close();
});

Deno.test("core G.3: an HTTP server that comes back is reached again", async () => {
  await using bench = await makeBench();
  const first = await startMcpHttp({ tools: ["echo"] });
  const seat = bench.session({ servers: [{ name: "web", url: first.url }] });
  await seat.json("mcp__web__echo", { text: "one" });
  await first[Symbol.asyncDispose]();
  const outcome = await seat.run("mcp__web__echo", { text: "two" });
  assertEquals([outcome.isError, outcome.effect], [true, "unknown"]);
  await using _second = await startMcpHttp({ tools: ["echo"], port: Number(new URL(first.url).port) });
  assertEquals(await seat.json("mcp__web__echo", { text: "three" }), { result: "three" });
  await seat.tools.close();
});

Deno.test("core G.1: a web page instead of a server is given up at once; skip_preflight tries on", async () => {
  await using page = await startMcpHttp({ tools: ["echo"], pages: 100 });
  await using bench = await makeBench({ servers: { web: { url: page.url } } });
  const seat = bench.session();
  await eventually(() => seat.reports.length > 0, 10_000, "the report");
  assertMatch(seat.reports[0]!, /answers with a web page and not as an MCP server; mend url/);
  assertEquals(page.requests.length, 1);
  await bench.mcp.close();
  await using starting = await startMcpHttp({ tools: ["echo"], pages: 1 });
  await using patient = await makeBench({ servers: { web: { url: starting.url, skip_preflight: true } } });
  assertEquals(await patient.session().json("mcp__web__echo", { text: "later" }), { result: "later" });
  await patient.mcp.close();
});

Deno.test("core G.1: connect_timeout bounds a start that hangs", async () => {
  await using server = await startMcpHttp({ tools: ["echo"], startMs: 1_500 });
  await using bench = await makeBench({ servers: { web: { url: server.url, connect_timeout: 0.2 } } });
  const { status } = (await bench.mcp.test("web", 10_000))!;
  assertEquals([status.status, status.error], ["failed", "no answer within 0.2 s"]);
});
