/**
 * Questions of the agent in runs (`clarify`; core.md B.8): only where the client has said that it can answer. The
 * checks of an answer are those of approvals (api-server.md B4.5).
 */
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { type ApiServer, collectSse, startApi } from "../../support/api_driver.ts";
import { type ModelServerRequest, startModelServer } from "../../support/model_server.ts";
import { makeRig, runProgram } from "../../support/program.ts";
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
  type Wire,
} from "./run_scene.ts";

const QUESTION = { question: "Which database?", choices: ["SQLite", "Postgres"] };
const asking = { steps: [{ tool: "clarify", args: QUESTION }] };
const isQuestion = (event: Wire) => event.event === "clarify.request";

function toolsOf(request: ModelServerRequest): string[] {
  return (request.body.tools ?? []).map((tool: Wire) => tool.function.name);
}

/** What the model got as the result of its question. */
function resultOf(request: ModelServerRequest): Wire {
  return JSON.parse(request.body.messages.findLast((message: Wire) => message.role === "tool").content);
}

async function startAsking(api: ApiServer, body: Record<string, unknown> = {}): Promise<string> {
  const id = await startRun(api, { input: "go", clarify: true, ...body });
  await untilStatus(api, id, "waiting_for_clarify");
  return id;
}

Deno.test("D4, issue 6.8: the agent asks a client that can answer, waits, and goes on with the answer", async () => {
  await using model = await startModelServer({ turns: [asking, "SQLite it is"] });
  await using api = await startApi({ model });
  const id = await startRun(api, { input: "go", clarify: true });
  const request = (await eventsUntil(api, id, isQuestion)).at(-1);
  assertMatch(request.request_id, /^[0-9a-f]{32}$/);
  assertEquals([request.run_id, request.question, request.choices], [id, "Which database?", [
    "SQLite",
    "Postgres",
  ]]);
  assert(request.tool_call_id.length > 0);
  const waiting = await untilStatus(api, id, "waiting_for_clarify");
  assertEquals([waiting.last_event, waiting.clarify.request_id, waiting.clarify.choices, waiting.approval], [
    "clarify.request",
    request.request_id,
    ["SQLite", "Postgres"],
    undefined,
  ]);
  // It is no approval, and it takes no guidance.
  assertEquals(await refusal(api, `/v1/runs/${id}/approval`, { body: { choice: "deny", all: true } }), [
    409,
    "approval_not_pending",
  ]);
  assertEquals(await refusal(api, `/v1/runs/${id}/steer`, { body: { input: "x" } }), [
    409,
    "run_not_accepting_steer",
  ]);

  const path = `/v1/runs/${id}/clarify`;
  const body = { request_id: request.request_id, answer: "SQLite" };
  const given = await ask(api, path, { body });
  assertEquals([given.status, given.body], [200, {
    object: "hermes.run.clarify_response",
    run_id: id,
    request_id: request.request_id,
    resolved: 1,
  }]);
  const done = await untilStatus(api, id, "completed");
  assertEquals([done.output, done.clarify], ["SQLite it is", undefined]);
  assertEquals(resultOf(model.calls()[1]!).user_response, "SQLite");
  assert(toolsOf(model.calls()[0]!).includes("clarify"));
  // Once is enough; a repeat changes nothing.
  assertEquals(await refusal(api, path, { body }), [409, "clarify_not_active"]);
  const events = (await eventsOf(api, id)).flatMap((frame) => frame.json ?? []);
  const { answer, resolved, request_id } = events.find((event) => event.event === "clarify.responded");
  assertEquals([answer, resolved, request_id], ["SQLite", 1, request.request_id]);
  assertEquals(model.calls().length, 2);
});

Deno.test("D4: without the member a run has no such tool, and neither have the other routes", async () => {
  await using model = await startModelServer({ turns: Array.from({ length: 6 }, () => "fine") });
  await using api = await startApi({ model });
  for (const body of [{ input: "a" }, { input: "a", clarify: false }, { input: "a", clarify: "no" }]) {
    await untilStatus(api, await startRun(api, body), "completed");
  }
  const messages = [{ role: "user", content: "hi" }];
  await ask(api, "/v1/chat/completions", { body: { messages, clarify: true } });
  await ask(api, "/v1/responses", { body: { input: "hi", clarify: true } });
  await untilStatus(api, await startRun(api, { input: "a", clarify: "on" }), "completed");
  const { body: can } = await ask(api, "/v1/capabilities");
  assertEquals([can.features.run_clarify_response, can.endpoints.run_clarify], [
    true,
    { method: "POST", path: "/v1/runs/{run_id}/clarify" },
  ]);
  assertEquals(model.calls().map((call) => toolsOf(call).includes("clarify")), [
    false,
    false,
    false,
    false,
    false,
    true,
  ]);
});

Deno.test("B4.5 for questions: what cannot be meant resolves nothing, and each refusal has its code", async () => {
  await using model = await startModelServer({
    turns: [asking, "done", { steps: [{ text: "x" }, { stall: true }] }],
  });
  await using api = await startApi({ model });
  const id = await startAsking(api);
  const path = `/v1/runs/${id}/clarify`;
  assertEquals(await refusal(api, "/v1/runs/run_none/clarify", { body: { answer: "x" } }), [
    404,
    "run_not_found",
  ]);
  assertEquals(await refusal(api, path, { body: "{" }), [400, null]);
  for (const request_id of ["", 5, "x".repeat(257)]) {
    assertEquals(await refusal(api, path, { body: { request_id, answer: "x" } }), [
      400,
      "invalid_clarify_request",
    ]);
  }
  for (const answer of [undefined, null, 5, ["SQLite"], {}]) {
    assertEquals(await refusal(api, path, { body: { answer } }), [400, "invalid_clarify_answer"]);
  }
  assertEquals(await refusal(api, path, { body: { request_id: "0".repeat(32), answer: "x" } }), [
    409,
    "clarify_not_pending",
  ]);
  assertEquals((await statusOf(api, id)).status, "waiting_for_clarify");
  // Other words than those offered are an answer, too; nobody else waits, so no id is needed.
  assertEquals((await ask(api, path, { body: { answer: " neither of them " } })).status, 200);
  await untilStatus(api, id, "completed");
  assertEquals(resultOf(model.calls()[1]!).user_response, "neither of them");
  const plain = await startRun(api, { input: "go" });
  await untilStatus(api, plain, "running");
  assertEquals(await refusal(api, `/v1/runs/${plain}/clarify`, { body: { answer: "x" } }), [
    409,
    "clarify_not_active",
  ]);
  await ask(api, `/v1/runs/${plain}/stop`, { method: "POST" });
});

Deno.test("core B.8: an empty answer skips the question, silence ends it, and the agent is told which", async () => {
  await using model = await startModelServer({ turns: [asking, "one", asking, "two"] });
  await using api = await startApi({ model, config: { agent: { clarify_timeout: 1 } } });
  const skipped = await startAsking(api);
  assertEquals((await ask(api, `/v1/runs/${skipped}/clarify`, { body: { answer: "" } })).status, 200);
  await untilStatus(api, skipped, "completed");
  assertMatch(resultOf(model.calls()[1]!).note, /skipped/);
  const silent = await startRun(api, { input: "go", clarify: true });
  assertEquals((await untilStatus(api, silent, "completed")).output, "two");
  assertMatch(resultOf(model.calls()[3]!).note, /Nobody answered/);
  const events = (await eventsOf(api, silent)).flatMap((frame) => frame.json ?? []);
  const { answer, resolved, reason } = events.find((event) => event.event === "clarify.responded");
  assertEquals([answer, resolved, reason], ["", 1, "timeout"]);
});

Deno.test("B4.7: a stop ends the question with the run; readers that leave end nothing", async () => {
  await using model = await startModelServer({ turns: [asking] });
  await using api = await startApi({ model });
  const id = await startAsking(api);
  await eventsUntil(api, id, isQuestion);
  const again = await eventsUntil(api, id, isQuestion);
  assertEquals((await statusOf(api, id)).status, "waiting_for_clarify");
  // A cursor before the question gets it once more.
  const replay = collectSse(
    await api.call(`/v1/runs/${id}/events`, { headers: { "Last-Event-ID": String(again.at(-1).seq - 1) } }),
  );
  await ask(api, `/v1/runs/${id}/stop`, { method: "POST" });
  await untilStatus(api, id, "cancelled");
  const events = (await replay).flatMap((frame) => frame.json ?? []);
  assertEquals(events[0], again.at(-1));
  const responded = events.find((event) => event.event === "clarify.responded");
  assertEquals([responded.answer, responded.reason], ["", "stopped"]);
  assertEquals(await refusal(api, `/v1/runs/${id}/clarify`, { body: { answer: "late" } }), [
    409,
    "clarify_not_active",
  ]);
  assertEquals(model.calls().length, 1);
});

Deno.test("A1 step 4: a server that is killed in mid-question leaves an interrupted run that asks nothing", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: [asking] });
  let id: string;
  {
    await using api = await startApi({ model, rig });
    id = await startAsking(api);
    await eventsUntil(api, id, isQuestion);
    await new Promise((resolve) => setTimeout(resolve, 500)); // saved in batches
    await api.stop("SIGKILL");
  }
  await using api = await startApi({ model, rig });
  const status = await statusOf(api, id);
  assertEquals([status.status, status.clarify], ["interrupted", undefined]);
  assertEquals(namesOf(await eventsOf(api, id)).slice(-2), ["clarify.request", "run.interrupted"]);
  assertEquals(await refusal(api, `/v1/runs/${id}/clarify`, { body: { answer: "x" } }), [
    409,
    "clarify_not_active",
  ]);
});

Deno.test("scopes: `approve` answers questions; a key without it, or of somebody else, does not", async () => {
  await using rig = await makeRig();
  await using model = await startModelServer({ turns: [asking, "done"] });
  await using api = await startApi({ model, rig });
  const made = async (name: string, scopes: string) => {
    const { code, stdout } = await runProgram(["serve", "keys", "add", name, "--scopes", scopes], { rig });
    assertEquals(code, 0);
    return stdout.trim();
  };
  const [own, bare, other] = [
    await made("own", "runs,approve"),
    await made("bare", "runs"),
    await made("x", "approve"),
  ];
  const { body } = await ask(api, "/v1/runs", { key: own, body: { input: "go", clarify: true } });
  await untilStatus(api, body.run_id, "waiting_for_clarify");
  const path = `/v1/runs/${body.run_id}/clarify`;
  assertEquals((await refusal(api, path, { key: bare, body: { answer: "x" } }))[0], 403);
  assertEquals(await refusal(api, path, { key: other, body: { answer: "x" } }), [404, "run_not_found"]);
  assertEquals((await ask(api, path, { key: own, body: { answer: "SQLite" } })).status, 200);
  await untilStatus(api, body.run_id, "completed");
});

Deno.test("A10: equal requests make one run with one question; the member is part of what is compared", async () => {
  await using model = await startModelServer({ turns: [asking, "done"] });
  await using api = await startApi({ model });
  const headers = { "Idempotency-Key": "k1" };
  const body = { input: "go", clarify: true };
  const first = await ask(api, "/v1/runs", { body, headers });
  await untilStatus(api, first.body.run_id, "waiting_for_clarify");
  const again = await ask(api, "/v1/runs", { body, headers });
  assertEquals([again.body.run_id, again.body.status, again.body.replayed], [
    first.body.run_id,
    "waiting_for_clarify",
    true,
  ]);
  assertEquals(await refusal(api, "/v1/runs", { body: { input: "go" }, headers }), [
    409,
    "idempotency_key_conflict",
  ]);
  await ask(api, `/v1/runs/${first.body.run_id}/clarify`, { body: { answer: "SQLite" } });
  await untilStatus(api, first.body.run_id, "completed");
});

Deno.test("a question and an approval of one run are told apart", async () => {
  await using model = await startModelServer({ turns: [{ steps: [risky("a")] }, asking, "done"] });
  await using api = await startApi({ model });
  const id = await startRun(api, { input: "go", clarify: true });
  await untilStatus(api, id, "waiting_for_approval");
  assertEquals(await refusal(api, `/v1/runs/${id}/clarify`, { body: { answer: "once" } }), [
    409,
    "clarify_not_pending",
  ]);
  await ask(api, `/v1/runs/${id}/approval`, { body: { choice: "deny" } });
  await untilStatus(api, id, "waiting_for_clarify");
  await ask(api, `/v1/runs/${id}/clarify`, { body: { answer: "x" } });
  await untilStatus(api, id, "completed");
  assertEquals(namesOf(await eventsOf(api, id)).filter((name) => /request|responded/.test(name)), [
    "approval.request",
    "approval.responded",
    "clarify.request",
    "clarify.responded",
  ]);
});
