import type { Message, ResolvedModel } from "@/core/mod.ts";
import { reasoningFields } from "@/models/providers/reasoning.ts";
import { buildChatBody, wireMessages } from "@/models/providers/chat_request.ts";
import { normaliseUsage } from "@/models/providers/usage.ts";
import { assertEquals } from "../support/assert.ts";
import { requestOf } from "./helpers.ts";

const MODEL: ResolvedModel = {
  provider: "openrouter",
  model: "a/b",
  baseUrl: "https://openrouter.ai/api/v1",
  apiMode: "chat_completions",
  label: "OpenRouter",
  isDemo: false,
  contextWindow: 100_000,
  supportsVision: false,
  reasoningEfforts: [],
  source: "config",
};

function wire(messages: readonly Message[], model: Partial<ResolvedModel> = {}) {
  return wireMessages(requestOf("", { messages, system: "S" }), { ...MODEL, ...model }).slice(1);
}

const CALLS: readonly Message[] = [
  {
    role: "assistant",
    content: "",
    toolCalls: [
      { id: "c1", name: "x", arguments: "{}", providerId: "call_1" },
      { id: "c2", name: "y", arguments: "{}", providerId: "call_1" },
      { id: "c3", name: "z", arguments: "{}", providerId: "p3" },
    ],
    reasoning: "thought",
    reasoningDetails: [{ type: "t" }],
    finishReason: "tool_calls",
    rowId: 7,
  },
  { role: "tool", toolCallId: "c2", toolName: "y", content: "two", effect: "unknown", rowId: 8 },
  {
    role: "tool",
    toolCallId: "c3",
    toolName: "z",
    content: [{ type: "image_url", image_url: { url: "data:x" } }],
  },
];

Deno.test("wireMessages() gives the provider its own ids back where they are unique, and maps the results alike", () => {
  const call = (id: string, name: string) => ({ id, type: "function", function: { name, arguments: "{}" } });
  assertEquals(wire(CALLS), [
    {
      role: "assistant",
      content: null,
      tool_calls: [call("c1", "x"), call("c2", "y"), call("p3", "z")],
      reasoning_details: [{ type: "t" }],
    },
    { role: "tool", tool_call_id: "c2", content: "two" },
    { role: "tool", tool_call_id: "p3", content: [{ type: "image_url", image_url: { url: "data:x" } }] },
  ]);
});

Deno.test("wireMessages() sends nothing internal and details only where they are understood", () => {
  const [first] = wire(CALLS, { provider: "custom" });
  assertEquals(Object.keys(first!).sort(), ["content", "role", "tool_calls"]);
});

Deno.test("wireMessages() echoes thought for the families that demand it, a blank when there is none", () => {
  const echo = (model: string, reasoning: object) =>
    wire([{ ...CALLS[0]!, reasoning: undefined, ...reasoning } as unknown as Message], {
      model,
      provider: "custom",
    })[0]!["reasoning_content"];
  assertEquals(echo("kimi-k2", { reasoningContent: "echo", reasoning: "x" }), "echo");
  assertEquals(echo("deepseek-reasoner", {}), " ");
  assertEquals(echo("mimo-v2.5", { reasoning: "plain" }), "plain");
  assertEquals(echo("gpt-4.1", { reasoningContent: "echo" }), undefined);
  const plain = wire([{ role: "assistant", content: "hi", reasoningContent: "e" }], { model: "kimi-k2" });
  assertEquals(plain, [{ role: "assistant", content: "hi" }]);
});

Deno.test("wireMessages() names the system role as the model wants it", () => {
  const role = (model: string) => wireMessages(requestOf("x"), { ...MODEL, model })[0]!["role"];
  assertEquals([role("openai/gpt-5.5"), role("codex-mini"), role("gpt-4.1")], [
    "developer",
    "developer",
    "system",
  ]);
  assertEquals(wireMessages(requestOf("x", { system: "" }), MODEL)[0]!["role"], "user");
});

Deno.test("buildChatBody() caps the output by the window on endpoints of the user's own, and names the field right", () => {
  const options = {
    stream: false,
    ownCap: true,
    summaries: true,
    extraBody: {},
    cacheTtl: "off" as const,
    maxOutput: null,
  };
  const cap = (model: Partial<ResolvedModel>, more = {}) => {
    const { max_tokens, max_completion_tokens } = buildChatBody(
      requestOf("x", more),
      { ...MODEL, ...model },
      options,
    );
    return [max_tokens, max_completion_tokens];
  };
  assertEquals(cap({}), [undefined, undefined]);
  assertEquals(cap({ provider: "custom" }), [50_000, undefined]);
  assertEquals(cap({ provider: "custom:box", contextWindow: null }), [65_536, undefined]);
  assertEquals(cap({ provider: "custom" }, { maxTokens: 9 }), [9, undefined]);
  assertEquals(cap({ provider: "openai-api", baseUrl: "https://api.openai.com/v1" }, { maxTokens: 9 }), [
    undefined,
    9,
  ]);
});

Deno.test("reasoningFields() says an effort in each provider's way", () => {
  assertEquals(reasoningFields("openrouter", "a/b", undefined), {});
  assertEquals(reasoningFields("openrouter", "a/b", "high"), {
    reasoning: { enabled: true, effort: "high" },
  });
  assertEquals(reasoningFields("openrouter", "a/b", "none"), { reasoning: { enabled: false } });
  assertEquals(reasoningFields("custom:box", "q", "none"), { reasoning_effort: "none", think: false });
  assertEquals(reasoningFields("custom", "q", "medium"), { reasoning_effort: "medium" });
  assertEquals(reasoningFields("deepseek", "deepseek-chat", "ultra"), {
    thinking: { type: "enabled" },
    reasoning_effort: "max",
  });
  assertEquals(reasoningFields("openai-api", "gpt-5.5", "max"), { reasoning_effort: "xhigh" });
  assertEquals(reasoningFields("openai-api", "gpt-4.1", "high"), {});
  assertEquals(reasoningFields("fireworks", "x", "high"), {});
});

Deno.test("core A.12: Gemini is told in the extra body, by budget up to 2.5 and by level from 3 on, and by nothing else", () => {
  const config = (model: string, effort: string) => {
    const body = reasoningFields("gemini", model, effort);
    assertEquals(Object.keys(body), ["extra_body"]);
    return (body["extra_body"] as { google: { thinking_config: unknown } }).google.thinking_config;
  };
  assertEquals(config("gemini-2.5-flash", "medium"), { thinking_budget: 8_192, include_thoughts: true });
  assertEquals(config("gemini-2.5-pro", "minimal"), { thinking_budget: 1_024, include_thoughts: true });
  assertEquals(config("gemini-2.5-flash", "none"), { thinking_budget: 0 });
  assertEquals(config("gemini-2.5-pro", "none"), { thinking_budget: 128 });
  assertEquals(config("gemini-3.1-pro-preview", "max"), { thinking_level: "high", include_thoughts: true });
  assertEquals(config("gemini-3.1-pro-preview", "minimal"), {
    thinking_level: "low",
    include_thoughts: true,
  });
  assertEquals(config("gemini-3.8-flash", "none"), { thinking_level: "minimal" });
  assertEquals(config("gemini-flash-latest", "low"), { thinking_level: "low", include_thoughts: true });
  assertEquals(reasoningFields("gemini", "gemini-3.8-flash", undefined), {});
});

Deno.test("core A.12: Z.AI and Kimi get the switch, and the effort where the model takes one", () => {
  const [on, off] = [{ thinking: { type: "enabled" } }, { thinking: { type: "disabled" } }];
  assertEquals(reasoningFields("zai", "glm-5.2", "high"), { ...on, reasoning_effort: "high" });
  assertEquals(reasoningFields("zai", "glm-5.2", "none"), off);
  assertEquals(reasoningFields("zai", "glm-5.1", "high"), on);
  assertEquals(reasoningFields("zai", "glm-5.3", "medium"), { ...on, reasoning_effort: "high" });
  assertEquals(reasoningFields("zai", "glm-5.3", "none"), { ...on, reasoning_effort: "low" });
  assertEquals(reasoningFields("kimi-coding", "kimi-k2.6", "high"), on);
  assertEquals(reasoningFields("kimi-coding", "kimi-k3", "max"), { ...on, reasoning_effort: "high" });
  assertEquals(reasoningFields("kimi-coding-cn", "kimi-k3.1-pro", "minimal"), {
    ...on,
    reasoning_effort: "low",
  });
  assertEquals(reasoningFields("kimi-coding", "kimi-k3", "disabled"), off);
});

Deno.test("reasoningFields() leaves models of the user's own out of the vendors' ways", () => {
  assertEquals(reasoningFields("custom:zai", "glm-5.2", "high"), { reasoning_effort: "high" });
});

Deno.test("core 2: normaliseUsage() takes cached tokens out of the input", () => {
  const usage = (raw: unknown) => {
    const u = normaliseUsage(raw);
    return u && [u.input, u.output, u.cacheRead, u.cacheWrite, u.reasoning];
  };
  assertEquals(
    usage({
      prompt_tokens: 100,
      completion_tokens: 5,
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 2 },
    }),
    [60, 5, 40, 0, 2],
  );
  assertEquals(usage({ prompt_tokens: 10, completion_tokens: 1, prompt_cache_hit_tokens: 4 }), [
    6,
    1,
    4,
    0,
    0,
  ]);
  assertEquals(usage({ input_tokens: 10, output_tokens: 1, input_tokens_details: { cached_tokens: 99 } }), [
    0,
    1,
    10,
    0,
    0,
  ]);
  assertEquals([usage(null), usage({}), usage({ prompt_tokens: "x" }), usage({ prompt_tokens: -1 })], [
    null,
    null,
    null,
    null,
  ]);
});

Deno.test("buildChatBody() marks system prompt and messages for routes that pass the marks on, in their layout", () => {
  const messages: Message[] = [
    { role: "user", content: "one" },
    { role: "assistant", content: null, toolCalls: [{ id: "c", name: "x", arguments: "{}" }] },
    { role: "tool", toolCallId: "c", toolName: "x", content: "r" },
    { role: "assistant", content: "two" },
    { role: "user", content: [{ type: "text", text: "three" }, { type: "text", text: "four" }] },
  ];
  const marked = (model: Partial<ResolvedModel>, cacheTtl: "5m" | "off" = "5m") => {
    const body = buildChatBody(requestOf("", { messages }), { ...MODEL, ...model }, {
      stream: false,
      ownCap: true,
      summaries: true,
      extraBody: {},
      cacheTtl,
      maxOutput: null,
    });
    const sent = body["messages"] as { content: unknown }[];
    return sent.map(({ content }) =>
      Array.isArray(content) ? content.map((part) => part.cache_control) : null
    );
  };
  const mark = { type: "ephemeral" };
  const claude = { model: "anthropic/claude-sonnet-4.6" };
  assertEquals(marked(claude), [[mark], [mark], null, null, [mark], [undefined, mark]]);
  assertEquals(marked(claude, "off"), [null, null, null, null, null, [undefined, undefined]]);
  assertEquals(marked({ model: "openai/gpt-5.5" })[0], null);
  assertEquals(marked({ provider: "alibaba", model: "qwen3-coder-plus" })[0], [mark]);
  assertEquals(marked({ provider: "custom", model: "claude-sonnet-4.6" })[0], null);
});
