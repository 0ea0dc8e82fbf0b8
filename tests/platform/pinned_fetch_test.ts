/** Requests to addresses that were checked before, over TLS (core.md C.11). Names ending in `.invalid` lead nowhere. */
import { fetchAt } from "../../src/platform/pinned_fetch.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "../support/assert.ts";
import { writeNamedCertificate } from "../support/named_certificate.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

const CHILD = new URL("../support/pinned_client.ts", import.meta.url).pathname;
const CONFIG = new URL("../../deno.json", import.meta.url).pathname;

interface Site extends AsyncDisposable {
  readonly port: number;
  readonly seen: string[];
  /** Streams whose reader has left. */
  left(): Promise<void>;
  ask(...requests: Json[]): Promise<Json[]>;
  /** With something more in the environment. */
  askWith(env: Record<string, string>, ...requests: Json[]): Promise<Json[]>;
}

/** A server for `a.invalid` and `b.invalid` on loopback, and a child that trusts its authority. */
async function startSite(): Promise<Site> {
  const dir = await Deno.makeTempDir();
  const { cert, key, ca } = await writeNamedCertificate(dir);
  const seen: string[] = [];
  const left = Promise.withResolvers<void>();
  const zeros = new Blob([new Uint8Array(100_000)]).stream().pipeThrough(new CompressionStream("gzip"));
  const zipped = await new Response(zeros).bytes();
  const server = Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    cert,
    key,
    onListen: () => {},
  }, async (request) => {
    const { hostname, pathname, port } = new URL(request.url);
    seen.push(`${request.method} ${hostname}${pathname} ${await request.text()}`.trim());
    if (pathname === "/far") return Response.redirect(`https://b.invalid:${port}/here`);
    if (pathname === "/zip") return new Response(zipped, { headers: { "content-encoding": "gzip" } });
    if (pathname !== "/endless") return new Response("here");
    return new Response(
      new ReadableStream({
        pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
        cancel: () => left.resolve(),
      }),
    );
  });
  const askWith: Site["askWith"] = async (env, ...requests) => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        "--config",
        CONFIG,
        CHILD,
        ...requests.map((one) => JSON.stringify(one)),
      ],
      env: { DENO_CERT: ca, NO_COLOR: "1", ...env },
    }).output();
    assertEquals(code, 0, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout).trim().split("\n").map((line) => JSON.parse(line));
  };
  return {
    port: server.addr.port,
    seen,
    left: () => left.promise,
    ask: (...requests) => askWith({}, ...requests),
    askWith,
    [Symbol.asyncDispose]: async () => {
      await server.shutdown();
      await Deno.remove(dir, { recursive: true });
    },
  };
}

Deno.test("core C.11: https goes to the address that was checked, and the name is not resolved again", async () => {
  await using site = await startSite();
  const url = (path: string, host = "a.invalid") => `https://${host}:${site.port}${path}`;
  const addresses = ["127.0.0.1"];
  const [plain, posted, next, nobody, redirect] = await site.ask(
    { url: url("/"), addresses },
    { url: url("/p"), addresses, init: { method: "POST", body: "text" } },
    { url: url("/next"), addresses: ["127.0.0.9", "127.0.0.1"] },
    { url: url("/"), addresses: ["127.0.0.9"] },
    { url: url("/far"), addresses },
  );
  assertEquals([plain.status, plain.text, posted.text, next.text], [200, "here", "here", "here"]);
  assertMatch(nobody.error, /^TypeError: Cannot connect to 127\.0\.0\.9/);
  assertEquals([redirect.status, redirect.location], [302, url("/here", "b.invalid")]);
  assertEquals(site.seen, [
    "GET a.invalid/",
    "POST a.invalid/p text",
    "GET a.invalid/next",
    "GET a.invalid/far",
  ]);
});

Deno.test("core C.11: a machine whose certificate bears another name gets no request", async () => {
  await using site = await startSite();
  const [other] = await site.ask({ url: `https://c.invalid:${site.port}/`, addresses: ["127.0.0.1"] });
  assertMatch(other.error, /certificate/);
  assertEquals(site.seen, []);
});

Deno.test("core C.11: over TLS too redirects are followed, bodies bounded, time kept, connections let go", async () => {
  await using site = await startSite();
  const at = (path: string, guarded: Json) => ({
    url: `https://a.invalid:${site.port}${path}`,
    addresses: ["127.0.0.1"],
    guarded,
  });
  const [far, zip, cut, endless] = await site.ask(
    at("/far", {}),
    at("/zip", { maxBytes: 99_999 }),
    at("/zip", { maxBytes: 10, overflow: "cut" }),
    at("/endless", { maxBytes: 1e12, timeoutMs: 300 }),
  );
  assertEquals([far.url, far.body], [`https://b.invalid:${site.port}/here`, "here"]);
  assertEquals([zip.kind, cut.body.length, cut.truncated], ["too_large", 10, true]);
  assertEquals(endless.kind, "timeout");
  await site.left();
});

Deno.test("core C.11: who knocks at the tunnel of a request without its password is turned away", async () => {
  await using site = await startSite();
  const [answer] = await site.ask({
    url: `https://a.invalid:${site.port}/`,
    addresses: ["127.0.0.1"],
    stranger: true,
  });
  assertEquals([answer.text, answer.heard], ["here", ""]);
});

Deno.test("core C.11: NO_PROXY does not make a name be looked up again; a proxy that is set connects by itself", async () => {
  await using site = await startSite();
  const asked = { url: `https://a.invalid:${site.port}/`, addresses: ["127.0.0.1"] };
  const plain = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("plain"),
  );
  try {
    const open = { url: `http://a.invalid:${plain.addr.port}/`, addresses: ["127.0.0.1"] };
    for (const none of ["*", "a.invalid", "A.Invalid"]) {
      const [tls, http] = await site.askWith({ NO_PROXY: none, no_proxy: none }, asked, open);
      assertEquals([tls.text, http.text], ["here", "plain"], none);
    }
    for (const https_proxy of ["http://127.0.0.1:9", "127.0.0.1:9"]) {
      const [proxied] = await site.askWith({ https_proxy }, asked);
      assertMatch(proxied.error, /tcp connect error/);
    }
    // What the runtime would read otherwise: neither may end in a lookup.
    const [unlike] = await site.askWith(
      { https_proxy: "http://127.0.0.1:9", no_proxy: "", NO_PROXY: "*" },
      asked,
    );
    assertMatch(unlike.error, /tcp connect error/);
    const [broken] = await site.askWith({ https_proxy: "http://[", no_proxy: "" }, asked);
    assert(!/dns|lookup/i.test(broken.error), broken.error);
    assertEquals(site.seen.length, 3);
  } finally {
    await plain.shutdown();
  }
});

Deno.test("core C.11: what one machine has taken is not sent to the next when its answer breaks off", async () => {
  const taken: string[] = [];
  async function serve(listener: Deno.TcpListener): Promise<void> {
    for await (const connection of listener) {
      const buffer = new Uint8Array(1_024);
      const size = await connection.read(buffer) ?? 0;
      if (size > 0) taken.push(listener.addr.hostname);
      connection.close();
    }
  }
  const first = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = first.addr;
  const second = Deno.listen({ hostname: "127.0.0.2", port });
  const serving = Promise.all([serve(first), serve(second)]);
  try {
    const post = () =>
      fetchAt(`http://a.invalid:${port}/`, { method: "POST", body: "once" }, ["127.0.0.1", "127.0.0.2"], {});
    await assertRejects(post, /error sending request/);
    assertEquals([...new Set(taken)], ["127.0.0.1"]);
  } finally {
    first.close();
    second.close();
    await serving;
  }
});

Deno.test("RFC 9112 3.2.1: a plain request goes out in origin form, with the name as Host, to the address that was given", async () => {
  const heads: string[] = [];
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  const serving = (async () => {
    for await (const connection of listener) {
      const buffer = new Uint8Array(4_096);
      heads.push(new TextDecoder().decode(buffer.subarray(0, await connection.read(buffer) ?? 0)));
      await connection.write(
        new TextEncoder().encode("HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok"),
      );
      connection.close();
    }
  })();
  try {
    for (const name of ["hook.invalid", "127.0.0.1"]) {
      const init = { method: "POST", body: "x", headers: { "x-mark": "1" } };
      const answer = await fetchAt(`http://${name}:${port}/hook?x=1`, init, ["127.0.0.1"], {});
      assertEquals([answer.status, await answer.text()], [200, "ok"]);
      const head = heads.at(-1)!;
      assertEquals(head.split("\r\n")[0], "POST /hook?x=1 HTTP/1.1");
      assertMatch(head, new RegExp(`^host: ${name.replaceAll(".", "\\.")}:${port}\r$`, "im"));
      assertMatch(head, /^x-mark: 1\r$/im);
    }
  } finally {
    listener.close();
    await serving;
  }
});
