/** Servers that want a login: how one is made, used, renewed, and what is said when there is none. */
import { assert, assertEquals, assertMatch, assertRejects } from "../support/assert.ts";
import { type OAuthServer, startOAuthServer, visit } from "../support/oauth_server.ts";
import { eventually } from "../support/program.ts";
import { type Bench, makeBench } from "./mcp_support.ts";

const never = new AbortController().signal;

interface Place {
  readonly server: OAuthServer;
  readonly bench: Bench;
  /** Secrets that were kept out of outputs. */
  readonly hidden: string[];
  readonly path: string;
  stored(): Promise<Record<string, Record<string, unknown>>>;
  login(browse?: (address: string) => void): ReturnType<Bench["mcp"]["login"]>;
}

async function withLogin(
  test: (place: Place) => Promise<void>,
  more: Record<string, unknown> = {},
): Promise<void> {
  await using server = await startOAuthServer();
  const hidden: string[] = [];
  await using bench = await makeBench({
    servers: { desk: { url: server.url, auth: "oauth", ...more } },
    deps: {
      keepSecret: (value) => {
        hidden.push(value);
        return () => {};
      },
    },
  });
  const path = `${bench.home}/mcp-tokens/desk.json`;
  await test({
    server,
    bench,
    hidden,
    path,
    stored: async () => JSON.parse(await Deno.readTextFile(path)),
    login: (browse = (address) => void visit(address)) =>
      bench.mcp.login("desk", { show: browse, signal: never, timeoutMs: 20_000 }),
  });
  await bench.mcp.close();
}

Deno.test("core G.3: a login by PKCE stores tokens in mcp-tokens/, 0600; the server is used with them", async () => {
  await withLogin(async ({ server, bench, hidden, path, login, stored }) => {
    const result = await login();
    assertEquals(result, { issuer: server.origin, scope: "tools", expiresIn: 3600, renews: true });
    assertEquals((await Deno.stat(path)).mode! & 0o777, 0o600);
    assertEquals((await Deno.stat(`${bench.home}/mcp-tokens`)).mode! & 0o777, 0o700);
    assertEquals([...Deno.readDirSync(`${bench.home}/mcp-tokens`)].map(({ name }) => name), ["desk.json"]);
    const { tokens, server_url } = await stored();
    assertEquals([tokens!["access_token"], tokens!["refresh_token"]], server.given);
    assertEquals(server_url, server.url as unknown as Record<string, unknown>);
    assertEquals(hidden.toSorted(), server.given.toSorted());
    const { redirect_uris, token_endpoint_auth_method } = server.registered[0]!;
    assertMatch(String(redirect_uris), /^http:\/\/127\.0\.0\.1:\d+\/callback$/);
    assertEquals(token_endpoint_auth_method, "none");
    assertEquals(await bench.session().json("mcp__desk__echo", { text: "logged in" }), {
      result: "logged in",
    });
  });
});

Deno.test("core G.3: a token that has run out is renewed once, also for several calls at the same time", async () => {
  await withLogin(async ({ server, bench, login, stored }) => {
    await login();
    const seat = bench.session();
    await seat.offered("mcp__desk__echo");
    server.expire();
    const calls = ["a", "b", "c"].map((text) => seat.json("mcp__desk__echo", { text }));
    assertEquals(await Promise.all(calls), ["a", "b", "c"].map((result) => ({ result })));
    assertEquals(server.grants, ["authorization_code", "refresh_token"]);
    assertEquals((await stored()).tokens!["access_token"], server.given.at(-2));
  }, { supports_parallel_tool_calls: true });
});

Deno.test("core G.3: without a login, or when it cannot be renewed, the server is told with what to do", async () => {
  await withLogin(async ({ server, bench, login }) => {
    const advice = /it wants a login; run: hermes mcp login desk$/;
    const early = bench.session();
    await eventually(() => early.reports.length > 0, 5_000, "the report");
    assertMatch(early.reports[0]!, advice);
    assertEquals(server.registered, []);
    await login();
    server.expire();
    server.revoke();
    const { status } = (await bench.mcp.test("desk", 10_000))!;
    assertMatch(status.error!, /the login was not renewed \(invalid_grant\); run: hermes mcp login desk$/);
    for (const token of server.given) assert(!JSON.stringify([status, early.reports]).includes(token));
  });
});

Deno.test("core G.3: another program's fresh token is taken instead of spending the refresh token again", async () => {
  await withLogin(async ({ server, bench, login, path, stored }) => {
    await login();
    const seat = bench.session();
    await seat.json("mcp__desk__echo", { text: "one" });
    const before = await stored();
    server.expire();
    await login();
    const fresh = await stored();
    assert(fresh.tokens!["access_token"] !== before.tokens!["access_token"]);
    assertEquals(await seat.json("mcp__desk__echo", { text: "two" }), { result: "two" });
    assertEquals(server.grants, ["authorization_code", "authorization_code"]);
    await Deno.remove(path);
  });
});

Deno.test("core G.3: only the answer with the right state counts; a no and a failure store nothing", async () => {
  await withLogin(async ({ server, login, path }) => {
    const pages: number[] = [];
    await login(async (address) => {
      const back = new URL(new URL(address).searchParams.get("redirect_uri")!);
      for (const query of ["", "?code=x&state=wrong", "?state=", "?code=x"]) {
        pages.push((await visit(back.href + query)).status);
      }
      pages.push((await visit(back.origin)).status);
      const page = await visit(address);
      pages.push(page.status);
      assertMatch(page.text, /Logged in/);
    });
    assertEquals(pages, [400, 400, 400, 400, 404, 200]);
    const kept = await Deno.readTextFile(path);
    server.deny = true;
    await assertRejects(() => login(), /the authorisation server says access_denied/);
    assertEquals(await Deno.readTextFile(path), kept);
  });
});

Deno.test("core G.3: a login ends in time and by a cancel, and its port is free again", async () => {
  await withLogin(async ({ bench }) => {
    let back = "";
    const show = (address: string) => void (back = new URL(address).searchParams.get("redirect_uri")!);
    await assertRejects(
      () => bench.mcp.login("desk", { show, signal: never, timeoutMs: 1_500 }),
      /nobody logged in within 1\.5 s/,
    );
    await assertRejects(() => fetch(back), /error sending request/);
    const controller = new AbortController();
    const stop = () => controller.abort();
    await assertRejects(
      () => bench.mcp.login("desk", { show: stop, signal: controller.signal, timeoutMs: 20_000 }),
      /cancelled/,
    );
  });
});

Deno.test("core G.3: a login counts for the address it was made for, and a logout deletes it", async () => {
  await withLogin(async ({ server, bench, login, path }) => {
    await login();
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(path, text.replaceAll(server.url, "https://elsewhere.test/mcp"));
    assertMatch((await bench.mcp.test("desk", 10_000))!.status.error!, /it wants a login/);
    assertEquals([await bench.mcp.logout("desk"), await bench.mcp.logout("desk")], [true, false]);
    assertEquals(await bench.mcp.logout("nobody"), null);
  });
});

Deno.test("core G.3: a refresh token is shown to nobody but the authorisation server of the login", async () => {
  await withLogin(async ({ server, bench, login, path }) => {
    await login();
    const text = await Deno.readTextFile(path);
    await Deno.writeTextFile(
      path,
      text.replace(`"issuer": "${server.origin}"`, '"issuer": "https://other.test"'),
    );
    server.expire();
    const { status } = (await bench.mcp.test("desk", 10_000))!;
    assertMatch(status.error!, /another authorisation server than at the login; run: hermes mcp login desk$/);
    assertEquals(server.grants, ["authorization_code"]);
  });
});

Deno.test("core G.3: an entry's own headers are for its server: who renews the login does not get them", async () => {
  await withLogin(async ({ server, bench, login }) => {
    await login();
    server.keyed.length = 0;
    const seat = bench.session();
    await seat.json("mcp__desk__echo", { text: "one" });
    server.expire();
    assertEquals(await seat.json("mcp__desk__echo", { text: "two" }), { result: "two" });
    assertEquals(server.grants, ["authorization_code", "refresh_token"]);
    assertEquals([...new Set(server.keyed)], ["/mcp"]);
  }, { headers: { "x-key": "k" } });
});

Deno.test("core G.3: a login follows no redirect to another host, with neither headers nor tokens", async () => {
  const seen: string[] = [];
  const stranger = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    seen.push(
      `${request.method} ${new URL(request.url).pathname} ${request.headers.get("x-key")} ${await request
        .text()}`,
    );
    return new Response(null, { status: 404 });
  });
  try {
    for (const path of ["/mcp", "/where-to-log-in", "/.well-known/oauth-authorization-server", "/token"]) {
      await withLogin(async ({ server, login }) => {
        server.moved.set(path, `http://127.0.0.1:${stranger.addr.port}/take`);
        await login().catch(() => {/* some of them cannot be done without */});
        assertEquals(seen, [], path);
      }, { headers: { "x-key": "k" } });
    }
  } finally {
    await stranger.shutdown();
  }
});

Deno.test("core G.3: a server that moved within its origin is asked there what a login needs", async () => {
  await withLogin(async ({ server, login, bench }) => {
    server.moved.set("/mcp", `${server.origin}/mcp/`);
    assertEquals((await login())?.scope, "tools");
    assertEquals(await bench.session().json("mcp__desk__echo", { text: "moved" }), { result: "moved" });
  });
});

Deno.test("core G.3: a renewal that a logout overtakes does not log in again", async () => {
  await withLogin(async ({ server, bench, login, path }) => {
    await login();
    server.expire();
    server.beforeToken = async () => void await bench.mcp.logout("desk");
    const { status } = (await bench.mcp.test("desk", 10_000))!;
    assertMatch(status.error!, /somebody has logged out; run: hermes mcp login desk$/);
    assertEquals(await Deno.stat(path).catch(() => null), null);
  });
});
