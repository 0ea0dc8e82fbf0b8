/** `ssl_ca_cert`, `ssl_verify` and `rate_limit_delay` of an endpoint (core.md E.4). */
import { tlsOf } from "@/models/endpoint_fetch.ts";
import { Pacer } from "@/models/pacer.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import type { HttpClient, Platform, TlsSettings } from "@/platform/mod.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { startModelServer } from "../support/model_server.ts";
import { endpoint, makeModels, platform, play, requestOf } from "./helpers.ts";

const PEM = "-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n";
const BOX = "https://127.0.0.1:9/v1";

Deno.test("core E.4: what an entry says of certificates", () => {
  assertEquals(tlsOf({}), null);
  assertEquals(tlsOf({ ssl_verify: true }), null);
  assertEquals(tlsOf({ ssl_verify: "true" }), null);
  assertEquals(tlsOf({ ssl_verify: false, ssl_ca_cert: "/ca" }), { verify: false, ca: null });
  assertEquals(tlsOf({ ssl_verify: "no" }), { verify: false, ca: null });
  assertEquals(tlsOf({ ssl_ca_cert: "/ca" }), { verify: true, ca: "/ca" });
  assertEquals(tlsOf({ ssl_verify: "/ca" }), { verify: true, ca: "/ca" });
  assertEquals(tlsOf({ ssl_verify: "/other", ssl_ca_cert: "/ca" }), { verify: true, ca: "/ca" });
});

interface Watched {
  readonly platform: Platform;
  readonly made: TlsSettings[];
  readonly usual: string[];
  readonly special: string[];
}

function watch(): Watched {
  const [made, usual, special]: [TlsSettings[], string[], string[]] = [[], [], []];
  const list = () => Promise.resolve(Response.json({ data: [{ id: "m" }] }));
  return {
    made,
    usual,
    special,
    platform: {
      ...platform,
      fetch: (url: string) => {
        usual.push(url);
        return list();
      },
      httpClient: (tls: TlsSettings): HttpClient => {
        made.push(tls);
        return {
          fetch: (url) => {
            special.push(url);
            return list();
          },
          close: () => {},
        };
      },
    },
  };
}

Deno.test("core E.4: lists and calls of an entry's own origin go over its certificates, all others by the usual way", async () => {
  const ca = await Deno.makeTempFile();
  await Deno.writeTextFile(ca, PEM);
  const watched = watch();
  const models = makeModels({
    platform: watched.platform,
    config: {
      model: { provider: "box", default: "m" },
      providers: {
        box: { base_url: BOX, ssl_ca_cert: ca },
        lax: { base_url: "https://127.0.0.1:8/v1", ssl_verify: false },
        plain: { base_url: "https://127.0.0.1:7/v1" },
      },
    },
  });
  await models.options({ refresh: true });
  await play(models.client(models.resolve({ provider: "box", model: "m" })), requestOf("hi"));
  assertEquals(watched.special.toSorted(), [
    "https://127.0.0.1:8/v1/models",
    `${BOX}/chat/completions`,
    `${BOX}/models`,
  ]);
  assertEquals(watched.usual, ["https://127.0.0.1:7/v1/models"]);
  assertEquals(watched.made.toSorted((a, b) => Number(a.verify) - Number(b.verify)), [
    { caCerts: [], identity: null, verify: false },
    { caCerts: [PEM], identity: null, verify: true },
  ]);
  await Deno.remove(ca);
});

Deno.test("core E.4: an entry of a known provider counts at that provider's address, and a file that is none is named", async () => {
  const models = makeModels({
    platform: { ...createDenoPlatform(), env: () => ({}) },
    env: { DEEPSEEK_API_KEY: "sk-0123456789" },
    config: {
      model: { provider: "deepseek", base_url: "https://127.0.0.1:9/v1", api_key: "sk-0123456789" },
      providers: { deepseek: { ssl_ca_cert: "/nowhere/ca.pem" } },
    },
  });
  const { failure } = await play(models.client(models.resolve()), requestOf("hi"));
  assertEquals(failure?.kind, "ssl");
  assertMatch(failure!.message, /ssl_ca_cert: \/nowhere\/ca\.pem cannot be read/);
});

Deno.test("core E.4: rate_limit_delay keeps the starts of calls apart, over sessions, for each endpoint alone", async () => {
  let now = 1_000;
  const waits: number[] = [];
  const clock = {
    ...platform.clock,
    monotonic: () => now,
    delay: (ms: number) => {
      waits.push(ms);
      return Promise.resolve();
    },
  };
  const pacer = new Pacer(clock);
  const { signal } = new AbortController();
  await pacer.wait("a", 2, signal);
  await pacer.wait("a", 2, signal);
  await pacer.wait("a", 2, signal);
  await pacer.wait("b", 2, signal);
  assertEquals(waits, [2_000, 4_000]);
  now += 6_500;
  await pacer.wait("a", 2, signal);
  assertEquals(waits, [2_000, 4_000]);
});

Deno.test("core E.4: two calls of an endpoint with a delay are that far apart, and a cancel ends the waiting", async () => {
  await using server = await startModelServer({ turns: ["a"], loop: true });
  const base = endpoint(server.url);
  const config = {
    ...base,
    providers: {
      box: { base_url: server.url, rate_limit_delay: 0.4 },
      slow: { base_url: server.url, rate_limit_delay: 60 },
    },
  };
  const models = makeModels({ config });
  const client = models.client(models.resolve({ provider: "box", model: "m" }));
  const start = performance.now();
  await Promise.all([play(client, requestOf("1")), play(client, requestOf("2", { sessionId: "s2" }))]);
  assert(performance.now() - start >= 390);
  assertEquals(server.calls().length, 2);
  const slow = models.client(models.resolve({ provider: "slow", model: "m" }));
  await play(slow, requestOf("3"));
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 20);
  const ended = await play(slow, requestOf("4"), controller.signal);
  assertEquals([ended.done, ended.failure, server.calls().length], [null, null, 3]);
});
