import { HermesError } from "@/core/mod.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../support/assert.ts";
import { type ModelServer, startModelServer } from "../support/model_server.ts";
import { endpoint, makeModels, offline } from "./helpers.ts";

async function refusal(run: () => Promise<unknown>): Promise<{ code: string; message: string }> {
  try {
    await run();
  } catch (error) {
    if (error instanceof HermesError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("It was accepted");
}

/** Two endpoints with lists of their own; the first is in force. */
async function withTwo(
  run: (a: ModelServer, b: ModelServer, config: Record<string, unknown>) => Promise<void>,
) {
  await using a = await startModelServer({ models: ["scripted", "qwen-max", "llama-3.3-70b"] });
  await using b = await startModelServer({ models: ["only"] });
  const providers = {
    box: { base_url: b.url, models: ["shared", "mine"] },
    two: { base_url: b.url, models: ["shared"] },
    bare: { base_url: b.url },
  };
  await run(a, b, { ...endpoint(a.url), providers });
}

Deno.test("core 58, 59: switchTo() checks the endpoint's own list, corrects, suggests, and asks when it is ambiguous", () =>
  withTwo(async (a, b, config) => {
    const models = makeModels({ config });
    const current = models.resolve();
    const to = async (text: string) => {
      const { model, providerChanged, global, warning } = await models.switchTo(text, current);
      return [model.provider, model.model, providerChanged, global, warning];
    };
    assertEquals(await to("qwen-max"), ["custom", "qwen-max", false, false, undefined]);
    assertEquals(await to("QWEN-MAX --global"), ["custom", "qwen-max", false, true, undefined]);
    const [, corrected, , , warning] = await to("llama-3.3-7Ob");
    assertEquals(corrected, "llama-3.3-70b");
    assertMatch(String(warning), /is used instead/);
    assertEquals(await to("custom:box:mine"), ["custom:box", "mine", true, false, undefined]);
    assertEquals(await to("mine"), ["custom:box", "mine", true, false, undefined]);
    assertEquals(await to("--provider bare"), ["custom:bare", "only", true, false, undefined]);
    assertEquals((await to("builtin:demo")).slice(0, 3), ["builtin", "demo", true]);
    const unknown = await refusal(() => to("qwen-min"));
    assertEquals(unknown.code, "invalid_model");
    assertMatch(unknown.message, /no model "qwen-min"; did you mean qwen-max/);
    const shared = await refusal(() => to("shared"));
    assertEquals(shared.code, "model_ambiguous");
    assertMatch(shared.message, /--provider custom:box or --provider custom:two/);
    assertEquals((await refusal(() => to("x --provider nope"))).code, "invalid_provider");
    assertEquals((await refusal(() => to("gpt-5.5 --provider openrouter"))).code, "missing_api_key");
    assert(a.requests.length > 0 && b.requests.length > 0);
  }));

Deno.test("switchTo() accepts with a warning where there is no list, and refuses what cannot be reached", async () => {
  const listless = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("no", { status: 404 }),
  );
  const models = makeModels({ config: endpoint(`http://127.0.0.1:${listless.addr.port}/v1`) });
  const accepted = await models.switchTo("anything", models.resolve());
  assertEquals(accepted.model.model, "anything");
  assertMatch(accepted.warning!, /could not be checked.*404/);
  await listless.shutdown();
  const closed = await startModelServer();
  await closed.close();
  const dead = makeModels({ config: endpoint(closed.url) });
  const refused = await refusal(() => dead.switchTo("anything", dead.resolve()));
  assertEquals(refused.code, "invalid_model");
  assertMatch(refused.message, /cannot be reached.*not changed/);
});

Deno.test("core F.4: a name that only another provider has goes there, to its maker first, and only with a key", async () => {
  const keys = { ANTHROPIC_API_KEY: "sk-ant-1234567890", OPENAI_API_KEY: "sk-1234567890" };
  const config = { model: { provider: "anthropic", default: "claude-sonnet-4-6" } };
  const chosen = async (text: string, env: Record<string, string>) => {
    const models = makeModels({ config, env, platform: offline });
    const { model } = await models.switchTo(text, models.resolve());
    return [model.provider, model.model];
  };
  assertEquals(await chosen("gpt-5.5", keys), ["openai-api", "gpt-5.5"]);
  assertEquals(await chosen("claude-opus-4.6", keys), ["anthropic", "claude-opus-4-6"]);
  assertEquals(await chosen("unheard-of-model", keys), ["anthropic", "unheard-of-model"]);
  const { OPENAI_API_KEY: _, ...anthropic } = keys;
  assertEquals(await chosen("gpt-5.5", anthropic), ["anthropic", "gpt-5-5"]);
  const aggregator = { ...anthropic, OPENROUTER_API_KEY: "sk-or-1234567890" };
  assertEquals(await chosen("gpt-5.5", aggregator), ["openrouter", "openai/gpt-5.5"]);
});

Deno.test("core F.4: on a proxy under a provider's name a foreign name stays a model of the proxy", async () => {
  await using proxy = await startModelServer({ models: ["gpt-5.5", "claude-sonnet-4-6"] });
  const models = makeModels({
    config: { model: { provider: "zai", base_url: proxy.url, api_key: "key-1234", default: "gpt-5.5" } },
    env: { ANTHROPIC_API_KEY: "sk-ant-1234567890" },
  });
  const { model, providerChanged } = await models.switchTo("claude-sonnet-4-6", models.resolve());
  assertEquals([model.provider, model.model, model.baseUrl, providerChanged], [
    "zai",
    "claude-sonnet-4-6",
    proxy.url,
    false,
  ]);
});

Deno.test("core F.4: the id that an alias stands for is called where the alias says", async () => {
  await using box = await startModelServer({ models: ["own-model"] });
  const models = makeModels({
    config: {
      model: { provider: "anthropic", default: "claude-sonnet-4-6" },
      providers: { box: { base_url: box.url } },
      model_aliases: { mine: { model: "own-model", provider: "custom:box" } },
    },
    env: { ANTHROPIC_API_KEY: "sk-ant-1234567890" },
  });
  for (const name of ["mine", "own-model"]) {
    const { model } = await models.switchTo(name, models.resolve());
    assertEquals([model.provider, model.model], ["custom:box", "own-model"], name);
  }
});

Deno.test("core F.4: LM Studio must list a model; a silent server of the Messages wire is taken at its word", async () => {
  await using studio = await startModelServer({ models: [] });
  const models = makeModels({
    config: { model: { provider: "lmstudio", base_url: studio.url, default: "here" } },
  });
  const refused = await refusal(() => models.switchTo("gone", models.resolve()));
  assertEquals([refused.code, refused.message], ["invalid_model", 'Provider "lmstudio" has no model "gone"']);
  const closed = await startModelServer();
  await closed.close();
  const silent = makeModels({
    config: { providers: { box: { base_url: closed.url, api_mode: "anthropic_messages", models: ["a"] } } },
  });
  const { model, warning } = await silent.switchTo("b --provider box", silent.resolve());
  assertEquals([model.provider, model.model], ["custom:box", "b"]);
  assertMatch(warning!, /could not be checked/);
});

Deno.test("FC-07: switchTo() waits at most 2 s for a list, and an abort ends the wait", async () => {
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const models = makeModels({ config: endpoint(`http://127.0.0.1:${silent.addr.port}/v1`) });
  const start = performance.now();
  await refusal(() => models.switchTo("x", models.resolve()));
  const waited = performance.now() - start;
  assert(waited >= 1_900, `${waited} ms`);
  assertWithin(waited, 3_000);
  const controller = new AbortController();
  const pending = models.switchTo("x", models.resolve(), { signal: controller.signal }).then(
    () => "",
    (e) => e.name,
  );
  controller.abort();
  assertEquals(await pending, "AbortError");
  silent.close();
});

Deno.test("switchTo() from the demo to a bare name uses the configured provider", () =>
  withTwo(async (_a, _b, config) => {
    const models = makeModels({ config, flags: { demo: true } });
    const { model } = await models.switchTo("qwen-max", models.resolve());
    assertEquals([model.provider, model.model], ["custom", "qwen-max"]);
    assertEquals(makeModels({ config }).known().at(-1), {
      provider: "builtin",
      model: "demo",
      label: "demo (Built-in demo)",
    });
  }));

Deno.test("known() lists without any request: the default first, declared models, the demo last", () =>
  withTwo(async (a, b, config) => {
    await Promise.resolve();
    const known = makeModels({ config, env: { DEEPSEEK_API_KEY: "ds-123456" } }).known()
      .map((k) => `${k.provider}:${k.model}`);
    assert(known.includes("deepseek:deepseek-v4-pro"));
    // What the catalogue has comes after the provider's own.
    assertEquals(known.filter((id) => !/deepseek-(v|flash)/.test(id)), [
      "custom:scripted",
      "deepseek:deepseek-chat",
      "deepseek:deepseek-reasoner",
      "custom:box:shared",
      "custom:box:mine",
      "custom:two:shared",
      "builtin:demo",
    ]);
    assertEquals([a.requests.length, b.requests.length], [0, 0]);
  }));
