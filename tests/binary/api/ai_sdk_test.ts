/** The AI SDK with its OpenAI providers, as people use it, against the real program. */
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { API_KEY, type ApiServer, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";

const SERVER_TOOL = { tool: "terminal", args: { command: "echo hi" } };

function compatible(api: ApiServer) {
  const provider = createOpenAICompatible({ name: "hermes", apiKey: API_KEY, baseURL: `${api.url}/v1` });
  return provider("hermes-agent");
}

function openai(api: ApiServer, headers: Record<string, string> = {}) {
  return createOpenAI({ apiKey: API_KEY, baseURL: `${api.url}/v1`, headers });
}

const weather = tool({
  description: "Tells the weather",
  inputSchema: jsonSchema<{ city: string }>({
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  }),
  execute: ({ city }) => Promise.resolve(`rain in ${city}`),
});

Deno.test("ai sdk: text and stream through @ai-sdk/openai-compatible, a server tool on the way", async () => {
  await using model = await startModelServer({ turns: ["hello", { steps: [SERVER_TOOL] }, "found it"] });
  await using api = await startApi({ model });
  const { text, finishReason } = await generateText({ model: compatible(api), prompt: "hi" });
  assertEquals([text, finishReason], ["hello", "stop"]);
  const errors: unknown[] = [];
  const result = streamText({
    model: compatible(api),
    prompt: "go",
    onError: ({ error }) => void errors.push(error),
  });
  let streamed = "";
  for await (const part of result.textStream) streamed += part;
  assertEquals([streamed, await result.finishReason, errors], ["found it", "stop", []]);
});

Deno.test("ai sdk: chat and responses through @ai-sdk/openai, plain and streamed", async () => {
  await using model = await startModelServer({ turns: ["one", "two", { steps: [SERVER_TOOL] }, "three"] });
  await using api = await startApi({ model });
  const provider = openai(api, { "X-Hermes-Tool-Items": "omit" });
  assertEquals((await generateText({ model: provider.chat("hermes-agent"), prompt: "hi" })).text, "one");
  assertEquals((await generateText({ model: provider.responses("hermes-agent"), prompt: "hi" })).text, "two");
  const result = streamText({ model: provider.responses("hermes-agent"), prompt: "go" });
  let streamed = "";
  for await (const part of result.textStream) streamed += part;
  assertEquals([streamed, await result.finishReason], ["three", "stop"]);
});

Deno.test("ai sdk: its own tools are called and answered, on chat and on responses, plain and streamed", async () => {
  const call = { steps: [{ tool: "weather", args: { city: "Oslo" } }] };
  await using model = await startModelServer({
    turns: [call, "wet chat", call, "wet stream", call, "wet response", call, "wet events"],
  });
  await using api = await startApi({ model });
  const options = { prompt: "weather?", tools: { weather }, stopWhen: stepCountIs(3) };
  const provider = openai(api, { "X-Hermes-Tool-Items": "omit" });
  assertEquals((await generateText({ model: compatible(api), ...options })).text, "wet chat");
  assertEquals(await streamText({ model: compatible(api), ...options }).text, "wet stream");
  const responses = provider.responses("hermes-agent");
  assertEquals((await generateText({ model: responses, ...options })).text, "wet response");
  assertEquals(await streamText({ model: responses, ...options }).text, "wet events");
  for (const n of [1, 3, 5, 7]) {
    assertMatch(JSON.stringify(model.calls()[n]!.body.messages.at(-1)), /"role":"tool".*rain in Oslo/);
  }
});
