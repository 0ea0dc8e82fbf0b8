import type { Message, ResolvedModel } from "@/core/mod.ts";
import { buildMessagesBody, wireMessages } from "@/models/providers/messages_request.ts";
import { messagesUrl } from "@/models/providers/messages_sender.ts";
import type { BodyOptions } from "@/models/providers/wire.ts";
import { assertEquals } from "../support/assert.ts";
import { requestOf } from "./helpers.ts";

const MODEL: ResolvedModel = {
  provider: "anthropic",
  model: "claude-sonnet-4-6",
  baseUrl: "https://api.anthropic.com",
  apiMode: "anthropic_messages",
  label: "Anthropic",
  isDemo: false,
  contextWindow: 1_000_000,
  supportsVision: true,
  reasoningEfforts: [],
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

const CALLS: readonly Message[] = [
  { role: "user", content: "go" },
  {
    role: "assistant",
    content: "",
    toolCalls: [
      { id: "a.1", name: "x", arguments: '{"n":1}' },
      { id: "b", name: "y", arguments: "{cut" },
    ],
    reasoningDetails: [
      { type: "thinking", thinking: "hm", signature: "sig" },
      { type: "thinking", thinking: "unsigned", signature: "" },
      { type: "redacted_thinking", data: "xx" },
      { type: "reasoning", id: "rs_1", encrypted_content: "of another wire" },
    ],
  },
  { role: "tool", toolCallId: "a.1", toolName: "x", content: "one", meta: { isError: true } },
  {
    role: "tool",
    toolCallId: "b",
    toolName: "y",
    content: [{ type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }],
  },
  {
    role: "user",
    content: [{ type: "text", text: "and?" }, { type: "image_url", image_url: { url: "https://x/y" } }],
  },
];

Deno.test("wireMessages() keeps signed thoughts, gives results and words of the user as one message, and mends ids", () => {
  assertEquals(wireMessages(requestOf("", { messages: CALLS })), [
    { role: "user", content: [{ type: "text", text: "go" }] },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm", signature: "sig" },
        { type: "redacted_thinking", data: "xx" },
        { type: "tool_use", id: "a_1", name: "x", input: { n: 1 } },
        { type: "tool_use", id: "b", name: "y", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "a_1", content: "one", is_error: true },
        {
          type: "tool_result",
          tool_use_id: "b",
          content: [{ type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } }],
        },
        { type: "text", text: "and?" },
        { type: "image", source: { type: "url", url: "https://x/y" } },
      ],
    },
  ]);
});

Deno.test("wireMessages() never sends an empty text, and lets the user begin", () => {
  const messages: Message[] = [{ role: "assistant", content: "hi" }, { role: "user", content: " " }];
  assertEquals(wireMessages(requestOf("", { messages })), [
    { role: "user", content: [{ type: "text", text: "(continue)" }] },
    { role: "assistant", content: [{ type: "text", text: "hi" }] },
    { role: "user", content: [{ type: "text", text: "(empty)" }] },
  ]);
});

Deno.test("buildMessagesBody() marks the system prompt and the last three messages for the cache", () => {
  const messages: Message[] = [1, 2, 3, 4, 5].map((n) =>
    n % 2 ? { role: "user", content: `u${n}` } : { role: "assistant", content: `a${n}` }
  );
  const marks = (model: Partial<ResolvedModel>, options: Partial<BodyOptions>) => {
    const body = buildMessagesBody(requestOf("", { messages }), { ...MODEL, ...model }, {
      ...OPTIONS,
      ...options,
    });
    const system = (body["system"] as { cache_control?: unknown }[])[0]!.cache_control;
    const sent = body["messages"] as { content: { cache_control?: unknown }[] }[];
    return [system, ...sent.map((message) => message.content[0]!.cache_control)];
  };
  const mark = { type: "ephemeral" };
  const none = undefined;
  assertEquals(marks({}, { cacheTtl: "5m" }), [mark, none, none, mark, mark, mark]);
  const hour = { type: "ephemeral", ttl: "1h" };
  assertEquals(marks({}, { cacheTtl: "1h" }), [hour, none, none, hour, hour, hour]);
  assertEquals(marks({}, {}), [none, none, none, none, none, none]);
  assertEquals(marks({ provider: "custom", model: "kimi-k3" }, { cacheTtl: "5m" })[0], none);
  assertEquals(marks({ provider: "minimax", model: "MiniMax-M3" }, { cacheTtl: "5m" })[0], mark);
});

Deno.test("buildMessagesBody() always states a cap: asked for, the model's, never more than half of a small window", () => {
  const cap = (model: Partial<ResolvedModel>, more: object = {}, options: Partial<BodyOptions> = {}) =>
    buildMessagesBody(requestOf("x", more), { ...MODEL, ...model }, { ...OPTIONS, ...options })["max_tokens"];
  assertEquals(cap({}), 64_000);
  assertEquals(cap({}, {}, { maxOutput: 128_000 }), 128_000);
  assertEquals(cap({ model: "claude-opus-4-6" }), 128_000);
  assertEquals(cap({ model: "claude-opus-4-20250514" }), 32_000);
  assertEquals(cap({ model: "claude-3-5-sonnet-20241022" }), 8_192);
  assertEquals(cap({ model: "claude-sonnet-5-5" }), 128_000);
  assertEquals(cap({ model: "glm", contextWindow: 10_000 }), 5_000);
  assertEquals(cap({}, { maxTokens: 7 }), 7);
});

Deno.test("buildMessagesBody() says an effort as the model's generation wants it", () => {
  const fields = (model: string, reasoningEffort: string, messages?: readonly Message[]) => {
    const request = requestOf("x", { reasoningEffort, ...(messages ? { messages } : {}) });
    const body = buildMessagesBody(request, { ...MODEL, model }, OPTIONS);
    return [body["thinking"], body["output_config"], body["max_tokens"], body["temperature"]];
  };
  const adaptive = { type: "adaptive", display: "summarized" };
  assertEquals(fields("claude-sonnet-4-6", "xhigh"), [adaptive, { effort: "max" }, 64_000, undefined]);
  assertEquals(fields("claude-opus-4-7", "xhigh"), [adaptive, { effort: "xhigh" }, 128_000, undefined]);
  assertEquals(fields("claude-haiku-5-5", "minimal"), [adaptive, { effort: "low" }, 128_000, undefined]);
  assertEquals(fields("claude-opus-4-20250514", "xhigh"), [
    { type: "enabled", budget_tokens: 32_000 },
    undefined,
    36_096,
    1,
  ]);
  assertEquals(fields("claude-haiku-4-5", "high")[0], undefined);
  assertEquals(fields("claude-sonnet-4-6", "none")[0], undefined);
  assertEquals(fields("MiniMax-M3", "high")[0], undefined);
  // Without its own thought a turn with calls cannot be gone on with in the budget mode.
  const bare = CALLS.map((m) => m.role === "assistant" ? { ...m, reasoningDetails: [] } : m);
  assertEquals(fields("claude-sonnet-4-5", "high", bare)[0], undefined);
  assertEquals(fields("claude-sonnet-4-5", "high", CALLS)[0], { type: "enabled", budget_tokens: 16_000 });
});

Deno.test("messagesUrl() finds the place under any form of the address", () => {
  for (const base of ["https://h", "https://h/", "https://h/v1", "https://h/v1/"]) {
    assertEquals(messagesUrl(base), "https://h/v1/messages");
  }
  assertEquals(messagesUrl("https://h/anthropic"), "https://h/anthropic/v1/messages");
});

Deno.test("buildMessagesBody() stands in for tools that the history has used and that are not offered", () => {
  const body = (more: object) => {
    const { tools, tool_choice } = buildMessagesBody(requestOf("x", more), MODEL, OPTIONS);
    return [tools, tool_choice];
  };
  const stub = (name: string) => ({ name, input_schema: { type: "object" } });
  assertEquals(body({}), [undefined, undefined]);
  assertEquals(body({ messages: CALLS }), [[stub("x"), stub("y")], { type: "none" }]);
  const tools = [{ name: "x", description: "X.", parameters: { type: "object" } }];
  assertEquals(body({ messages: CALLS, tools }), [
    [{ name: "x", description: "X.", input_schema: { type: "object" } }],
    undefined,
  ]);
});
