/** Responses: the object, the event sequence, chains, conversations, the store. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { type ApiServer, collectSse, readSse, type SseFrame, startApi } from "../../support/api_driver.ts";
import { type ModelServer, startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig } from "../../support/program.ts";
import { ask, refusal, type Wire } from "./run_scene.ts";

const TOOL = { tool: "terminal", args: { command: "echo hi" } };
const ONE_TRY = { agent: { api_max_retries: 1 } };

async function respond(api: ApiServer, body: Record<string, unknown>): Promise<Wire> {
  const answer = await ask(api, "/v1/responses", { body });
  assertEquals([answer.status, answer.body.error], [200, null]);
  return answer.body;
}

function textOf(response: Wire): string {
  return response.output.findLast((item: Wire) => item.type === "message").content[0].text;
}

function sent(model: ModelServer, n: number): string {
  return JSON.stringify(model.calls()[n]!.body.messages.slice(1));
}

Deno.test("api 36, 9: no input, a number, an empty list and bodies that are no object are 400", async () => {
  await using model = await startModelServer();
  await using api = await startApi({ model });
  const bodies = ["{", "[]", '"x"', {}, { input: 5 }, { input: [] }, { input: "  " }, {
    input: [{ type: "computer_call" }],
  }];
  for (const body of bodies) {
    assertEquals([body, (await refusal(api, "/v1/responses", { body }))[0]], [body, 400]);
  }
  const background = { body: { input: "x", background: true } };
  assertEquals(await refusal(api, "/v1/responses", background), [400, "unsupported_parameter"]);
  assertEquals(model.calls().length, 0);
});

Deno.test("api 37: a plain response has every slot and is stored as it was answered", async () => {
  await using model = await startModelServer({
    turns: [
      { steps: [{ text: "looking" }, TOOL, { usage: { prompt_tokens: 30, completion_tokens: 4 } }] },
      { steps: [{ text: "All done." }, { usage: { prompt_tokens: 20, completion_tokens: 6 } }] },
    ],
  });
  await using api = await startApi({ model });
  const answer = await ask(api, "/v1/responses", {
    body: { input: "go", instructions: "be brief", metadata: { a: "b" }, temperature: 0.5, user: "u" },
  });
  const { id, created_at, completed_at, output, ...rest } = answer.body;
  assertMatch(id, /^resp_[0-9a-f]{28}$/);
  assert(Number.isInteger(created_at) && completed_at >= created_at);
  assertEquals(rest, {
    object: "response",
    status: "completed",
    model: "hermes-agent",
    error: null,
    incomplete_details: null,
    instructions: "be brief",
    previous_response_id: null,
    usage: {
      input_tokens: 50,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 60,
    },
    tools: [],
    tool_choice: "auto",
    parallel_tool_calls: true,
    text: { format: { type: "text" } },
    truncation: "disabled",
    temperature: 0.5,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    reasoning: null,
    max_output_tokens: null,
    max_tool_calls: null,
    store: true,
    background: false,
    service_tier: "default",
    metadata: { a: "b" },
    user: "u",
    safety_identifier: null,
    prompt_cache_key: null,
  });
  const shapes = output.map(({ id, ...item }: Wire) => [id.replace(/_[0-9a-f]{24}$/, ""), item]);
  const call_id = output[0].call_id;
  assertEquals(shapes, [
    ["fc", {
      type: "function_call",
      status: "completed",
      call_id,
      name: "terminal",
      arguments: '{"command":"echo hi"}',
    }],
    ["fco", {
      type: "function_call_output",
      status: "completed",
      call_id,
      output: [{ type: "input_text", text: '{"output":"hi","exit_code":0,"error":null}' }],
    }],
    ["msg", {
      type: "message",
      status: "completed",
      role: "assistant",
      content: [{ type: "output_text", text: "All done.", annotations: [], logprobs: [] }],
    }],
  ]);
  assertEquals((await ask(api, `/v1/responses/${id}`)).body, answer.body);
  assertMatch(answer.headers.get("x-hermes-session-id") ?? "", /^[0-9a-f-]{36}$/);
  assertMatch(model.calls()[0]!.body.messages[0].content, /\n\nbe brief\n\nConversation started: /);
});

Deno.test("api 38: what is not to be stored is not; what is stored can be deleted once", async () => {
  await using model = await startModelServer({ turns: ["a", "b", "c"] });
  await using api = await startApi({ model });
  const loose = await respond(api, { input: "x", store: "false" });
  assertEquals(await refusal(api, `/v1/responses/${loose.id}`), [404, "response_not_found"]);
  const kept = await respond(api, { input: "x" });
  const later = await respond(api, { input: "y", previous_response_id: kept.id });
  const path = `/v1/responses/${kept.id}`;
  assertEquals((await ask(api, path, { method: "DELETE" })).body, {
    id: kept.id,
    object: "response",
    deleted: true,
  });
  assertEquals((await refusal(api, path))[0], 404);
  assertEquals((await refusal(api, path, { method: "DELETE" }))[0], 404);
  assertEquals((await ask(api, `/v1/responses/${later.id}`)).status, 200);
  assertEquals(await refusal(api, `/v1/responses/${later.id}?stream=true`), [400, "unsupported_parameter"]);
});

Deno.test("api 39: a chain carries its turns and tool results, lists only its own, and may branch", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [TOOL] }, "one", "two", "other two", "three"],
  });
  await using api = await startApi({ model });
  const body = { input: "first", instructions: "be brief" };
  const first = await ask(api, "/v1/responses", { body });
  const chain = { previous_response_id: first.body.id };
  const second = await ask(api, "/v1/responses", { body: { input: "second", ...chain } });
  assertMatch(sent(model, 2), /first.*echo hi.*one.*second/);
  assertMatch(model.calls()[2]!.body.messages[0].content, /\n\nbe brief\n\nConversation started: /);
  assertEquals(second.body.output.map((item: Wire) => item.type), ["message"]);
  assertEquals(second.body.previous_response_id, first.body.id);
  const session = first.headers.get("x-hermes-session-id");
  assertEquals(second.headers.get("x-hermes-session-id"), session);
  // From the first one again: what came after it is not there.
  const branch = await respond(api, { input: "else", ...chain });
  assertMatch(sent(model, 3), /first.*one.*else/);
  assertEquals(/second|two/.test(sent(model, 3)), false);
  await respond(api, { input: "on", previous_response_id: branch.id });
  assertMatch(sent(model, 4), /first.*one.*else.*other two.*on/);
  assertEquals(/second/.test(sent(model, 4)), false);
});

Deno.test("api 40: an unknown previous response is 404, two ways to continue at once 400", async () => {
  await using model = await startModelServer({ turns: ["a"] });
  await using api = await startApi({ model });
  const unknown = { body: { input: "x", previous_response_id: "resp_none" } };
  assertEquals(await refusal(api, "/v1/responses", unknown), [404, "previous_response_not_found"]);
  const both = { body: { input: "x", previous_response_id: "resp_none", conversation: "c" } };
  assertEquals((await refusal(api, "/v1/responses", both))[0], 400);
  assertEquals(await refusal(api, "/v1/responses", { body: { input: "x", conversation: 5 } }), [
    400,
    "unsupported_parameter",
  ]);
});

Deno.test("api 41: a conversation keeps its context, also over a restart", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: ["one", "two", "three"] });
  {
    await using api = await startApi({ model, rig });
    await respond(api, { input: "first", conversation: "c" });
    await respond(api, { input: "second", conversation: { id: "c" } });
    await api.stop();
  }
  await using api = await startApi({ model, rig });
  await respond(api, { input: "third", conversation: "c" });
  assertMatch(sent(model, 2), /first.*one.*second.*two.*third/);
});

Deno.test("who leaves while a conversation is busy frees the slot at once; those behind go on in order", async () => {
  const said = (body: Wire) => String(body.messages.at(-1).content);
  await using model = await startModelServer({
    respond: ({ body }) => said(body) === "first" ? { steps: [{ delay_ms: 4_000, text: "one" }] } : "quick",
  });
  await using api = await startApi({ model, server: { max_concurrent_runs: 3 } });
  const turn = async (input: string, signal?: AbortSignal) => {
    const body = { input, conversation: "c" };
    const response = await api.call("/v1/responses", { body, ...(signal ? { signal } : {}) });
    await response.body?.cancel();
    return response.status;
  };
  const chat = async () => {
    const response = await api.chat({ messages: [{ role: "user", content: "hi" }] });
    await response.body?.cancel();
    return response.status;
  };
  const first = turn("first");
  await eventually(() => model.calls().length === 1, 5_000, "the first turn");
  const leaving = new AbortController();
  const left = turn("left", leaving.signal).catch(() => "left");
  const behind = turn("behind");
  await eventually(async () => await chat() === 429, 5_000, "all slots to be taken");
  leaving.abort();
  assertEquals(await left, "left");
  await eventually(async () => await chat() === 200, 1_000, "a free slot");
  assertEquals([await first, await behind], [200, 200]);
  assertEquals(model.calls().some(({ body }) => said(body) === "left"), false);
  assertEquals(said(model.calls().at(-1)!.body), "behind");
  assertEquals(JSON.stringify(model.calls().at(-1)!.body.messages).includes("left"), false);
});

Deno.test("turns of one conversation at the same moment go on from each other", async () => {
  const slow = { steps: [{ delay_ms: 1_500, text: "one" }] };
  await using model = await startModelServer({ turns: [slow, "two", "three"] });
  await using api = await startApi({ model });
  const first = respond(api, { input: "first", conversation: "c" });
  await eventually(() => model.calls().length === 1);
  await Promise.all([first, respond(api, { input: "second", conversation: "c" })]);
  assertMatch(sent(model, 1), /first.*one.*second/);
  // One that is refused does not hold up the others.
  await refusal(api, "/v1/responses", { body: { input: "x", conversation: "c", provider: "nobody" } });
  await respond(api, { input: "third", conversation: "c" });
  assertMatch(sent(model, 2), /first.*one.*second.*two.*third/);
});

Deno.test("api 42: of 101 the least recently used one goes, and with it the name that points at it", async () => {
  await using model = await startModelServer({ turns: ["a"], loop: true });
  await using api = await startApi({ model });
  const read = await respond(api, { input: "read again" });
  const named = await respond(api, { input: "secret word", conversation: "c" });
  for (let n = 0; n < 98; n++) await respond(api, { input: `fill ${n}` });
  await ask(api, `/v1/responses/${read.id}`);
  await respond(api, { input: "one too many" });
  assertEquals(await refusal(api, `/v1/responses/${named.id}`), [404, "response_not_found"]);
  assertEquals((await ask(api, `/v1/responses/${read.id}`)).status, 200);
  const fresh = model.calls().length;
  await respond(api, { input: "hello", conversation: "c" });
  assertEquals(/secret word/.test(sent(model, fresh)), false);
});

const SEQUENCE = [
  "response.created",
  "response.in_progress",
  "response.output_item.added",
  "response.reasoning_summary_part.added",
  "response.reasoning_summary_text.delta",
  "response.reasoning_summary_text.done",
  "response.reasoning_summary_part.done",
  "response.output_item.done",
  "response.output_item.added",
  "response.function_call_arguments.delta",
  "response.function_call_arguments.done",
  "response.output_item.done",
  "response.output_item.added",
  "response.output_item.done",
  "response.output_item.added",
  "response.content_part.added",
  "response.output_text.delta",
  "response.output_text.delta",
  "response.output_text.done",
  "response.content_part.done",
  "response.output_item.done",
  "response.completed",
];

Deno.test("api 43: a stream with thought, tool and text has the exact sequence and gapless numbers", async () => {
  await using model = await startModelServer({
    turns: [
      { steps: [{ reasoning: "hm" }, TOOL] },
      { steps: [{ text: "a" }, { delay_ms: 1_000, text: "b" }] },
    ],
  });
  await using api = await startApi({ model, server: { show_reasoning: true } });
  const frames = await collectSse(await api.call("/v1/responses", { body: { input: "go", stream: true } }));
  assertEquals(frames.at(-1)!.data, "[DONE]");
  const events = frames.slice(0, -1);
  assertEquals(events.map((frame) => frame.event), SEQUENCE);
  assertEquals(events.map((frame) => frame.json.type), SEQUENCE);
  assertEquals(events.map((frame) => frame.json.sequence_number), SEQUENCE.map((_, i) => i));
  const added = itemsOf(events, "response.output_item.added");
  const done = itemsOf(events, "response.output_item.done");
  assertEquals(added.map((item) => [item.type, item.index]), [
    ["reasoning", 0],
    ["function_call", 1],
    ["function_call_output", 2],
    ["message", 3],
  ]);
  assertEquals(done.map((item) => item.id), added.map((item) => item.id));
  const final = events.at(-1)!.json.response;
  assertEquals(final.output.map((item: Wire) => item.id), added.map((item) => item.id));
  assertEquals(textOf(final), "ab");
  assertEquals((await ask(api, `/v1/responses/${final.id}`)).body, final);
});

function itemsOf(events: readonly SseFrame[], type: string): Wire[] {
  return events.filter((frame) => frame.event === type)
    .map((frame) => ({ ...frame.json.item, index: frame.json.output_index }));
}

Deno.test("server tools can be left out, by header; long results are cut in the last event only", async () => {
  const long = { tool: "terminal", args: { command: "head -c 3000 /dev/zero | tr '\\0' x" } };
  await using model = await startModelServer({
    turns: [{ steps: [TOOL] }, "quiet", { steps: [long] }, "loud"],
  });
  await using api = await startApi({ model });
  const headers = { "X-Hermes-Tool-Items": "omit" };
  const quiet = await ask(api, "/v1/responses", { body: { input: "go" }, headers });
  assertEquals(quiet.body.output.map((item: Wire) => item.type), ["message"]);
  const body = { input: "go", stream: true };
  const frames = await collectSse(await api.call("/v1/responses", { body }));
  const last = frames.at(-2)!.json.response;
  assert(last.output[1].output[0].text.length < 700);
  const stored = (await ask(api, `/v1/responses/${last.id}`)).body;
  assert(stored.output[1].output[0].text.length > 3000);
});

Deno.test("B2.3: a response is stored as in progress from its beginning, and whole when its last event is there", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "one" }, { delay_ms: 500, text: " two" }] }],
  });
  await using api = await startApi({ model });
  const stored: Wire[] = [];
  let id = "";
  for await (
    const { event, json } of readSse(await api.call("/v1/responses", { body: { input: "go", stream: true } }))
  ) {
    if (event === "response.created") id = json.response.id;
    const isLook = event === "response.output_text.delta"
      ? stored.length === 0
      : event === "response.completed";
    if (isLook) stored.push((await ask(api, `/v1/responses/${id}`)).body);
  }
  const [begun, ended] = stored;
  assertEquals([begun.status, begun.output, begun.usage, begun.completed_at], [
    "in_progress",
    [],
    null,
    null,
  ]);
  assertEquals([ended.status, textOf(ended)], ["completed", "one two"]);
});

Deno.test("api B2: a reader that leaves before the first word finds a message that says so", async () => {
  await using model = await startModelServer({ turns: [{ steps: [{ stall: true }] }] });
  await using api = await startApi({ model });
  let id = "";
  for await (
    const frame of readSse(await api.call("/v1/responses", { body: { input: "go", stream: true } }))
  ) {
    id = frame.json.response.id;
    // Before that there is no turn to end.
    await eventually(() => model.calls().length === 1);
    break;
  }
  const stored = await eventually(async () => {
    const { body } = await ask(api, `/v1/responses/${id}`);
    return body.status === "in_progress" ? undefined : body;
  });
  assertEquals([stored.status, textOf(stored)], ["incomplete", "(No response generated)"]);
});

Deno.test("api 44: a reader that leaves ends the turn; what it had is kept and can be continued", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "half of it" }, { stall: true }] }, "the rest"],
  });
  await using api = await startApi({ model });
  let id = "";
  for await (
    const frame of readSse(await api.call("/v1/responses", { body: { input: "go", stream: true } }))
  ) {
    if (frame.event === "response.created") id = frame.json.response.id;
    if (frame.event === "response.output_text.delta") break;
  }
  const stored = await eventually(async () => {
    const { body } = await ask(api, `/v1/responses/${id}`);
    return body.status === "in_progress" ? undefined : body;
  });
  assertEquals([stored.status, stored.incomplete_details], ["incomplete", { reason: "client_disconnected" }]);
  assertEquals([textOf(stored), stored.output[0].status], ["half of it", "incomplete"]);
  assertEquals(textOf(await respond(api, { input: "go on", previous_response_id: id })), "the rest");
  assertMatch(sent(model, 1), /go.*half of it.*go on/);
  assert(model.calls()[0]!.aborted);
});

Deno.test("api 57: a stop signal ends a stream as incomplete, and the text so far can be continued", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "half" }, { stall: true }] }, "rest"],
  });
  let last: SseFrame[];
  {
    await using api = await startApi({ model, rig });
    const reading = collectSse(await api.call("/v1/responses", { body: { input: "go", stream: true } }));
    await eventually(() => model.calls().length === 1);
    const status = await api.stop();
    last = (await reading).slice(-2);
    assertEquals([status.code, last[0]!.event, last[1]!.data], [0, "response.incomplete", "[DONE]"]);
  }
  await using api = await startApi({ model, rig });
  const { id } = last[0]!.json.response;
  const stored = (await ask(api, `/v1/responses/${id}`)).body;
  assertEquals([stored.status, stored.incomplete_details], ["incomplete", { reason: "cancelled" }]);
  await respond(api, { input: "on", previous_response_id: id });
});

Deno.test("api 57: a response whose server was killed is served as incomplete", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "x" }, { stall: true }] }, "again"],
  });
  let id = "";
  {
    await using api = await startApi({ model, rig });
    const response = await api.call("/v1/responses", { body: { input: "go", stream: true } });
    for await (const frame of readSse(response)) {
      if (frame.event === "response.created") id = frame.json.response.id;
      if (frame.event !== "response.output_text.delta") continue;
      await api.stop("SIGKILL");
      break;
    }
  }
  await using api = await startApi({ model, rig });
  const { status, incomplete_details } = (await ask(api, `/v1/responses/${id}`)).body;
  assertEquals([status, incomplete_details], ["incomplete", { reason: "server_restarted" }]);
  await respond(api, { input: "on", previous_response_id: id });
  assertMatch(sent(model, 1), /go.*on/);
});

Deno.test("FC-04: a failed turn is a failed response with its reason, plain and streamed", async () => {
  const broken = {
    steps: [{ error: { status: 401, message: "bad key sk-proj-abcdefghijklmnopqrstuvwxyz01" } }],
  };
  await using model = await startModelServer({ turns: [broken], loop: true });
  await using api = await startApi({ model, config: ONE_TRY });
  const { status, body } = await ask(api, "/v1/responses", { body: { input: "go" } });
  assertEquals([status, body.status, body.error.code, body.completed_at], [
    200,
    "failed",
    "server_error",
    null,
  ]);
  assertEquals(textOf(body), body.error.message);
  assertEquals(JSON.stringify(body).includes("abcdefghijklmnopqrstuvwxyz"), false);
  const frames = await collectSse(await api.call("/v1/responses", { body: { input: "go", stream: true } }));
  assertEquals(frames.at(-2)!.event, "response.failed");
  assertEquals(frames.at(-2)!.json.response.error.code, "server_error");
});

Deno.test("a truncated answer is incomplete", async () => {
  const turns = [{ steps: [{ text: "part " }, { finish: "length" }] }];
  await using model = await startModelServer({ turns, loop: true });
  await using api = await startApi({ model });
  const response = await respond(api, { input: "go" });
  assertEquals([response.status, response.incomplete_details], ["incomplete", {
    reason: "max_output_tokens",
  }]);
  assertMatch(textOf(response), /^(part )+$/);
});

Deno.test("a used-up budget of steps makes a stream end as incomplete, with its summary", async () => {
  const todo = { steps: [{ tool: "todo", args: {} }] };
  await using model = await startModelServer({ turns: [todo, todo, "so far"] });
  await using api = await startApi({ model, config: { agent: { max_turns: 2 } } });
  const frames = await collectSse(await api.call("/v1/responses", { body: { input: "go", stream: true } }));
  assertEquals(frames.at(-2)!.event, "response.incomplete");
  const { response } = frames.at(-2)!.json;
  assertEquals([response.incomplete_details, textOf(response)], [{ reason: "max_iterations" }, "so far"]);
});

Deno.test("nobody is asked for leave on this route", async () => {
  const risky = { tool: "terminal", args: { command: "rm -rf ./gone" } };
  await using model = await startModelServer({ turns: [{ steps: [risky] }, "not done"] });
  await using api = await startApi({ model });
  await Deno.mkdir(`${api.rig.workspace}/gone`);
  assertEquals(textOf(await respond(api, { input: "go" })), "not done");
  assertEquals((await Deno.stat(`${api.rig.workspace}/gone`)).isDirectory, true);
});

Deno.test("api 35: one turn for equal requests under one key, also for those that come later", async () => {
  await using model = await startModelServer({ turns: [{ steps: [{ delay_ms: 100, text: "a" }] }, "b"] });
  await using api = await startApi({ model });
  const call = (input: string) =>
    ask(api, "/v1/responses", { body: { input }, headers: { "Idempotency-Key": "k" } });
  const [one, two] = await Promise.all([call("x"), call("x")]);
  assertEquals([two!.body, (await call("x")).body], [one!.body, one!.body]);
  assertEquals(model.calls().length, 1);
  assertEquals(textOf((await call("y")).body), "b");
});

Deno.test("FC-09: equal words of strangers share nothing; a session key names a conversation", async () => {
  await using model = await startModelServer({ turns: ["anna's", "bert's", "keyed", "more"] });
  await using api = await startApi({ model });
  await respond(api, { input: "hi" });
  await respond(api, { input: "hi" });
  assertEquals(/anna/.test(sent(model, 1)), false);
  const headers = { "X-Hermes-Session-Key": "user:1/a" };
  const one = await ask(api, "/v1/responses", { body: { input: "mine" }, headers });
  const two = await ask(api, "/v1/responses", { body: { input: "and?" }, headers });
  assertEquals(two.headers.get("x-hermes-session-key"), "user:1/a");
  assertEquals(two.headers.get("x-hermes-session-id"), one.headers.get("x-hermes-session-id"));
  assertMatch(sent(model, 3), /mine.*keyed.*and\?/);
});

Deno.test("input items: earlier messages, replayed calls, system texts; truncation keeps the newest", async () => {
  await using model = await startModelServer({ turns: ["ok", "cut"] });
  await using api = await startApi({ model });
  await respond(api, {
    input: [
      { role: "developer", content: "RULE" },
      { role: "user", content: "q1" },
      { type: "reasoning", summary: [] },
      { type: "item_reference", id: "msg_1" },
      { type: "compaction", id: "cmp_1", encrypted_content: "x" },
      { type: "function_call", call_id: "c1", name: "terminal", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: "out1" },
      { type: "function_call", call_id: "c2", name: "terminal", arguments: "{}" },
      { role: "assistant", content: [{ type: "output_text", text: "a1" }] },
      { type: "message", role: "user", content: [{ type: "input_text", text: "q2" }] },
    ],
  });
  assertMatch(model.calls()[0]!.body.messages[0].content, /\n\nRULE\n\nConversation started: /);
  assertMatch(sent(model, 0), /q1.*c1.*out1.*a1.*q2/);
  assertEquals(/c2/.test(sent(model, 0)), false);
  const foreign = await ask(api, "/v1/responses", {
    body: { input: [{ type: "image_generation_call" }, "q"] },
  });
  assertEquals([foreign.status, foreign.body.error.code, foreign.body.error.param], [
    400,
    "unsupported_content_type",
    "input[0].content",
  ]);
  const input = Array.from(
    { length: 121 },
    (_, n) => ({ role: n % 2 ? "assistant" : "user", content: `m${n}.` }),
  );
  await respond(api, { input, truncation: "auto" });
  assertEquals([/m19\./.test(sent(model, 1)), /m20\..*m120\./.test(sent(model, 1))], [false, true]);
});
