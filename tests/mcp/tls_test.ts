/** Servers behind TLS of their own kind: a company's authority, none at all, certificates on both sides. */
import { textOf } from "@/core/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { openHttpClient } from "../../src/mcp/http_client.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "../support/assert.ts";
import { type McpScript, startMcpHttp } from "../support/mcp_server.ts";
import { eventually } from "../support/program.ts";
import { type Certificates, startTlsFront, type TlsFront, writeCertificates } from "../support/tls.ts";
import { makeBench, type Seat } from "./mcp_support.ts";

interface Place {
  readonly certificates: Certificates;
  readonly front: TlsFront;
  /** A session with one configured server "web" behind TLS. */
  open(entry: Record<string, unknown>, path?: string): Promise<Seat>;
}

async function withTls(
  options: { mutual?: boolean; script?: McpScript },
  test: (place: Place) => Promise<void>,
): Promise<void> {
  const dir = await Deno.makeTempDir({ prefix: "hermes-tls-" });
  try {
    const certificates = await writeCertificates(dir);
    await using plain = await startMcpHttp(options.script ?? { tools: ["echo"] });
    await using front = await startTlsFront(new URL(plain.url).origin, certificates, options);
    await using benches = new AsyncDisposableStack();
    const open = async (entry: Record<string, unknown>, path = "/mcp") => {
      const servers = { web: { url: front.origin + path, connect_timeout: 20, ...entry } };
      return benches.use(await makeBench({ servers })).session();
    };
    await test({ certificates, front, open });
    await benches.disposeAsync();
  } finally {
    await Deno.remove(dir, { recursive: true });
  }
}

async function whyNot(seat: Seat): Promise<string> {
  await eventually(() => seat.reports.length > 0, 15_000, "the report");
  return seat.reports[0]!;
}

Deno.test("core G.1: ssl_verify names the CA that a server's certificate comes from; without it nobody is believed", async () => {
  await withTls({}, async ({ certificates, open }) => {
    assertMatch(await whyNot(await open({})), /MCP server "web" cannot be used: .*certificate/i);
    const seat = await open({ ssl_verify: certificates.ca });
    assertEquals(await seat.json("mcp__web__echo", { text: "by our CA" }), { result: "by our CA" });
    const old = await open({ ssl_verify: certificates.ca, transport: "sse" }, "/sse");
    assertEquals(await old.json("mcp__web__echo", { text: "over sse" }), { result: "over sse" });
  });
});

Deno.test("core G.1: ssl_verify false believes whoever answers, also on event streams", async () => {
  await withTls({}, async ({ open }) => {
    const seat = await open({ ssl_verify: false });
    const long = "x".repeat(300_000);
    assertEquals(await seat.json("mcp__web__echo", { text: long }), { result: long });
    const old = await open({ ssl_verify: false, transport: "sse" }, "/sse");
    assertEquals(await old.json("mcp__web__echo", { text: "over sse" }), { result: "over sse" });
  });
});

Deno.test("core G.3: a call over TLS that is not checked can be cancelled, and the server is used again", async () => {
  await withTls({ script: { tools: ["slow", "echo"] } }, async ({ open }) => {
    const seat = await open({ ssl_verify: false });
    await seat.offered("mcp__web__slow");
    const controller = new AbortController();
    const running = seat.run("mcp__web__slow", { ms: 3_000 }, { signal: controller.signal });
    setTimeout(() => controller.abort(), 100);
    const outcome = await running;
    assertEquals([outcome.isError, outcome.effect], [true, "unknown"]);
    assertEquals(await seat.json("mcp__web__echo", { text: "again" }), { result: "again" });
  });
});

Deno.test("core G.1: client_cert and client_key are shown to a server that wants them; without them it turns away", async () => {
  await withTls({ mutual: true }, async ({ certificates, front, open }) => {
    const { ca, client } = certificates;
    await whyNot(await open({ ssl_verify: ca }));
    assertEquals(front.shown, []);
    const both = { client_cert: client.cert, client_key: client.key };
    for (const ssl_verify of [ca, false]) {
      front.shown.length = 0;
      const seat = await open({ ssl_verify, ...both });
      assertEquals(await seat.json("mcp__web__echo", { text: "it is me" }), { result: "it is me" });
      assertEquals([...new Set(front.shown)], ["test-client"]);
    }
    const one = `${ca}.both`;
    await Deno.writeTextFile(one, await Deno.readTextFile(client.key) + await Deno.readTextFile(client.cert));
    const seat = await open({ ssl_verify: ca, client_cert: one });
    assertEquals(await seat.json("mcp__web__echo", { text: "one file" }), { result: "one file" });
  });
});

Deno.test("core G.1: a file that is missing or no certificate is told and not tried again", async () => {
  await withTls({}, async ({ certificates, front, open }) => {
    const noPem = `${certificates.ca}.txt`;
    await Deno.writeTextFile(noPem, "subjectAltName=IP:127.0.0.1\n");
    const cases: [Record<string, unknown>, RegExp][] = [
      [{ ssl_verify: "/no/such/ca.pem" }, /ssl_verify: \/no\/such\/ca\.pem cannot be read/],
      [{ client_cert: noPem }, /client_cert: .* holds no PEM/],
      [{ client_cert: certificates.client.key, client_key: certificates.client.cert }, /cannot be used: /],
    ];
    for (const [entry, pattern] of cases) {
      const seat = await open(entry);
      assertMatch(await whyNot(seat), pattern);
      const [status] = seat.tools.status();
      assertEquals(status!.status, "failed");
    }
    assertEquals(front.shown, []);
    const seat = await open({ ssl_verify: certificates.ca, timeout: 5 });
    const outcome = await seat.run("mcp__web__echo", { text: "well" });
    assert(!outcome.isError, textOf(outcome.content));
  });
});

Deno.test("core G.1: ssl_verify false is said of one host: another that it sends us to is checked as always", async () => {
  await withTls({}, async ({ front }) => {
    const tls = { verify: false, ca: null, cert: null, key: null };
    const client = await openHttpClient(`${front.origin}/mcp`, tls, createDenoPlatform());
    const { port } = new URL(front.origin);
    await (await client.fetch(`${front.origin}/nothing`)).body?.cancel();
    await assertRejects(
      () => client.fetch(`https://localhost:${port}/token`, { method: "POST" }),
      /certificate/i,
    );
    client.close();
  });
});
