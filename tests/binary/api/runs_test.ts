/** Runs: submission, status, journal and its readers, limits, idempotency, restarts. */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { collectSse, readSse, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { makeRig } from "../../support/program.ts";
import {
  ask,
  eventsOf,
  eventsUntil,
  namesOf,
  refusal,
  risky,
  startRun,
  statusOf,
  untilStatus,
} from "./run_scene.ts";

const SLOW = { steps: [{ delay_ms: 2_000, text: "slow" }] };

Deno.test("api 45, 9: what is no run is refused and none is made", async () => {
  await using model = await startModelServer();
  await using api = await startApi({ model });
  for (
    const body of ["{", "[]", '"x"', {}, { input: "" }, {
      input: "x",
      conversation_history: [{ role: "user" }],
    }]
  ) {
    assertEquals([body, (await refusal(api, "/v1/runs", { body }))[0]], [body, 400]);
  }
  assertEquals(await refusal(api, "/v1/runs", { body: { input: "x", previous_response_id: "resp_none" } }), [
    404,
    "previous_response_not_found",
  ]);
  assertEquals((await refusal(api, "/v1/runs", { body: { input: "x", session_id: "../x" } }))[0], 400);
  assertEquals((await ask(api, "/v1/runs")).body.data, []);
  assertEquals(model.calls().length, 0);
  assertEquals(await refusal(api, "/v1/runs/run_x"), [404, "run_not_found"]);
});

Deno.test("api 46: a run is accepted at once, runs, and keeps its output and usage", async () => {
  await using model = await startModelServer({
    turns: [{
      steps: [{ delay_ms: 2_000, text: "Done." }, { usage: { prompt_tokens: 50, completion_tokens: 200 } }],
    }],
  });
  await using api = await startApi({ model });
  const id = await startRun(api);
  assertMatch(id, /^run_[0-9a-f]{32}$/);
  assert(["queued", "running"].includes((await statusOf(api, id)).status));
  const { created_at, updated_at, ...status } = await untilStatus(api, id, "completed");
  assert(created_at <= updated_at && Math.abs(updated_at - Date.now() / 1000) < 60);
  assertEquals(status, {
    object: "hermes.run",
    run_id: id,
    status: "completed",
    session_id: id,
    model: "hermes-agent",
    last_event: "run.completed",
    output: "Done.",
    usage: { input_tokens: 50, output_tokens: 200, total_tokens: 250 },
  });
});

Deno.test("api 47, FC-20.3: readers before, during and after the run see the same events; one drops and resumes", async () => {
  await using model = await startModelServer({
    turns: [
      { steps: [{ text: "a" }, { tool: "terminal", args: { command: "echo hi" } }] },
      { steps: [{ delay_ms: 50, text: "b" }, { delay_ms: 100, text: "c" }] },
    ],
  });
  await using api = await startApi({ model });
  const id = await startRun(api);
  const early = [eventsOf(api, id), eventsOf(api, id)];
  // This one leaves after its second event and comes back with its cursor.
  const seen: string[] = [];
  for await (const frame of readSse(await api.call(`/v1/runs/${id}/events`))) {
    if (frame.id !== undefined) seen.push(frame.data!);
    if (seen.length === 2) break;
  }
  const rest = await eventsOf(api, id, { "Last-Event-ID": String(JSON.parse(seen[1]!).seq) });
  seen.push(...rest.flatMap((frame) => frame.data ?? []));
  const [first, second] = await Promise.all(early);
  const late = await eventsOf(api, id);
  assertEquals([first![0]!.comment, first!.at(-1)!.comment], ["open", "stream closed"]);
  assertEquals(second, first);
  assertEquals(late, first);
  assertEquals(seen, first!.flatMap((frame) => frame.data ?? []));
  assertEquals(namesOf(late), [
    "message.delta",
    "message.interim",
    "tool.started",
    "tool.completed",
    "message.delta",
    "message.delta",
    "run.completed",
  ]);
  const events = late.flatMap((frame) => frame.json ?? []);
  assertEquals(events.map((event) => event.seq), [0, 1, 2, 3, 4, 5, 6]);
  assertEquals(late.flatMap((frame) => frame.id ?? []), ["0", "1", "2", "3", "4", "5", "6"]);
  assertEquals(events.every((event) => event.run_id === id && event.timestamp > 1e9), true);
  const { tool, preview, tool_call_id } = events[2];
  assertEquals([tool, preview, tool_call_id], ["terminal", "echo hi", events[3].tool_call_id]);
  assertEquals([events[3].error, typeof events[3].duration], [false, "number"]);
  assertEquals(events[6].output, "bc");
});

Deno.test("api 47: of 1,100 events the newest 1,000 are kept, also over a restart", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({
    turns: [{ steps: [{ delay_ms: 1, text: "x", repeat: 1100 }] }],
  });
  let id: string;
  let last: number;
  {
    await using api = await startApi({ model, rig });
    id = await startRun(api);
    const live = await eventsOf(api, id);
    last = live.flatMap((frame) => frame.json?.seq ?? []).at(-1)!;
    assert(last >= 1000, `only ${last} events`);
    await api.stop();
  }
  await using api = await startApi({ model, rig });
  const frames = await eventsOf(api, id, { "Last-Event-ID": "0" });
  const oldest = last - 999;
  const { timestamp, ...notice } = frames[1]!.json;
  assert(timestamp > 1e9);
  assertEquals([frames[1]!.id, notice], [undefined, {
    event: "replay.truncated",
    run_id: id,
    oldest_retained_seq: oldest,
    requested_seq: 0,
  }]);
  assertEquals(
    frames.slice(2, -1).map((frame) => frame.json.seq),
    Array.from({ length: 1000 }, (_, i) => oldest + i),
  );
  assertEquals(frames.at(-2)!.json.event, "run.completed");
  const tail = await collectSse(await api.call(`/v1/runs/${id}/events?last_seq=${last - 1}`));
  assertEquals(tail.flatMap((frame) => frame.json?.seq ?? []), [last]);
});

Deno.test("E2: a reader that falls behind is let go, does not hold up the run, and may come back", async () => {
  const connected = Promise.withResolvers<void>();
  const text = "some words\n".repeat(1100);
  await using model = await startModelServer({
    respond: async () => {
      await connected.promise;
      return { steps: [{ text, repeat: 800 }] };
    },
  });
  await using api = await startApi({ model });
  const id = await startRun(api);
  using slow = await Deno.connect({ hostname: "127.0.0.1", port: api.port });
  const head = [`GET /v1/runs/${id}/events HTTP/1.1`, "Host: 127.0.0.1", `Authorization: Bearer ${api.key}`];
  await slow.write(new TextEncoder().encode(head.join("\r\n") + "\r\n\r\n"));
  const decoder = new TextDecoder();
  const pieces: string[] = [];
  const buffer = new Uint8Array(65_536);
  const ended = () => pieces.slice(-2).join("").endsWith("\r\n0\r\n\r\n");
  const readUntil = async (stop: () => boolean) => {
    while (!stop()) {
      const size = await slow.read(buffer);
      if (size === null) throw new Error("The connection broke");
      pieces.push(decoder.decode(buffer.subarray(0, size), { stream: true }));
    }
  };
  await readUntil(() => pieces.join("").includes(": open"));
  connected.resolve();
  await untilStatus(api, id, "completed");
  await readUntil(ended);
  const read = pieces.join("");
  const ids = [...read.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
  assertEquals(ids, ids.map((_, i) => i));
  assert(ids.length < 750 && !read.includes(": stream closed"), `it has read ${ids.length} events`);
  const rest = await eventsOf(api, id, { "Last-Event-ID": String(ids.at(-1)) });
  assertEquals([namesOf(rest).at(-1), rest.at(-1)!.comment], ["run.completed", "stream closed"]);
  assertEquals(rest.find((frame) => frame.id !== undefined)?.id, String(ids.length));
});

Deno.test("api 55: at the limit further work is 429 until the run has ended", async () => {
  await using model = await startModelServer({ turns: [{ steps: [risky("x")] }, "done", "free again"] });
  await using api = await startApi({ model, server: { max_concurrent_runs: 1 } });
  const id = await startRun(api);
  const second = await ask(api, "/v1/runs", { body: { input: "two" } });
  assertEquals([second.status, second.body.error.code, second.headers.get("retry-after")], [
    429,
    "rate_limit_exceeded",
    "1",
  ]);
  const messages = [{ role: "user", content: "hi" }];
  assertEquals((await refusal(api, "/v1/chat/completions", { body: { messages } }))[0], 429);
  assertEquals((await refusal(api, "/v1/responses", { body: { input: "hi" } }))[0], 429);
  await untilStatus(api, id, "waiting_for_approval");
  await ask(api, `/v1/runs/${id}/approval`, { body: { choice: "deny" } });
  await untilStatus(api, id, "completed");
  assertEquals((await untilStatus(api, await startRun(api), "completed")).output, "free again");
});

Deno.test("api 56, FC-21.3: a key makes one run of equal requests, at full capacity and over a restart", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: [{ steps: [risky("x")] }, "done"] });
  const headers = { "Idempotency-Key": "once-1" };
  const again = { body: { input: "go" }, headers };
  let id: string;
  {
    await using api = await startApi({ model, rig, server: { max_concurrent_runs: 1 } });
    id = await startRun(api, { input: "go" }, headers);
    await untilStatus(api, id, "waiting_for_approval");
    const full = await ask(api, "/v1/runs", again);
    assertEquals([full.status, full.body], [202, {
      run_id: id,
      status: "waiting_for_approval",
      replayed: true,
    }]);
    assertEquals(full.headers.get("idempotency-replayed"), "true");
    await ask(api, `/v1/runs/${id}/approval`, { body: { choice: "deny" } });
    await untilStatus(api, id, "completed");
    const ended = await ask(api, "/v1/runs", again);
    assertEquals(ended.body, { run_id: id, status: "completed", replayed: true });
    await api.stop();
  }
  await using api = await startApi({ model, rig });
  assertEquals((await ask(api, "/v1/runs", again)).body, { run_id: id, status: "completed", replayed: true });
  assertEquals(await refusal(api, "/v1/runs", { body: { input: "other" }, headers }), [
    409,
    "idempotency_key_conflict",
  ]);
  assertEquals(
    await refusal(api, "/v1/runs", { body: { input: "go" }, headers: { "Idempotency-Key": "a b" } }),
    [400, "invalid_idempotency_key"],
  );
  assertEquals(model.calls().length, 2);
});

Deno.test("E1: a reader beyond the end of a finished run is told its end, one at the end nothing again", async () => {
  await using model = await startModelServer({ turns: ["done"] });
  await using api = await startApi({ model });
  const id = await startRun(api);
  await untilStatus(api, id, "completed");
  const end = Number((await eventsOf(api, id)).findLast((frame) => frame.id !== undefined)!.id);
  const after = async (cursor: number) =>
    namesOf(await eventsOf(api, id, { "Last-Event-ID": String(cursor) }));
  assertEquals([await after(end), await after(end + 1), await after(end + 500)], [
    [],
    ["run.completed"],
    ["run.completed"],
  ]);
});

Deno.test("api 56: a repeated request is replayed also when what it continued is no longer kept", async () => {
  await using model = await startModelServer({ turns: ["first", "second"] });
  await using api = await startApi({ model });
  const first = (await ask(api, "/v1/responses", { body: { input: "hi" } })).body.id;
  const request = {
    body: { input: "go on", previous_response_id: first },
    headers: { "Idempotency-Key": "chained-1" },
  };
  const { run_id: id } = (await ask(api, "/v1/runs", request)).body;
  await untilStatus(api, id, "completed");
  assertEquals((await ask(api, `/v1/responses/${first}`, { method: "DELETE" })).status, 200);
  const again = await ask(api, "/v1/runs", request);
  assertEquals([again.status, again.body], [202, { run_id: id, status: "completed", replayed: true }]);
});

Deno.test("api 56, FC-21.3: equal requests at the same moment start one run", async () => {
  await using model = await startModelServer({ turns: [SLOW, SLOW] });
  await using api = await startApi({ model });
  const options = { body: { input: "go" }, headers: { "Idempotency-Key": "k" } };
  const answers = await Promise.all([1, 2, 3].map(() => ask(api, "/v1/runs", options)));
  assertEquals(new Set(answers.map(({ body }) => body.run_id)).size, 1);
  assertEquals(answers.filter(({ body }) => body.replayed === false).length, 1);
  await untilStatus(api, answers[0]!.body.run_id, "completed");
  assertEquals(model.calls().length, 1);
});

Deno.test("api 57, FC-21.2: a run whose server was killed is interrupted, and so are its events", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "half" }, { stall: true }] }, "fine"],
  });
  let id: string;
  {
    await using api = await startApi({ model, rig });
    id = await startRun(api);
    await eventsUntil(api, id, (event) => event.event === "message.delta");
    await api.stop("SIGKILL");
  }
  await using api = await startApi({ model, rig });
  const status = await statusOf(api, id);
  assertEquals([status.status, status.last_event], ["interrupted", "run.interrupted"]);
  assertMatch(status.error, /restarted/);
  const events = await eventsOf(api, id);
  assertEquals(namesOf(events).at(-1), "run.interrupted");
  // A reader may have been told more than was saved: its cursor is that of the end, or beyond it.
  const end = Number(events.findLast((frame) => frame.id !== undefined)!.id);
  for (const cursor of [end, end + 1, end + 500]) {
    const rest = await eventsOf(api, id, { "Last-Event-ID": String(cursor) });
    assertEquals([namesOf(rest), rest.at(-1)!.comment], [["run.interrupted"], "stream closed"]);
  }
  assertEquals(await refusal(api, `/v1/runs/${id}/steer`, { body: { input: "x" } }), [
    409,
    "run_not_accepting_steer",
  ]);
  assertEquals(await refusal(api, `/v1/runs/${id}/approval`, { body: { choice: "once" } }), [
    409,
    "approval_not_active",
  ]);
  await untilStatus(api, await startRun(api), "completed");
});

Deno.test("api 57: a stop signal interrupts a run and ends its readers' streams", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: [{ steps: [{ text: "half" }, { stall: true }] }] });
  let id: string;
  {
    await using api = await startApi({ model, rig });
    id = await startRun(api);
    const reading = eventsOf(api, id);
    await eventsUntil(api, id, (event) => event.event === "message.delta");
    assertEquals((await api.stop()).code, 0);
    const frames = await reading;
    assertEquals([namesOf(frames).at(-1), frames.at(-1)!.comment], ["run.interrupted", "stream closed"]);
  }
  await using api = await startApi({ model, rig });
  assertEquals((await statusOf(api, id)).status, "interrupted");
});

Deno.test("a server leaves the runs of another one on the same home alone, and shows them", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: [{ steps: [risky("x")] }, "done"] });
  await using first = await startApi({ model, rig });
  const id = await startRun(first);
  await untilStatus(first, id, "waiting_for_approval");
  await using second = await startApi({ model, rig });
  const status = await untilStatus(second, id, "waiting_for_approval");
  assertEquals(status.approval.command, "rm -rf ./x");
  assertEquals(await refusal(second, `/v1/runs/${id}/stop`, { method: "POST" }), [409, "run_not_active"]);
  const reading = eventsOf(second, id);
  await ask(first, `/v1/runs/${id}/approval`, { body: { choice: "deny" } });
  await untilStatus(first, id, "completed");
  assertEquals(await reading, await eventsOf(first, id));
  assertEquals((await statusOf(second, id)).status, "completed");
});

Deno.test("lost runs are found: newest first, by status and session, page by page", async () => {
  await using model = await startModelServer({ turns: ["1", "2", "3"] });
  await using api = await startApi({ model });
  const ids: string[] = [];
  for (const session_id of ["s1", "s2", "s1"]) {
    const id = await startRun(api, { input: "go", session_id });
    await untilStatus(api, id, "completed");
    ids.unshift(id);
  }
  const list = async (query: string) => {
    const { body } = await ask(api, `/v1/runs?${query}`);
    return [body.data.map((run: { run_id: string }) => run.run_id), body.has_more];
  };
  assertEquals(await list("limit=2"), [[ids[0], ids[1]], true]);
  assertEquals(await list(`limit=2&after=${ids[1]}`), [[ids[2]], false]);
  assertEquals(await list("session_id=s1"), [[ids[0], ids[2]], false]);
  assertEquals(await list("status=running"), [[], false]);
  assertEquals(await list("limit="), [ids, false]);
  for (const query of ["limit=x", "limit=0", "limit=201", "after=run_none"]) {
    assertEquals(await refusal(api, `/v1/runs?${query}`), [400, "invalid_pagination"]);
  }
  // No run is ever "done": an empty page would say that none is.
  assertEquals(await refusal(api, "/v1/runs?status=done"), [400, null]);
});

Deno.test("a run is listed by the state that it has, from its first moment", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [risky("gone")] }, "done"],
  });
  await using api = await startApi({ model });
  const id = await startRun(api);
  const listed = async (status: string) => (await ask(api, `/v1/runs?status=${status}`)).body.data;
  await untilStatus(api, id, "waiting_for_approval");
  const [waiting] = await listed("waiting_for_approval");
  assertEquals([waiting.run_id, waiting.status], [id, "waiting_for_approval"]);
  assertEquals(await listed("queued"), []);
  assertEquals(await listed("running"), []);
  await ask(api, `/v1/runs/${id}/approval`, { body: { choice: "deny" } });
  assertEquals(await listed("waiting_for_approval"), []);
  await untilStatus(api, id, "completed");
  assertEquals((await listed("completed")).length, 1);
});

Deno.test("B4.4, B4.3: a run that a limit ended is completed and partial, and says why, in its event and its status", async () => {
  const todo = { steps: [{ tool: "todo", args: {} }] };
  await using model = await startModelServer({ turns: [todo, todo, "so far"] });
  await using api = await startApi({ model, config: { agent: { max_turns: 2 } } });
  const id = await startRun(api);
  const status = await untilStatus(api, id, "completed");
  const end = (await eventsOf(api, id)).at(-2)!.json;
  for (const told of [status, end]) {
    assertEquals([told.output, told.partial, told.hermes.limit.kind], ["so far", true, "iterations"]);
    assertMatch(told.turn_exit_reason, /max_iterations/);
  }
});

Deno.test("E1: a cursor of any length beyond the end is one beyond the end", async () => {
  await using model = await startModelServer({ turns: ["ok"] });
  await using api = await startApi({ model });
  const id = await startRun(api);
  await untilStatus(api, id, "completed");
  for (const cursor of ["7", "999999999999999999999", "9".repeat(400)]) {
    const frames = await eventsOf(api, id, { "Last-Event-ID": cursor });
    assertEquals(frames.map((frame) => frame.json?.event ?? frame.comment), [
      "open",
      "run.completed",
      "stream closed",
    ]);
  }
});
