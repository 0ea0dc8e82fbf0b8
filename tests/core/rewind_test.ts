import { assertEquals } from "../support/assert.ts";
import { AskBroker, HermesError, type Message, undoTurns } from "../../src/core/mod.ts";
import { callTool, makeScriptedCore, openSession, prompt, say } from "../support/scripted_core.ts";

function said(messages: readonly Message[]): unknown[] {
  return messages.map((message) => `${message.role}: ${String(message.content)}`);
}

/** The code of the refusal. */
async function refusal(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof HermesError) return error.code;
    throw error;
  }
  return "accepted";
}

Deno.test("rewindBefore() cuts store and memory alike, under new row ids that it tells", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  core.push(say("1"), say("2"));
  await prompt(session, "one");
  await prompt(session, "two");
  const before = session.history().map((message) => message.rowId!);
  events.length = 0;
  const moved = await session.rewindBefore(before[2]!);
  assertEquals(said(session.history()), ["user: one", "assistant: 1"]);
  assertEquals(
    [...moved],
    before.slice(0, 2).map((id, at) => [id, session.history()[at]!.rowId]),
  );
  assertEquals(core.services.store().loadMessages(session.headId), session.history());
  assertEquals(events.map((event) => event.type), ["session.change"]);
});

Deno.test("rewindBefore() changes nothing for a row that is not there, and is refused while a turn runs", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(say("1"));
  await prompt(session, "one");
  const history = session.history();
  assertEquals(await refusal(() => session.rewindBefore(999)), "message_not_found");
  assertEquals(session.history(), history);
  const turn = session.submit({ content: "two" }, { asks: { approval: false, edit: false, clarify: false } });
  assertEquals(await refusal(() => session.rewindBefore(history[0]!.rowId!)), "session_busy");
  assertEquals(await refusal(() => undoTurns(session, 1)), "session_busy");
  await turn.done;
});

Deno.test("a prompt that is submitted during a rewind runs after it", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(say("1"), say("2"), say("3"));
  await prompt(session, "one");
  await prompt(session, "two");
  const rewinding = session.rewindBefore(session.history()[2]!.rowId!);
  await prompt(session, "three");
  await rewinding;
  assertEquals(said(session.history()), ["user: one", "assistant: 1", "user: three", "assistant: 3"]);
});

Deno.test("undoTurns() counts turns of the user, gives the oldest text back, and stops at the beginning", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(say("1"), callTool("reader", {}), say("2"));
  await prompt(session, "one");
  await prompt(session, "two");
  await session.submit({ content: "aside", displayKind: "hidden" }, {
    asks: { approval: false, edit: false, clarify: false },
  }).done;
  assertEquals(await undoTurns(session, 1), { turns: 1, removed: 6, text: "two" });
  assertEquals(said(session.history()), ["user: one", "assistant: 1"]);
  assertEquals(await undoTurns(session, 5), { turns: 1, removed: 2, text: "one" });
  assertEquals(await undoTurns(session, 1), null);
});

Deno.test("undoTurns() stores a seeded session first", async () => {
  await using core = await makeScriptedCore();
  const session = await core.sessions.create({
    source: "tui",
    surface: "tui",
    cwd: core.services.home,
    history: [{ role: "user", content: "a" }, { role: "assistant", content: "A" }],
  });
  assertEquals(await undoTurns(session, 1), { turns: 1, removed: 2, text: "a" });
  assertEquals(core.services.store().loadMessages(session.headId), []);
});

Deno.test("fork() with a title that is taken leaves no session behind", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(say("1"));
  await prompt(session, "one");
  await session.setTitle("Taken");
  const count = () => core.services.store().listSessions({ limit: 10, withMessages: false }).length;
  assertEquals(
    await refusal(() => core.sessions.fork(session.id, { surface: "tui", title: "Taken" })),
    "title_taken",
  );
  assertEquals(count(), 1);
  assertEquals((await core.sessions.fork(session.id, { surface: "tui", title: "Mine" })).title, "Mine");
});

Deno.test("maxSteps bounds the model calls of one turn", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  core.push(callTool("reader", {}, "a"), callTool("reader", {}, "b"), say("summary"), say("later"));
  const turn = session.submit({ content: "go" }, {
    asks: { approval: false, edit: false, clarify: false },
    maxSteps: 2,
  });
  assertEquals((await turn.done).outcome, "max_turns");
});

Deno.test("an answer that the question cannot be shown counts as nobody to ask", async () => {
  const broker = new AskBroker();
  const ask = {
    id: "1",
    sessionId: "s",
    turnId: "t",
    callId: "c",
    toolName: "terminal",
    payload: { kind: "sudo" as const, command: "x" },
    timeoutMs: 1000,
    openedAt: 0,
  };
  const outcome = broker.open(ask, { signal: new AbortController().signal, announce: () => {} });
  assertEquals(broker.answer("1", { type: "unshown" }), "accepted");
  assertEquals(await outcome, { type: "unattended" });
});
