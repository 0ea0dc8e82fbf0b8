/** Figures of subagents: the least time limit, the effort, silence, progress (core.md I.1, I.2). */
import { type CoreEvent, NOBODY_TO_ASK, type SubagentStep } from "@/core/mod.ts";
import { ChildWatch } from "@/core/delegation_watch.ts";
import { createDelegateTask } from "@/tools/delegate_task.ts";
import { assert, assertEquals } from "../support/assert.ts";
import {
  callTool,
  done,
  makeScriptedCore,
  openSession,
  prompt,
  type Reply,
  say,
  type ScriptedCore,
  text,
} from "../support/scripted_core.ts";
import { addTool } from "./turn_support.ts";

const ORDER = callTool("delegate_task", { goal: "x" }, "call_1");

function makeCore(delegation: Record<string, unknown> = {}): Promise<ScriptedCore> {
  return makeScriptedCore({
    tools: [createDelegateTask()],
    settings: (settings) => ({ ...settings, delegation: { ...settings.delegation, ...delegation } }),
  });
}

/** The times of the timers that were set meanwhile, milliseconds; they go off as always. */
async function timersOf(run: () => Promise<void>): Promise<Set<number>> {
  const { setTimeout: real } = globalThis;
  const set = new Set<number>();
  globalThis.setTimeout = ((callback: () => void, ms = 0) => {
    set.add(ms);
    return real(callback, ms);
  }) as typeof setTimeout;
  try {
    await run();
  } finally {
    globalThis.setTimeout = real;
  }
  return set;
}

Deno.test("core I.1: child_timeout_seconds is a limit of its own length, but of 30 s at least; 0 is none", async () => {
  const limitOf = async (child_timeout_seconds: number): Promise<Set<number>> => {
    await using core = await makeCore({ child_timeout_seconds });
    const { session } = await openSession(core);
    core.push(ORDER, say("report"), say("ok"));
    return await timersOf(async () => assertEquals((await prompt(session, "go")).text, "ok"));
  };
  const usual = await limitOf(0);
  const cases: readonly (readonly [number, number])[] = [
    [1, 30_000],
    [29.5, 30_000],
    [30, 30_000],
    [31, 31_000],
    [45.5, 45_500],
  ];
  for (const [seconds, limit] of cases) {
    const more = [...(await limitOf(seconds)).difference(usual)].filter((ms) => ms >= 1_000);
    assertEquals(more, [limit], `${seconds}`);
  }
});

Deno.test("core I.1: a child thinks as hard as delegation.reasoning_effort says, else as its parent's turn", async () => {
  const efforts = async (delegation: Record<string, unknown>) => {
    await using core = await makeCore(delegation);
    const { session } = await openSession(core);
    core.push(ORDER, say("report"), say("ok"));
    await session.submit({ content: "go" }, { asks: NOBODY_TO_ASK, reasoningEffort: "high" }).done;
    return core.requests.map((request) => request.reasoningEffort);
  };
  assertEquals(await efforts({ reasoning_effort: "low" }), ["high", "low", "high"]);
  assertEquals(await efforts({ reasoning_effort: "" }), ["high", "high", "high"]);
});

/** Intervals go off when the test says so. */
async function withHeldIntervals(test: (fire: (everyMs: number) => void) => Promise<void>): Promise<void> {
  const { setInterval: real, clearInterval: clear } = globalThis;
  const held = new Map<number, { run: () => void; ms: number }>();
  let next = -1;
  globalThis.setInterval = ((run: () => void, ms = 0) => {
    held.set(next, { run, ms });
    return next--;
  }) as unknown as typeof setInterval;
  globalThis.clearInterval = ((id: number) => held.delete(id) || clear(id)) as typeof clearInterval;
  try {
    await test((everyMs) =>
      [...held.values()].filter(({ ms }) => ms === everyMs).forEach(({ run }) => run())
    );
  } finally {
    Object.assign(globalThis, { setInterval: real, clearInterval: clear });
  }
}

Deno.test("core I.2: the heart beats every 30 s; a child is stale after 450 s without activity, inside a tool after 1,200 s", async () => {
  await withHeldIntervals(async (fire) => {
    await using core = await makeCore();
    let now = 0;
    Object.assign(core.services.platform.clock, { monotonic: () => now });
    const beatsAfter = (...idle: number[]) => {
      const from = now;
      for (const ms of idle) {
        now = from + ms;
        fire(30_000);
      }
    };
    addTool(core, "slow", () => {
      beatsAfter(450_000, 1_199_999, 1_200_000);
      return Promise.resolve({ content: "{}", isError: false });
    });
    const thinks: Reply = async function* () {
      yield [text("…")];
      beatsAfter(0, 449_999, 450_000);
      yield [done({ finish: "tool_calls", toolCalls: [{ id: "s", name: "slow", arguments: "{}" }] })];
    };
    const { session, events } = await openSession(core);
    core.push(ORDER, thinks, say("report"), say("ok"));
    assertEquals((await prompt(session, "go")).text, "ok");
    const beats = events.flatMap((event) =>
      event.type === "subagent" && event.step.kind === "heartbeat"
        ? [[event.step.idleSeconds, event.step.stale]]
        : []
    );
    assertEquals(beats, [
      [0, false],
      [450, false],
      [450, true],
      [450, false],
      [1_200, false],
      [1_200, true],
    ]);
  });
});

Deno.test("core I.2: progress names the tools of every five; what is left comes at the end", () => {
  const steps: SubagentStep[] = [];
  const watch = new ChildWatch({
    now: () => 0,
    tell: (step) => void steps.push(step),
    pass() {},
    called() {},
  });
  const start = (name: string) =>
    watch.onEvent({ type: "tool.start", call: { name, description: { label: "" } } } as unknown as CoreEvent);
  const told = () => steps.flatMap((step) => step.kind === "progress" ? [step.tools.join("")] : []);
  const counts: number[] = [];
  for (const name of "abcdefghijkl") {
    start(name);
    counts.push(told().length);
  }
  assertEquals(counts, [0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2]);
  watch.flush();
  watch.flush();
  assertEquals(told(), ["abcde", "fghij", "kl"]);
  assertEquals([watch.toolCount, watch.lastTool], [12, "l"]);
});

Deno.test("core I.2: a child's end tells at most 40 files read, 40 written, and the last 8 results of 600 characters", () => {
  const watch = new ChildWatch({ now: () => 0, tell() {}, pass() {}, called() {} });
  for (let n = 0; n < 45; n++) {
    const description = { kind: "read", locations: [{ path: `r${n}` }] };
    watch.onEvent(
      {
        type: "tool.end",
        call: { name: `t${n}`, args: {}, description },
        result: "x".repeat(700),
        isError: false,
        edits: [{ path: `w${n}` }],
      } as unknown as CoreEvent,
    );
  }
  const names = (letter: string) => Array.from({ length: 40 }, (_, n) => `${letter}${n}`);
  assertEquals([watch.filesRead, watch.filesWritten], [names("r"), names("w")]);
  assertEquals(watch.outputTail.map(({ tool }) => tool), [
    "t37",
    "t38",
    "t39",
    "t40",
    "t41",
    "t42",
    "t43",
    "t44",
  ]);
  assert(watch.outputTail.every(({ preview }) => preview.length === 600));
});
