import { guardedFetch, type GuardedNet, type GuardedOptions } from "@/lib/guarded_fetch.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "../support/assert.ts";

const PUBLIC = "93.184.216.34";
const platform = createDenoPlatform();
const text = (body: Uint8Array) => new TextDecoder().decode(body);

type Handler = (request: Request) => Response | Promise<Response>;

/** A local server, and a network on which every `*.test` name is public and leads to it. */
async function withServer(
  handler: Handler,
  run: (tools: { net: GuardedNet; asked: string[]; port: number }) => Promise<void>,
): Promise<void> {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, handler);
  const { port } = server.addr;
  const asked: string[] = [];
  const net: GuardedNet = {
    resolve: (host) => host.endsWith(".test") ? Promise.resolve([PUBLIC]) : platform.resolve(host),
    fetchAt: (url, init, addresses) => {
      asked.push(`${url} at ${addresses}`);
      const local = new URL(url);
      local.port = String(port);
      return platform.fetchAt(local.href, init, ["127.0.0.1"]);
    },
  };
  try {
    await run({ net, asked, port });
  } finally {
    await server.shutdown();
  }
}

async function get(url: string, options: GuardedOptions) {
  const answer = await guardedFetch(url, options);
  return answer.ok
    ? { status: answer.status, url: answer.url, body: text(answer.body), truncated: answer.truncated }
    : { kind: answer.kind, reason: answer.reason };
}

Deno.test("fetchAt() connects to the given address and keeps the name in Host; nothing is resolved again", async () => {
  await withServer(
    (request) => new Response(request.headers.get("host"), { headers: { "x-seen": "yes" } }),
    async ({ port }) => {
      const response = await platform.fetchAt(`http://does-not-exist.invalid:${port}/x`, {}, ["127.0.0.1"]);
      assertEquals([response.status, response.headers.get("x-seen")], [200, "yes"]);
      assertEquals(await response.text(), `does-not-exist.invalid:${port}`);
    },
  );
});

Deno.test("fetchAt() goes on to the next address where nobody listens at one", async () => {
  await withServer(() => new Response("here"), async ({ port }) => {
    const response = await platform.fetchAt(`http://a.invalid:${port}/`, {}, ["127.0.0.9", "127.0.0.1"]);
    assertEquals(await response.text(), "here");
    await assertRejects(() => platform.fetchAt(`http://a.invalid:${port}/`, {}, ["127.0.0.9"]), /connect/i);
  });
});

Deno.test("guardedFetch() asks the addresses that were checked and reads the answer", async () => {
  await withServer(() => new Response("hello"), async ({ net, asked }) => {
    assertEquals(await get("http://a.test/x?y=1#z", { net }), {
      status: 200,
      url: "http://a.test/x?y=1#z",
      body: "hello",
      truncated: false,
    });
    assertEquals(asked, [`http://a.test/x?y=1 at ${PUBLIC}`]);
  });
});

Deno.test("core 46: guardedFetch() judges every hop: a public page that leads inside is refused unseen", async () => {
  const targets = [
    "http://127.0.0.1:1/",
    "http://0x7f.1/",
    "http://[::ffff:127.0.0.1]/",
    "//169.254.169.254/latest",
    "file:///etc/passwd",
    "http://metadata.google.internal/",
  ];
  for (const location of targets) {
    await withServer(
      () => new Response(null, { status: 302, headers: { location } }),
      async ({ net, asked }) => {
        const answer = await get("http://a.test/", { net });
        assertEquals(answer.kind, "refused", location);
        assertMatch(answer.reason!, /^it redirects to a place that is refused: /);
        assertEquals(asked.length, 1);
      },
    );
  }
});

Deno.test("core 46: guardedFetch() sees a name that changes its mind between two hops", async () => {
  let asked = 0;
  await withServer(() => Response.redirect("http://a.test/next"), async ({ net }) => {
    const turning = { ...net, resolve: () => Promise.resolve([asked++ === 0 ? PUBLIC : "127.0.0.1"]) };
    assertEquals((await get("http://a.test/", { net: turning })).kind, "refused");
  });
});

Deno.test("guardedFetch() follows redirects, a few of them, and keeps what belongs to one origin there", async () => {
  const seen: unknown[] = [];
  await withServer((request) => {
    const { pathname, hostname } = new URL(request.url);
    seen.push([
      request.method,
      hostname,
      pathname,
      request.headers.get("authorization"),
      request.headers.get("accept"),
    ]);
    if (pathname === "/1") return new Response(null, { status: 302, headers: { location: "/2" } });
    if (pathname === "/2") {
      return new Response(null, { status: 307, headers: { location: "http://b.test/3" } });
    }
    if (pathname === "/loop") return new Response(null, { status: 301, headers: { location: "/loop" } });
    return new Response("end");
  }, async ({ net }) => {
    const headers = { authorization: "Bearer x", accept: "text/html" };
    const answer = await get("http://a.test/1", { net, headers, method: "POST", body: "b" });
    assertEquals([answer.url, answer.body], ["http://b.test/3", "end"]);
    assertEquals(seen, [
      ["POST", "a.test", "/1", "Bearer x", "text/html"],
      ["GET", "a.test", "/2", "Bearer x", "text/html"],
      ["GET", "b.test", "/3", null, "text/html"],
    ]);
    assertEquals(await get("http://a.test/loop", { net, maxRedirects: 3 }), {
      kind: "failed",
      reason: "it redirects more than 3 times",
    });
  });
});

Deno.test("guardedFetch() bounds the body after decompression: an error, or the beginning", async () => {
  const bomb = async () => {
    const zeros = new Blob([new Uint8Array(5_000_000)]).stream().pipeThrough(new CompressionStream("gzip"));
    return new Response(new Uint8Array(await new Response(zeros).arrayBuffer()), {
      headers: { "content-encoding": "gzip" },
    });
  };
  await withServer(bomb, async ({ net }) => {
    assertEquals((await get("http://a.test/", { net, maxBytes: 1_000 })).kind, "too_large");
    const cut = await get("http://a.test/", { net, maxBytes: 1_000, overflow: "cut" });
    assertEquals([cut.body!.length, cut.truncated], [1_000, true]);
    assertEquals((await get("http://a.test/", { net })).body!.length, 5_000_000);
  });
});

Deno.test("guardedFetch() ends in time, and with the caller's signal, also while a body is being read", async () => {
  const endless = () => new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(10)) }));
  await withServer(endless, async ({ net }) => {
    assertEquals(await get("http://a.test/", { net, timeoutMs: 50 }), {
      kind: "timeout",
      reason: "no complete answer in 0.05 s",
    });
    const controller = new AbortController();
    const running = guardedFetch("http://a.test/", {
      net: {
        ...net,
        fetchAt: async (...args) => {
          const response = await net.fetchAt(...args);
          queueMicrotask(() => controller.abort());
          return response;
        },
      },
      signal: controller.signal,
    });
    await assertRejects(() => running, /aborted/);
    const lost = { ...net, resolve: () => new Promise<never>(() => {}) };
    assertEquals((await get("http://a.test/", { net: lost, timeoutMs: 20 })).kind, "timeout");
  });
});

Deno.test("guardedFetch() tells a refusal of the caller's and a broken connection apart", async () => {
  await withServer(() => new Response("x"), async ({ net }) => {
    const check = (url: URL) => url.hostname === "a.test" ? "a.test is not wanted" : null;
    assertEquals(await get("http://a.test/", { net, check }), {
      kind: "refused",
      reason: "a.test is not wanted",
    });
  });
  const dead: GuardedNet = {
    resolve: () => Promise.resolve([PUBLIC]),
    fetchAt: () => platform.fetchAt("http://127.0.0.1:1/", {}, ["127.0.0.1"]),
  };
  assertEquals((await get("http://a.test/", { net: dead })).kind, "failed");
  const allowed = await get("http://127.0.0.1:1/", { net: dead, allowHosts: ["127.0.0.1"] });
  assert(allowed.kind === "failed");
});
