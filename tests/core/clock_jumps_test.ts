/** The clock of the machine is put forward or back by hours while something is going on. */
import { delay } from "@/lib/abort.ts";
import { assertEquals } from "../support/assert.ts";
import { eventually } from "../support/program.ts";
import {
  type Batch,
  callTool,
  EVERYONE,
  makeScriptedCore,
  openSession,
  prompt,
  type Reply,
  say,
  type ScriptedCore,
  types,
} from "../support/scripted_core.ts";
import { askAlways } from "./turn_support.ts";

const HOURS = 3_600_000;
const JUMPS = [5 * HOURS, -5 * HOURS, 24 * 40 * HOURS, -24 * 40 * HOURS];

/** Puts the wall clock of a core where it is told to; waits take their real time. */
function wallClock(core: ScriptedCore): { jump(ms: number): void } {
  let offset = 0;
  Object.assign(core.services.platform.clock, {
    now: () => Date.now() + offset,
    delay: (ms: number, options?: { signal?: AbortSignal }) => delay(ms, options),
  });
  return { jump: (ms) => offset += ms };
}

/** The same answer of the model, with something that happens before it. */
function jumping(happen: () => void, reply: Reply): Reply {
  return async function* () {
    happen();
    yield* reply as readonly Batch[];
  };
}

for (const jump of JUMPS) {
  const name = `${jump > 0 ? "forward" : "back"} by ${Math.abs(jump) / HOURS} hours`;

  Deno.test(`clock ${name}: a turn goes on, its order is kept, and the next one works`, async () => {
    await using core = await makeScriptedCore();
    const clock = wallClock(core);
    const { session, events } = await openSession(core);
    core.push(
      jumping(() => clock.jump(jump), callTool("reader", { limit: 1 })),
      say("done"),
    );
    const result = await prompt(session, "first");
    assertEquals([result.outcome, result.text], ["completed", "done"]);
    core.push(say("again"));
    assertEquals((await prompt(session, "second")).outcome, "completed");
    const stored = core.services.store().loadMessages(session.headId);
    assertEquals(stored.map(({ role }) => role), [
      "user",
      "assistant",
      "tool",
      "assistant",
      "user",
      "assistant",
    ]);
    assertEquals(types(events).filter((type) => type === "turn.end").length, 2);
  });

  Deno.test(`clock ${name}: a question waits as long as it was to wait, no more and no less`, async () => {
    for (const [seconds, outcome] of [[300, "answered"], [0.2, "timeout"]] as const) {
      await using core = await makeScriptedCore({
        settings: (settings) => ({ ...settings, approvals: { ...settings.approvals, timeout: seconds } }),
      });
      const clock = wallClock(core);
      core.verdict(askAlways(["once", "deny"]));
      const { session, events } = await openSession(core);
      core.push(callTool("shell", { command: "x" }), say("done"));
      const ended = prompt(session, "go", EVERYONE);
      const [ask] = await eventually(() => session.asks().length > 0 && session.asks(), 5_000, "a question");
      clock.jump(jump);
      if (outcome === "answered") {
        await delay(50);
        assertEquals(session.asks().length, 1);
        session.answer(ask!.id, { type: "choice", choice: "once" });
      }
      assertEquals((await ended).outcome, "completed");
      const closed = events.find((event) => event.type === "ask.close");
      assertEquals(closed?.type === "ask.close" && closed.outcome.type, outcome);
      assertEquals(core.ran.length, outcome === "answered" ? 1 : 0);
    }
  });
}

Deno.test("clock back: a lock of a compression that nobody holds any more is given to the next", async () => {
  await using core = await makeScriptedCore();
  const clock = wallClock(core);
  const { session } = await openSession(core);
  core.push(say("hello"));
  await prompt(session, "hi");
  const store = core.services.store();
  assertEquals(await store.lockCompression(session.headId, "gone", 300), true);
  assertEquals(await store.lockCompression(session.headId, "mine", 300), false);
  clock.jump(-5 * HOURS);
  assertEquals(await store.lockCompression(session.headId, "mine", 300), true);
  assertEquals(await store.lockCompression(session.headId, "other", 300), false);
});
