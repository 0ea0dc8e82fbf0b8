import type { Message, ResolvedModel } from "@/core/mod.ts";
import { buildResponsesBody } from "@/models/providers/responses_request.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { requestOf } from "./helpers.ts";

const MODEL: ResolvedModel = {
  provider: "openai-api",
  model: "gpt-5.5",
  baseUrl: "https://api.openai.com/v1",
  apiMode: "codex_responses",
  label: "OpenAI API",
  isDemo: false,
  contextWindow: 1_050_000,
  supportsVision: true,
  reasoningEfforts: ["none", "low", "medium", "high", "xhigh"],
  source: "config",
};
const OPTIONS = {
  stream: true,
  ownCap: true,
  summaries: true,
  extraBody: {},
  cacheTtl: "5m" as const,
  maxOutput: 128_000,
};

const HISTORY: readonly Message[] = [
  {
    role: "user",
    content: [{ type: "text", text: "look" }, {
      type: "image_url",
      image_url: { url: "data:image/png;base64,AA" },
    }],
  },
  {
    role: "assistant",
    content: "I look.",
    reasoning: "hm",
    toolCalls: [{ id: "c1", name: "see", arguments: "", providerId: "call_9" }],
    reasoningDetails: [
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" },
      { type: "message", phase: "commentary" },
      { type: "thinking", thinking: "of another wire", signature: "s" },
      { type: "reasoning", id: "rs_2", summary: [] },
    ],
  },
  {
    role: "tool",
    toolCallId: "c1",
    toolName: "see",
    content: [{ type: "text", text: "here" }, { type: "image_url", image_url: { url: "https://x/y.png" } }],
  },
];

Deno.test("buildResponsesBody() sends items in the order they were given, sealed thoughts first", () => {
  const tools = [{ name: "see", description: "Sees.", parameters: { type: "object" } }];
  const request = requestOf("", { messages: HISTORY, tools, reasoningEffort: "high", maxTokens: 9 });
  const { prompt_cache_key: key, ...body } = buildResponsesBody(request, MODEL, OPTIONS);
  assertMatch(String(key), /^hermes-[0-9a-f]{16}$/);
  assertEquals(body, {
    model: "gpt-5.5",
    instructions: "You help.",
    input: [
      {
        role: "user",
        content: [
          { type: "input_text", text: "look" },
          { type: "input_image", image_url: "data:image/png;base64,AA", detail: "auto" },
        ],
      },
      { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed" },
      {
        type: "message",
        role: "assistant",
        content: [{ type: "output_text", text: "I look." }],
        phase: "commentary",
      },
      { type: "function_call", call_id: "call_9", name: "see", arguments: "{}" },
      {
        type: "function_call_output",
        call_id: "call_9",
        output: [
          { type: "input_text", text: "here" },
          { type: "input_image", image_url: "https://x/y.png", detail: "auto" },
        ],
      },
    ],
    tools: [{
      type: "function",
      name: "see",
      description: "Sees.",
      parameters: { type: "object" },
      strict: false,
    }],
    max_output_tokens: 9,
    reasoning: { effort: "high", summary: "auto" },
    include: ["reasoning.encrypted_content"],
    store: false,
    stream: true,
  });
});

Deno.test("buildResponsesBody() says an effort only where the model has it, and the nearest one", () => {
  const effort = (level: string | undefined, model: Partial<ResolvedModel> = {}, more = {}) => {
    const request = requestOf("x", level === undefined ? {} : { reasoningEffort: level });
    const body = buildResponsesBody(request, { ...MODEL, ...model }, { ...OPTIONS, ...more });
    return [body["reasoning"], body["include"] !== undefined];
  };
  assertEquals(effort(undefined), [undefined, true]);
  assertEquals(effort("minimal"), [{ effort: "low", summary: "auto" }, true]);
  assertEquals(effort("max"), [{ effort: "xhigh", summary: "auto" }, true]);
  assertEquals(effort("none"), [{ effort: "none", summary: "auto" }, true]);
  assertEquals(effort("high", {}, { summaries: false }), [{ effort: "high" }, true]);
  assertEquals(effort("high", { model: "gpt-4.1", reasoningEfforts: [] }), [undefined, false]);
  const grok = { provider: "xai", model: "grok-4.7", reasoningEfforts: ["low", "medium", "high"] };
  assertEquals(effort("xhigh", grok), [{ effort: "high", summary: "auto" }, true]);
  assertEquals(effort("none", grok), [undefined, true]);
  assertEquals(effort("high", { ...grok, model: "grok-4", reasoningEfforts: [] }), [undefined, true]);
});

Deno.test("buildResponsesBody() names the prompt's cache by instructions and tools, else by the session", () => {
  const key = (more: object, model = MODEL) =>
    buildResponsesBody(requestOf("x", more), model, OPTIONS)["prompt_cache_key"];
  assertEquals(key({}), key({ sessionId: "other", messages: [{ role: "user", content: "y" }] }));
  assertEquals(key({ system: "Other." }) === key({}), false);
  assertEquals(key({ system: "" }), "s1");
  assertEquals(key({}, { ...MODEL, provider: "xai" }), "s1");
});
