/** How a model is chosen and offered: families, prices, rows, windows, efforts (core.md A.12, F.4, F.5, F.7, F.8). */
import { familyWindow, windowOfEntry } from "@/models/context_window.ts";
import { priceWarning } from "@/models/cost.ts";
import { newestOfFamily } from "@/models/families.ts";
import { reasoningFields } from "@/models/providers/reasoning.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "../support/assert.ts";
import { startModelServer } from "../support/model_server.ts";
import { endpoint, makeModels, offline, platform } from "./helpers.ts";

Deno.test("core A.12: a Claude that always thinks takes its effort as verbosity, the others as reasoning", () => {
  const levels = ["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"];
  const written = [undefined, "low", "low", "medium", "high", "xhigh", "max", "max"];
  for (const route of ["openrouter", "nous"]) {
    for (const model of ["anthropic/claude-fable-5", "anthropic/claude-sonnet-5.5", "claude-opus-5-5"]) {
      assertEquals(reasoningFields(route, model, undefined), {});
      levels.forEach((level, at) => {
        const wanted = written[at] === undefined ? {} : { verbosity: written[at] };
        assertEquals(reasoningFields(route, model, level), wanted, `${route} ${model} ${level}`);
      });
    }
    assertEquals(reasoningFields(route, "anthropic/claude-sonnet-4.6", "high"), {
      reasoning: { enabled: true, effort: "high" },
    });
  }
});

Deno.test("core F.4 step 11: the price guard: over $20 for input or over $100 for output, and not before", () => {
  const price = (input: number, output: number) =>
    priceWarning("m", { input, output, cacheRead: null, cacheWrite: null });
  assertEquals([price(20, 100), price(0, 0), priceWarning("m", null)], [null, null, null]);
  assertMatch(String(price(20.01, 1)), /^"m" is expensive: \$20\.01 per million input and \$1\.00 per/);
  assertMatch(String(price(1, 100.01)), /^"m" is expensive: \$1\.00 per million input and \$100\.01 per/);
});

Deno.test("core F.4 step 11: a price of over $100 that an endpoint states for output alone has to be confirmed", async () => {
  const priced = (id: string, completion: string) => ({ id, pricing: { prompt: "0.000001", completion } });
  await using server = await startModelServer({
    models: ["scripted", priced("dear", "0.000101"), priced("fair", "0.0001")],
  });
  const models = makeModels({ config: endpoint(server.url) });
  const current = models.resolve();
  const ask = async (name: string) => (await models.switchTo(name, current)).confirmRequired;
  assertEquals([await ask("dear"), await ask("fair")], [true, undefined]);
});

Deno.test("core F.4 step 4: of one version pro, max, plus and turbo come before none, and none before others", () => {
  for (const suffix of ["pro", "max", "plus", "turbo"]) {
    const best = `qwen-3-${suffix}`;
    for (const ids of [["qwen-3", best, "qwen-3:free"], ["qwen-3:free", "qwen-3", best], [best, "qwen-3"]]) {
      assertEquals(newestOfFamily("qwen", ids), best, ids.join());
    }
    assertEquals(
      newestOfFamily("qwen", [best, "qwen-3.5:free"]),
      "qwen-3.5:free",
      "the version counts first",
    );
  }
  for (const other of ["qwen-3:free", "qwen-3-mini", "qwen-3-flash"]) {
    for (const ids of [["qwen-3", other], [other, "qwen-3"]]) {
      assertEquals(newestOfFamily("qwen", ids), "qwen-3", ids.join());
    }
  }
});

Deno.test("core F.4 step 4: each family name means its own models", () => {
  const families: Readonly<Record<string, string>> = {
    sonnet: "anthropic/claude-sonnet-4.6",
    opus: "anthropic/claude-opus-4.5",
    haiku: "anthropic/claude-haiku-4.4",
    claude: "anthropic/claude-sonnet-4.6",
    gpt5: "openai/gpt-5.5",
    gpt: "openai/gpt-6",
    codex: "openai/gpt-5.3-codex",
    o3: "openai/o3-pro",
    o4: "openai/o4-mini",
    gemini: "google/gemini-3-pro",
    deepseek: "deepseek/deepseek-v4",
    grok: "x-ai/grok-4.3",
    llama: "meta-llama/llama-4-maverick",
    qwen: "qwen/qwen3-max",
    minimax: "minimax/minimax-m3",
    nemotron: "nvidia/nemotron-3",
    kimi: "moonshotai/kimi-k3",
    glm: "z-ai/glm-5.2",
    step: "stepfun/step-4",
    mimo: "xiaomi/mimo-v2.5",
    trinity: "arcee-ai/trinity-2",
  };
  const older = [
    "openai/gpt-5.4",
    "google/gemini-2.5-pro",
    "deepseek/deepseek-v3.2",
    "x-ai/grok-4.20",
    "qwen/qwen3",
    "z-ai/glm-4.7",
    "moonshotai/kimi-k2",
    "anthropic/claude-opus-4-20250514",
  ];
  const ids = [...older, ...new Set(Object.values(families))];
  for (const [family, id] of Object.entries(families)) {
    assertEquals(newestOfFamily(family, ids), id, family);
    assertEquals(newestOfFamily(family, ids.toReversed()), id, family);
    assertEquals(newestOfFamily(family.toUpperCase(), ids), id, family);
  }
  assertEquals(newestOfFamily("nobody", ids), null);
});

Deno.test("core F.4 step 4: a family that the provider in force lacks is the first other one's with a key", async () => {
  const config = { model: { provider: "anthropic", default: "claude-sonnet-4-6" } };
  const keys = {
    ANTHROPIC_API_KEY: "sk-ant-1234567890",
    OPENROUTER_API_KEY: "sk-or-1234567890",
    DEEPSEEK_API_KEY: "sk-ds-1234567890",
  };
  const chosen = async (env: Record<string, string>) => {
    const models = makeModels({ config, env, platform: offline });
    return (await models.switchTo("deepseek", models.resolve())).model.provider;
  };
  assertEquals(await chosen(keys), "openrouter");
  const { OPENROUTER_API_KEY: _, ...direct } = keys;
  assertEquals(await chosen(direct), "deepseek");
  const { DEEPSEEK_API_KEY: __, ...alone } = direct;
  await assertRejects(() => chosen(alone), /family "deepseek"/);
});

Deno.test("core F.5: what an endpoint of the user's own serves is not repeated in the rows of aggregators", async () => {
  const env = { OPENROUTER_API_KEY: "sk-or-1234567890", DEEPSEEK_API_KEY: "sk-ds-1234567890" };
  const shown = async (models: readonly string[], provider = "deepseek", name = "deepseek-chat") => {
    const config = {
      model: { provider, default: name },
      providers: { box: { base_url: "http://box/v1", models, discover_models: false } },
    };
    const payload = await makeModels({ config, env, platform: offline }).options({});
    const rows = payload["providers"] as { slug: string; models: string[]; total_models: number }[];
    return (slug: string) => rows.find((row) => row.slug === slug)!;
  };
  const before = await shown(["mine"]);
  const routed = before("openrouter").models;
  const [first, second] = routed;
  const direct = before("deepseek").models;
  assert(first !== undefined && second !== undefined && direct.length > 0);
  const after = await shown([first, "mine", direct[0]!]);
  assertEquals(after("openrouter").models, routed.filter((id) => id !== first));
  assertEquals(after("openrouter").total_models, routed.length - 1);
  assertEquals(after("deepseek").models, direct);
  assertEquals(after("custom:box").models, [first, "mine", direct[0]!]);
  // In force on the aggregator itself: that one stays in its row.
  const inForce = await shown([first, second], "openrouter", first);
  assertEquals(inForce("openrouter").models, routed.filter((id) => id !== second));
});

Deno.test("core F.7: the family table, the longest name first", () => {
  const windows: readonly (readonly [string, number | null])[] = [
    ["claude-fable-5", 1_000_000],
    ["anthropic/claude-opus-4.6", 1_000_000],
    ["claude-opus-4-10", 1_000_000],
    ["claude-sonnet-4-6", 1_000_000],
    ["claude-opus-4-5", 200_000],
    ["claude-haiku-4-5", 200_000],
    ["gpt-5.4", 1_050_000],
    ["openai/gpt-5.5-pro", 1_050_000],
    ["gpt-5.6", 1_050_000],
    ["gpt-5.4-mini", 400_000],
    ["gpt-5.6-nano", 400_000],
    ["gpt-5", 400_000],
    ["gpt-5.2-codex", 400_000],
    ["gpt-4.1-mini", 1_047_576],
    ["gpt-4o", 128_000],
    ["google/gemini-3-pro", 1_048_576],
    ["gemma-4-27b", 256_000],
    ["gemma-3-12b", 131_072],
    ["deepseek-v4-flash", 1_000_000],
    ["deepseek-chat", 1_000_000],
    ["deepseek-reasoner", 1_000_000],
    ["deepseek-r1", 128_000],
    ["llama-3.3-70b", 131_072],
    ["qwen3-coder:30b", 262_144],
    ["qwen3-max", 131_072],
    ["MiniMax-M3", 1_000_000],
    ["minimax/minimax-m3-turbo", 1_000_000],
    ["minimax-m2.5", 204_800],
    ["z-ai/glm-5.2", 1_048_576],
    ["GLM-5-2-air", 1_048_576],
    ["glm-5", 202_752],
    ["glm-4.7", 202_752],
    ["grok-4-fast", 2_000_000],
    ["grok-4.20", 2_000_000],
    ["grok-4.3", 256_000],
    ["grok-3", 131_072],
    ["kimi-k2", 262_144],
    ["nemotron-3", 131_072],
    ["tencent/hy3", 262_144],
    ["mimo-v2.5", 1_048_576],
    ["scripted", null],
  ];
  for (const [model, window] of windows) assertEquals(familyWindow(model), window, model);
  const resolved = (name: string) =>
    makeModels({ config: endpoint("http://box/v1", { default: name }) }).resolve().contextWindow;
  assertEquals(["own-minimax-m3-q4", "own-glm-5.2-q4", "scripted"].map(resolved), [
    1_000_000,
    1_048_576,
    256_000,
  ]);
});

Deno.test("core F.7: a window is read from each key that servers use, in its bounds", async () => {
  const keys = [
    "context_length",
    "context_window",
    "context_size",
    "max_context_length",
    "max_position_embeddings",
    "max_model_len",
    "max_input_tokens",
    "max_sequence_length",
    "max_seq_len",
    "n_ctx_train",
    "n_ctx",
    "ctx_size",
  ];
  for (const key of keys) {
    assertEquals(windowOfEntry({ id: "m", [key]: 40_960 }), 40_960, key);
    assertEquals(windowOfEntry({ [key]: "40960" }), null, key);
  }
  const bounds = [1_023, 1_024, 10_000_000, 10_000_001].map((n) => windowOfEntry({ n_ctx: n }));
  assertEquals(bounds, [null, 1_024, 10_000_000, null]);
  await using server = await startModelServer({ models: [{ id: "scripted", n_ctx_train: 70_001 }] });
  const models = makeModels({ config: endpoint(server.url) });
  await models.options({});
  assertEquals(models.resolve().contextWindow, 70_001);
});

Deno.test("core F.8: llama.cpp is known by /props or /v1/props, and only by its settings in it", async () => {
  const found = async (routes: Record<string, unknown>) => {
    const answers: Record<string, unknown> = { "/v1/models": { data: [{ id: "gguf" }] }, ...routes };
    const fake = {
      ...platform,
      fetch: (url: string) => {
        const { port, pathname } = new URL(url);
        if (port !== "8080") return Promise.reject(new TypeError("refused"));
        return Promise.resolve(
          pathname in answers ? Response.json(answers[pathname]) : new Response("", { status: 404 }),
        );
      },
    };
    return (await makeModels({ platform: fake }).discoverLocal()).map(({ kind, models }) => [kind, models]);
  };
  const props = { default_generation_settings: { n_ctx: 4_096 } };
  assertEquals(await found({ "/props": props }), [["llamacpp", ["gguf"]]]);
  assertEquals(await found({ "/v1/props": props }), [["llamacpp", ["gguf"]]]);
  assertEquals(await found({ "/v1/props": { model_path: "x" } }), []);
  assertEquals(await found({}), []);
});
