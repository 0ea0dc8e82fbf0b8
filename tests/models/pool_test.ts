/** Several keys of one provider: which is next, what makes one rest, what is kept of it (core.md F.3, A.11). */
import type { ModelChunk, ModelClient, ModelFailureKind } from "@/core/mod.ts";
import {
  addPooled,
  authPath,
  changePool,
  fingerprintOf,
  listPooled,
  readAuth,
} from "../../src/models/auth_file.ts";
import { firstKey, parseAuth } from "../../src/models/auth_key.ts";
import type { FoundKey } from "../../src/models/keys.ts";
import { KeyPool, type Strategy } from "../../src/models/pool.ts";
import { PooledClient } from "../../src/models/pooled_client.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { patient } from "../support/patience.ts";
import { eventually } from "../support/program.ts";
import { makeModels, platform as real, play, requestOf, withHome } from "./helpers.ts";

const HOUR = 3_600_000;
const LOG = { debug() {}, info() {}, warn() {}, error() {} };

interface Bench {
  readonly pool: KeyPool;
  readonly client: PooledClient;
  /** Keys that were called with, oldest first. */
  readonly called: string[];
  readonly waits: number[];
  readonly secrets: string[];
  /** What a key answers; absent: an answer. */
  readonly answers: Map<string, ModelFailureKind[]>;
  ask(): Promise<string>;
  at(ms: number): void;
}

const USAGE = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 };

function makeBench(
  home: string,
  options: { strategy?: Strategy; borrowed?: FoundKey[]; random?: number } = {},
): Bench {
  let now = Date.now();
  const waits: number[] = [];
  const called: string[] = [];
  const secrets: string[] = [];
  const answers = new Map<string, ModelFailureKind[]>();
  const platform = {
    ...real,
    random: () => options.random ?? 0,
    clock: {
      ...real.clock,
      now: () => now,
      delay: (ms: number, more?: { signal?: AbortSignal }) => {
        if (ms >= 100) waits.push(ms);
        return real.clock.delay(Math.min(ms, 5), more);
      },
    },
  };
  const pool = new KeyPool({
    platform,
    log: LOG,
    home,
    provider: "openrouter",
    strategy: () => options.strategy ?? "fill_first",
    borrowed: () => options.borrowed ?? [],
    keepSecret: (value) => void secrets.push(value),
  });
  const info = { provider: "openrouter", model: "m" } as ModelClient["info"];
  const clientOf = (secret: string): ModelClient => ({
    info,
    async *stream() {
      called.push(secret);
      await Promise.resolve();
      const kind = answers.get(secret)?.shift();
      const failure = { kind, message: String(kind), provider: "openrouter", model: "m", retryable: false };
      const end: ModelChunk = kind
        ? { type: "error", failure: failure as never, toolInFlight: false }
        : { type: "done", finish: "stop", toolCalls: [], usage: USAGE };
      if (kind) yield [end];
      else yield* [[{ type: "text", text: "hi" }], [end]] as ModelChunk[][];
    },
  });
  const client = new PooledClient({ plain: clientOf("plain"), pool, platform, clientOf });
  return {
    pool,
    client,
    called,
    waits,
    secrets,
    answers,
    at: (ms) => void (now += ms),
    ask: async () => {
      const ends: string[] = [];
      for await (const batch of client.stream({} as never, { signal: new AbortController().signal })) {
        for (const chunk of batch) {
          if (chunk.type !== "text") ends.push(chunk.type === "error" ? chunk.failure.kind : "done");
        }
      }
      return ends.join();
    },
  };
}

async function withKeys(keys: readonly string[], run: (home: string) => Promise<void>): Promise<void> {
  await withHome(async (home) => {
    for (const key of keys) await addPooled(real, home, { provider: "openrouter", key, label: null });
    await run(home);
  });
}

const stored = (home: string) =>
  parseAuth(Deno.readTextFileSync(authPath(home)))!.credential_pool["openrouter"]!;
const A = "key-aaaa-1111", B = "key-bbbb-2222", C = "key-cccc-3333";

Deno.test("core F.3: 429 is met once more with the same key, then the next one has its turn, for an hour", async () => {
  await withKeys([A, B], async (home) => {
    const bench = makeBench(home);
    bench.answers.set(A, ["rate_limit"]);
    assertEquals([await bench.ask(), bench.called.splice(0), bench.waits], ["done", [A, A], [1_000]]);
    bench.answers.set(A, ["rate_limit", "rate_limit"]);
    assertEquals([await bench.ask(), bench.called.splice(0)], ["done", [A, A, B]]);
    bench.at(HOUR - 1);
    assertEquals([await bench.ask(), bench.called.splice(0)], ["done", [B]]);
    bench.at(2);
    assertEquals([await bench.ask(), bench.called.splice(0)], ["done", [A]]);
  });
});

Deno.test("core F.3: 402 rests a day, 401 an hour, both at once; what another key does not cure is passed on", async () => {
  await withKeys([A, B, C], async (home) => {
    const bench = makeBench(home);
    bench.answers.set(A, ["billing"]).set(B, ["auth"]);
    assertEquals([await bench.ask(), bench.called.splice(0), bench.waits], ["done", [A, B, C], []]);
    bench.at(HOUR + 1);
    assertEquals([await bench.ask(), bench.called.splice(0)], ["done", [B]]);
    bench.at(22 * HOUR);
    assertEquals([await bench.ask(), bench.called.splice(0)], ["done", [B]]);
    bench.at(HOUR);
    assertEquals([await bench.ask(), bench.called.splice(0)], ["done", [A]]);
    for (const kind of ["server_error", "upstream_rate_limit", "context_overflow"] as const) {
      bench.answers.set(A, [kind]);
      assertEquals([await bench.ask(), bench.called.splice(0)], [kind, [A]]);
    }
  });
});

Deno.test("core F.3: only when no key is left does anybody hear of it; then the one that rests shortest is tried", async () => {
  await withKeys([A, B], async (home) => {
    const bench = makeBench(home);
    bench.answers.set(A, ["billing"]).set(B, ["rate_limit", "rate_limit", "rate_limit"]);
    assertEquals([await bench.ask(), bench.called.splice(0)], ["rate_limit", [A, B, B]]);
    assertEquals([await bench.ask(), bench.called.splice(0)], ["rate_limit", [B]]);
    assertEquals([await bench.ask(), bench.called.splice(0)], ["done", [B]]);
  });
});

Deno.test("core F.3: the strategies", async () => {
  const order = async (home: string, strategy: Strategy, random?: number) => {
    const bench = makeBench(home, { strategy, ...(random === undefined ? {} : { random }) });
    for (let n = 0; n < 4; n++) await bench.ask();
    return bench.called;
  };
  await withKeys([A, B, C], async (home) => {
    assertEquals(await order(home, "fill_first"), [A, A, A, A]);
    assertEquals(await order(home, "least_used"), [B, C, B, C]);
    assertEquals(await order(home, "random", 0.99), [C, C, C, C]);
    // Used so far: 4, 2, 6.
    assertEquals(await order(home, "round_robin"), [B, C, A, B]);
  });
});

Deno.test("core F.3: status and counts are kept for the user alone, a key of the environment by name and fingerprint", async () => {
  await withKeys([B], async (home) => {
    await changePool(
      real,
      home,
      "openrouter",
      (entries) => entries.map((entry) => ({ ...entry, base_url: "kept" })),
    );
    const lent = { from: "OPENROUTER_API_KEY", key: A };
    const bench = makeBench(home, { borrowed: [lent] });
    bench.answers.set(A, ["billing"]);
    await bench.ask();
    const text = Deno.readTextFileSync(authPath(home));
    assertEquals([text.includes(A), text.includes(B)], [false, true]);
    assertEquals(Deno.statSync(authPath(home)).mode! & 0o777, 0o600);
    const facts = stored(home).map((
      e,
    ) => [e["source"], e["last_status"], e["last_error_code"], e["request_count"]]);
    assertEquals(facts, [["manual", "ok", undefined, 1], ["env:OPENROUTER_API_KEY", "exhausted", 402, 1]]);
    assertEquals(stored(home)[1]!["secret_fingerprint"], fingerprintOf(A));
    assertEquals(stored(home)[0]!["base_url"], "kept", "what is not known here stays");
    assertEquals(bench.secrets.sort(), [A, B]);
    // Another program knows it from the file; a new value under the same name is another key.
    const other = makeBench(home, { borrowed: [lent] });
    await other.ask();
    const renewed = makeBench(home, { borrowed: [{ ...lent, key: C }] });
    await renewed.ask();
    assertEquals([other.called, renewed.called], [[B], [C]]);
    const { keys } = listPooled(real, home);
    assert(!JSON.stringify(keys).includes(A) && !JSON.stringify(keys).includes(B));
    assertEquals(keys.map(({ source, requests }) => [source, requests]), [["manual", 2], [
      "env:OPENROUTER_API_KEY",
      2,
    ]]);
  });
});

Deno.test("core F.3: a key that is added or removed meanwhile counts with the next request", async () => {
  await withKeys([A], async (home) => {
    const bench = makeBench(home);
    await bench.ask();
    await addPooled(real, home, { provider: "openrouter", key: B, label: "b" });
    await changePool(real, home, "openrouter", (entries) => entries.slice(1));
    await bench.ask();
    await changePool(real, home, "openrouter", () => []);
    await bench.ask();
    assertEquals(bench.called, [A, B, "plain"]);
    assertEquals(parseAuth(Deno.readTextFileSync(authPath(home)))!.credential_pool, {});
  });
});

Deno.test("core F.3: a broken file is copied to auth.json.corrupt and counts as empty; logins and stand-ins are no keys", async () => {
  await withHome(async (home) => {
    await Deno.writeTextFile(authPath(home), '{"credential_pool": {"openrouter": [');
    const bench = makeBench(home);
    await bench.ask();
    assertEquals(bench.called, ["plain"]);
    assertEquals(Deno.readTextFileSync(`${home}/auth.json.corrupt`), '{"credential_pool": {"openrouter": [');
    assertEquals(Deno.statSync(`${home}/auth.json.corrupt`).mode! & 0o777, 0o600);
    await addPooled(real, home, { provider: "openrouter", key: A, label: null });
    assertEquals((await readAuth(real, authPath(home))).wasBroken, false);
    assertEquals(firstKey(parseAuth(Deno.readTextFileSync(authPath(home))), "openrouter"), A);
  });
  const file = parseAuth(JSON.stringify({
    credential_pool: {
      openrouter: [
        { id: "1", auth_type: "oauth", access_token: "login-token-1", priority: 0 },
        { id: "2", auth_type: "api_key", access_token: "your-key", priority: 1 },
        { id: "3", access_token: B, priority: 9 },
        { id: "4", access_token: A, priority: 2 },
      ],
      toString: "no list",
    },
  }));
  assertEquals([firstKey(file, "openrouter"), firstKey(file, "toString"), firstKey(file, "valueOf")], [
    A,
    null,
    null,
  ]);
  assertEquals([parseAuth("[]"), parseAuth("nonsense")], [null, null]);
  assertEquals(parseAuth(null)!.credential_pool, {});
});

Deno.test("core F.2: OpenRouter's pool comes after its and OpenAI's variables and before the others; other pools are last", async () => {
  const env = (...names: string[]) => Object.fromEntries(names.map((name) => [name, `${name}-0123456789`]));
  const chosen = (home: string, names: string[]) =>
    makeModels({ home, env: env(...names) }).resolve({}).provider;
  await withKeys([A], (home) => {
    assertEquals(chosen(home, []), "openrouter");
    assertEquals(chosen(home, ["OPENAI_API_KEY"]), "openai-api");
    assertEquals(chosen(home, ["ANTHROPIC_API_KEY"]), "openrouter");
    return Promise.resolve();
  });
  await withHome(async (home) => {
    await addPooled(real, home, { provider: "deepseek", key: A, label: null });
    assertEquals(chosen(home, []), "deepseek");
    assertEquals(chosen(home, ["ANTHROPIC_API_KEY"]), "anthropic");
  });
});

Deno.test("core F.2, 62: a pooled key is sent to its provider's own host, and to no address that was put in its place", async () => {
  await withKeys([A, B], async (home) => {
    const sent: (string | null)[] = [];
    const platform = {
      ...real,
      fetch: (url: string, init?: RequestInit) => {
        sent.push(`${new URL(url).host} ${new Headers(init?.headers).get("authorization")}`);
        return Promise.resolve(new Response("{}", { status: 418 }));
      },
    };
    const call = async (config: Record<string, unknown>, env: Record<string, string> = {}) => {
      const models = makeModels({ home, platform, config, env });
      try {
        await play(models.client(models.resolve({})), requestOf("x"));
      } catch (error) {
        sent.push((error as { code: string }).code);
      }
      return sent.splice(0);
    };
    const own = { model: { provider: "openrouter", default: "m" } };
    assertEquals(await call(own), [`openrouter.ai Bearer ${A}`]);
    const elsewhere = { model: { ...own.model, base_url: "https://evil.example/v1" } };
    assertEquals(await call(elsewhere), ["missing_api_key"]);
    assertEquals(await call({ model: { ...own.model, base_url: "https://evil.example/v1", api_key: C } }), [
      `evil.example Bearer ${C}`,
    ]);
  });
});

Deno.test("core F.3: a home without auth.json costs one look for it", async () => {
  await withHome(async (home) => {
    let looks = 0;
    const note = (path: string) => void (path.endsWith("auth.json") && looks++);
    const files = {
      ...real.files,
      statSync: (path: string) => (note(path), real.files.statSync(path)),
      readTextSync: (path: string) => (note(path), real.files.readTextSync(path)),
    };
    const fetch = () => Promise.resolve(new Response("{}", { status: 418 }));
    const models = makeModels({
      home,
      env: { ANTHROPIC_API_KEY: "sk-ant-0123456789" },
      platform: { ...real, files, fetch },
    });
    for (let n = 0; n < 3; n++) await play(models.client(models.resolve({ model: `m${n}` })), requestOf("x"));
    assertEquals(looks, 1);
  });
});

Deno.test("core F.3: a home that cannot be written, or is locked, holds up no answer", async () => {
  await withKeys([A, B], async (home) => {
    await Deno.writeTextFile(`${authPath(home)}.lock`, `1:other:${Date.now()}\n`);
    const bench = makeBench(home);
    bench.answers.set(A, ["billing"]);
    const start = performance.now();
    assertEquals([await bench.ask(), bench.called], ["done", [A, B]]);
    assert(performance.now() - start < patient(1_500));
    await Deno.remove(`${authPath(home)}.lock`);
    // Both were waiting for it, and are kept now.
    await eventually(() => stored(home).map((entry) => entry["request_count"]).join() === "1,1");
    await eventually(() => Deno.stat(`${authPath(home)}.lock`).then(() => false, () => true));
  });
  await withHome(async (home) => {
    await Deno.mkdir(authPath(home));
    const bench = makeBench(home, { borrowed: [{ from: "X_KEY", key: A }, { from: "Y_KEY", key: B }] });
    bench.answers.set(A, ["auth"]);
    assertEquals([await bench.ask(), bench.called], ["done", [A, B]]);
  });
});
