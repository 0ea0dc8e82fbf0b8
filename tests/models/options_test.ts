import { assert, assertEquals, assertMatch, assertWithin } from "../support/assert.ts";
import { startModelServer } from "../support/model_server.ts";
import { Catalog } from "@/models/catalog.ts";
import { buildOptions } from "@/models/options.ts";
import { makeModels, platform, settingsOf } from "./helpers.ts";

interface Row {
  slug: string;
  models: string[];
  authenticated: boolean;
  is_current: boolean;
  is_user_defined: boolean;
  source: string;
  warning?: string;
  key_env?: string;
}

function rowsOf(payload: Record<string, unknown>): Row[] {
  return payload.providers as Row[];
}

function twoSilent(liveUrl: string, urls: readonly string[]): Record<string, unknown> {
  return {
    model: { default: "scripted", provider: "custom:live" },
    providers: {
      live: { base_url: liveUrl },
      one: { base_url: urls[0], models: ["o"] },
      two: { base_url: urls[1], models: ["t"] },
    },
  };
}

Deno.test("FC-07.2: options() asks only the endpoint in force, so silent ones do not hold it", async () => {
  await using live = await startModelServer({ models: ["scripted", "second"] });
  const silent = [0, 1].map(() => Deno.listen({ hostname: "127.0.0.1", port: 0 }));
  const config = twoSilent(live.url, silent.map((s) => `http://127.0.0.1:${s.addr.port}/v1`));
  const start = performance.now();
  const payload = await makeModels({ config }).options({});
  assertWithin(performance.now() - start, 1_000);
  assertEquals([payload.model, payload.provider], ["scripted", "custom:live"]);
  assertEquals(rowsOf(payload).map((r) => [r.slug, r.models, r.is_current]), [
    ["builtin", ["demo"], false],
    ["custom:live", ["scripted", "second"], true],
    ["custom:one", ["o"], false],
    ["custom:two", ["t"], false],
  ]);
  for (const s of silent) s.close();
});

Deno.test("FC-07.2, core 61: a refresh asks all at the same time, 10 s each, and marks the dead", async () => {
  const asked: [string, number][] = [];
  const all = Promise.withResolvers<void>();
  const lists = {
    otherUrl: () => null,
    kept: () => null,
    ask: async ({ baseUrl, timeoutMs }: { baseUrl: string; timeoutMs: number }) => {
      asked.push([baseUrl, timeoutMs]);
      if (asked.length === 3) all.resolve();
      await all.promise;
      return { type: "unreachable" as const, reason: "no answer within 10.0 s" };
    },
  };
  const config = twoSilent("http://a/v1", ["http://b/v1", "http://c/v1"]);
  const payload = await buildOptions({ refresh: true }, {
    settings: settingsOf(config),
    lists,
    catalog: new Catalog(() => null),
    current: makeModels({ config }).resolve({ provider: "custom:live", model: "scripted" }),
    rowKey: () => null,
    keyOfEndpoint: () => "",
  });
  assertEquals(asked, [["http://a/v1", 10_000], ["http://b/v1", 10_000], ["http://c/v1", 10_000]]);
  const own = rowsOf(payload).filter((r) => r.is_user_defined);
  assertEquals(own.map((r) => r.models), [["scripted"], ["o"], ["t"]]);
  for (const row of own) assertMatch(row.warning!, /does not answer \(no answer within 10\.0 s\)/);
});

Deno.test("options() shows providers with a key, skeletons when asked, never what cannot be called, and no key", async () => {
  const env = { DEEPSEEK_API_KEY: "ds-secret-0123456789" };
  const models = makeModels({ env });
  const payload = await models.options({});
  assertEquals([payload.model, payload.provider], ["deepseek-chat", "deepseek"]);
  assertEquals(rowsOf(payload).map((r) => r.slug), ["deepseek", "builtin"]);
  const all = await models.options({ includeUnconfigured: true });
  const byslug = new Map(rowsOf(all).map((r) => [r.slug, r]));
  assertEquals(byslug.get("openrouter")?.authenticated, false);
  assertMatch(byslug.get("openrouter")!.warning!, /OPENROUTER_API_KEY/);
  assertEquals([byslug.has("copilot"), byslug.has("openai-codex")], [false, false]);
  assertEquals(rowsOf(all).at(-1)?.slug, "builtin");
  assert(!JSON.stringify([payload, all]).includes("secret"));
  const nothing = await makeModels().options({});
  assertEquals([nothing.model, nothing.provider, rowsOf(nothing).map((r) => r.slug)], ["", "", ["builtin"]]);
});

Deno.test("options() and known() leave out the providers that the config excludes, but not the one in force", async () => {
  const env = { DEEPSEEK_API_KEY: "ds-secret-0123456789", XAI_API_KEY: "xai-0123456789" };
  const config = { model_catalog: { excluded_providers: ["xai", "deepseek"] } };
  const models = makeModels({ env, config });
  const rows = rowsOf(await models.options({}));
  assertEquals(rows.map((row) => row.slug), ["deepseek", "builtin"]);
  assertEquals(models.known().map((known) => known.provider), ["deepseek", "builtin"]);
});

Deno.test("options() reports a live custom endpoint under its saved name and keeps the current model in its row", async () => {
  await using live = await startModelServer({ models: ["a"] });
  const config = {
    model: { default: "zzz", provider: "custom", base_url: `${live.url}/` },
    providers: { box: { base_url: live.url, discover_models: false } },
  };
  const payload = await makeModels({ config }).options({});
  assertEquals(payload.provider, "custom:box");
  assertEquals(rowsOf(payload).filter((r) => r.is_current).map((r) => [r.slug, r.models]), [["custom:box", [
    "zzz",
  ]]]);
  assertEquals(live.requests.length, 0);
});

Deno.test("discoverLocal() knows the servers by what they answer", async () => {
  const answers: Record<string, unknown> = {
    "http://127.0.0.1:11434/api/tags": { models: [{ name: "llama3:8b" }] },
    "http://127.0.0.1:8080/props": { default_generation_settings: {} },
    "http://127.0.0.1:8080/v1/models": { data: [{ id: "gguf" }] },
    "http://127.0.0.1:8000/version": { version: "0.9" },
    "http://127.0.0.1:8000/v1/models": { data: [{ id: "big" }] },
  };
  const asked: string[] = [];
  const fake = {
    ...platform,
    fetch: (url: string) => {
      asked.push(url);
      if (url.includes(":1234")) return Promise.reject(new TypeError("refused"));
      return Promise.resolve(
        url in answers ? Response.json(answers[url]) : new Response("", { status: 404 }),
      );
    },
  };
  assertEquals(await makeModels({ platform: fake }).discoverLocal(), [
    { kind: "ollama", baseUrl: "http://127.0.0.1:11434/v1", models: ["llama3:8b"] },
    { kind: "llamacpp", baseUrl: "http://127.0.0.1:8080/v1", models: ["gguf"] },
    { kind: "vllm", baseUrl: "http://127.0.0.1:8000/v1", models: ["big"] },
  ]);
  await makeModels({ platform: fake, env: { OLLAMA_HOST: "0.0.0.0:7777" } }).discoverLocal();
  assert(asked.includes("http://127.0.0.1:7777/api/tags"));
});

Deno.test("probe() makes one small call and says what came of it", async () => {
  await using server = await startModelServer({
    turns: ["OK", { steps: [{ error: { status: 401, message: "bad" } }] }],
  });
  const models = makeModels({
    config: { model: { default: "m", provider: "custom", base_url: server.url } },
  });
  const good = await models.probe(models.resolve());
  assertEquals(good.ok, true);
  assertMatch(good.message, /^answered in \d+ ms$/);
  const bad = await models.probe(models.resolve());
  assertEquals(bad.ok, false);
  assertMatch(bad.message, /HTTP 401/);
});

Deno.test("FC-26: secretEnvNames() covers the table, tools, code hosts and the user's own names", () => {
  const names = makeModels({
    config: { providers: { box: { base_url: "http://x/v1", key_env: "BOX_SECRET" } } },
  }).secretEnvNames();
  for (
    const name of [
      "OPENROUTER_API_KEY",
      "OPENAI_API_KEY",
      "OPENAI_BASE_URL",
      "ANTHROPIC_TOKEN",
      "GH_TOKEN",
      "GITHUB_TOKEN",
      "TAVILY_API_KEY",
      "API_SERVER_KEY",
      "SUDO_PASSWORD",
      "BOX_SECRET",
      "CUSTOM_BASE_URL",
    ]
  ) {
    assert(names.includes(name), name);
  }
});
