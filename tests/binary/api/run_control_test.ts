/** Runs that are asked, steered, stopped, and that wait for each other. */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { type ApiServer, startApi } from "../../support/api_driver.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually } from "../../support/program.ts";
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

const isAsk = (event: Wire) => event.event === "approval.request";

Deno.test("api 48, FC-21.1: a run asks for leave, waits, takes the answer and goes on", async () => {
  await using model = await startModelServer({ turns: [{ steps: [risky("gone")] }, "removed"] });
  await using api = await startApi({ model });
  await Deno.mkdir(`${api.rig.workspace}/gone`);
  const id = await startRun(api);
  const request = (await eventsUntil(api, id, isAsk)).at(-1);
  const status = await untilStatus(api, id, "waiting_for_approval");
  assertEquals(status.last_event, "approval.request");
  assertEquals(status.approval.request_id, request.request_id);
  assertMatch(request.request_id, /^[0-9a-f]{32}$/);
  assertEquals([request.command, request.choices], ["rm -rf ./gone", ["once", "session", "always", "deny"]]);
  assertEquals([request.allow_permanent, request.allow_session], [true, true]);
  assertEquals(await refusal(api, `/v1/runs/${id}/steer`, { body: { input: "x" } }), [
    409,
    "run_not_accepting_steer",
  ]);
  const { body } = await ask(api, `/v1/runs/${id}/approval`, { body: { choice: "once" } });
  assertEquals(body, { object: "hermes.run.approval_response", run_id: id, choice: "once", resolved: 1 });
  const done = await untilStatus(api, id, "completed");
  assertEquals([done.output, done.approval], ["removed", undefined]);
  const events = (await eventsOf(api, id)).flatMap((frame) => frame.json ?? []);
  const { event, choice, resolved, request_id } = events.find((e) => e.event === "approval.responded");
  assertEquals([event, choice, resolved, request_id], [
    "approval.responded",
    "once",
    1,
    request.request_id,
  ]);
  await eventually(() => Deno.stat(`${api.rig.workspace}/gone`).then(() => undefined, () => true));
  assertEquals(await refusal(api, `/v1/runs/${id}/approval`, { body: { choice: "once" } }), [
    409,
    "approval_not_active",
  ]);
});

Deno.test("api 49: answers are addressed; what was not offered or not named resolves nothing", async () => {
  await using model = await startModelServer({ turns: [{ steps: [risky("a"), risky("b")] }, "both"] });
  await using api = await startApi({ model });
  const id = await startRun(api);
  const path = `/v1/runs/${id}/approval`;
  const asks = (await eventsUntil(api, id, isTwo())).filter(isAsk);
  assertEquals(await refusal(api, path, { body: { choice: "maybe", all: true } }), [
    400,
    "invalid_approval_choice",
  ]);
  assertEquals(await refusal(api, "/v1/runs/run_none/approval", { body: { choice: "once" } }), [
    404,
    "run_not_found",
  ]);
  assertEquals(await refusal(api, path, { body: { choice: "once", all: "false" } }), [
    400,
    "invalid_approval_request",
  ]);
  const one = await ask(api, path, { body: { choice: "approve", request_id: asks[0].request_id } });
  assertEquals([one.status, one.body.choice, one.body.resolved], [200, "once", 1]);
  assertEquals((await statusOf(api, id)).status, "waiting_for_approval");
  const rest = await ask(api, path, { body: { choice: "deny", all: true, reason: "not now" } });
  assertEquals([rest.status, rest.body.resolved], [200, 1]);
  await untilStatus(api, id, "completed");
  assertMatch(JSON.stringify(model.calls()[1]!.body.messages), /not now/);
});

function isTwo(): (event: Wire) => boolean {
  let count = 0;
  return (event) => isAsk(event) && ++count === 2;
}

Deno.test("api 50: two runs of one session go one after the other and cannot answer each other", async () => {
  await using model = await startModelServer({ turns: [{ steps: [risky("a")] }, "first", "second"] });
  await using api = await startApi({ model });
  const a = await startRun(api, { input: "one", session_id: "shared" });
  await untilStatus(api, a, "waiting_for_approval");
  const b = await startRun(api, { input: "two", session_id: "shared" });
  assertEquals((await statusOf(api, b)).status, "queued");
  assertEquals(await refusal(api, `/v1/runs/${b}/approval`, { body: { choice: "once" } }), [
    409,
    "approval_not_pending",
  ]);
  assertEquals(await refusal(api, `/v1/runs/${b}/steer`, { body: { input: "x" } }), [
    409,
    "run_not_accepting_steer",
  ]);
  assertEquals((await statusOf(api, a)).status, "waiting_for_approval");
  await ask(api, `/v1/runs/${a}/approval`, { body: { choice: "once" } });
  assertEquals((await untilStatus(api, a, "completed")).output, "first");
  assertEquals((await untilStatus(api, b, "completed")).output, "second");
  assertMatch(JSON.stringify(model.calls()[2]!.body.messages), /one.*first.*two/);
});

Deno.test("api 50: a queued run that is stopped never starts", async () => {
  await using model = await startModelServer({ turns: [{ steps: [risky("a")] }, "first", "never"] });
  await using api = await startApi({ model });
  const a = await startRun(api, { input: "one", session_id: "shared" });
  await untilStatus(api, a, "waiting_for_approval");
  const b = await startRun(api, { input: "two", session_id: "shared" });
  assertEquals((await ask(api, `/v1/runs/${b}/stop`, { method: "POST" })).body.status, "stopping");
  assertEquals((await untilStatus(api, b, "cancelled")).last_event, "run.cancelled");
  await ask(api, `/v1/runs/${a}/approval`, { body: { choice: "deny" } });
  await untilStatus(api, a, "completed");
  assertEquals(model.calls().length, 2);
});

Deno.test("api 51: silence blocks the call as unanswered and the run goes on", async () => {
  await using model = await startModelServer({ turns: [{ steps: [risky("a")] }, "went on"] });
  await using api = await startApi({ model, config: { approvals: { timeout: 1 } } });
  const id = await startRun(api);
  assertEquals((await untilStatus(api, id, "completed")).output, "went on");
  const events = (await eventsOf(api, id)).flatMap((frame) => frame.json ?? []);
  const { choice, resolved, reason } = events.find((event) => event.event === "approval.responded");
  assertEquals([choice, resolved, reason], ["deny", 1, "timeout"]);
  const seen = JSON.stringify(model.calls()[1]!.body.messages);
  assertEquals(/denied by the user/i.test(seen), false);
});

Deno.test("api 52: steer text is read at the next boundary", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ tool: "terminal", args: { command: "sleep 3" } }] }, "as you wish"],
  });
  await using api = await startApi({ model });
  const id = await startRun(api);
  await eventsUntil(api, id, (event) => event.event === "tool.started");
  const { status, body } = await ask(api, `/v1/runs/${id}/steer`, { body: { text: "use tabs" } });
  assertEquals([status, body], [200, { object: "hermes.run.steer", run_id: id, accepted: true }]);
  const done = await untilStatus(api, id, "completed");
  assertEquals(done.pending_steer, undefined);
  assertMatch(JSON.stringify(model.calls()[1]!.body.messages.at(-1)), /OUT-OF-BAND USER MESSAGE.*use tabs/);
  const steered = (await eventsOf(api, id)).find((frame) => frame.json?.event === "run.steered");
  assertEquals(steered!.json.accepted, true);
});

Deno.test("api 52, FC-21.1: steer text that met no boundary comes back on event and status", async () => {
  await using model = await startModelServer({
    turns: [{ steps: [{ text: "on my way" }, { delay_ms: 3_000, text: "." }] }],
  });
  await using api = await startApi({ model });
  const id = await startRun(api);
  await eventsUntil(api, id, (event) => event.event === "message.delta");
  for (const input of ["one", [{ type: "input_text", text: "two" }]]) {
    assertEquals((await ask(api, `/v1/runs/${id}/steer`, { body: { input } })).status, 200);
  }
  assertEquals((await untilStatus(api, id, "completed")).pending_steer, "one\ntwo");
  const last = (await eventsOf(api, id)).findLast((frame) => frame.json)!.json;
  assertEquals([last.event, last.pending_steer], ["run.completed", "one\ntwo"]);
});

Deno.test("api 53, FC-21.1: steer is for running runs and for texts", async () => {
  await using model = await startModelServer({ turns: [{ steps: [{ text: "x" }, { stall: true }] }] });
  await using api = await startApi({ model });
  const id = await startRun(api);
  const path = `/v1/runs/${id}/steer`;
  await eventsUntil(api, id, (event) => event.event === "message.delta");
  assertEquals((await refusal(api, path, { body: "{" }))[0], 400);
  assertEquals(await refusal(api, path, { body: { input: "  " } }), [400, "invalid_steer_input"]);
  assertEquals(await refusal(api, "/v1/runs/run_none/steer", { body: { input: "x" } }), [
    404,
    "run_not_found",
  ]);
  await ask(api, `/v1/runs/${id}/stop`, { method: "POST" });
  await untilStatus(api, id, "cancelled");
  // The status is looked at before the body.
  assertEquals(await refusal(api, path, { body: "{" }), [409, "run_not_accepting_steer"]);
});

Deno.test("api 54: a stop ends the run, keeps its text, and may be repeated", async () => {
  await using model = await startModelServer({ turns: [{ steps: [{ text: "half" }, { stall: true }] }] });
  await using api = await startApi({ model });
  const id = await startRun(api);
  await eventsUntil(api, id, (event) => event.event === "message.delta");
  const stop = await ask(api, `/v1/runs/${id}/stop`, { method: "POST" });
  assertEquals([stop.status, stop.body], [200, { run_id: id, status: "stopping" }]);
  const again = await ask(api, `/v1/runs/${id}/stop`, { method: "POST" });
  assertEquals(again.status, 200);
  const status = await untilStatus(api, id, "cancelled");
  assertEquals(status.output, "half");
  const late = await ask(api, `/v1/runs/${id}/stop`, { method: "POST" });
  assertEquals([late.status, late.body], [200, status]);
  assertEquals(namesOf(await eventsOf(api, id)).at(-1), "run.cancelled");
  assertEquals(await refusal(api, "/v1/runs/run_none/stop", { method: "POST" }), [404, "run_not_found"]);
  assertEquals(await eventually(() => model.calls()[0]!.aborted), true);
});

Deno.test("api 54: a stop denies what waits", async () => {
  await using model = await startModelServer({ turns: [{ steps: [risky("kept")] }] });
  await using api = await startApi({ model });
  await Deno.mkdir(`${api.rig.workspace}/kept`);
  const id = await startRun(api);
  await untilStatus(api, id, "waiting_for_approval");
  await ask(api, `/v1/runs/${id}/stop`, { method: "POST" });
  await untilStatus(api, id, "cancelled");
  const events = (await eventsOf(api, id)).flatMap((frame) => frame.json ?? []);
  assertEquals(events.find((event) => event.event === "approval.responded").choice, "deny");
  assertEquals((await Deno.stat(`${api.rig.workspace}/kept`)).isDirectory, true);
});

Deno.test("a failed run says why, without the key that the provider told", async () => {
  await using model = await startModelServer({
    turns: [{
      steps: [{ error: { status: 401, message: "bad key sk-proj-abcdefghijklmnopqrstuvwxyz0123456789" } }],
    }],
  });
  await using api = await startApi({ model, config: { agent: { api_max_retries: 1 } } });
  const id = await startRun(api);
  const status = await untilStatus(api, id, "failed");
  assertEquals([status.last_event, status.error.includes("abcdefghijklmnopqrstuvwxyz")], [
    "run.failed",
    false,
  ]);
});

Deno.test("FC-09: runs with equal words share nothing; a session id continues its transcript", async () => {
  await using model = await startModelServer({ turns: ["anna's", "bert's", "more"] });
  await using api = await startApi({ model });
  const a = await startRun(api, { input: "hi" });
  await untilStatus(api, a, "completed");
  const b = await startRun(api, { input: "hi" });
  await untilStatus(api, b, "completed");
  assertEquals(/anna/.test(JSON.stringify(model.calls()[1]!.body.messages)), false);
  const c = await startRun(api, { input: "and?" }, { "X-Hermes-Session-Id": a });
  assertEquals((await untilStatus(api, c, "completed")).session_id, a);
  const sent = JSON.stringify(model.calls()[2]!.body.messages);
  assertMatch(sent, /hi.*anna's.*and\?/);
  assertEquals(/bert/.test(sent), false);
});

Deno.test("api 54: a stopped run takes the background processes it started with it, no others", async () => {
  const background = (name: string) => ({
    tool: "terminal",
    args: { command: `echo $$ > ${name}.pid; exec sleep 300`, background: true },
  });
  await using model = await startModelServer({
    turns: [{ steps: [background("old")] }, "started", { steps: [background("new")] }, {
      steps: [{ text: "x" }, { stall: true }],
    }],
  });
  await using api = await startApi({ model });
  const body = { input: "go", session_id: "s" };
  await untilStatus(api, await startRun(api, body), "completed");
  const [old, id] = [await pidOf(api, "old"), await startRun(api, body)];
  const fresh = await pidOf(api, "new");
  await eventsUntil(api, id, (event) => event.event === "message.delta");
  await ask(api, `/v1/runs/${id}/stop`, { method: "POST" });
  await untilStatus(api, id, "cancelled");
  assertEquals([await runs(old), await runs(fresh)], [true, false]);
  assertEquals((await api.stop()).code, 0);
  assertEquals(await runs(old), false);
});

function pidOf(api: ApiServer, name: string): Promise<number> {
  return eventually(async () => {
    const text = await Deno.readTextFile(`${api.rig.workspace}/${name}.pid`).catch(() => "");
    return text.endsWith("\n") ? Number(text) : undefined;
  });
}

/** A process that has ended but was not yet waited for does not run. */
async function runs(pid: number): Promise<boolean> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => "");
  return stat !== "" && !/\) Z /.test(stat);
}
