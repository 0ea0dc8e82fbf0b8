/** Streamed Chat Completions against the real program and a scripted model. */
import { DatabaseSync } from "node:sqlite";
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { collectSse, contentOf, readSse, type SseFrame, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually } from "../../support/program.ts";

const HI = { messages: [{ role: "user", content: "hi" }], stream: true };
const ONE_TRY = { agent: { api_max_retries: 1 } };

/** Last stored message of the only session. */
function lastRow(home: string): Record<string, unknown> | undefined {
  const db = new DatabaseSync(`${home}/hermes.db`, { readOnly: true });
  try {
    return db.prepare("SELECT role, content, finish_reason FROM messages ORDER BY id DESC LIMIT 1").get();
  } finally {
    db.close();
  }
}

/** Chunk fields are the same in each frame, and `choices` is always a list. */
function assertChunks(frames: readonly SseFrame[]): void {
  const chunks = frames.filter((frame) => frame.json);
  const { id, created, model } = chunks[0]!.json;
  for (const { json } of chunks) {
    assertEquals([json.id, json.created, json.model, json.object], [
      id,
      created,
      model,
      "chat.completion.chunk",
    ]);
    assert(Array.isArray(json.choices));
  }
}

Deno.test("api 19, FC-23: role chunk, deltas, finish with usage, [DONE]; no usage chunk unless asked for", async () => {
  await using model = await startModelServer({
    turns: [{
      steps: [{ text: "Hel" }, { text: "lo" }, { usage: { prompt_tokens: 9, completion_tokens: 3 } }],
    }],
  });
  await using api = await startApi({ model });
  const response = await api.chat(HI);
  assertEquals(response.status, 200);
  assertEquals(response.headers.get("content-type"), "text/event-stream");
  assertEquals(response.headers.get("cache-control"), "no-cache");
  assertEquals(response.headers.get("x-accel-buffering"), "no");
  assertMatch(response.headers.get("x-hermes-session-id") ?? "", /^api-[0-9a-f]{16}$/);
  const frames = await collectSse(response);
  assertChunks(frames);
  assertEquals(frames[0]!.json.choices, [{
    index: 0,
    delta: { role: "assistant", content: "" },
    finish_reason: null,
  }]);
  assertEquals(contentOf(frames), "Hello");
  assertEquals(frames.at(-2)!.json.choices, [{ index: 0, delta: {}, finish_reason: "stop" }]);
  assertEquals(frames.at(-2)!.json.usage, { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 });
  assertEquals(frames.at(-1)!.data, "[DONE]");
  assertEquals(frames.filter((frame) => frame.json?.choices.length === 0), []);
});

Deno.test("api 20, FC-23: with include_usage one chunk of usage stands between finish and [DONE]", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "Hello" }, { usage: { prompt_tokens: 9, completion_tokens: 3 } }] }],
  });
  await using api = await startApi({ model });
  const frames = await collectSse(await api.chat({ ...HI, stream_options: { include_usage: true } }));
  assertChunks(frames);
  assertEquals(frames.at(-3)!.json.choices[0].finish_reason, "stop");
  const { choices, usage } = frames.at(-2)!.json;
  assertEquals([choices, usage], [[], { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }]);
  assert(frames.slice(0, -2).every((frame) => frame.json.usage === null));
});

Deno.test("api 21, FC-23: text, tool, text, tool, text: one text, progress in its own frames, one finish", async () => {
  const tool = (command: string) => ({ tool: "terminal", args: { command } });
  await using model = await startModelServer({
    turns: [
      { steps: [{ text: "one" }, tool("echo a")] },
      { steps: [{ text: "two" }, tool("echo b")] },
      "three",
    ],
  });
  await using api = await startApi({ model });
  const frames = await collectSse(await api.chat(HI));
  assertChunks(frames);
  assertEquals(contentOf(frames), "one\n\ntwo\n\nthree");
  const progress = frames.filter((frame) => frame.event === "hermes.tool.progress").map((frame) =>
    frame.json
  );
  assertEquals(progress.map(({ status, tool, label, emoji }) => [status, tool, label, emoji]), [
    ["running", "terminal", "echo a", "💻"],
    ["completed", "terminal", undefined, undefined],
    ["running", "terminal", "echo b", "💻"],
    ["completed", "terminal", undefined, undefined],
  ]);
  assertEquals(progress[0].toolCallId, progress[1].toolCallId);
  assertEquals(progress[2].toolCallId, progress[3].toolCallId);
  assert(progress[0].toolCallId !== progress[2].toolCallId);
  const finishes = frames.flatMap((frame) => frame.json?.choices[0]?.finish_reason ?? []);
  assertEquals(finishes, ["stop"]);
  assertEquals(frames.every((frame) => !frame.event || frame.event === "hermes.tool.progress"), true);
});

Deno.test("api 22: a tool that is silent for 12 s does not leave the stream silent", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ tool: "terminal", args: { command: "sleep 11.5", timeout: 60 } }] }, "awake"],
  });
  await using api = await startApi({ model });
  const frames = await collectSse(await api.chat(HI));
  const comments = frames.filter((frame) => frame.comment === "keepalive").length;
  assert(comments >= 1, `${comments} comments`);
  assertEquals(contentOf(frames), "awake");
});

Deno.test("api 23, FC-04.2: a provider that breaks in the middle is seen as a failure, and stored as incomplete", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "a " }, { text: "b " }, { text: "c " }, { delay_ms: 20, reset: true }] }],
    loop: true,
  });
  await using api = await startApi({ model, config: ONE_TRY });
  const frames = await collectSse(await api.chat(HI));
  assertChunks(frames);
  assertEquals(frames.at(-1)!.data, "[DONE]");
  const { choices, error, hermes } = frames.at(-2)!.json;
  assertEquals(choices, [{ index: 0, delta: {}, finish_reason: "error" }]);
  assertEquals([error.type, error.code, typeof error.message], ["server_error", "agent_error", "string"]);
  assertEquals([hermes.completed, hermes.failed, hermes.error_code], [false, true, "agent_error"]);
  const row = lastRow(api.rig.home);
  assertEquals([row?.role, row?.content, row?.finish_reason], ["assistant", "a b c ", "incomplete"]);
});

Deno.test("api 24, FC-06.1: leaving a stream reaches the provider, frees the slot and keeps what was said", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "word ", repeat: 100, delay_ms: 100 }] }, "next"],
  });
  await using api = await startApi({ model, server: { max_concurrent_runs: 1 } });
  const response = await api.chat(HI);
  let deltas = 0;
  for await (const frame of readSse(response)) {
    if (frame.json?.choices[0]?.delta?.content && ++deltas === 3) break;
  }
  const before = performance.now();
  await eventually(() => model.calls()[0]!.aborted, 2_000, "the provider to see the abort");
  const next = await eventually(async () => {
    const answer = await api.chat({ messages: [{ role: "user", content: "another" }] });
    const text = await answer.text();
    return answer.status === 200 && text;
  });
  assertWithin(performance.now() - before, 2_000);
  assertEquals(JSON.parse(next).choices[0].message.content, "next");
  const db = new DatabaseSync(`${api.rig.home}/hermes.db`, { readOnly: true });
  const rows = db.prepare("SELECT role, content, finish_reason FROM messages ORDER BY id LIMIT 2").all();
  db.close();
  assertEquals(rows[0]!.content, "hi");
  assertMatch(String(rows[1]!.content), /^(word ){3,}$/);
  assertEquals(rows[1]!.finish_reason, "interrupted");
});

Deno.test("FC-06.1: leaving before the provider's first byte cancels as well", async () => {
  await using model = await startModelServer({ turns: [{ steps: [{ stall: true }] }] });
  await using api = await startApi({ model });
  const response = await api.chat(HI);
  await eventually(() => model.calls().length === 1);
  await response.body!.cancel();
  await eventually(() => model.calls()[0]!.aborted, 2_000, "the provider to see the abort");
});

/** Processes working in a directory, apart from `except`. */
async function processesIn(directory: string, except: number): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === except) continue;
    const cwd = await Deno.readLink(`/proc/${name}/cwd`).catch(() => "");
    if (cwd === directory) found.push(name);
  }
  return found;
}

Deno.test({
  name: "FC-06.2: leaving a stream ends every process of its tool",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const command = "sh -c 'echo started > started; sleep 30 & (sleep 8; echo LATE > late.txt)'";
    await using model = await startModelServer({
      turns: [{ steps: [{ tool: "terminal", args: { command } }] }],
    });
    await using api = await startApi({ model, args: ["--yolo"] });
    const { workspace } = api.rig;
    const response = await api.chat(HI);
    await eventually(() => Deno.stat(`${workspace}/started`).catch(() => undefined));
    assert((await processesIn(workspace, api.process.pid)).length >= 3);
    await response.body!.cancel();
    await eventually(
      async () => (await processesIn(workspace, api.process.pid)).length === 0,
      3_000,
      "the end of all processes",
    );
    assertEquals(await Deno.stat(`${workspace}/late.txt`).catch(() => "absent"), "absent");
  },
});

Deno.test("a prompt of any text passes unharmed, there and back", async () => {
  // White space around a text is not part of what models are sent (core.md A.1).
  const text = "> \u2028 \u2029 \u0085 \r\n\t 😀 \u0000 " + "é".repeat(50_000);
  await using model = await startModelServer({
    respond: (request) => ({ steps: [{ text: request.body.messages.at(-1).content }] }),
  });
  await using api = await startApi({ model });
  const frames = await collectSse(await api.chat({ ...HI, messages: [{ role: "user", content: text }] }));
  assertEquals(model.calls()[0]!.body.messages.at(-1).content, text);
  assertEquals(contentOf(frames), text);
});

Deno.test("A12, A11, A9: every stream has the head of one, whichever route it comes from", async () => {
  await using model = await startModelServer({ respond: () => "said" });
  await using api = await startApi({ model });
  const create = await api.call("/api/sessions", { body: { id: "s" } });
  assertEquals(create.status, 201);
  await create.body?.cancel();
  const run = await (await api.call("/v1/runs", { body: { input: "x" } })).json();
  const streams = [
    await api.chat(HI),
    await api.call("/v1/responses", { body: { input: "x", stream: true } }),
    await api.call("/api/sessions/s/chat/stream", { body: { message: "x" } }),
    await api.call(`/v1/runs/${run.run_id}/events`),
  ];
  const names = [
    "Content-Type",
    "Cache-Control",
    "X-Accel-Buffering",
    "X-Content-Type-Options",
    "X-Frame-Options",
    "Referrer-Policy",
  ];
  for (const stream of streams) {
    assertEquals(names.map((name) => stream.headers.get(name)), [
      "text/event-stream",
      "no-cache",
      "no",
      "nosniff",
      "DENY",
      "no-referrer",
    ]);
    assertMatch(stream.headers.get("X-Request-Id")!, /^req_[0-9a-f]{24}$/);
    await collectSse(stream);
  }
});
