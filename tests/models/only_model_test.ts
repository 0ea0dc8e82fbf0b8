/** One model on a local endpoint and no model set: it is used (core.md F.8). */
import { HermesError } from "@/core/mod.ts";
import { onlyModel } from "@/models/only_model.ts";
import { assert, assertEquals, assertMatch, assertThrows } from "../support/assert.ts";
import { startModelServer } from "../support/model_server.ts";
import { makeModels, onlyLoopback, platform, play, requestOf, withHome } from "./helpers.ts";

const BOX = "http://127.0.0.1:9/v1";

function unnamed(url: string): { config: Record<string, unknown>; platform: typeof platform } {
  return { config: { model: { provider: "custom", base_url: url } }, platform: onlyLoopback };
}

function refusalOf(act: () => unknown): HermesError {
  try {
    act();
  } catch (error) {
    if (error instanceof HermesError) return error;
    throw error;
  }
  throw new Error("It was not refused");
}

Deno.test("core F.8: onlyModel() takes the only one that talks, and names them all when there are several", () => {
  const take = (ids: readonly string[]) => onlyModel("custom", BOX, { ids, fault: null });
  assertEquals(take(["m"]), "m");
  assertEquals(take(["text-embedding-nomic", "m"]), "m");
  assertEquals(take(["nomic-embed-text"]), "nomic-embed-text");
  const several = refusalOf(() => take(["a", "b"]));
  assertEquals([several.code, several.data["models"]], ["invalid_model", ["a", "b"]]);
  assertMatch(several.message, /^No model is chosen .* 127\.0\.0\.1:9 offers 2: a, b\. .*model\.default/);
  const many = refusalOf(() => take(Array.from({ length: 12 }, (_, n) => `m${n}`)));
  assertMatch(many.message, /offers 12: m0, .*m9 and 2 more\./);
  assertThrows(() => take([]), /No model is chosen for provider "custom": set model\.default/);
});

Deno.test("core F.8: settling() asks a local server once, and resolve() knows its only model", async () => {
  await using server = await startModelServer({ models: ["solo"], turns: ["hi"] });
  const models = makeModels(unnamed(server.url));
  assertEquals(refusalOf(() => models.resolve()).code, "invalid_model");
  assertEquals(server.requests.length, 0);
  await models.settling!();
  const model = models.resolve();
  assertEquals([model.model, model.provider], ["solo", "custom"]);
  assertEquals(models.settling!(), null);
  assertEquals(server.requests.map(({ method, path }) => `${method} ${path}`), ["GET /v1/models"]);
  assertEquals((await play(models.client(model), requestOf("hi"))).text, "hi");
  assertEquals(server.calls()[0]!.body.model, "solo");
});

Deno.test("core F.5, F.8: the picker asks an unnamed endpoint once, and shows its only model as the one in force", async () => {
  await using server = await startModelServer({ models: ["solo"] });
  const { model, provider, providers } = await makeModels(unnamed(server.url)).options({});
  assertEquals([model, provider], ["solo", "custom"]);
  const row = (providers as { slug: string; is_current: boolean; models: string[] }[])
    .find(({ slug }) => slug === "custom");
  assertEquals([row?.is_current, row?.models, server.requests.length], [true, ["solo"], 1]);
});

Deno.test("core F.8: several models, none, and a silent server are told by resolve(), and asked about again", async () => {
  const ids = ["a", "b"];
  await using server = await startModelServer({ models: ids });
  const models = makeModels(unnamed(server.url));
  await Promise.all([models.settling!(), models.settling!()]);
  assertMatch(refusalOf(() => models.resolve()).message, /offers 2: a, b\./);
  assertEquals(server.requests.length, 1);
  ids.pop();
  await models.settling!();
  assertEquals(models.resolve().model, "a");

  const dead = makeModels(unnamed(BOX));
  await dead.settling!();
  assertMatch(refusalOf(() => dead.resolve()).message, /127\.0\.0\.1:9 gave no list of its models \(.+\)\./);
});

Deno.test("core F.8: settling() asks nobody but servers of the user's own, and only without a name", () => {
  const asked: string[] = [];
  const watched = {
    ...platform,
    fetch: (url: string) => {
      asked.push(url);
      return Promise.reject(new TypeError("offline"));
    },
  };
  const settling = (config: Record<string, unknown>, choice = {}) =>
    makeModels({ config, platform: watched }).settling!(choice);
  assertEquals(settling({ model: { provider: "custom", base_url: "https://llm.example.com/v1" } }), null);
  assertEquals(settling({ model: { provider: "custom", base_url: BOX, default: "m" } }), null);
  assertEquals(settling({ model: { provider: "custom", base_url: BOX } }, { model: "custom:m" }), null);
  assertEquals(settling({ model: { provider: "openrouter", api_key: "sk-or-0123456789" } }), null);
  assertEquals(settling({}), null);
  assertEquals(
    settling({ model: { provider: "box" }, providers: { box: { base_url: BOX, models: ["m"] } } }),
    null,
  );
  assertEquals(asked, []);
});

Deno.test("core F.8: a provider of the user's own and a server that hangs: 2 s at most, and a cancel ends it at once", async () => {
  const hanging = { ...platform, fetch: () => new Promise<Response>(() => {}) };
  const config = { model: { provider: "box" }, providers: { box: { base_url: BOX } } };
  const models = makeModels({ config, platform: hanging });
  const controller = new AbortController();
  const cancelled = models.settling!({}, { signal: controller.signal })!;
  controller.abort();
  await cancelled;
  const start = performance.now();
  await models.settling!();
  assert(performance.now() - start < 4_000);
  assertMatch(refusalOf(() => models.resolve()).message, /no answer within 2\.0 s/);
});

Deno.test("core F.8: the only model is known at once in the next run, which asks once more all the same", async () => {
  await using server = await startModelServer({ models: ["solo"] });
  await withHome(async (home) => {
    await makeModels({ ...unnamed(server.url), home }).settling!();
    const next = makeModels({ ...unnamed(server.url), home });
    assertEquals(next.resolve().model, "solo");
    await next.settling!();
    assertEquals(next.settling!(), null);
    assertEquals(server.requests.length, 2);
  });
});
