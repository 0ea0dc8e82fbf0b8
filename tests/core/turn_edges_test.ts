/** The loop where things go wrong twice: cut and then broken, empty after housekeeping, cancelled while compressing. */
import { untilAborted } from "../support/abort.ts";
import type { Guard, SessionStore } from "@/core/mod.ts";
import { HermesError } from "@/core/mod.ts";
import type { Reply } from "../support/scripted_core.ts";
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
  until,
} from "../support/scripted_core.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { addTool, askAlways, callTools, cutText } from "./turn_support.ts";

Deno.test("core 10: parts of a cut answer go back as one message, and survive a failure that follows", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(cutText("One, t"), cutText("wo, t"), [[failure("auth")]]);
  const result = await prompt(session, "count");
  assertEquals([result.outcome, result.partial, result.text], ["failed", true, "One, two, t"]);
  const third = core.requests[2]!.messages;
  assertEquals(third.map((m) => m.role), ["user", "assistant", "user"]);
  assertEquals(third[1]!.content, "One, two, t");
  const last = session.history().at(-1)!;
  assert(last.role === "assistant" && last.content === "One, two, t" && last.finishReason === "incomplete");
});

Deno.test("core 10: the larger cap is never smaller than what the cut answer took", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  const usage = { input: 1, output: 20_000, cacheRead: 0, cacheWrite: 0, reasoning: 0 };
  core.push([[text("a"), done({ finish: "length", usage })]], say("b"));
  assertEquals((await prompt(session, "go")).text, "ab");
  assertEquals(core.requests[1]!.maxTokens, 40_000);
});

Deno.test("core 11: text that came with broken calls is shown once when it comes again", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  const withText = (args: string): Reply => [[
    text("Reading. "),
    done({ finish: "tool_calls", toolCalls: [{ id: "a", name: "reader", arguments: args }] }),
  ]];
  core.push(withText("{x}"), withText("{}"), say("Done."));
  await prompt(session, "go");
  const shown = events.flatMap((event) => event.type === "text.delta" ? [event.text] : []);
  assertEquals(shown, ["Reading. ", "Done."]);
});

Deno.test("core 8: a name that does not exist counts in a row also beside good calls", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  const mixed: Reply = callTools(["a", "reader", "{}"], ["b", "rocket", "{}"]);
  core.push(mixed, mixed, mixed);
  const result = await prompt(session, "go");
  assertEquals([result.outcome, result.partial, core.requests.length, core.ran], ["failed", true, 3, []]);
});

Deno.test("core 13: an empty answer after mere housekeeping means the text that came with it", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  addTool(core, "todo", () => Promise.resolve({ content: "{}", isError: false }));
  core.push([[
    text("All is done."),
    done({ finish: "tool_calls", toolCalls: [{ id: "a", name: "todo", arguments: "{}" }] }),
  ]], [[done()]]);
  const result = await prompt(session, "go");
  assertEquals([result.outcome, result.text, result.exitReason], [
    "completed",
    "All is done.",
    "fallback_prior_turn_content",
  ]);
  assertEquals(events.filter((event) => event.type === "text.delta").length, 1);
  assertEquals(session.history().at(-1)!.content, "All is done.");
});

Deno.test("core 17: a compression does not use up a step", async () => {
  await using core = await makeScriptedCore({
    settings: (s) => ({ ...s, agent: { ...s.agent, max_turns: 1 } }),
  });
  const { session } = await openSession(core);
  for (let i = 0; i < 3; i++) {
    core.push(say(`answer ${i}`));
    await prompt(session, `question ${i}`);
  }
  core.push([[failure("context_overflow")]], say("The summary."), say("after"));
  const result = await prompt(session, "next");
  assertEquals([result.outcome, result.text], ["completed", "after"]);
});

Deno.test("FC-06: a cancel while the conversation is compressed is a cancel, and nothing has moved", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  for (let i = 0; i < 3; i++) {
    core.push(say(`answer ${i}`));
    await prompt(session, `question ${i}`);
  }
  const head = session.headId;
  core.push([[failure("context_overflow")]], async function* (_request, signal) {
    yield [text("The sum")];
    await untilAborted(signal);
  });
  const turn = session.submit({ content: "next" }, { asks: EVERYONE });
  await until(session, (event) => event.type === "status");
  session.interrupt();
  assertEquals((await turn.done).outcome, "cancelled");
  assertEquals(session.headId, head);
  core.push(say("fine"));
  assertEquals((await prompt(session, "again")).text, "fine");
});

Deno.test("a tool that throws at once, and a guard that fails, are results: the call ends and does not run", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  addTool(core, "sudden", () => {
    throw new Error("at once");
  });
  core.push(callTool("sudden", {}, "a"), callTool("shell", { command: "x" }, "b"), say("ok"));
  core.verdict(() => {
    throw new Error("guard bug");
  });
  assertEquals((await prompt(session, "go")).text, "ok");
  assertEquals(
    core.requests[1]!.messages.at(-1)!.content,
    '{"error":"[TOOL_ERROR] Error executing sudden: at once"}',
  );
  assert(String(core.requests[2]!.messages.at(-1)!.content).includes("safety check itself failed"));
  assertEquals(core.ran, []);
  assertEquals(events.filter((event) => event.type === "tool.end").length, 2);
});

Deno.test("core 40: an approval that cannot be kept for good still lets the one call run, and says so", async () => {
  await using core = await makeScriptedCore();
  const guard = core.services.guard as { grant: Guard["grant"] };
  guard.grant = () => Promise.reject(new Error("config is broken"));
  const { session, events } = await openSession(core);
  core.verdict(askAlways(["always", "deny"], () => []));
  session.subscribe((event) => {
    if (event.type === "ask.open") session.answer(event.ask.id, { type: "choice", choice: "always" });
  });
  core.push(callTool("shell", { command: "x" }), say("ok"));
  assertEquals((await prompt(session, "go", EVERYONE)).text, "ok");
  assertEquals(core.ran.length, 1);
  const warning = events.find((event) => event.type === "status");
  assert(warning?.type === "status" && warning.text.includes("config is broken"));
});

Deno.test("core 42: a timeout longer than a timer can hold does not fire at once", async () => {
  await using core = await makeScriptedCore({
    settings: (s) => ({ ...s, approvals: { ...s.approvals, timeout: 10_000_000 } }),
  });
  const { session } = await openSession(core);
  core.verdict(askAlways(["once"], () => []));
  core.push(callTool("shell", { command: "x" }), say("ok"));
  const turn = session.submit({ content: "go" }, { asks: EVERYONE });
  await until(session, (event) => event.type === "ask.open");
  await new Promise((resolve) => setTimeout(resolve, 20));
  assertEquals(session.asks().length, 1);
  session.answer(session.asks()[0]!.id, { type: "choice", choice: "once" });
  assertEquals([(await turn.done).text, core.ran.length], ["ok", 1]);
});

Deno.test("Session.setModel() changes nothing when the store refuses", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(say("one"));
  await prompt(session, "a");
  const models = core.services.models as { switchTo: unknown };
  const model = { ...core.services.models.resolve(), model: "other" };
  models.switchTo = () => Promise.resolve({ model, providerChanged: false, global: false });
  const store = core.services.store() as { updateSession: SessionStore["updateSession"] };
  store.updateSession = () => Promise.reject(new HermesError("store_locked", "locked"));
  await assertRejects(() => session.setModel("other"), /locked/);
  assertEquals(session.history().map((m) => m.content), ["a", "one"]);
  assertEquals((session as unknown as { config: unknown }).config, {});
});

Deno.test("core 17: a single prompt whose own work has become too long is compressed, and stays in sight", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  const work = Array.from({ length: 12 }, (_, n) => callTool("reader", { limit: n }, `call_${n}`));
  core.push(...work, [[failure("context_overflow")]], say("The summary."), say("after"));
  const result = await prompt(session, "the task");
  assertEquals([result.outcome, result.text], ["completed", "after"]);
  const [head, ...rest] = core.requests.at(-1)!.messages;
  assert(head!.role === "user" && String(head!.content).includes("The summary."));
  assert(String(head!.content).endsWith("\nthe task"));
  assertEquals(rest.map((m) => m.role).slice(0, 2), ["assistant", "tool"]);
  assert(rest.length < 24);
});

Deno.test("core 11: arguments that are no object go into the history as an empty one, which providers accept", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(callTool("reader", "[1]", "a"), callTool("reader", " ", "b"), say("ok"));
  await prompt(session, "go");
  const sent = core.requests.at(-1)!.messages.flatMap((m) => m.role === "assistant" ? m.toolCalls ?? [] : []);
  assertEquals(sent.map((call) => call.arguments), ["{}", "{}"]);
  assertEquals(core.ran, ["reader:{}"]);
});

Deno.test("half a character in a prompt or a result never reaches a provider", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  addTool(core, "half", () => Promise.resolve({ content: "cut \ud83d", isError: false }));
  core.push(callTool("half", {}), say("ok"));
  await prompt(session, "go \ud83d!");
  const texts = core.requests.at(-1)!.messages.map((m) => String(m.content));
  assertEquals([texts[0], texts[2]], ["go \ufffd!", "cut \ufffd"]);
});

Deno.test("core 21: guidance given while a batch is compressed ends the last tool result of the next request", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  const work = Array.from({ length: 6 }, (_, n) => callTool("reader", { limit: n }, `call_${n}`));
  core.push(...work, [[failure("context_overflow")]], async function* () {
    await Promise.resolve();
    assertEquals(session.steer("use tabs"), true);
    yield [text("The summary."), done()];
  }, say("after"));
  const result = await prompt(session, "the task");
  assertEquals([result.text, result.pendingSteer], ["after", null]);
  const told = String(core.requests.at(-1)!.messages.at(-1)!.content);
  assert(told.endsWith("\nuse tabs\n[/OUT-OF-BAND USER MESSAGE]"), told);
  const rows = core.services.store().loadMessages(session.headId);
  assertEquals(rows.findLast((row) => row.role === "tool")!.content, told);
});
