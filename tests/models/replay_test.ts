/** What a provider wants back of its own thought goes from its answer into the next request, unchanged. */
import type { Message } from "@/core/mod.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { startModelServer } from "../support/model_server.ts";
import { makeModels, play, type Played, requestOf } from "./helpers.ts";

/** The history after an answer, as the core keeps it. */
function after(played: Played): Message[] {
  const { text, done } = played;
  return [
    { role: "user", content: "go" },
    {
      role: "assistant",
      content: text || null,
      toolCalls: done!.toolCalls,
      ...(done!.reasoningDetails ? { reasoningDetails: done!.reasoningDetails } : {}),
    },
    { role: "tool", toolCallId: "call_1", toolName: "t", content: "result" },
  ];
}

const TURN = { steps: [{ reasoning: "deep " }, { reasoning: "thought" }, { text: "so" }, { tool: "t" }] };

async function secondBody(api_mode: string) {
  await using server = await startModelServer({ turns: [TURN, "done"] });
  const providers = { box: { base_url: server.url, api_mode, model: "m" } };
  const models = makeModels({ config: { providers } });
  const client = models.client(models.resolve({ provider: "custom:box" }));
  const first = await play(client, requestOf("go"));
  // Through the store, which keeps it as JSON.
  const messages = JSON.parse(JSON.stringify(after(first))) as Message[];
  assertEquals((await play(client, requestOf("", { messages }))).text, "done");
  return server.calls()[1]!.body;
}

Deno.test("Responses: the sealed thought comes back before its text and call", async () => {
  const { input } = await secondBody("codex_responses");
  assertEquals(input.slice(1), [
    {
      type: "reasoning",
      id: "item_0",
      summary: [{ type: "summary_text", text: "deep thought" }],
      encrypted_content: "sealed:deep thought",
    },
    { type: "message", role: "assistant", content: [{ type: "output_text", text: "so" }] },
    { type: "function_call", call_id: "call_1", name: "t", arguments: "{}" },
    { type: "function_call_output", call_id: "call_1", output: "result" },
  ]);
});

Deno.test("Messages: the signed thought comes back before its text and call", async () => {
  const { messages } = await secondBody("anthropic_messages");
  assertEquals(messages.slice(1), [
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "deep thought", signature: "signed" },
        { type: "text", text: "so" },
        { type: "tool_use", id: "call_1", name: "t", input: {} },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: "call_1", content: "result" }] },
  ]);
});

const INTERLEAVED = {
  steps: [
    { reasoning: "one" },
    { text: "so" },
    { reasoning: "two" },
    { tool: "t", id: "call_1" },
    { reasoning: "three" },
    { tool: "t", id: "call_2", args: { n: 2 } },
  ],
};

/** The first answer as it is told in the second request. */
async function replayed(api_mode: string) {
  await using server = await startModelServer({ turns: [INTERLEAVED, "done"] });
  const models = makeModels({
    config: { providers: { box: { base_url: server.url, api_mode, model: "m" } } },
  });
  const client = models.client(models.resolve({ provider: "custom:box" }));
  const messages = after(await play(client, requestOf("go")));
  await play(client, requestOf("", { messages }));
  return server.calls()[1]!.body;
}

Deno.test("thoughts that come between text and calls go back to where they were", async () => {
  const { messages } = await replayed("anthropic_messages");
  const blocks = messages[1].content as { type: string; thinking?: string }[];
  const order = ["one", "text", "two", "tool_use", "three", "tool_use"];
  assertEquals(blocks.map((block) => block.thinking ?? block.type), order);
  const { input } = await replayed("codex_responses");
  const items = input.slice(1, 7) as { type: string; encrypted_content?: string; place?: unknown }[];
  assertEquals(items.map((item) => item.encrypted_content ?? item.type), [
    "sealed:one",
    "message",
    "sealed:two",
    "function_call",
    "sealed:three",
    "function_call",
  ]);
  assertEquals(items.some((item) => "place" in item), false);
});

Deno.test("a history of one wire is accepted by the others: foreign thoughts stay at home", async () => {
  const details = [
    { type: "reasoning", id: "rs", summary: [], encrypted_content: "e" },
    { type: "thinking", thinking: "t", signature: "s" },
    { type: "reasoning.text", text: "r" },
  ];
  const messages: Message[] = [
    { role: "user", content: "a" },
    { role: "assistant", content: "b", reasoningDetails: details },
    { role: "user", content: "c" },
  ];
  await using server = await startModelServer({ turns: ["1", "2", "3"] });
  const bodies: string[] = [];
  for (const api_mode of ["chat_completions", "codex_responses", "anthropic_messages"]) {
    const models = makeModels({
      config: { providers: { box: { base_url: server.url, api_mode, model: "m" } } },
    });
    await play(models.client(models.resolve({ provider: "custom:box" })), requestOf("", { messages }));
    bodies.push(JSON.stringify(server.calls().at(-1)!.body));
  }
  const found = bodies.map((
    body,
  ) => [body.includes('"rs"'), body.includes('"signature"'), body.includes("reasoning.text")]);
  assertEquals(found, [[false, false, false], [true, false, false], [false, true, false]]);
});

Deno.test("Messages: the key goes into its own header, a login's token as bearer", async () => {
  await using server = await startModelServer({ turns: ["1", "2"] });
  for (const api_key of ["sk-ant-api-0123456789", "sk-ant-oat01-0123456789"]) {
    const box = {
      base_url: server.url,
      api_mode: "anthropic_messages",
      model: "m",
      api_key,
      extra_headers: { "x-c": "3" },
    };
    const models = makeModels({ config: { providers: { box } } });
    await play(models.client(models.resolve({ provider: "custom:box" })), requestOf("x"));
  }
  const [first, second] = server.calls().map((call) => call.headers);
  assertEquals([first!["x-api-key"], first!["authorization"], first!["anthropic-version"], first!["x-c"]], [
    "sk-ant-api-0123456789",
    undefined,
    "2023-06-01",
    "3",
  ]);
  assertEquals([second!["x-api-key"], second!["authorization"]], [
    undefined,
    "Bearer sk-ant-oat01-0123456789",
  ]);
  assertMatch(second!["anthropic-beta"]!, /oauth/);
});
