import { fastFactor } from "@/models/fast_mode.ts";
import type { ModelRequest, ResolvedModel } from "@/core/mod.ts";
import { costOf } from "@/models/cost.ts";
import { buildChatBody } from "@/models/providers/chat_request.ts";
import { buildMessagesBody } from "@/models/providers/messages_request.ts";
import { lessonOf } from "@/models/providers/refusals.ts";
import { adaptRequest, contentsOf } from "@/models/providers/adapt.ts";
import { buildResponsesBody } from "@/models/providers/responses_request.ts";
import type { BodyOptions } from "@/models/providers/wire.ts";
import { assertEquals } from "../support/assert.ts";
import { startModelServer } from "../support/model_server.ts";
import { makeModels, play, requestOf } from "./helpers.ts";

const OPENAI = "https://api.openai.com/v1";
const ANTHROPIC = "https://api.anthropic.com";

Deno.test("fastFactor(): OpenAI's flagships without codex, Opus on Anthropic itself, nothing else (F.10)", () => {
  const has = (provider: string, url: string, models: string) =>
    models.split(" ").map((model) => fastFactor(provider, url, model) !== null);
  const all = (models: string, value: boolean) => models.split(" ").map(() => value);
  const flagships = "gpt-5.5 gpt-5.4-mini gpt-5 gpt-4.1 gpt-4o o3 o4-mini gpt-6-sol";
  assertEquals(has("openai-api", OPENAI, flagships), all(flagships, true));
  assertEquals(has("custom", OPENAI, "gpt-5.5"), [true]);
  const others = "gpt-5.3-codex gpt-5.5-pro gpt-5-nano gpt-3.5-turbo o1 gpt-4o-audio-preview";
  assertEquals(has("openai-api", OPENAI, others), all(others, false));
  const opus =
    "claude-opus-4-6 claude-opus-4.6 claude-opus-4-8 claude-opus-5 claude-opus-5-5 claude-fable-5-2";
  assertEquals(has("anthropic", ANTHROPIC, opus), all(opus, true));
  const slow = "claude-sonnet-4-6 claude-haiku-4-5 claude-opus-4-5 claude-opus-4-7 claude-fable-5";
  assertEquals(has("anthropic", ANTHROPIC, slow), all(slow, false));
  assertEquals(has("openrouter", "https://openrouter.ai/api/v1", "gpt-5.5 claude-opus-4-6"), [false, false]);
  assertEquals(has("anthropic", ANTHROPIC, "gpt-5.5"), [false]);
});

const MODEL: ResolvedModel = {
  provider: "openai-api",
  model: "gpt-5.5",
  baseUrl: OPENAI,
  apiMode: "codex_responses",
  label: "OpenAI API",
  isDemo: false,
  contextWindow: null,
  supportsVision: true,
  reasoningEfforts: [],
  fastFactor: 2.5,
  source: "config",
};
const OPTIONS: BodyOptions = {
  stream: true,
  ownCap: true,
  summaries: true,
  extraBody: {},
  cacheTtl: "off",
  maxOutput: null,
};

Deno.test("F.10: the wish goes out in the words of each wire, and only to a model that has the mode", () => {
  const fields = (request: ModelRequest, model: ResolvedModel) =>
    [buildChatBody, buildResponsesBody, buildMessagesBody].map((build) => {
      const body = build(request, model, OPTIONS);
      return [body["service_tier"], body["speed"]];
    });
  const nothing = [[undefined, undefined], [undefined, undefined], [undefined, undefined]];
  const fast = requestOf("x", { fast: true });
  assertEquals(fields(fast, MODEL), [["priority", undefined], ["priority", undefined], [undefined, "fast"]]);
  const { fastFactor: _, ...without } = MODEL;
  assertEquals(fields(fast, without), nothing);
  assertEquals(fields(requestOf("x"), MODEL), nothing);
});

Deno.test("F.10: a server that refuses the fast mode is asked without; other refusals stay", () => {
  const request = requestOf("x", { fast: true });
  const has = contentsOf(request, false);
  const refusal = "speed: fast mode is not supported for this model";
  assertEquals(lessonOf(400, refusal, has), "no_fast");
  assertEquals(lessonOf(400, "Invalid service_tier argument", has), "no_fast");
  assertEquals(lessonOf(400, refusal, contentsOf(requestOf("x"), false)), null);
  assertEquals(lessonOf(400, "messages: too few", has), null);
  const adapted = adaptRequest(request, new Set(["no_fast"]), null);
  assertEquals(buildResponsesBody(adapted, MODEL, OPTIONS)["service_tier"], undefined);
});

Deno.test("F.10: what was served fast costs its factor, what was served as usual does not", () => {
  const price = { input: 4, output: 20, cacheRead: 0.4, cacheWrite: null };
  const usage = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  const cost = (of: Parameters<typeof costOf>[0]) =>
    costOf(of, MODEL, { listed: price, catalog: null }, "5m").usd;
  assertEquals([cost(usage), cost({ ...usage, fast: true })], [4, 10]);
});

Deno.test("F.10: Anthropic's beta is named beside those of the settings, and with the wish alone", async () => {
  await using server = await startModelServer({ turns: ["one", "two"] });
  const models = makeModels({
    config: {
      model: {
        provider: "anthropic",
        default: "claude-opus-4-6",
        default_headers: { "anthropic-beta": "own-2026-01-01" },
      },
    },
    env: { ANTHROPIC_API_KEY: "sk-ant-12345678", ANTHROPIC_BASE_URL: server.url },
  });
  const client = models.client(models.resolve());
  await play(client, requestOf("hi", { fast: true }));
  await play(client, requestOf("hi"));
  assertEquals(
    server.calls().map(({ headers, body }) => [headers["anthropic-beta"], body.speed]),
    [["own-2026-01-01, fast-mode-2026-02-01", "fast"], ["own-2026-01-01", undefined]],
  );
});
