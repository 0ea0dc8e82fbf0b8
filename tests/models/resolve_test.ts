import { HermesError, type HermesErrorCode } from "@/core/mod.ts";
import { isUsableKey } from "@/models/keys.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../support/assert.ts";
import { startModelServer } from "../support/model_server.ts";
import { makeModels, play, requestOf, settingsOf, type Setup } from "./helpers.ts";

type Brief = readonly [provider: string, model: string, baseUrl: string, source: string];

function brief(setup: Setup, choice = {}): Brief {
  const { provider, model, baseUrl, source } = makeModels(setup).resolve(choice);
  return [provider, model, baseUrl, source];
}

function refusal(setup: Setup, choice = {}): { code: HermesErrorCode; message: string } {
  try {
    makeModels(setup).resolve(choice);
  } catch (error) {
    if (error instanceof HermesError) return { code: error.code, message: error.message };
    throw error;
  }
  throw new Error("It was resolved");
}

const OPENROUTER = { OPENROUTER_API_KEY: "sk-or-0123456789" };
const OPENAI = { OPENAI_API_KEY: "sk-0123456789abcdef" };
const BOX = { model: { default: "m", provider: "custom", base_url: "http://127.0.0.1:9999/v1/" } };

Deno.test("core 74: with nothing configured resolve() refuses and says what to do, and never takes the demo", () => {
  const { code, message } = refusal({});
  assertEquals(code, "no_provider_configured");
  for (const word of ["hermes setup", "OPENROUTER_API_KEY", "--demo"]) {
    assert(message.includes(word), message);
  }
  const unkeyed = refusal({ config: { model: { default: "x", provider: "deepseek" } } });
  assertEquals(unkeyed.code, "missing_api_key");
  assertMatch(unkeyed.message, /DEEPSEEK_API_KEY.*hermes setup.*--demo/);
});

Deno.test("resolve() gives one record per choice, and a new one when the settings have changed", () => {
  let settings = settingsOf(BOX);
  const models = makeModels({ settings: () => settings });
  const first = models.resolve();
  assert(models.resolve({}) === first);
  assertEquals(models.resolve({ model: "other" }).model, "other");
  assert(models.resolve() === first);
  settings = settingsOf({ model: { ...BOX.model, default: "m2" } });
  assertEquals(models.resolve().model, "m2");
});

Deno.test("core 74: the built-in models are taken where they were chosen", () => {
  const ways: readonly (readonly [Setup, object])[] = [
    [{ flags: { demo: true } }, {}],
    [{ flags: { model: "builtin:demo" } }, {}],
    [{ env: { HERMES_MODEL: "builtin:demo" } }, {}],
    [{ config: { model: "builtin:demo" } }, {}],
    [{ config: { model: { default: "demo", provider: "builtin" } } }, {}],
    [{ env: OPENROUTER }, { model: "builtin:demo" }],
    [{ env: OPENROUTER }, { provider: "builtin" }],
    [{ env: OPENROUTER }, { provider: "builtin", model: "demo" }],
  ];
  for (const [setup, choice] of ways) {
    const model = makeModels(setup).resolve(choice);
    assertEquals([model.provider, model.model, model.isDemo, model.contextWindow], [
      "builtin",
      "demo",
      true,
      128_000,
    ]);
  }
  const script = makeModels({ flags: { model: "builtin:script:./a:b.jsonc" } }).resolve();
  assertEquals([script.model, script.isDemo], ["script:./a:b.jsonc", false]);
  assertEquals(refusal({}, { model: "builtin:gpt" }).code, "invalid_model");
});

Deno.test("resolve() follows the order of names: session, command line, environment, config", () => {
  const config = BOX;
  const env = { HERMES_MODEL: "env1", HERMES_INFERENCE_MODEL: "env2" };
  const flags = { model: "flag" };
  const url = "http://127.0.0.1:9999/v1";
  assertEquals(brief({ config, env, flags }, { model: "mine" }), ["custom", "mine", url, "session"]);
  assertEquals(brief({ config, env, flags }), ["custom", "flag", url, "request"]);
  assertEquals(brief({ config, env }), ["custom", "env1", url, "environment"]);
  assertEquals(brief({ config, env: { HERMES_INFERENCE_MODEL: "env2" } }), [
    "custom",
    "env2",
    url,
    "environment",
  ]);
  assertEquals(brief({ config }), ["custom", "m", url, "config"]);
});

Deno.test("resolve() finds a provider by itself: address, OpenRouter, OpenAI, then the first key of the table", () => {
  const openrouter = "https://openrouter.ai/api/v1";
  assertEquals(brief({ env: { ...OPENAI, ...OPENROUTER } }), [
    "openrouter",
    "z-ai/glm-5.2",
    openrouter,
    "auto",
  ]);
  assertEquals(brief({ env: OPENAI })[0], "openai-api");
  assertEquals(brief({ env: { XAI_API_KEY: "xai-123456", DEEPSEEK_API_KEY: "ds-123456" } })[0], "deepseek");
  assertEquals(brief({ env: { GH_TOKEN: "gho_123456789", ...OPENAI } })[0], "openai-api");
  assertEquals(refusal({ env: { GH_TOKEN: "gho_123456789" } }).code, "no_provider_configured");
  assertEquals(
    brief({ config: { model: { default: "q", base_url: "http://box:8000/v1" } }, env: OPENROUTER }),
    [
      "custom",
      "q",
      "http://box:8000/v1",
      "config",
    ],
  );
  assertEquals(brief({ env: { CUSTOM_BASE_URL: "http://box/v1", HERMES_MODEL: "q" } })[2], "http://box/v1");
  assertEquals(
    brief({ config: { model: "claude-sonnet-4.6" }, env: OPENROUTER })[1],
    "anthropic/claude-sonnet-4.6",
  );
});

Deno.test("resolve() takes a provider in the name, by id, alias, custom name and built-in", () => {
  const config = { ...BOX, providers: { Box: { base_url: "http://box/v1", models: ["qwen"] } } };
  const env = { ...OPENROUTER, ...OPENAI };
  assertEquals(brief({ config, env }, { model: "openrouter:gpt-5.5" }).slice(0, 2), [
    "openrouter",
    "openai/gpt-5.5",
  ]);
  assertEquals(brief({ config, env }, { model: "or:a/b:free" }).slice(0, 2), ["openrouter", "a/b:free"]);
  assertEquals(brief({ config, env }, { model: "openai:gpt-5.5" }).slice(0, 2), ["openai-api", "gpt-5.5"]);
  assertEquals(brief({ config, env: OPENROUTER }, { model: "openai:gpt-5.5" })[0], "openrouter");
  assertEquals(brief({ config }, { model: "custom:box:qwen:7b" }), [
    "custom:box",
    "qwen:7b",
    "http://box/v1",
    "session",
  ]);
  assertEquals(brief({ config }, { model: "box:other" }).slice(0, 2), ["custom:box", "other"]);
  assertEquals(brief({ config }, { model: "custom:box" }).slice(0, 2), ["custom:box", "qwen"]);
  assertEquals(brief({ config }, { model: "custom:x" }).slice(0, 2), ["custom", "x"]);
  assertEquals(brief({}, { model: "ollama:llama3:8b" }).slice(0, 3), [
    "custom",
    "llama3:8b",
    "http://127.0.0.1:11434/v1",
  ]);
  // A name with a colon on one's own server, where the left side is only an alias without a key.
  assertEquals(brief({ config }, { model: "qwen:7b" }).slice(0, 2), ["custom", "qwen:7b"]);
  assertEquals(brief({ config }, { model: "a/b:free" }).slice(0, 2), ["custom", "a/b:free"]);
});

Deno.test("resolve() names the providers it knows when one is unknown, and refuses wires it does not speak", () => {
  const { code, message } = refusal({}, { provider: "nope", model: "x" });
  assertEquals(code, "invalid_provider");
  assertMatch(message, /"nope".*openrouter.*custom.*builtin/);
  assertEquals(
    refusal({ env: { GH_TOKEN: "gho_123456" } }, { provider: "copilot" }).code,
    "invalid_provider",
  );
  const bedrock = {
    model: { default: "m", provider: "custom", base_url: "https://bedrock-runtime.eu-west-1.amazonaws.com" },
  };
  assertMatch(refusal({ config: bedrock }).message, /bedrock_converse/);
  assertEquals(refusal({ config: { model: { provider: "custom" } } }).code, "invalid_provider");
  assertEquals(
    refusal({ config: { model: { provider: "custom", base_url: "http://x/v1" } } }).code,
    "invalid_model",
  );
  assertEquals(refusal({ config: BOX }, { model: "two words" }).code, "invalid_model");
});

Deno.test("resolve() keeps the saved provider before the environment's, and a session's own endpoint", () => {
  const env = { ...OPENROUTER, HERMES_INFERENCE_PROVIDER: "openrouter" };
  assertEquals(brief({ config: BOX, env })[0], "custom");
  assertEquals(brief({ config: { model: { default: "m" } }, env: { ...env, ...OPENAI } })[0], "openrouter");
  const own = { provider: "custom", model: "x", baseUrl: "http://other/v1" };
  assertEquals(brief({ config: BOX }, own).slice(0, 3), ["custom", "x", "http://other/v1"]);
});

Deno.test("resolve() knows the user's aliases", () => {
  const config = {
    ...BOX,
    model: { ...BOX.model, aliases: { fast: "deepseek/deepseek-chat" } },
    model_aliases: { big: { model: "x-large", provider: "custom", base_url: "http://big/v1" } },
  };
  assertEquals(brief({ config }, { model: "big" }).slice(0, 3), ["custom", "x-large", "http://big/v1"]);
  assertEquals(brief({ config, env: { DEEPSEEK_API_KEY: "ds-12345" } }, { model: "fast" }).slice(0, 2), [
    "deepseek",
    "deepseek-chat",
  ]);
});

/** Sends one call through a fetch that only records, and gives the key it carried. */
async function keySent(setup: Setup, choice = {}): Promise<string | null> {
  let sent: string | null = null;
  const base = (await import("./helpers.ts")).platform;
  const platform = {
    ...base,
    fetch: (_: string, init?: RequestInit) => {
      sent = new Headers(init?.headers).get("authorization");
      return Promise.resolve(new Response("{}", { status: 418 }));
    },
  };
  const models = makeModels({ ...setup, platform });
  await play(models.client(models.resolve(choice)), requestOf("x"));
  return sent;
}

Deno.test("core 62: a key is never sent to a host that it does not belong to", async () => {
  const env = { ...OPENROUTER, ...OPENAI, GROQ_API_KEY: "gsk-0123456789", OLLAMA_API_KEY: "oll-0123456" };
  const at = (base_url: string, more = {}) => ({
    config: { model: { default: "m", provider: "custom", base_url, ...more } },
    env,
  });
  const none = "Bearer no-key-required";
  assertEquals(await keySent(at("http://127.0.0.1:1/v1")), none);
  assertEquals(await keySent(at("http://localhost:1/v1")), none);
  assertEquals(await keySent(at("http://10.0.0.5/v1")), none);
  assertEquals(await keySent(at("https://openai.com.evil.example/v1")), none);
  assertEquals(await keySent(at("https://notopenai.com/v1")), none);
  assertEquals(await keySent(at("https://api.openai.com/v1")), `Bearer ${OPENAI.OPENAI_API_KEY}`);
  assertEquals(await keySent(at("https://x.openai.azure.com/v1")), `Bearer ${OPENAI.OPENAI_API_KEY}`);
  assertEquals(await keySent(at("https://openrouter.ai/api/v1")), `Bearer ${OPENROUTER.OPENROUTER_API_KEY}`);
  assertEquals(await keySent(at("https://api.groq.com/openai/v1")), "Bearer gsk-0123456789");
  assertEquals(await keySent(at("https://api.other.com/v1")), none);
  assertEquals(await keySent(at("https://api.other.com/v1", { api_key: "own-key-1" })), "Bearer own-key-1");
  const seeded = {
    config: { model: { default: "m", provider: "custom", api_key: "own-key-1" } },
    env: { CUSTOM_BASE_URL: "https://c.example/v1" },
  };
  assertEquals(await keySent(seeded), "Bearer own-key-1");
  // A key that an earlier choice left in the config does not outrank the provider's own variable.
  const left = {
    config: { model: { default: "a/b", provider: "openrouter", api_key: "own-key-1" } },
    env: OPENROUTER,
  };
  assertEquals(await keySent(left), `Bearer ${OPENROUTER.OPENROUTER_API_KEY}`);
  // The key of the config belongs to the address of the config.
  const moved = { provider: "custom", model: "m", baseUrl: "https://elsewhere.example/v1" };
  assertEquals(await keySent(at("https://api.other.com/v1", { api_key: "own-key-1" }), moved), none);
});

Deno.test("core 62: a provider whose base URL points elsewhere does not take its key along", async () => {
  const env = { ...OPENROUTER, OPENROUTER_BASE_URL: "https://proxy.example/v1" };
  const { code, message } = refusal({ env }, { provider: "openrouter", model: "a/b" });
  assertEquals(code, "missing_api_key");
  assertMatch(message, /proxy\.example/);
  assertEquals(
    await keySent({ env: { ...OPENAI, OPENAI_BASE_URL: "http://127.0.0.1:1/v1" } }, {
      provider: "openai-api",
    }),
    "Bearer no-key-required",
  );
  const own = {
    config: { providers: { box: { base_url: "https://box.example/v1", key_env: "BOX", model: "m" } } },
    env: { BOX: "box-key-123" },
  };
  assertEquals(await keySent(own, { provider: "custom:box" }), "Bearer box-key-123");
  assertEquals(
    await keySent(own, { provider: "custom:box", baseUrl: "https://evil.example/v1" }),
    "Bearer no-key-required",
  );
});

Deno.test("isUsableKey() refuses placeholders", () => {
  for (
    const bad of [
      "",
      "abc",
      "your-key",
      "***",
      "sk-***",
      "your_api_key_here",
      "sk-your-key",
      "xxxxxxxx",
      "<key>",
      "changeme",
      "two words",
      "sk-...",
      "${KEY}...",
      undefined,
    ]
  ) {
    assert(!isUsableKey(bad), String(bad));
  }
  for (const good of ["sk-or-v1-abcdef", "abcd", "test1234", "gsk_zzz9"]) assert(isUsableKey(good), good);
});

Deno.test("resolve() works out the window: config, model, provider, endpoint, family, fallback", async () => {
  const window = (config: Record<string, unknown>, choice = {}) =>
    makeModels({ config }).resolve(choice).contextWindow;
  assertEquals(window({ model: { ...BOX.model, context_length: 32_000 } }), 32_000);
  assertEquals(window({ model: { ...BOX.model, context_length: 5 } }), 256_000);
  assertEquals(window({ model: { ...BOX.model, default: "deepseek/deepseek-r1" } }), 128_000);
  assertEquals(window({ model: { ...BOX.model, default: "gpt-5.4-mini" } }), 400_000);
  assertEquals(window({ model: { ...BOX.model, default: "qwen3-coder:30b" } }), 262_144);
  const box = {
    providers: {
      box: {
        base_url: "http://box/v1",
        context_length: 9_000,
        models: { a: { context_length: 8_000 }, b: {} },
      },
    },
  };
  assertEquals([window(box, { model: "box:a" }), window(box, { model: "box:b" })], [8_000, 9_000]);
  await using server = await startModelServer({ models: [{ id: "m", max_model_len: 40_960 }] });
  const models = makeModels({
    config: { model: { default: "m", provider: "custom", base_url: server.url } },
  });
  await models.options({});
  assertEquals(models.resolve().contextWindow, 40_960);
});

Deno.test("resolve() takes well under a millisecond and starts nothing", () => {
  const models = makeModels({ config: BOX, env: OPENROUTER });
  models.resolve();
  const start = performance.now();
  for (let n = 0; n < 200; n++) models.resolve({ model: "openrouter:a/b" });
  assertWithin((performance.now() - start) / 200, 1);
});

Deno.test("resolve() chooses the wire: said, the provider's own, else by the address", () => {
  const env = {
    OPENAI_API_KEY: "sk-0123456789abcdef",
    XAI_API_KEY: "xai-0123456789",
    ANTHROPIC_API_KEY: "sk-ant-0123456789",
    MINIMAX_API_KEY: "mm-0123456789",
    KIMI_API_KEY: "kimi-0123456789",
  };
  const mode = (choice: object, config: Record<string, unknown> = {}, more: Record<string, string> = {}) =>
    makeModels({ config, env: { ...env, ...more } }).resolve(choice).apiMode;
  assertEquals(mode({ provider: "openai-api" }), "codex_responses");
  assertEquals(mode({ provider: "xai" }), "codex_responses");
  assertEquals(mode({ provider: "anthropic" }), "anthropic_messages");
  assertEquals(mode({ provider: "minimax" }), "anthropic_messages");
  assertEquals(mode({ provider: "kimi-coding" }), "chat_completions");
  assertEquals(
    mode({ provider: "kimi-coding" }, {}, { KIMI_BASE_URL: "https://api.kimi.com/coding" }),
    "anthropic_messages",
  );
  // A stand-in for OpenAI speaks what all stand-ins speak; one for Anthropic speaks Messages.
  assertEquals(
    mode({ provider: "openai-api" }, {}, { OPENAI_BASE_URL: "http://10.0.0.1/v1" }),
    "chat_completions",
  );
  assertEquals(
    mode({ provider: "anthropic" }, {}, { ANTHROPIC_BASE_URL: "http://10.0.0.1" }),
    "anthropic_messages",
  );
  const custom = (base_url: string, more = {}) =>
    mode({}, { model: { default: "m", provider: "custom", base_url, ...more } });
  assertEquals(custom("https://proxy.example/anthropic"), "anthropic_messages");
  assertEquals(custom("https://api.openai.com/v1"), "codex_responses");
  assertEquals(custom("http://box/v1"), "chat_completions");
  assertEquals(custom("http://box/v1", { api_mode: "anthropic_messages" }), "anthropic_messages");
  assertEquals(custom("http://box/v1", { api_mode: "codex_responses" }), "chat_completions");
  const providers = { box: { base_url: "http://box/v1", model: "q", api_mode: "codex_responses" } };
  assertEquals(mode({ provider: "custom:box" }, { providers }), "codex_responses");
  assertEquals(mode({ provider: "openai-api", apiMode: "chat_completions" }), "chat_completions");
});

Deno.test("resolve() leaves an address of another provider out that stands beside anthropic in the config", () => {
  const env = { ANTHROPIC_API_KEY: "sk-ant-0123456789" };
  const model = { default: "claude-sonnet-4-6", provider: "anthropic" };
  const at = (base_url: string) => brief({ config: { model: { ...model, base_url } }, env })[2];
  assertEquals(at("https://openrouter.ai/api/v1"), "https://api.anthropic.com");
  assertEquals(at("https://api.anthropic.com/v1/"), "https://api.anthropic.com/v1");
});
