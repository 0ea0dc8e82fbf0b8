import { untilAborted } from "../support/abort.ts";
import type { CoreEvent, Session, SubagentStep, SubagentView } from "@/core/mod.ts";
import { summaryLimit } from "@/core/delegation_summary.ts";
import { childTools } from "@/core/delegation_tools.ts";
import { createDelegateTask } from "@/tools/delegate_task.ts";
import {
  callTool,
  done,
  EVERYONE,
  makeScriptedCore,
  openSession,
  prompt,
  type Reply,
  say,
  type ScriptedCore,
  text,
  until,
} from "../support/scripted_core.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { eventually } from "../support/program.ts";

type Told = { agent: SubagentView; step: SubagentStep; turnId: string };

function told(events: readonly CoreEvent[]): Told[] {
  return events.flatMap((event) => event.type === "subagent" ? [event] : []);
}

const kinds = (events: readonly CoreEvent[]) => told(events).map(({ step }) => step.kind);

// deno-lint-ignore no-explicit-any
type Json = any;

/** The result of the one `delegate_task` call of a session. */
function resultOf(session: Session): Json {
  const message = session.history().find((one) => one.role === "tool" && one.toolName === "delegate_task");
  assert(message !== undefined, "there is no result");
  return JSON.parse(message.content as string);
}

interface Options {
  readonly delegation?: Record<string, unknown>;
  readonly budgets?: Record<string, unknown>;
}

function makeCore(options: Options = {}): Promise<ScriptedCore> {
  return makeScriptedCore({
    tools: [createDelegateTask()],
    settings: (settings) => ({
      ...settings,
      ...(options.budgets ? { budgets: { ...settings.budgets!, ...options.budgets } } : {}),
      delegation: { ...settings.delegation, ...options.delegation },
    }),
  });
}

/** A model call that lasts until it is cancelled, or until `gate` opens. */
function waits(gate: Promise<unknown> = new Promise(() => {}), answer = "late"): Reply {
  return async function* (_request, signal) {
    yield [text("…")];
    await Promise.race([gate, untilAborted(signal)]);
    if (!signal.aborted) yield [text(answer), done()];
  };
}

const delegate = (args: Record<string, unknown>, id = "call_1") => callTool("delegate_task", args, id);

Deno.test("core 71: a child works on its task alone and its report is the result of the call", async () => {
  await using core = await makeCore();
  const { session, events } = await openSession(core);
  core.push(
    say("hello"),
    delegate({ goal: "count files", context: "in /tmp" }),
    say("7 files"),
    say("There are 7."),
  );
  await prompt(session, "secret words of the user");
  const result = await prompt(session, "go");
  assertEquals([result.outcome, result.text], ["completed", "There are 7."]);
  const { results, total_duration_seconds } = resultOf(session);
  assertEquals(results.length, 1);
  const [entry] = results;
  assertEquals(
    [
      entry.task_index,
      entry.status,
      entry.summary,
      entry.exit_reason,
      entry.api_calls,
      entry.model,
      entry.tokens,
    ],
    [0, "completed", "7 files", "completed", 1, "m", { input: 10, output: 2 }],
  );
  assertEquals(typeof total_duration_seconds, "number");
  const child = core.requests[2]!;
  assertEquals(child.messages.map((one) => [one.role, one.content]), [[
    "user",
    "count files\n\nContext:\nin /tmp",
  ]]);
  assert(child.system.includes("You are a subagent"));
  assert(!JSON.stringify(child).includes("secret words"));
  assertEquals(kinds(events), ["spawn_requested", "start", "text", "complete"]);
  const ids = new Set(told(events).map(({ agent }) => agent.id));
  assertEquals(ids.size, 1);
  assert(/^sa-0-[0-9a-f]{8}$/.test([...ids][0]!));
  const turnIds = new Set(told(events).map(({ turnId }) => turnId));
  assertEquals(turnIds.size, 1);
  assert(![...turnIds].includes(""));
});

Deno.test("core 71: the child is a stored session below its parent and is listed nowhere as a root", async () => {
  await using core = await makeCore();
  const { session, events } = await openSession(core);
  core.push(delegate({ goal: "look" }), callTool("reader", { limit: 1 }), say("seen"), say("ok"));
  await prompt(session, "go");
  const id = told(events).at(-1)!.agent.childSessionId!;
  const store = core.services.store();
  const row = store.getSession(id)!;
  assertEquals(
    [row.source, row.parentId, row.config.delegateFrom, row.endReason],
    ["subagent", session.headId, session.headId, "agent_close"],
  );
  assertEquals(store.loadMessages(id).map((one) => one.role), ["user", "assistant", "tool", "assistant"]);
  assertEquals(store.listSessions({ limit: 10 }).map((one) => one.id), [session.id]);
  assertEquals(core.sessions.live().map((one) => one.id), [session.id]);
  assertEquals(await core.sessions.delete(session.id), true);
  assertEquals(store.getSession(id), null);
});

Deno.test("core 72: a leaf has neither the tools that reach the user nor delegate_task", async () => {
  const named = (name: string) => ({ ...createDelegateTask(), name, available: () => true });
  await using core = await makeScriptedCore({
    tools: [createDelegateTask(), named("clarify"), named("memory"), named("execute_code"), named("cronjob")],
  });
  const { session, events } = await openSession(core);
  core.push(delegate({ goal: "x" }), callTool("clarify", { question: "?" }), say("alone"), say("ok"));
  await prompt(session, "go", EVERYONE);
  assertEquals(core.requests[1]!.tools.map((tool) => tool.name), ["reader", "shell"]);
  const rows = core.services.store().loadMessages(told(events)[0]!.agent.childSessionId ?? idOf(events));
  const answer = rows.find((row) => row.role === "tool")!;
  assert(String(answer.content).includes("Tool 'clarify' does not exist"));
});

function idOf(events: readonly CoreEvent[]): string {
  return told(events).at(-1)!.agent.childSessionId!;
}

Deno.test("delegate_task runs a batch side by side, in order, and refuses more than may run", async () => {
  await using core = await makeCore();
  const { session, events } = await openSession(core);
  const both = Promise.withResolvers<void>();
  let waiting = 0;
  const child: Reply = async function* (request) {
    if (++waiting === 2) both.resolve();
    await both.promise; // one alone would wait for ever
    yield [text(`did ${request.messages[0]!.content}`), done()];
  };
  core.push(delegate({ tasks: [{ goal: "one" }, { goal: "two" }] }), child, child, say("ok"));
  await prompt(session, "go");
  assertEquals(
    resultOf(session).results.map((entry: Json) => [entry.task_index, entry.summary]),
    [[0, "did one"], [1, "did two"]],
  );
  assertEquals(new Set(told(events).map(({ agent }) => agent.taskCount)), new Set([2]));

  const four = [1, 2, 3, 4].map((n) => ({ goal: `task ${n}` }));
  core.push(delegate({ tasks: four }, "call_2"), say("ok"));
  const before = core.requests.length;
  await prompt(session, "more");
  assertEquals(core.requests.length, before + 2);
  const refused = session.history().findLast((one) => one.role === "tool")!;
  assert(String(refused.content).includes("4 tasks are more than the 3"));
});

Deno.test("interrupting the parent ends a child that it waits for, and both sessions say so", async () => {
  await using core = await makeCore();
  const { session, events } = await openSession(core);
  core.push(delegate({ goal: "hang" }), waits());
  const running = prompt(session, "go");
  await until(session, (event) => event.type === "subagent" && event.step.kind === "start");
  await eventually(() => core.requests.length === 2);
  session.interrupt();
  assertEquals((await running).outcome, "cancelled");
  const end = told(events).at(-1)!.step;
  assert(end.kind === "complete");
  assertEquals([end.result.status, end.result.exitReason], ["interrupted", "interrupted"]);
  assertEquals(core.sessions.delegation.active(), []);
  assertEquals(core.services.store().loadMessages(idOf(events)).at(-1)?.role, "assistant");
});

Deno.test("subagents are listed, steered by their own session only, and stopped one by one", async () => {
  await using core = await makeCore();
  const { session } = await openSession(core);
  const { session: other } = await openSession(core);
  const gate = Promise.withResolvers<void>();
  const steered: Reply = async function* (_request, signal) {
    yield [text("")];
    await Promise.race([
      gate.promise,
      untilAborted(signal),
    ]);
    yield [done({ finish: "tool_calls", toolCalls: [{ id: "r", name: "reader", arguments: "{}" }] })];
  };
  core.push(delegate({ goal: "steer me" }), steered, say("steered"), say("ok"));
  const running = prompt(session, "go");
  const { delegation } = core.sessions;
  await eventually(() => core.requests.length === 2);
  const [child] = delegation.active();
  assertEquals(
    [child!.goal, child!.depth, child!.parentId, child!.status, child!.sessionId, child!.toolCount],
    ["steer me", 0, null, "running", session.id, 0],
  );
  assert(delegation.isChild(child!.childSessionId!));
  assertEquals(delegation.steer(other.id, child!.id, "hurry"), false);
  assertEquals(delegation.steer(session.id, "sa-0-00000000", "hurry"), false);
  assertEquals(delegation.steer(session.id, child!.id, "hurry"), true);
  gate.resolve();
  await running;
  assert(JSON.stringify(core.requests[2]!.messages).includes("hurry"));
  assertEquals(delegation.interrupt(child!.id), false);

  core.push(delegate({ goal: "stop me" }, "call_2"), waits(), say("ok"));
  const second = prompt(session, "again");
  await eventually(() => delegation.active().length === 1 && core.requests.length === 6);
  assertEquals(delegation.interrupt(delegation.active()[0]!.id), true);
  assertEquals((await second).outcome, "completed");
  const last = session.history().findLast((one) => one.role === "tool")!;
  assertEquals(JSON.parse(last.content as string).results[0].status, "interrupted");
});

Deno.test("guidance that comes too late is handed back in the entry", async () => {
  await using core = await makeCore();
  const { session } = await openSession(core);
  const gate = Promise.withResolvers<void>();
  core.push(delegate({ goal: "x" }), waits(gate.promise, "done"), say("ok"));
  const running = prompt(session, "go");
  await eventually(() => core.requests.length === 2);
  assert(core.sessions.delegation.steer(session.id, core.sessions.delegation.active()[0]!.id, "too late"));
  gate.resolve();
  await running;
  assertEquals(resultOf(session).results[0].missed_steer, "too late");
});

Deno.test("while spawning is paused nothing starts, and the model is told", async () => {
  await using core = await makeCore();
  const { session, events } = await openSession(core);
  core.sessions.delegation.pause(true);
  core.push(delegate({ goal: "x" }), say("ok"), delegate({ goal: "x" }, "call_2"), say("child"), say("ok"));
  await prompt(session, "go");
  assert(resultOf(session).error.includes("paused"));
  assertEquals(kinds(events), []);
  core.sessions.delegation.pause(false);
  await prompt(session, "go");
  assertEquals(kinds(events), ["spawn_requested", "start", "text", "complete"]);
});

Deno.test("an orchestrator leads children of its own where the depth allows it, and the root hears of all", async () => {
  await using core = await makeCore({ delegation: { max_spawn_depth: 2 } });
  const { session, events } = await openSession(core);
  core.push(
    delegate({ goal: "lead", role: "orchestrator" }),
    delegate({ goal: "follow", role: "orchestrator" }, "call_2"),
    say("followed"),
    say("led"),
    say("ok"),
  );
  const result = await prompt(session, "go");
  assertEquals(resultOf(session).results[0].summary, "led");
  const depths = new Map(told(events).map(({ agent }) => [agent.goal, agent]));
  assertEquals([depths.get("lead")!.depth, depths.get("follow")!.depth], [0, 1]);
  assertEquals(depths.get("follow")!.parentId, depths.get("lead")!.id);
  assertEquals(core.requests[2]!.tools.map((tool) => tool.name), ["reader", "shell"]);
  // 5 calls of 10 + 2 tokens: the turn of the root counts all of them.
  assertEquals([result.apiCalls, result.usage.input, session.usage().calls], [5, 50, 5]);
  const row = core.services.store().getSession(session.headId)!;
  assertEquals([row.usage.input, row.apiCallCount], [50, 5]);
});

Deno.test("a depth of one makes leaves of orchestrators and says so", async () => {
  await using core = await makeCore();
  const { session } = await openSession(core);
  core.push(delegate({ goal: "lead", role: "orchestrator" }), say("led"), say("ok"));
  await prompt(session, "go");
  assert(!core.requests[1]!.tools.some((tool) => tool.name === "delegate_task"));
  assert(resultOf(session).note.includes("max_spawn_depth"));
});

Deno.test("max_spawn_depth 0 takes the tool away", async () => {
  await using core = await makeCore({ delegation: { max_spawn_depth: 0 } });
  const { session } = await openSession(core);
  core.push(say("ok"));
  await prompt(session, "go");
  assertEquals(core.requests[0]!.tools.map((tool) => tool.name), ["reader", "shell"]);
});

Deno.test("a child asks nobody: what needs consent is refused, or given once by the setting", async () => {
  const payload = {
    kind: "approval" as const,
    command: "rm",
    description: "deletes",
    patternKey: "rm",
    patternKeys: ["rm"],
    choices: ["once", "deny"] as const,
  };
  for (const [isAuto, ran] of [[false, 0], [true, 1]] as const) {
    await using core = await makeCore({ delegation: { subagent_auto_approve: isAuto } });
    core.verdict(() => ({ type: "ask", payload, targets: ["rm"] }));
    const { session, events } = await openSession(core);
    core.push(delegate({ goal: "x" }), callTool("shell", { command: "rm" }), say("tried"), say("ok"));
    await prompt(session, "go", EVERYONE);
    assertEquals(core.ran.length, ran);
    assertEquals(events.filter((event) => event.type === "ask.open").length, 0);
    const result = String(core.services.store().loadMessages(idOf(events))[2]!.content);
    assert(isAuto ? result.includes("subagent_auto_approve (once)") : result.includes("unattended"), result);
  }
});

Deno.test("the iteration budget of a child is its own, and using it up is told", async () => {
  await using core = await makeCore({ delegation: { max_iterations: 2 } });
  const { session } = await openSession(core);
  core.push(
    delegate({ goal: "x" }),
    callTool("reader", { limit: 1 }),
    callTool("reader", { limit: 2 }),
    say("this far"),
    say("ok"),
  );
  await prompt(session, "go");
  const [entry] = resultOf(session).results;
  assertEquals([entry.status, entry.exit_reason, entry.summary], ["completed", "max_iterations", "this far"]);
  assertEquals(entry.tool_trace.map((one: Json) => [one.tool, one.status]), [["reader", "ok"], [
    "reader",
    "ok",
  ]]);
});

Deno.test("a session budget holds for children too", async () => {
  const none = { model_calls: null, tokens: null, usd: null, seconds: null };
  await using core = await makeCore({
    budgets: { prompt: none, session: { ...none, model_calls: 3 }, day: none },
  });
  const { session } = await openSession(core);
  const again = callTool("reader", { limit: 1 });
  core.push(delegate({ goal: "x" }), again, again, again, again, say("never"));
  const result = await prompt(session, "go");
  assertEquals(core.requests.length, 3);
  assertEquals([result.outcome, result.exitReason], ["max_turns", "budget_exhausted(session.model_calls)"]);
  const [entry] = resultOf(session).results;
  assertEquals([entry.status, entry.error], ["failed", "budget_exhausted(session.model_calls)"]);
});

Deno.test("a long summary is cut, and the whole of it lies in a file", async () => {
  await using core = await makeCore({ delegation: { max_summary_chars: 1_000 } });
  const { session } = await openSession(core);
  const long = "word ".repeat(1_000).trim();
  core.push(delegate({ goal: "x" }), say(long), say("ok"));
  await prompt(session, "go");
  const [entry] = resultOf(session).results;
  assertEquals(entry.summary_truncated, true);
  assert(entry.summary.startsWith(long.slice(0, 1_000)) && entry.summary.length < 1_300);
  assert(entry.summary_full_path.startsWith(`${core.services.home}/cache/delegation/deleg_`));
  assertEquals(await Deno.readTextFile(entry.summary_full_path), long);
});

Deno.test("a child that cannot even start is an error entry, and the call has failed", async () => {
  await using core = await makeCore();
  const { session, events } = await openSession(core);
  const store = core.services.store();
  const create = store.createSession.bind(store);
  store.createSession = (row) =>
    row.source === "subagent" ? Promise.reject(new Error("disk full")) : create(row);
  core.push(delegate({ goal: "x" }), say("ok"));
  await prompt(session, "go");
  const [entry] = resultOf(session).results;
  assertEquals([entry.status, entry.exit_reason, entry.error], ["error", "error", "disk full"]);
  assertEquals(kinds(events), ["spawn_requested", "complete"]);
  const end = events.findLast((event) => event.type === "tool.end")!;
  assert(end.type === "tool.end" && end.isError);
});

Deno.test("of more orders in one answer than may run the rest is left out (core.md A.7)", async () => {
  await using core = await makeCore({ delegation: { max_concurrent_children: 2 } });
  const { session } = await openSession(core);
  const calls = [1, 2, 3].map((n) => ({
    id: `c${n}`,
    name: "delegate_task",
    arguments: `{"goal":"task ${n}"}`,
  }));
  core.push([[done({ finish: "tool_calls", toolCalls: calls })]], say("a"), say("b"), say("ok"));
  await prompt(session, "go");
  const asked = session.history().find((one) => one.role === "assistant" && one.toolCalls)!;
  assert(asked.role === "assistant");
  assertEquals(asked.toolCalls!.map((call) => call.id), ["c1", "c2"]);
});

Deno.test("delegate_task says what is wrong with a call, and starts nothing", async () => {
  const wrong: [Record<string, unknown>, string][] = [
    [{}, "goal"],
    [{ goal: "x", tasks: [{ goal: "y" }] }, "not both"],
    [{ tasks: [] }, "at least one"],
    [{ tasks: [{ context: "no goal" }] }, "Task 1 has no 'goal'"],
    [{ goal: "x", role: "boss" }, "orchestrator"],
    [{ action: "dance" }, "no action"],
    [{ action: "stop", subagent_id: "sa-0-x" }, "No subagent"],
    [{ action: "steer", subagent_id: "sa-0-x", message: "m" }, "No subagent"],
  ];
  for (const [args, words] of wrong) {
    await using core = await makeCore();
    const { session, events } = await openSession(core);
    core.push(delegate(args), say("ok"));
    await prompt(session, "go");
    assert(resultOf(session).error.includes(words), `${JSON.stringify(args)}: ${resultOf(session).error}`);
    assertEquals([core.requests.length, kinds(events).length], [2, 0]);
  }
});

// ── Background ──────────────────────────────────────────────────────────────────────────────────────────────

const detached = (session: Session, content: string) =>
  session.submit({ content }, { asks: EVERYONE, detach: true }).done;

Deno.test("core 71: in the background the call returns at once, and the result waits for a later turn", async () => {
  await using core = await makeCore();
  const { session, events } = await openSession(core);
  const gate = Promise.withResolvers<void>();
  core.push(
    delegate({ goal: "slow work" }),
    (request, signal) => request.system.includes("subagent") ? child(request, signal) : say2(),
    (request, signal) => request.system.includes("subagent") ? child(request, signal) : say2(),
  );
  const child = waits(gate.promise, "the report") as Extract<Reply, (...args: never[]) => unknown>;
  async function* say2() {
    await Promise.resolve();
    yield [text("started"), done()];
  }
  const result = await detached(session, "go");
  assertEquals(result.text, "started");
  const dispatched = resultOf(session);
  assertEquals(
    [dispatched.status, dispatched.mode, dispatched.count, dispatched.goals],
    ["dispatched", "background", 1, ["slow work"]],
  );
  const { delegation } = core.sessions;
  assertEquals(delegation.detachedIn(session.id), 1);
  assertEquals(await delegation.takeLater(session.headId), null);
  gate.resolve();
  await until(session, (event) => event.type === "session.change" && event.what === "delegation");
  const { agent, step } = told(events).at(-1)!;
  assertEquals([step.kind, agent.delegationId], ["complete", dispatched.delegation_id]);
  assertEquals(new Set(told(events).map(({ turnId }) => turnId)), new Set([""]));
  const later = (await delegation.takeLater(session.headId))!;
  assert(later.text.startsWith(`[ASYNC DELEGATION COMPLETE — ${dispatched.delegation_id}]`));
  assert(later.text.includes("the report"));
  assertEquals(await delegation.takeLater(session.headId), null);
  await delegation.settleLater(later.id, "unused");
  assertEquals((await delegation.takeLater(session.headId))!.id, later.id);
  await delegation.settleLater(later.id, "stored");
  assertEquals([await delegation.takeLater(session.headId), delegation.hasLater(session.headId)], [
    null,
    false,
  ]);
});

Deno.test("core I.4: nobody hears of a background child's end before its report is stored", async () => {
  await using core = await makeCore();
  const { session, events } = await openSession(core);
  const { delegation } = core.sessions;
  const [storing, mayStore] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const rows = core.services.delegations!();
  const finish = rows.finish.bind(rows);
  rows.finish = async (...end) => {
    storing.resolve();
    await mayStore.promise;
    await finish(...end);
  };
  core.push(delegate({ tasks: [{ goal: "one" }, { goal: "two" }] }), say("started"), say("one"), say("two"));
  await detached(session, "go");
  await storing.promise;
  // The first one's end is told, since no report waits for it yet; the last one's goes with the report.
  await eventually(() => kinds(events).filter((kind) => kind === "complete").length === 1);
  const [left] = delegation.active();
  assertEquals([delegation.active().length, left!.status], [1, "running"]);
  assertEquals([delegation.isChild(left!.childSessionId!), delegation.steer(session.id, left!.id, "hurry")], [
    false,
    false,
  ]);
  mayStore.resolve();
  await until(session, (event) => event.type === "subagent" && event.step.kind === "complete");
  assertEquals(delegation.active(), []);
  const later = (await delegation.takeLater(session.headId))!;
  assert(later.text.startsWith("[ASYNC DELEGATION COMPLETE"), later.text);
});

Deno.test("core I.4: a report that cannot be stored is told as lost, and its child has ended all the same", async () => {
  await using core = await makeCore();
  const { session, events } = await openSession(core);
  core.services.delegations!().finish = () => Promise.reject(new Error("disk full"));
  core.push(delegate({ goal: "one" }), say("started"), say("report"));
  await detached(session, "go");
  const isLost = (event: CoreEvent) => event.type === "status" && event.text.includes("could not be kept");
  await eventually(() => events.some(isLost));
  assertEquals(kinds(events).filter((kind) => kind === "complete").length, 1);
  assertEquals(core.sessions.delegation.active(), []);
});

Deno.test("an interrupt leaves background children alone; closing the session ends them and writes it down", async () => {
  await using core = await makeCore();
  const { session, events } = await openSession(core);
  core.push(delegate({ goal: "hang" }), waits(), waits());
  const running = detached(session, "go");
  await eventually(() => core.requests.length === 3);
  session.interrupt();
  assertEquals((await running).outcome, "cancelled");
  assertEquals(core.sessions.delegation.detachedIn(session.id), 1);
  const { headId } = session;
  await session.close("test");
  const end = told(events).at(-1)!.step;
  assert(end.kind === "complete");
  assertEquals(end.result.status, "interrupted");
  assertEquals(core.sessions.delegation.active(), []);
  assertEquals(core.sessions.delegation.hasLater(headId), false);
  const last = core.services.store().loadMessages(headId).at(-1)!;
  assert(last.role === "user" && String(last.content).includes("Status: interrupted"));
  assertEquals(last.displayKind, "async_delegation");
});

Deno.test("a full background makes the next order wait inside its turn", async () => {
  await using core = await makeCore({ delegation: { max_concurrent_children: 1 } });
  const { session } = await openSession(core);
  const reply: Reply = (request, signal) => {
    const goal = String(request.messages[0]!.content);
    if (goal === "hang") return (waits() as Extract<Reply, (...args: never[]) => unknown>)(request, signal);
    const asked = request.messages.filter((one) => one.role === "tool").length;
    const next = goal === "quick"
      ? say("quick report")
      : asked === 0
      ? delegate({ goal: "hang" }, "c1")
      : asked === 1
      ? delegate({ goal: "quick" }, "c2")
      : say("ok");
    return (async function* () {
      await Promise.resolve();
      yield* next as readonly [];
    })();
  };
  core.push(reply, reply, reply, reply, reply);
  assertEquals((await detached(session, "go")).text, "ok");
  const results = session.history().filter((one) => one.role === "tool").map((one) =>
    JSON.parse(String(one.content))
  );
  assertEquals(results[0].status, "dispatched");
  assertEquals(results[1].results[0].summary, "quick report");
  assert(results[1].note.includes("1 of 1 background subagents"));
});

/** Timers of 30 s fire when `test` says so, intervals first. */
async function withHeldTimers(test: (fire: () => void) => Promise<void>): Promise<void> {
  const { setTimeout: timeout, setInterval: interval } = globalThis;
  const [timeouts, intervals]: (() => void)[][] = [[], []];
  const held = (real: typeof setTimeout, list: (() => void)[]) => (run: () => void, ms?: number) => {
    if (ms !== 30_000) return real(run, ms);
    list.push(run);
    return 0;
  };
  globalThis.setTimeout = held(timeout, timeouts!) as typeof setTimeout;
  globalThis.setInterval = held(interval as typeof setTimeout, intervals!) as typeof setInterval;
  try {
    await test(() => [...intervals!, ...timeouts!].forEach((run) => run()));
  } finally {
    Object.assign(globalThis, { setTimeout: timeout, setInterval: interval });
  }
}

Deno.test("child_timeout_seconds, at least 30, ends a child as timed out; its heart beats until then", async () => {
  await withHeldTimers(async (fire) => {
    await using core = await makeCore({ delegation: { child_timeout_seconds: 1 } });
    const { session, events } = await openSession(core);
    const hangs: Reply = async function* (_request, signal) {
      yield [text("…")];
      fire();
      await untilAborted(signal);
    };
    core.push(delegate({ goal: "hang" }), hangs, say("ok"));
    assertEquals((await prompt(session, "go")).outcome, "completed");
    const [entry] = resultOf(session).results;
    assertEquals([entry.status, entry.exit_reason, entry.summary], ["timeout", "timeout", "…"]);
    const beat = told(events).find(({ step }) => step.kind === "heartbeat")!.step;
    assertEquals(beat, { kind: "heartbeat", idleSeconds: 0, stale: false });
  });
});

Deno.test("a child follows the mode of its session, also when it is switched meanwhile", async () => {
  await using core = await makeCore();
  const { services } = core;
  const session = await core.sessions.create({
    source: "acp",
    surface: "acp",
    cwd: services.home,
    editPolicy: "ask",
  });
  const gate = Promise.withResolvers<void>();
  const held: Reply = async function* () {
    await gate.promise;
    yield [done({ finish: "tool_calls", toolCalls: [{ id: "s", name: "shell", arguments: "{}" }] })];
  };
  core.push(delegate({ goal: "x" }), held, say("refused"), say("ok"));
  const running = prompt(session, "go");
  await eventually(() => core.requests.length === 2);
  await session.setMode("plan");
  gate.resolve();
  await running;
  assertEquals(core.ran, []);
  assert(JSON.stringify(core.requests[2]!.messages).includes("Plan mode"));
});

Deno.test("childTools() keeps MCP tools only where the setting says so", () => {
  const named = (name: string, toolset: string) => ({ ...createDelegateTask(), name, toolset });
  const tools = [
    named("read_file", "file"),
    named("mcp__x__y", "mcp-x"),
    named("delegate_task", "delegation"),
  ];
  const names = (mayDelegate: boolean, withMcp: boolean) =>
    childTools(tools, { mayDelegate, withMcp }).map((tool) => tool.name);
  assertEquals(names(false, true), ["read_file", "mcp__x__y"]);
  assertEquals(names(true, false), ["read_file", "delegate_task"]);
});

Deno.test("summaryLimit() leaves a parent with a small window room to go on", () => {
  const limit = (room: Partial<Parameters<typeof summaryLimit>[0]>) =>
    summaryLimit({ max: 24_000, window: 128_000, used: 0, count: 1, ...room });
  assertEquals(limit({}), 24_000);
  assertEquals(limit({ window: null, count: 3 }), 24_000);
  assertEquals(limit({ window: 8_000 }), 6_000);
  assertEquals(limit({ used: 127_000 }), 2_000);
  assertEquals(limit({ used: 130_000 }), 1_000);
  assertEquals(limit({ max: 100 }), 100);
});
