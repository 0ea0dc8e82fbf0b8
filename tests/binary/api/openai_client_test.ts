/** The npm `openai` client, as people use it, against the real program. */
import OpenAI from "openai";
import { assert, assertEquals, assertRejects } from "../../support/assert.ts";
import { API_KEY, type ApiServer, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually } from "../../support/program.ts";

function clientOf(api: ApiServer): OpenAI {
  return new OpenAI({ apiKey: API_KEY, baseURL: `${api.url}/v1` });
}

const HI = { model: "hermes-agent", messages: [{ role: "user" as const, content: "hi" }] };

Deno.test("openai: a plain completion and the model list", async () => {
  await using model = await startModelServer({ turns: ["hello"] });
  await using api = await startApi({ model });
  const client = clientOf(api);
  const completion = await client.chat.completions.create(HI);
  assertEquals(completion.choices[0]!.message.content, "hello");
  assert(completion._request_id?.startsWith("req_"));
  const ids = [];
  for await (const row of client.models.list()) ids.push(row.id);
  assertEquals(ids, ["hermes-agent"]);
  assertEquals((await client.models.retrieve("hermes-agent")).id, "hermes-agent");
});

Deno.test("openai: a stream with a tool, by the raw loop and by the helper", async () => {
  const turns = [
    { steps: [{ text: "looking" }, { tool: "terminal", args: { command: "echo hi" } }] },
    "found",
  ];
  await using model = await startModelServer({ turns: [...turns, ...turns] });
  await using api = await startApi({ model });
  const client = clientOf(api);
  let text = "";
  const finishes = [];
  for await (const chunk of await client.chat.completions.create({ ...HI, stream: true })) {
    text += chunk.choices[0]?.delta.content ?? "";
    if (chunk.choices[0]?.finish_reason) finishes.push(chunk.choices[0].finish_reason);
  }
  assertEquals([text, finishes], ["looking\n\nfound", ["stop"]]);
  const helper = client.chat.completions.stream({ ...HI, stream_options: { include_usage: true } });
  assertEquals(await helper.finalContent(), "looking\n\nfound");
  assert((await helper.totalUsage()).total_tokens >= 0);
});

Deno.test("api 23: openai raises APIError when the provider breaks in the middle", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "half" }, { delay_ms: 20, reset: true }] }],
    loop: true,
  });
  await using api = await startApi({ model, config: { agent: { api_max_retries: 1 } } });
  let text = "";
  await assertRejects(async () => {
    for await (const chunk of await clientOf(api).chat.completions.create({ ...HI, stream: true })) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
  });
  assertEquals(text, "half");
});

Deno.test("api 25: openai with its default retries starts a failing turn once", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ error: { status: 401, message: "no" } }] }],
    loop: true,
  });
  await using api = await startApi({ model });
  const error = await clientOf(api).chat.completions.create(HI).then(() => null, (reason) => reason);
  assert(error instanceof OpenAI.APIError);
  assertEquals([error.status, error.code], [502, "agent_incomplete"]);
  assertEquals(model.calls().length, 1);
});

Deno.test("openai: abort ends the turn", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "word ", repeat: 100, delay_ms: 50 }] }],
  });
  await using api = await startApi({ model });
  const stream = await clientOf(api).chat.completions.create({ ...HI, stream: true });
  let seen = 0;
  for await (const chunk of stream) {
    if (chunk.choices[0]?.delta.content && ++seen === 2) stream.controller.abort();
  }
  await eventually(() => model.calls()[0]!.aborted, 2_000, "the provider to see the abort");
});

Deno.test("openai: responses.create, chained, and responses.stream with its helper", async () => {
  const turns = [
    { steps: [{ text: "looking" }, { tool: "terminal", args: { command: "echo hi" } }] },
    "found",
  ];
  await using model = await startModelServer({ turns: ["one", "two", ...turns] });
  await using api = await startApi({ model });
  const client = clientOf(api);
  const first = await client.responses.create({ model: "hermes-agent", input: "hi" });
  assertEquals(first.output_text, "one");
  const second = await client.responses.create({
    model: "hermes-agent",
    input: "and?",
    previous_response_id: first.id,
  });
  assertEquals([second.output_text, second.previous_response_id], ["two", first.id]);
  assertEquals((await client.responses.retrieve(first.id)).output_text, "one");
  const stream = client.responses.stream({ model: "hermes-agent", input: "go" });
  let text = "";
  stream.on("response.output_text.delta", (event) => void (text += event.delta));
  const final = await stream.finalResponse();
  assertEquals([text, final.output_text, final.status], [
    "looking\n\nfound",
    "looking\n\nfound",
    "completed",
  ]);
  await client.responses.delete(first.id);
  await assertRejects(() => client.responses.retrieve(first.id), /404/);
});

const WEATHER = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };

Deno.test("openai: runTools on chat calls the caller's function and gives the model its result", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "let me see" }, { tool: "weather", args: { city: "Oslo" } }] }, "It rains."],
  });
  await using api = await startApi({ model });
  const asked: unknown[] = [];
  const runner = clientOf(api).chat.completions.runTools({
    ...HI,
    stream: true,
    tools: [{
      type: "function",
      function: {
        name: "weather",
        description: "Tells the weather",
        parameters: WEATHER,
        parse: JSON.parse,
        function: (args: unknown) => {
          asked.push(args);
          return "rain";
        },
      },
    }],
  });
  assertEquals(await runner.finalContent(), "It rains.");
  assertEquals(asked, [{ city: "Oslo" }]);
  const messages = model.calls()[1]!.body.messages;
  assertEquals(messages.at(-1).content, "rain");
  assertEquals(messages.at(-2).tool_calls[0].function.name, "weather");
});
