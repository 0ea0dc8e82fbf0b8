import { IdempotencyCache, type StoredAnswer } from "@/protocols/api/idempotency.ts";
import { assert, assertEquals, assertRejects } from "../../support/assert.ts";
import { createClient, createFakeHermes, resultOf, userSays } from "./fake_hermes.ts";

function answer(body: string, keep = true): StoredAnswer {
  return { status: 200, headers: {}, body, keep };
}

function createCache() {
  let now = 0;
  const clock = { now: () => now, monotonic: () => now, delay: () => Promise.resolve() };
  return { cache: new IdempotencyCache(clock), advance: (ms: number) => void (now += ms) };
}

Deno.test("run() shares a running turn, keeps its answer for 300 s, and no longer", async () => {
  const { cache, advance } = createCache();
  let runs = 0;
  const work = () => Promise.resolve(answer(String(++runs)));
  const both = await Promise.all([cache.run("k", "f", work), cache.run("k", "f", work)]);
  assertEquals(both.map(({ body }) => body), ["1", "1"]);
  advance(299_999);
  assertEquals((await cache.run("k", "f", work)).body, "1");
  advance(1);
  assertEquals((await cache.run("k", "f", work)).body, "2");
});

Deno.test("run() runs another request under the key and lets it take the entry over", async () => {
  const { cache } = createCache();
  await cache.run("k", "a", () => Promise.resolve(answer("a")));
  assertEquals((await cache.run("k", "b", () => Promise.resolve(answer("b")))).body, "b");
  assertEquals((await cache.run("k", "b", () => Promise.resolve(answer("again")))).body, "b");
  assertEquals((await cache.run("k", "a", () => Promise.resolve(answer("a2")))).body, "a2");
});

Deno.test("run() keeps neither a failed nor an incomplete turn", async () => {
  const { cache } = createCache();
  await assertRejects(() => cache.run("k", "f", () => Promise.reject(new Error("no"))), /no/);
  assertEquals((await cache.run("k", "f", () => Promise.resolve(answer("half", false)))).body, "half");
  assertEquals((await cache.run("k", "f", () => Promise.resolve(answer("whole")))).body, "whole");
});

Deno.test("run() forgets the oldest entry above a thousand", async () => {
  const { cache } = createCache();
  for (let i = 0; i <= 1000; i++) await cache.run(`k${i}`, "f", () => Promise.resolve(answer("x")));
  assertEquals([cache.has("k0", "f"), cache.has("k1", "f"), cache.has("k1000", "f")], [false, true, true]);
});

Deno.test("api 35: one key and body is one turn, in sequence and at once; another body is another turn", async () => {
  const fake = createFakeHermes();
  let n = 0;
  fake.play = async () => {
    await Promise.resolve();
    return resultOf({ text: `answer ${++n}` });
  };
  const { chat } = createClient(fake);
  const send = async (text: string, key = "key-1", extra = {}) => {
    const response = await chat(userSays(text), { "Idempotency-Key": key, ...extra });
    return [response.headers.get("x-hermes-session-id"), await response.text()] as const;
  };
  const [first, second] = await Promise.all([send("hi"), send("hi")]);
  const third = await send("hi");
  assertEquals([second, third], [first, first]);
  assertEquals(fake.submitted.length, 1);
  const other = await send("something else");
  assertEquals(fake.submitted.length, 2);
  assert(other[1] !== first[1]);
  await send("something else", "key-2");
  await send("something else", "key-1", { "X-Hermes-Session-Key": "scope" });
  assertEquals(fake.submitted.length, 4);
});

Deno.test("streams take no notice of the key", async () => {
  const fake = createFakeHermes();
  const { chat } = createClient(fake);
  for (let i = 0; i < 2; i++) {
    await (await chat({ ...userSays("hi"), stream: true }, { "Idempotency-Key": "k" })).text();
  }
  assertEquals(fake.submitted.length, 2);
});
