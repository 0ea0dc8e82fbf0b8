/** Compression by itself: thresholds, what stays, previous summaries, failures, both modes, the lock. */
import { assemble, planCompression } from "../../src/core/compression.ts";
import { outlineOf, summaryOfLastResort } from "../../src/core/compression_outline.ts";
import { CompressionGate, compressionThreshold } from "../../src/core/compression_policy.ts";
import type { CoreEvent, Message, ModelChunk, ModelFailure, Session, Settings } from "../../src/core/mod.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import {
  callTool,
  done,
  failure,
  makeScriptedCore,
  openSession,
  prompt,
  say,
  type ScriptedCore,
  text,
  types,
} from "../support/scripted_core.ts";

const SETTINGS: Settings["compression"] = {
  enabled: true,
  threshold: 0.5,
  target_ratio: 0.2,
  protect_first_n: 3,
  protect_last_n: 20,
  in_place: false,
};

const user = (content: string): Message => ({ role: "user", content });
const assistant = (content: string): Message => ({ role: "assistant", content });
const long = (name: string) => `${name} ${"word ".repeat(400)}`;

const LIMIT = 8_000;

/** Small enough that a few long messages reach it, larger than prompt and tools. */
function small(more: Partial<Settings["compression"]> = {}) {
  return makeScriptedCore({
    settings: (s) => ({ ...s, compression: { ...s.compression, threshold_tokens: LIMIT, ...more } }),
  });
}

/** Short questions with long answers until the next turn is over the threshold; how many they were. */
async function fill(core: ScriptedCore, session: Session, from = 0): Promise<number> {
  let n = from;
  while (session.usage().contextUsed < LIMIT) {
    core.push(say(long(`answer ${n}`)));
    await prompt(session, `question ${n++}`);
  }
  return n - from;
}

const rotations = (events: readonly CoreEvent[]) =>
  events.flatMap((event) => event.type === "session.rotated" ? [event] : []);
const firstText = (core: ScriptedCore) => String(core.requests.at(-1)!.messages[0]!.content);

Deno.test("core A.16: the threshold is a part of the window, at least 64,000, and 85 % where that is too much", () => {
  const of = (window: number | null, max: number | null = null, more = {}) =>
    compressionThreshold({ model: "vendor/m-1.5", contextWindow: window }, max, { ...SETTINGS, ...more });
  assertEquals(of(1_000_000), 500_000);
  assertEquals(of(512_000), 256_000);
  assertEquals(of(200_000), 150_000);
  assertEquals(of(200_000, 8_000), 144_000);
  assertEquals(of(200_000, null, { threshold: 0.9 }), 180_000);
  assertEquals(of(null), 192_000);
  assertEquals(of(80_000), 64_000);
  assertEquals(of(64_000), 54_400);
  assertEquals(of(200_000, null, { threshold_tokens: 10_000 }), 10_000);
  assertEquals(of(200_000, null, { model_thresholds: { "M-1-5": 0.4 } }), 80_000);
  assertEquals(of(200_000, null, { model_thresholds: { "m-1.5": 40, other: 0.4 } }), 150_000);
});

Deno.test("core A.16: the opening stays the first time only, and never without the results of its calls", () => {
  const messages: Message[] = [user(long("task")), assistant("plan"), user(long("more"))];
  for (let n = 0; n < 20; n++) messages.push(assistant(long(`step ${n}`)), user(long(`next ${n}`)));
  const plan = planCompression(messages, 10_000, SETTINGS)!;
  assertEquals(plan.head, messages.slice(0, 3));
  assertEquals([...plan.head, ...plan.middle, ...plan.tail], messages);
  assertEquals(plan.previous, null);
  const summary: Message = { role: "user", content: "S", displayKind: "compaction_summary" };
  const again = planCompression([summary, ...messages], 10_000, SETTINGS)!;
  assertEquals([again.head, again.previous, again.middle[0]], [[], "S", messages[0]]);

  const call = { id: "c", name: "reader", arguments: "{}" };
  const working: Message[] = [
    user("task"),
    { role: "assistant", content: null, toolCalls: [call, { ...call, id: "d" }] },
    { role: "tool", toolCallId: "c", toolName: "reader", content: "r" },
    { role: "tool", toolCallId: "d", toolName: "reader", content: "r" },
    ...messages.slice(3),
  ];
  assertEquals(planCompression(working, 10_000, SETTINGS)!.head, [working[0]!]);
});

Deno.test("core A.16: the summary carries the whole todo list and tells what is open, again the next time", () => {
  const item = (id: string, status: "pending" | "in_progress" | "completed") => ({
    id,
    content: `item ${id}`,
    status,
  });
  const list = (todos: readonly unknown[], after = ""): Message[] => [
    { role: "assistant", content: null, toolCalls: [{ id: "c", name: "todo", arguments: "{}" }] },
    { role: "tool", toolCallId: "c", toolName: "todo", content: JSON.stringify({ todos }) + after },
  ];
  const talk = (n: number) => Array.from({ length: n }, (_, i) => [user(`q${i}`), assistant(`a${i}`)]).flat();
  const compressed = (messages: readonly Message[]) =>
    assemble(planCompression(messages, 10_000, SETTINGS)!, "S");
  const summaryOf = (messages: readonly Message[]) => {
    const found = messages.filter((message) => message.displayKind === "compaction_summary");
    assertEquals(found.length, 1);
    const { content, todos } = found[0] as Message & { role: "user" };
    return { content: String(content), todos };
  };
  const first = [item("1", "completed"), item("2", "in_progress"), item("3", "pending")];
  const steer = "\n\n[OUT-OF-BAND USER MESSAGE]\nuse {braces} }\n[/OUT-OF-BAND USER MESSAGE]";
  const open = "Open items of the todo list:\n- [in_progress] item 2\n- [pending] item 3";

  const once = compressed([user("go"), ...list([item("1", "pending")]), ...list(first, steer), ...talk(9)]);
  assertEquals(summaryOf(once).todos, first);
  assert(summaryOf(once).content.includes(`S\n\n${open}\n\n--- END`), summaryOf(once).content);

  const twice = planCompression([...once, ...talk(9)], 10_000, SETTINGS)!;
  assertEquals(twice.previous, "S");
  assertEquals(summaryOf(assemble(twice, "T")).todos, first);
  assert(summaryOf(assemble(twice, "T")).content.includes(`T\n\n${open}\n\n--- END`));

  const failed: Message = { role: "tool", toolCallId: "c", toolName: "todo", content: '{"error":"no"}' };
  const [call] = list([]);
  const inSight = compressed([...once, ...talk(9), ...list([item("2", "completed")])]);
  assertEquals(summaryOf(inSight).todos, first);
  assert(!summaryOf(inSight).content.includes("Open items"), "the newer list stays in sight");
  assert(summaryOf(compressed([...once, ...talk(9), call!, failed])).content.includes(open));

  const cleared = summaryOf(compressed([...once, ...list([]), ...talk(9)]));
  assertEquals([cleared.todos, cleared.content.includes("Open items")], [undefined, false]);
});

Deno.test("core A.16: long results become a line, repeated ones a reference, images are named", () => {
  const result = (content: string): Message => ({ role: "tool", toolCallId: "x", toolName: "t", content });
  const big = "line one\n" + "x".repeat(5_000);
  const lines = outlineOf([
    result("short"),
    result(big),
    result(big),
    { role: "user", content: [{ type: "image_url", image_url: { url: "data:" } }] },
    {
      role: "assistant",
      content: null,
      toolCalls: [{ id: "a", name: "write", arguments: "y".repeat(9_000) }],
    },
  ]);
  assertEquals(lines[0], "tool t: short");
  assert(lines[1]!.startsWith("tool t: line one xxx") && lines[1]!.endsWith("[5009 characters]"));
  assert(lines[1]!.length < 500 && !lines[1]!.includes("\n"));
  assertEquals(lines[2], "tool t: [same result as before, 5009 characters]");
  assertEquals(lines[3], "user: [image]");
  assert(lines[4]!.length < 600);
});

Deno.test("core A.16: the summary of last resort is bounded and names what was asked", () => {
  const messages = Array.from({ length: 300 }, (_, n) => user(long(`wish ${n}`)));
  const summary = summaryOfLastResort(messages, "earlier ".repeat(2_000));
  assert(summary.length <= 8_000, `${summary.length}`);
  assert(summary.includes("wish 299") && summary.includes("Earlier summary:\nearlier"));
});

Deno.test("core A.16: two ineffective or two fallback compressions in a row block, the user's word frees", () => {
  let now = 0;
  const gate = new CompressionGate(() => now);
  const gone = { before: 100, after: 20 };
  gate.done({ before: 100, after: 95 }, false);
  gate.done(gone, false);
  gate.done({ before: 100, after: 95 }, false);
  assertEquals(gate.blocked, false);
  gate.done({ before: 100, after: 95 }, false);
  assertEquals(gate.blocked, true);
  gate.reset();
  gate.done(gone, true);
  gate.done(gone, true);
  assertEquals(gate.blocked, true);
  gate.reset();
  const failed = (kind: ModelFailure["kind"], seconds: number) => {
    gate.failed({ kind, message: "", provider: "p", model: "m", retryable: false });
    now += seconds * 1000 - 1;
    assertEquals(gate.resting, true);
    now += 1;
    assertEquals(gate.resting, false);
  };
  failed("auth", 600);
  failed("connection", 60);
  failed("format_error", 30);
});

Deno.test("core 49: a conversation over its threshold is compressed before the turn, into a child of its own", async () => {
  await using core = await small();
  const { session, events } = await openSession(core);
  const turns = await fill(core, session);
  assertEquals([rotations(events), core.requests.length], [[], turns]);
  core.push(say("The summary."), say("after"));
  const result = await prompt(session, "next");
  assertEquals([result.text, result.apiCalls], ["after", 1]);
  const [rotated] = rotations(events);
  const store = core.services.store();
  assertEquals(store.getSession(rotated!.oldId)!.endReason, "compression");
  assertEquals(store.getSession(session.headId)!.parentId, rotated!.oldId);
  assertEquals(store.listSessions({ limit: 9 }).map((row) => row.id), [session.headId]);
  assert(rotated!.after.tokens < rotated!.before.tokens);
  const order = types(events.slice(events.findLastIndex((event) => event.type === "turn.start")));
  assertEquals(order.slice(0, 4), ["turn.start", "status", "session.rotated", "step.start"]);
  const asked = String(core.requests[turns]!.messages[0]!.content);
  assert(asked.includes("Summarise the conversation") && asked.includes("question 2"));
  const last = core.requests.at(-1)!.messages;
  assert(firstText(core).startsWith("question 0"), "the opening stays");
  assert(last.some((message) => String(message.content).includes("The summary.")));
  assert(String(last.at(-1)!.content).endsWith("next"));
});

Deno.test("core A.16: after a tool batch the real number of prompt tokens counts", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  for (let n = 0; n < 10; n++) {
    core.push(say(long(`answer ${n}`).repeat(12)));
    await prompt(session, `question ${n}`);
  }
  assertEquals(rotations(events), []);
  const usage = (input: number) => ({ input, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 });
  const call = (id: string, input: number) => [[
    done({
      finish: "tool_calls",
      toolCalls: [{ id, name: "reader", arguments: "{}" }],
      usage: usage(input),
    }),
  ]];
  core.push(call("a", 95_999), call("b", 96_000), say("The summary."), say("after"));
  assertEquals((await prompt(session, "work")).text, "after");
  assertEquals(rotations(events).length, 1);
  const asked = core.requests.map((request) =>
    String(request.messages[0]!.content).includes("Summarise the")
  );
  assertEquals(asked.indexOf(true), 12);
  assertEquals(core.ran.length, 2);
});

Deno.test("core A.16: a summary of before is brought up to date, not summarised; the second time it is told", async () => {
  await using core = await small();
  const { session, events } = await openSession(core);
  const turns = await fill(core, session);
  core.push(say("FIRST SUMMARY"), say("ok"));
  await prompt(session, "next");
  assertEquals(rotations(events).length, 1);
  await fill(core, session, turns);
  core.push(say("SECOND SUMMARY"), say("ok"));
  await prompt(session, "next");
  assertEquals(rotations(events).length, 2);
  const asked = core.requests.map((request) => String(request.messages[0]!.content)).filter((content) =>
    content.includes("Summarise the conversation")
  );
  assertEquals(asked.length, 2);
  assert(asked[1]!.startsWith("Summary of what came before:\nFIRST SUMMARY\n\n"));
  assert(!asked[1]!.includes("CONTEXT COMPACTION"));
  const summaries = session.history().filter((message) => message.displayKind === "compaction_summary");
  assertEquals(summaries.length, 1);
  assert(events.some((event) => event.type === "status" && event.text.includes("details")));
});

Deno.test("core 50: in place the id stays, old rows are inactive and compacted, and a search finds them", async () => {
  await using core = await small({ in_place: true });
  const { session, events } = await openSession(core);
  const id = session.headId;
  await fill(core, session);
  core.push(say("The summary."), say("after"));
  await prompt(session, "next");
  assertEquals(session.headId, id);
  const [rotated] = rotations(events);
  assertEquals([rotated!.oldId, rotated!.newId], [id, id]);
  const store = core.services.store();
  const row = store.getSession(id)!;
  assertEquals([row.endReason, row.systemPrompt === null], [null, true]);
  assertEquals(store.loadMessages(id).map((m) => m.content), session.history().map((m) => m.content));
  assertEquals(store.search('"question 2"').map((hit) => hit.sessionId), [id]);
  assertEquals(store.search('"question 7"').length, 1);
  core.push(say("more"));
  assertEquals((await prompt(session, "on")).text, "more");
});

Deno.test("core A.16: auth trouble of the summariser leaves all as it is and rests; anything else gets the short one", async () => {
  await using core = await small();
  const { session, events } = await openSession(core);
  const turns = await fill(core, session);
  core.push([[failure("auth")]], say("unchanged"));
  assertEquals((await prompt(session, "a")).text, "unchanged");
  const told = events.filter((event) => event.type === "status").map((event) => event.kind);
  assertEquals(told, ["compacting", "warn"]);
  core.push(say("still resting"));
  assertEquals((await prompt(session, "b")).text, "still resting");
  assertEquals([rotations(events).length, session.history().length], [0, 2 * turns + 4]);

  await using other = await small();
  const second = await openSession(other);
  await fill(other, second.session);
  other.push([[failure("server_error")]], say("went on"));
  assertEquals((await prompt(second.session, "a")).text, "went on");
  const summary = second.session.history().find((m) => m.displayKind === "compaction_summary");
  assert(String(summary!.content).includes("No model could write this summary"));

  await using strict = await small({ abort_on_summary_failure: true });
  const third = await openSession(strict);
  await fill(strict, third.session);
  strict.push([[failure("server_error")]], say("unchanged"));
  assertEquals((await prompt(third.session, "a")).text, "unchanged");
  assertEquals(rotations(third.events), []);
});

Deno.test("core A.16: rest and fallbacks stand in the session row; who opens it later rests on", async () => {
  await using core = await small();
  const { session } = await openSession(core);
  await fill(core, session);
  core.push([[failure("auth")]], say("unchanged"));
  const before = Date.now() / 1000;
  await prompt(session, "a");
  const { config } = core.services.store().getSession(session.headId)!;
  const rest = config.compressionRestsUntil! - before;
  assert(rest > 590 && rest < 660, `${rest}`);
  const gate = new CompressionGate(() => 5_000);
  gate.restore(config, before);
  assertEquals([gate.resting, gate.blocked], [true, false]);
  const later = new CompressionGate(() => 5_000);
  later.restore(config, config.compressionRestsUntil!);
  assertEquals(later.resting, false);

  await using other = await small();
  const second = await openSession(other);
  await fill(other, second.session);
  other.push([[failure("server_error")]], say("went on"));
  await prompt(second.session, "a");
  const stored = () => other.services.store().getSession(second.session.headId)!.config;
  assertEquals([stored().compressionFallbacks, stored().compressionRestsUntil], [1, undefined]);
  await fill(other, second.session, 50);
  other.push(say("The summary."));
  await second.session.compact();
  assertEquals(stored().compressionFallbacks, undefined);
});

Deno.test("core A.16: restore() after a turned clock rests no longer than any rest is", () => {
  let now = 0;
  const gate = new CompressionGate(() => now);
  gate.restore({ compressionRestsUntil: 1e12, compressionFallbacks: 2 }, 1_000);
  assertEquals([gate.resting, gate.blocked], [true, true]);
  now = 600_000;
  assertEquals([gate.resting, gate.blocked], [false, true]);
});

/** More than 60 % of the scripted model's 128,000 tokens and less than what compresses by itself. */
async function fillMost(core: ScriptedCore, session: Session): Promise<void> {
  for (let n = 0; session.usage().contextUsed < 78_000; n++) {
    core.push(say(`answer ${n} ${"word ".repeat(8_000)}`));
    await prompt(session, `question ${n}`);
  }
}

function disconnect(message: string): readonly [readonly [ModelChunk]] {
  const failure: ModelFailure = {
    kind: "connection",
    message,
    provider: "fake",
    model: "m",
    retryable: false,
  };
  return [[{ type: "error", toolInFlight: false, failure }]];
}

const CLOSED =
  "Cannot reach http://fake: client error (SendRequest): connection closed before message completed";
const REFUSED = "Cannot reach http://fake: client error (Connect): tcp connect error: Connection refused";

Deno.test("core A.11: a connection that breaks off counts as an overflow where the session is large", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  await fillMost(core, session);
  core.push(disconnect(CLOSED), say("The summary."), say("went on"));
  const result = await prompt(session, "a");
  assertEquals([result.outcome, result.text, rotations(events).length], ["completed", "went on", 1]);
});

Deno.test("core A.11: a server that cannot be reached, or a break in a small session, is no overflow", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  core.push(disconnect(CLOSED));
  assertEquals((await prompt(session, "small")).outcome, "failed");
  await fillMost(core, session);
  core.push(disconnect(REFUSED));
  assertEquals((await prompt(session, "large")).outcome, "failed");
  assertEquals(rotations(events), []);
});

Deno.test("core A.16: while another program holds the lock, a turn goes on as it is and the user is told", async () => {
  await using core = await small();
  const { session, events } = await openSession(core);
  await fill(core, session);
  const store = core.services.store();
  assertEquals(await store.lockCompression(session.headId, "other", 300), true);
  assertEquals(await store.lockCompression(session.headId, "mine", 300), false);
  core.push(say("long as it is"));
  assertEquals((await prompt(session, "a")).text, "long as it is");
  await assertRejects(() => session.compact(), /Another program/);
  assertEquals(types(events).includes("session.rotated"), false);
  await store.unlockCompression(session.headId, "mine");
  await assertRejects(() => session.compact(), /Another program/);
  await store.unlockCompression(session.headId, "other");
  core.push(say("The summary."));
  assert(await session.compact() !== null);
  assertEquals(await store.lockCompression(session.headId, "other", -1), true);
  assertEquals(await store.lockCompression(session.headId, "mine", 300), true);
});

Deno.test("core A.16: with compression off, and with the caller's own history, nothing is compressed", async () => {
  await using off = await small({ enabled: false });
  const one = await openSession(off);
  const turns = await fill(off, one.session);
  off.push(say("on"));
  await prompt(one.session, "next");
  assertEquals([off.requests.length, rotations(one.events)], [turns + 1, []]);

  await using core = await small();
  const { session, events } = await openSession(core);
  core.push(say("ok"));
  const history = Array.from({ length: 40 }, (_, n) => user(long(`old ${n}`)));
  const turn = session.submit({ content: "hi" }, {
    asks: { approval: false, edit: false, clarify: false },
    history,
  });
  assertEquals([(await turn.done).text, rotations(events)], ["ok", []]);
});

Deno.test("core A.16: open todo items outlive the list, and a cancel during a compression leaves all as it was", async () => {
  await using core = await small({ protect_first_n: 0 });
  const { session, events } = await openSession(core);
  const store = core.services.store();
  core.push(callTool("reader", {}), say("ok"));
  await prompt(session, "start");
  const todo = JSON.stringify({
    todos: [{ id: "1", content: "paint it", status: "pending" }, {
      id: "2",
      content: "x",
      status: "completed",
    }],
  });
  const list = session.history().find((m) => m.role === "tool")!;
  Object.assign(list, { toolName: "todo", content: todo });
  await fill(core, session);
  const head = session.headId;
  core.push(async function* (_request, signal) {
    yield [text("The sum")];
    session.interrupt();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      else signal.addEventListener("abort", () => resolve(), { once: true });
    });
  });
  assertEquals((await prompt(session, "stop")).outcome, "cancelled");
  assertEquals([session.headId, store.getSession(head)!.endReason], [head, null]);
  core.push(say("The summary."), say("after"));
  assertEquals((await prompt(session, "next")).text, "after");
  assertEquals(rotations(events).length, 1);
  const summary = session.history().find((m) => m.displayKind === "compaction_summary");
  assert(String(summary!.content).includes("- [pending] paint it\n\n--- END"));
});
