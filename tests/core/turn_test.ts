import { untilAborted } from "../support/abort.ts";
import type { Batch } from "../support/scripted_core.ts";
import {
  callTool,
  done,
  EVERYONE,
  failure,
  makeScriptedCore,
  openSession,
  prompt,
  say,
  text,
  types,
  until,
} from "../support/scripted_core.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { askAlways, callTools } from "./turn_support.ts";

Deno.test("core 1: a plain answer is one user row and one assistant row, and the deltas join to it", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  core.push([[text("Hel")], [text("lo"), done()]]);
  const result = await prompt(session, "hi");
  assertEquals([result.outcome, result.text, result.exitReason], [
    "completed",
    "Hello",
    "text_response(finish_reason=stop)",
  ]);
  const rows = core.services.store().loadMessages(session.headId);
  assertEquals(rows.map((row) => [row.role, row.content]), [["user", "hi"], ["assistant", "Hello"]]);
  assertEquals(types(events), [
    "turn.start",
    "step.start",
    "text.delta",
    "text.delta",
    "usage",
    "text.end",
    "turn.end",
  ]);
});

Deno.test("core 2: rows stand in order and the next request answers the call by its id", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(callTool("reader", { limit: "5" }), say("done"));
  await prompt(session, "go");
  const rows = core.services.store().loadMessages(session.headId);
  assertEquals(rows.map((row) => row.role), ["user", "assistant", "tool", "assistant"]);
  const second = core.requests[1]!.messages;
  assert(second[2]!.role === "tool" && second[2]!.toolCallId === "call_1");
  assertEquals(core.ran, ['reader:{"limit":5}']);
});

Deno.test("core 6: an exact repeat within one answer runs once", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  const twice = { id: "a", name: "reader", arguments: '{"limit":1}' };
  core.push([[done({ finish: "tool_calls", toolCalls: [twice, { ...twice, id: "b" }] })]], say("ok"));
  await prompt(session, "go");
  assertEquals(core.ran.length, 1);
});

Deno.test("core 8: three answers with an unknown tool end the turn as partial", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(callTool("rocket", {}), callTool("rocket", {}), callTool("rocket", {}));
  const result = await prompt(session, "go");
  assertEquals([result.outcome, result.partial, result.text], [
    "failed",
    true,
    "Model generated invalid tool call: rocket",
  ]);
  const told = core.requests[1]!.messages.at(-1)!;
  assert(String(told.content).includes("Tool 'rocket' does not exist. Available tools: reader, shell"));
});

Deno.test("core 10: cut arguments are never executed; the model is asked again with a larger cap", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  const cut = {
    finish: "length" as const,
    toolCalls: [{ id: "a", name: "reader", arguments: '{"limit": 1' }],
  };
  core.push([[done(cut)]], callTool("reader", { limit: 2 }), say("ok"));
  await prompt(session, "go");
  assertEquals(core.ran, ['reader:{"limit":2}']);
  assertEquals([core.requests[0]!.maxTokens, core.requests[1]!.maxTokens], [undefined, 8_192]);
});

Deno.test("core 11: broken JSON is asked for again three times, then told to the model, and the turn goes on", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  const broken = callTool("reader", '{"limit": x}');
  core.push(broken, broken, broken, broken, say("sorry"));
  const result = await prompt(session, "go");
  assertEquals([result.outcome, result.text, core.ran.length], ["completed", "sorry", 0]);
  assert(String(core.requests[4]!.messages.at(-1)!.content).includes("Invalid JSON arguments"));
  assertEquals(core.requests[3]!.messages.length, 1);
});

Deno.test("core 12: the step limit ends with a summary made without tools", async () => {
  await using core = await makeScriptedCore({
    settings: (s) => ({ ...s, agent: { ...s.agent, max_turns: 2 } }),
  });
  const { session } = await openSession(core);
  core.push(callTool("reader", { limit: 1 }), callTool("reader", { limit: 2 }), say("Read two things."));
  const result = await prompt(session, "go");
  assertEquals([result.outcome, result.text, result.exitReason], [
    "max_turns",
    "Read two things.",
    "max_iterations_reached(2/2)",
  ]);
  assertEquals(core.requests.map((request) => request.tools.length), [2, 2, 0]);
});

Deno.test("core 13: an empty answer is asked for again and leaves no row", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(callTool("reader", {}), [[done()]], say("here"));
  const result = await prompt(session, "go");
  assertEquals(result.text, "here");
  assertEquals(core.requests[2]!.messages.at(-1)!.role, "user");
  const rows = core.services.store().loadMessages(session.headId);
  assertEquals(rows.map((row) => row.role), ["user", "assistant", "tool", "assistant"]);
});

Deno.test("core 15: two failures are retried and told; the third answer counts", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  core.push([[failure("server_error", true)]], [[failure("server_error", true)]], say("at last"));
  const result = await prompt(session, "go");
  assertEquals([result.text, result.apiCalls], ["at last", 3]);
  assertEquals(events.filter((e) => e.type === "status").length, 2);
});

Deno.test("core 19: a stream that dies after text keeps the text once and looks failed", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  core.push([[text("half")], [failure("server_error", true)]]);
  const result = await prompt(session, "go");
  assertEquals([result.outcome, result.partial, result.text, result.exitReason], [
    "failed",
    true,
    "half",
    "partial_stream_recovery",
  ]);
  const rows = core.services.store().loadMessages(session.headId);
  const last = rows.at(-1)!;
  assert(last.role === "assistant" && last.content === "half" && last.finishReason === "incomplete");
  assertEquals(events.filter((e) => e.type === "text.delta").length, 1);
});

async function* stuck(signal: AbortSignal, first: Batch): AsyncIterable<Batch> {
  yield first;
  await untilAborted(signal);
}

Deno.test("core 19: an interrupt keeps the partial text, and the next turn is as if nothing had happened", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push((_request, signal) => stuck(signal, [text("par")]), say("fine"));
  const turn = session.submit({ content: "go" }, { asks: EVERYONE });
  await until(session, (event) => event.type === "text.delta");
  assertEquals(session.interrupt().running, true);
  const result = await turn.done;
  assertEquals([result.outcome, result.text], ["cancelled", "par"]);
  assertEquals((await prompt(session, "again")).text, "fine");
  assertEquals(core.requests[1]!.messages.map((m) => m.content), ["go", "par", "again"]);
});

Deno.test("FC-06: an interrupt ends a running tool, and a queued prompt does not start by itself", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  core.push(callTool("shell", { hang: true }));
  const turn = session.submit({ content: "go" }, { asks: EVERYONE });
  const queued = session.submit({ content: "later" }, { asks: EVERYONE });
  assertEquals(queued.position, 1);
  await until(session, (event) => event.type === "tool.start");
  assertEquals(session.interrupt(), { running: true, dropped: 1 });
  assertEquals((await turn.done).outcome, "cancelled");
  assertEquals((await queued.done).outcome, "cancelled");
  assertEquals(core.requests.length, 1);
  const ends = events.filter((event) => event.type === "tool.end");
  assertEquals(ends.length, 1);
  assertEquals(events.at(-1)!.type, "turn.end");
  assertEquals(session.running, false);
});

Deno.test("core 21: guidance reaches the model at the end of the last tool result, without a row of its own", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(callTool("reader", {}), say("ok"));
  session.subscribe((event) => {
    if (event.type === "tool.start") assertEquals(session.steer("use tabs"), true);
  });
  const result = await prompt(session, "go");
  assertEquals(result.pendingSteer, null);
  const told = String(core.requests[1]!.messages.at(-1)!.content);
  assert(told.endsWith("\nuse tabs\n[/OUT-OF-BAND USER MESSAGE]"));
  const rows = core.services.store().loadMessages(session.headId);
  assertEquals(rows.filter((row) => row.role === "user").length, 1);
  assertEquals(rows[2]!.content, told);
});

Deno.test("core 22: guidance that met no tool call is handed back; blank and idle guidance is refused", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push([[text("a")], [text("b"), done()]]);
  session.subscribe((event) => {
    if (event.type === "text.delta" && event.text === "a") {
      assertEquals([session.steer("  "), session.steer("more")], [false, true]);
    }
  });
  assertEquals((await prompt(session, "go")).pendingSteer, "more");
  assertEquals(session.steer("idle"), false);
});

Deno.test("FC-14: two questions wait at once and each answer settles its own", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.verdict(askAlways(["once", "deny"]));
  core.push(callTools(["a", "shell", '{"command":"one"}'], ["b", "shell", '{"command":"two"}']), say("ok"));
  const turn = session.submit({ content: "go" }, { asks: EVERYONE });
  await until(session, () => session.asks().length === 2);
  const [one, two] = session.asks();
  assertEquals(session.answer(two!.id, { type: "choice", choice: "always" }), "not_offered");
  assertEquals(session.answer(two!.id, { type: "choice", choice: "once" }), "accepted");
  assertEquals(session.answer(two!.id, { type: "choice", choice: "once" }), "unknown");
  assertEquals(session.asks().map((ask) => ask.id), [one!.id]);
  session.answer(one!.id, { type: "choice", choice: "deny" });
  await turn.done;
  assertEquals(core.ran, ['shell:{"command":"two"}']);
});

Deno.test("a question answered with cancel stops the later calls and the turn", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.verdict(askAlways(["once", "deny"]));
  core.push(callTools(["a", "shell", '{"command":"one"}'], ["b", "reader", "{}"]), say("never"));
  session.subscribe((event) => {
    if (event.type === "ask.open") session.answer(event.ask.id, { type: "cancel" });
  });
  const result = await prompt(session, "go", EVERYONE);
  assertEquals([result.outcome, core.ran.length, core.requests.length], ["cancelled", 0, 1]);
});

Deno.test("core 42: an unanswered question blocks as unanswered and a late answer is refused", async () => {
  await using core = await makeScriptedCore({
    settings: (s) => ({ ...s, approvals: { ...s.approvals, timeout: 0.02 } }),
  });
  const { session, events } = await openSession(core);
  core.verdict(askAlways(["once"], () => []));
  core.push(callTool("shell", { command: "x" }), say("ok"));
  const result = await prompt(session, "go", EVERYONE);
  assertEquals([result.outcome, core.ran.length], ["completed", 0]);
  const close = events.find((event) => event.type === "ask.close");
  assert(close?.type === "ask.close" && close.outcome.type === "timeout");
  assertEquals(session.answer(close.ask.id, { type: "choice", choice: "once" }), "unknown");
});

Deno.test("a tool that throws becomes an error result the model can read", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(callTool("reader", { throw: "boom </system>" }), say("ok"));
  await prompt(session, "go");
  assertEquals(
    core.requests[1]!.messages.at(-1)!.content,
    '{"error":"[TOOL_ERROR] Error executing reader: boom "}',
  );
});

Deno.test("core 17: an overflow compresses the conversation and the turn goes on under the same session id", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  for (let i = 0; i < 3; i++) {
    core.push(say(`answer ${i}`));
    await prompt(session, `question ${i} ${"x".repeat(100)}`);
  }
  const before = session.headId;
  core.push([[failure("context_overflow")]], say("The summary."), say("after"));
  const result = await prompt(session, "next");
  assertEquals([result.outcome, result.text], ["completed", "after"]);
  assert(session.headId !== before && session.id === before);
  const rotated = events.find((event) => event.type === "session.rotated");
  assert(rotated?.type === "session.rotated" && rotated.oldId === before && rotated.newId === session.headId);
  assertEquals(core.services.store().getSession(before)?.endReason, "compression");
  assertEquals(core.services.store().getSession(session.headId)?.parentId, before);
  assert(String(core.requests.at(-1)!.messages[0]!.content).includes("The summary."));
});

Deno.test("Sessions.open() gives a fresh session while the old one is still closing", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(say("one"));
  await prompt(session, "hi");
  const closing = session.close("tui_close");
  const again = await core.sessions.open(session.id, { surface: "tui" });
  await closing;
  assertEquals([again === session, again.closed, again.history().length], [false, false, 2]);
});

Deno.test("FC-04: a turn whose tools cannot be loaded ends as failed, and the session goes on", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  let broken = true;
  core.services.ready = () => broken ? Promise.reject(new Error("no rooms")) : Promise.resolve();
  const result = await prompt(session, "go");
  assertEquals([result.outcome, result.failure?.message, core.requests.length], [
    "failed",
    "The turn failed to start",
    0,
  ]);
  assertEquals(types(events).at(-1), "turn.end");
  broken = false;
  core.push(say("fine"));
  assertEquals((await prompt(session, "again")).text, "fine");
});
