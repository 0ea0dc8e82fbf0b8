import type { ResolvedModel, Usage } from "@/core/mod.ts";
import { Catalog } from "@/models/catalog.ts";
import { CATALOG_DATA, CATALOG_DATE } from "@/models/catalog_data.ts";
import { parseLine, parseLines, writeLine } from "@/models/catalog_format.ts";
import { readManifest } from "@/models/catalog_refresh.ts";
import { dollars, priceWarning } from "@/models/cost.ts";
import { findProvider } from "@/models/provider_table.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { startModelServer } from "../support/model_server.ts";
import { makeModels, offline, onlyLoopback, withHome } from "./helpers.ts";

const ANTHROPIC = { ANTHROPIC_API_KEY: "sk-ant-0123456789" };
const OPENAI = { OPENAI_API_KEY: "sk-0123456789abcdef" };

const usage = (input: number, output: number, cacheRead = 0, cacheWrite = 0): Usage => ({
  input,
  output,
  cacheRead,
  cacheWrite,
  reasoning: 0,
});

function modelOf(
  env: Record<string, string>,
  choice: object,
): [ReturnType<typeof makeModels>, ResolvedModel] {
  const models = makeModels({ env });
  return [models, models.resolve(choice)];
}

Deno.test("CATALOG_DATA is well formed: known providers, no model twice, prices that can be, small", () => {
  const models = parseLines(CATALOG_DATA);
  assertEquals(models.length, CATALOG_DATA.trim().split("\n").length);
  assertEquals(new Set(models.map((m) => `${m.provider}|${m.id}`)).size, models.length);
  assertMatch(CATALOG_DATE, /^20\d\d-\d\d-\d\d$/);
  assert(CATALOG_DATA.length < 20_000);
  for (const model of models) {
    assert(findProvider(model.provider)?.id === model.provider, model.provider);
    assert(model.window === null || (model.window >= 64_000 && model.window <= 10_000_000), model.id);
    assert(model.price === null || model.price.output >= model.price.input, model.id);
    assertEquals(parseLine(writeLine(model)), model);
  }
});

Deno.test("traits() finds a model by provider, by vendor, by date, by its bare id, and invents none", () => {
  const catalog = new Catalog(() => null);
  const id = (provider: string, model: string) => catalog.traits(provider, model)?.id ?? null;
  assertEquals(id("anthropic", "claude-sonnet-4-6"), "claude-sonnet-4-6");
  assertEquals(id("anthropic", "claude-haiku-4-5-20251001"), "claude-haiku-4-5");
  assertEquals(id("openrouter", "anthropic/claude-sonnet-4.6:beta"), "claude-sonnet-4-6");
  assertEquals(id("openrouter", "openai/gpt-5.5"), "gpt-5.5");
  assertEquals(id("openrouter", "acme/gpt-5.5"), null);
  assertEquals(id("custom", "GPT-4o"), "gpt-4o");
  assertEquals(id("minimax-cn", "MiniMax-M3"), "MiniMax-M3");
  assertEquals(id("custom", "toString"), null);
});

Deno.test("resolve() takes window, images and efforts from the catalogue, and settings before it", () => {
  const [, sonnet] = modelOf(ANTHROPIC, { provider: "anthropic", model: "claude-sonnet-5-5" });
  assertEquals([sonnet.contextWindow, sonnet.supportsVision, sonnet.reasoningEfforts], [
    1_000_000,
    true,
    ["none", "low", "medium", "high", "xhigh", "max"],
  ]);
  const [, plain] = modelOf(OPENAI, { provider: "openai-api", model: "gpt-4.1" });
  assertEquals([plain.contextWindow, plain.reasoningEfforts], [1_047_576, []]);
  const config = { model: { default: "gpt-4.1", provider: "openai-api", context_length: 99_000 } };
  assertEquals(makeModels({ config, env: OPENAI }).resolve().contextWindow, 99_000);
});

Deno.test("estimateCost() adds up known prices, by the size of the prompt where that counts", () => {
  const [models, sonnet] = modelOf(ANTHROPIC, { provider: "anthropic", model: "claude-sonnet-4-6" });
  assertEquals(models.estimateCost(usage(1_000_000, 100_000, 2_000_000, 400_000), sonnet), {
    usd: 3 + 1.5 + 0.6 + 1.5,
    status: "estimated",
    source: "official_snapshot",
    version: CATALOG_DATE,
  });
  const [openai, gpt] = modelOf(OPENAI, { provider: "openai-api", model: "gpt-5.5" });
  assertEquals(openai.estimateCost(usage(200_000, 0), gpt).usd, 1);
  assertEquals(openai.estimateCost(usage(200_000, 0, 100_000), gpt).usd, 2.1);
});

Deno.test("estimateCost() says unknown rather than guess: other hosts, other routes, a price that is missing", () => {
  const unknown = { usd: null, status: "unknown", source: "none" } as const;
  const [models, pro] = modelOf(OPENAI, { provider: "openai-api", model: "gpt-5.5-pro" });
  assertEquals(models.estimateCost(usage(1, 1, 5), pro), unknown);
  const env = {
    ...OPENAI,
    OPENAI_BASE_URL: "https://proxy.example/v1",
    OPENROUTER_API_KEY: "sk-or-0123456789",
  };
  const proxied = makeModels({
    config: { model: { default: "gpt-5.5", provider: "openai-api", api_key: "key-of-proxy" } },
    env,
  });
  assertEquals(proxied.estimateCost(usage(1, 1), proxied.resolve()), unknown);
  const routed = makeModels({ env }).resolve({ provider: "openrouter", model: "openai/gpt-5.5" });
  assertEquals(models.estimateCost(usage(1, 1), routed), unknown);
  const demo = makeModels({ flags: { demo: true } });
  assertEquals(demo.estimateCost(usage(9, 9), demo.resolve()), {
    usd: 0,
    status: "included",
    source: "none",
  });
});

Deno.test("a cache kept for an hour costs what an hour costs", () => {
  const config = { prompt_caching: { cache_ttl: "1h" } };
  const models = makeModels({ config, env: ANTHROPIC });
  const model = models.resolve({ provider: "anthropic", model: "claude-sonnet-4-6" });
  assertEquals(models.estimateCost(usage(0, 0, 0, 1_000_000), model).usd, 6);
});

Deno.test("core 58: a family name is the newest of the catalogue", async () => {
  const models = makeModels({ env: { ...ANTHROPIC, XAI_API_KEY: "xai-0123456789" }, platform: offline });
  const to = async (name: string, provider: string) =>
    (await models.switchTo(name, models.resolve({ provider }))).model.model;
  assertEquals(await to("sonnet", "anthropic"), "claude-sonnet-5-5");
  assertEquals(await to("opus", "anthropic"), "claude-opus-5-5");
  assertEquals(await to("grok", "xai"), "grok-4.7");
});

Deno.test("the price guard warns before a model that costs far more than usual", async () => {
  const models = makeModels({ env: OPENAI, platform: offline });
  const { warning, confirmRequired } = await models.switchTo("openai-api:gpt-5.5-pro", null);
  assertEquals(confirmRequired, true);
  assertMatch(String(warning), /expensive: \$30\.00 per million input and \$180\.00 per million output/);
  assertEquals((await models.switchTo("openai-api:gpt-5.5", null)).confirmRequired, undefined);
  const price = { input: 20, output: 100, cacheRead: null, cacheWrite: null };
  assertEquals(priceWarning("m", price), null);
  assertEquals([dollars(3), dollars(0.075), dollars(0), dollars(0.5)], ["$3.00", "$0.075", "free", "$0.50"]);
});

Deno.test("options() shows prices that are known and what does not think", async () => {
  const payload = await makeModels({ env: OPENAI }).options({});
  // deno-lint-ignore no-explicit-any
  const row = (payload["providers"] as any[]).find((one) => one.slug === "openai-api");
  assertEquals(row.pricing["gpt-4.1"], { input: "$2.00", output: "$8.00", cache: "$0.50", free: false });
  assertEquals(row.pricing["gpt-5.5-pro"].cache, null);
  assertEquals([row.capabilities["gpt-4.1"].reasoning, row.capabilities["gpt-5.5"].reasoning], [false, true]);
});

Deno.test("readManifest() reads what models.dev offers, of providers we know, with tools", () => {
  const model = (id: string, more: object = {}) => ({
    id,
    tool_call: true,
    reasoning: true,
    modalities: { input: ["text", "image"] },
    limit: { context: 500_000, output: 9_000 },
    cost: { input: 1, output: 2, cache_read: 0.1 },
    ...more,
  });
  const found = readManifest({
    openai: {
      models: { a: model("a"), b: model("b", { tool_call: false }), c: model("c", { cost: undefined }) },
    },
    unheard: { models: { d: model("d") } },
    xai: { models: { e: model("e", { cost: { input: 1, output: 2, context_over_200k: {} } }) } },
  });
  assertEquals(found.map((m) => [m.provider, m.id, m.price?.input ?? null]), [
    ["openai-api", "a", 1],
    ["openai-api", "c", null],
    ["xai", "e", null],
  ]);
  assertEquals([found[0]!.window, found[0]!.maxOutput, found[0]!.sees, found[0]!.thinks], [
    500_000,
    9_000,
    true,
    true,
  ]);
  assertEquals([readManifest(null), readManifest({ version: 2, providers: {} }), readManifest("<html>")], [
    [],
    [],
    [],
  ]);
});

Deno.test("refreshCatalog() keeps what it fetched, over a restart; a failure keeps the old and says so", () =>
  withHome(async (home) => {
    const manifest = {
      openai: {
        models: {
          "gpt-9": {
            id: "gpt-9",
            tool_call: true,
            limit: { context: 3_000_000 },
            cost: { input: 7, output: 8 },
          },
          "gpt-4.1": { id: "gpt-4.1", tool_call: true, cost: { input: 1, output: 4 } },
        },
      },
    };
    let body: unknown = manifest;
    await using server = await startModelServer({ routes: { "/api.json": () => body }, models: ["x", "y"] });
    const url = `http://127.0.0.1:${server.port}/api.json`;
    const config = { model_catalog: { url }, providers: { box: { base_url: server.url, model: "x" } } };
    const make = () => makeModels({ config, home, env: OPENAI, platform: onlyLoopback });
    const models = make();
    const report = await models.refreshCatalog();
    assertEquals([report.models, report.lists], [2, [{ provider: "custom:box", models: 2 }]]);
    assertMatch(report.warnings.join(), /models of openai-api could not be listed/);
    const price = () => {
      const again = make();
      return ["gpt-9", "gpt-4.1"].map((model) =>
        again.estimateCost(usage(1_000_000, 0), again.resolve({ provider: "openai-api", model })).usd
      );
    };
    assertEquals(price(), [7, 1]);
    body = null;
    const failed = await models.refreshCatalog();
    assertEquals(failed.models, null);
    assertMatch(failed.warnings.join(), /catalogue was not refreshed: .*HTTP 404/);
    assertEquals(price(), [7, 1]);
  }));

Deno.test("core E.4: model_catalog.providers.<id>.url tells of that provider alone, in either form, and in place of the manifest", () =>
  withHome(async (home) => {
    const fact = (id: string, input: number) => ({
      id,
      cost: { input, output: 1 },
      limit: { context: 200_000 },
    });
    const routes = {
      "/api.json": {
        openai: { models: { a: fact("gpt-9", 7) } },
        deepseek: { models: { b: fact("deep-9", 1) } },
      },
      "/openai.json": { models: [fact("gpt-9", 3), fact("gpt-10", 4)] },
      "/deepseek.json": {
        deepseek: { models: { b: fact("deep-9", 2) } },
        openai: { models: { a: fact("x", 9) } },
      },
    };
    await using server = await startModelServer({ routes });
    const at = (name: string) => `http://127.0.0.1:${server.port}/${name}.json`;
    const config = {
      model_catalog: {
        url: at("api"),
        providers: {
          "openai-api": { url: at("openai") },
          deepseek: { url: at("deepseek") },
          zai: { url: `http://127.0.0.1:${server.port}/none` },
          nobody: { url: at("openai") },
        },
      },
    };
    const env = { ...OPENAI, DEEPSEEK_API_KEY: "sk-0123456789" };
    const models = makeModels({ config, home, env, platform: onlyLoopback });
    const report = await models.refreshCatalog();
    assertEquals(report.models, 3);
    assertMatch(report.warnings.join("\n"), /model_catalog\.providers\.zai: \S+\/none: HTTP 404/);
    assertMatch(
      report.warnings.join("\n"),
      /model_catalog\.providers\.nobody: there is no provider of this name/,
    );
    const price = (provider: string, model: string) =>
      models.estimateCost(usage(1_000_000, 0), models.resolve({ provider, model })).usd;
    assertEquals(
      [price("openai-api", "gpt-9"), price("openai-api", "gpt-10"), price("openai-api", "x")],
      [3, 4, null],
    );
    assertEquals(
      (await models.options({}) as { providers: { slug: string; models: string[] }[] }).providers
        .find(({ slug }) => slug === "deepseek")?.models.includes("deep-9"),
      true,
    );
  }));

Deno.test("lists are kept in the data home, with the prices that an endpoint states", () =>
  withHome(async (home) => {
    const entry = {
      id: "vendor/m",
      context_length: 123_456,
      pricing: { prompt: "0.000003", completion: "0.000015", input_cache_read: "0.0000003" },
      supported_parameters: ["tools"],
    };
    const deaf = { id: "vendor/deaf", supported_parameters: ["temperature"] };
    await using server = await startModelServer({ models: [entry, deaf] });
    const config = { providers: { box: { base_url: server.url, model: "vendor/m" } } };
    await makeModels({ config, home }).options({ refresh: true });
    const file = JSON.parse(await Deno.readTextFile(`${home}/provider_models_cache.json`));
    assertEquals(file.lists[server.url].models.length, 1);
    const again = makeModels({ config, home });
    const model = again.resolve({ provider: "custom:box" });
    assertEquals(model.contextWindow, 123_456);
    assertEquals(again.estimateCost(usage(1_000_000, 0, 1_000_000), model), {
      usd: 3.3,
      status: "estimated",
      source: "provider_models_api",
      version: new Date(file.lists[server.url].at).toISOString().slice(0, 10),
    });
    await Deno.writeTextFile(`${home}/provider_models_cache.json`, "{cut");
    assertEquals(makeModels({ config, home }).resolve({ provider: "custom:box" }).contextWindow, 256_000);
  }));
