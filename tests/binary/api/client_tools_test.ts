/** Functions of the caller: offered beside the server's, called by the model, answered by the next request (E4). */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { collectSse, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { ask, type Wire } from "./run_scene.ts";

const PARAMETERS = { type: "object", properties: { city: { type: "string" } } };
const WEATHER = { type: "function", name: "weather", description: "Weather", parameters: PARAMETERS };
const CHAT_TOOLS = [{ type: "function", function: WEATHER }];
const CALL = { tool: "weather", args: { city: "Oslo" } };

Deno.test("api E4: a chat ends with the call, and goes on with its result in the same session", async () => {
  await using model = await startModelServer({ turns: [{ steps: [CALL] }, "rain", "dry"] });
  await using api = await startApi({ model });
  const open = [{ role: "user", content: "weather?" }];
  const first = await ask(api, "/v1/chat/completions", { body: { messages: open, tools: CHAT_TOOLS } });
  const [{ message, finish_reason }] = first.body.choices;
  const [{ id, ...call }] = message.tool_calls;
  assertEquals([finish_reason, message.content, message.tool_calls.length], ["tool_calls", null, 1]);
  assertEquals(call, { type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } });
  const more = [...open, message, { role: "tool", tool_call_id: id, content: "12 mm" }];
  const second = await ask(api, "/v1/chat/completions", { body: { messages: more, tools: CHAT_TOOLS } });
  assertEquals([second.body.choices[0].finish_reason, second.body.choices[0].message.content], [
    "stop",
    "rain",
  ]);
  assertEquals(second.headers.get("x-hermes-session-id"), first.headers.get("x-hermes-session-id"));
  const sent = model.calls()[1]!.body.messages;
  assertEquals(sent.at(-1), { role: "tool", tool_call_id: id, content: "12 mm" });
  // A third turn of the conversation finds everything in place.
  const last = [...more, { role: "assistant", content: "rain" }, { role: "user", content: "and now?" }];
  const third = await ask(api, "/v1/chat/completions", { body: { messages: last, tools: CHAT_TOOLS } });
  assertEquals(third.headers.get("x-hermes-session-id"), first.headers.get("x-hermes-session-id"));
  assertMatch(JSON.stringify(model.calls()[2]!.body.messages), /weather\?.*12 mm.*rain.*and now\?/);
});

Deno.test("api E4: a chat stream tells the call in a chunk before its finish", async () => {
  await using model = await startModelServer({ turns: [{ steps: [{ text: "hm" }, CALL, CALL] }] });
  await using api = await startApi({ model });
  const body = { messages: [{ role: "user", content: "weather?" }], tools: CHAT_TOOLS, stream: true };
  const frames = await collectSse(await api.chat(body));
  const deltas = frames.flatMap((frame) => frame.json?.choices?.[0]?.delta?.tool_calls ?? []);
  assertEquals(deltas.map((call: Wire) => [call.index, call.function.name]), [[0, "weather"]]);
  assertEquals(frames.at(-2)!.json.choices[0].finish_reason, "tool_calls");
  assertEquals(frames.some((frame) => frame.event === "hermes.tool.progress"), false);
});

Deno.test("api E4: a session named by header takes the result on its own transcript", async () => {
  await using model = await startModelServer({ turns: [{ steps: [CALL] }, "rain"] });
  await using api = await startApi({ model });
  const headers = { "X-Hermes-Session-Id": "mine" };
  const open = { messages: [{ role: "user", content: "weather?" }], tools: CHAT_TOOLS };
  const first = await ask(api, "/v1/chat/completions", { body: open, headers });
  const { message } = first.body.choices[0];
  const messages = [message, { role: "tool", tool_call_id: message.tool_calls[0].id, content: "12 mm" }];
  const second = await ask(api, "/v1/chat/completions", { body: { ...open, messages }, headers });
  assertEquals(second.body.choices[0].message.content, "rain");
  const sent = model.calls()[1]!.body.messages.slice(1);
  assertEquals(sent.map((entry: Wire) => entry.role), ["user", "assistant", "tool"]);
  // The transcript has moved on: the same result again answers nothing.
  const again = await ask(api, "/v1/chat/completions", { body: { ...open, messages }, headers });
  assertEquals([again.status, again.body.error.message], [400, "No user message found in messages"]);
});

Deno.test("api E4, D1: a named session takes results alone, some or all of them, and unknown ones not at all", async () => {
  const calls = { steps: [CALL, { tool: "weather", id: "second", args: { city: "Bergen" } }] };
  await using model = await startModelServer({ turns: [calls, "rain"] });
  await using api = await startApi({ model });
  const headers = { "X-Hermes-Session-Id": "mine" };
  const open = { messages: [{ role: "user", content: "weather?" }], tools: CHAT_TOOLS };
  const { message } = (await ask(api, "/v1/chat/completions", { body: open, headers })).body.choices[0];
  assertEquals(message.tool_calls.length, 2);
  const result = (id: unknown) => ({
    ...open,
    messages: [{ role: "tool", tool_call_id: id, content: "12 mm" }],
  });
  for (const body of [result("other"), result(5)]) {
    assertEquals((await ask(api, "/v1/chat/completions", { body, headers })).status, 400);
  }
  const { id } = message.tool_calls[0];
  assertEquals(
    (await ask(api, "/v1/chat/completions", { body: result(id) })).status,
    400,
    "no session is named",
  );
  const second = await ask(api, "/v1/chat/completions", { body: result(id), headers });
  assertEquals(second.body.choices[0].message.content, "rain");
  const sent = model.calls()[1]!.body.messages.slice(1);
  assertEquals(sent.map((entry: Wire) => [entry.role, entry.tool_call_id]), [
    ["user", undefined],
    ["assistant", undefined],
    ["tool", id],
    ["tool", "second"],
  ]);
  assertEquals((await ask(api, "/api/sessions")).body.data.length, 1, "a refused request leaves no session");
});

Deno.test("api E4: server tools of the same answer run first; ours win a name; none bars them", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ tool: "terminal", args: { command: "touch made" } }, CALL] }, "quiet"],
  });
  await using api = await startApi({ model });
  const terminal = { type: "function", function: { name: "terminal", parameters: PARAMETERS } };
  const body = { messages: [{ role: "user", content: "go" }], tools: [...CHAT_TOOLS, terminal] };
  const answer = await ask(api, "/v1/chat/completions", { body });
  const calls = answer.body.choices[0].message.tool_calls;
  assertEquals(calls.map((call: Wire) => call.function.name), ["weather"]);
  assertEquals((await Deno.stat(`${api.rig.workspace}/made`)).isFile, true);
  const names = model.calls()[0]!.body.tools.map((entry: Wire) => entry.function.name);
  assertEquals(names.filter((name: string) => name === "terminal").length, 1);
  const barred = await ask(api, "/v1/chat/completions", { body: { ...body, tool_choice: "none" } });
  assertEquals(barred.headers.get("x-hermes-ignored"), "tools, tool_choice");
  assertEquals(JSON.stringify(model.calls()[1]!.body.tools).includes("weather"), false);
});

Deno.test("api E4, C5: a response ends with the call as its last item; the chain takes the output back", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [CALL] }, "rain", { steps: [CALL] }, "snow"],
  });
  await using api = await startApi({ model });
  const tools = [WEATHER];
  const first = (await ask(api, "/v1/responses", { body: { input: "weather?", tools } })).body;
  const { id: _, ...item } = first.output.at(-1);
  assertEquals([first.status, item.type, item.status, item.name, item.arguments], [
    "completed",
    "function_call",
    "completed",
    "weather",
    '{"city":"Oslo"}',
  ]);
  assertEquals(first.tools, [{ ...WEATHER, strict: null }]);
  const output = { type: "function_call_output", call_id: item.call_id, output: "12 mm" };
  const second = await ask(api, "/v1/responses", {
    body: { previous_response_id: first.id, input: [output], tools },
  });
  assertEquals(second.body.output.map((one: Wire) => one.type), ["message"]);
  assertMatch(JSON.stringify(model.calls()[1]!.body.messages), /weather\?.*"role":"tool".*12 mm/);
  const frames = await collectSse(
    await api.call("/v1/responses", { body: { input: "weather?", tools, stream: true } }),
  );
  assertEquals(frames.slice(2, -2).map((frame) => frame.event), [
    "response.output_item.added",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.output_item.done",
  ]);
  // Without a chain: the call and its output are in the input.
  const call = frames.at(-2)!.json.response.output[0];
  const input = [{ role: "user", content: "weather?" }, call, { ...output, call_id: call.call_id }];
  const last = await ask(api, "/v1/responses", { body: { input, tools } });
  assertEquals(last.body.output[0].content[0].text, "snow");
  const loose = await ask(api, "/v1/responses", { body: { input: [output], tools } });
  assertEquals([loose.status, loose.body.error.message], [400, "No user message found in input"]);
  const open = [{ role: "user", content: "a" }, { role: "assistant", content: "" }];
  const empty = await ask(api, "/v1/responses", { body: { input: open } });
  assertEquals([empty.status, empty.body.error.message], [400, "No user message found in input"]);
});
