/** The requests of the Open Responses compliance list that this server is to pass (api-server.md C5). */
import { assert, assertEquals } from "../../support/assert.ts";
import { type ApiServer, collectSse, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { ask, type Wire } from "./run_scene.ts";

const REQUIRED = [
  "id",
  "object",
  "created_at",
  "completed_at",
  "status",
  "incomplete_details",
  "model",
  "previous_response_id",
  "instructions",
  "output",
  "error",
  "tools",
  "tool_choice",
  "truncation",
  "parallel_tool_calls",
  "text",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "top_logprobs",
  "temperature",
  "reasoning",
  "usage",
  "max_output_tokens",
  "max_tool_calls",
  "store",
  "background",
  "service_tier",
  "metadata",
  "safety_identifier",
  "prompt_cache_key",
];

function assertConforms(response: Wire): void {
  assertEquals(REQUIRED.filter((name) => !Object.hasOwn(response, name)), []);
  for (const item of response.output) {
    assert(typeof item.id === "string" && item.id !== "", JSON.stringify(item));
    if (item.type === "reasoning") assert(Array.isArray(item.summary));
    else assertEquals(item.status, "completed");
    for (const part of item.content ?? []) assertEquals([part.type, part.annotations], ["output_text", []]);
  }
  const { usage } = response;
  assertEquals(typeof usage.input_tokens_details.cached_tokens, "number");
  assertEquals(typeof usage.output_tokens_details.reasoning_tokens, "number");
}

async function passes(api: ApiServer, body: Record<string, unknown>): Promise<Wire> {
  const answer = await ask(api, "/v1/responses", { body: { model: "hermes-agent", ...body } });
  assertEquals([answer.status, answer.body.status], [200, "completed"]);
  assert(answer.body.output.length > 0);
  assertConforms(answer.body);
  return answer.body;
}

const message = (role: string, content: unknown) => ({ type: "message", role, content });

Deno.test("C5: basic, system prompt, image, multi-turn, previous response and streaming conform", async () => {
  await using model = await startModelServer({ turns: ["hello"], loop: true });
  await using api = await startApi({
    model,
    config: {
      model: {
        default: "scripted",
        provider: "custom",
        base_url: model.url,
        context_length: 128000,
        supports_vision: true,
      },
    },
  });
  await passes(api, { input: [message("user", "Say hello.")] });
  await passes(api, { input: [message("system", "You are a pirate."), message("user", "Say hello.")] });
  const image = { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=" };
  await passes(api, { input: [message("user", [{ type: "input_text", text: "What is it?" }, image])] });
  assertEquals(model.calls()[2]!.body.messages.at(-1).content[1].image_url.url, image.image_url);
  const first = await passes(api, {
    input: [
      message("user", "I am Alice."),
      message("assistant", "Hello Alice."),
      message("user", "Who am I?"),
    ],
  });
  await passes(api, { input: [message("user", "And now?")], previous_response_id: first.id });
  const body = { model: "hermes-agent", input: [message("user", "Count.")], stream: true };
  const frames = await collectSse(await api.call("/v1/responses", { body }));
  for (const { json, event } of frames.slice(0, -1)) {
    assertEquals([json.type, typeof json.sequence_number], [event, "number"]);
  }
  assertConforms(frames.at(-2)!.json.response);
});

Deno.test("C5: a JSON schema for the text is shown with all its fields", async () => {
  await using model = await startModelServer({ turns: ["{}"] });
  await using api = await startApi({ model });
  const schema = { type: "object", properties: {} };
  const { text } = await passes(api, {
    input: "json",
    text: { format: { type: "json_schema", name: "thing", schema }, verbosity: "low" },
  });
  assertEquals(text, {
    format: { type: "json_schema", name: "thing", schema, description: null, strict: false },
    verbosity: "low",
  });
});

Deno.test("C5: a file part is refused by design", async () => {
  await using model = await startModelServer();
  await using api = await startApi({ model });
  const file = { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,AAAA" };
  const { status, body } = await ask(api, "/v1/responses", { body: { input: [message("user", [file])] } });
  assertEquals([status, body.error.code, body.error.param], [
    400,
    "unsupported_content_type",
    "input[0].content",
  ]);
});
