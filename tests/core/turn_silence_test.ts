/** core.md E.4 `agent.gateway_timeout`: a turn in which nothing happens any more ends like an error. */
import { TurnSilence } from "../../src/core/turn_silence.ts";
import type { Settings } from "../../src/core/mod.ts";
import { untilAborted } from "../support/abort.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { patient } from "../support/patience.ts";
import { eventually } from "../support/program.ts";
import {
  type Batch,
  callTool,
  EVERYONE,
  makeScriptedCore,
  openSession,
  prompt,
  say,
  text,
} from "../support/scripted_core.ts";
import { addTool, askAlways } from "./turn_support.ts";

const MESSAGE =
  "No activity for 0.05 seconds (agent.gateway_timeout), so the turn was stopped. Send the message again; if the " +
  "model or a tool needs longer, raise the setting (0: no limit)";

const limited = (seconds: number) => ({
  settings: (settings: Settings): Settings => ({
    ...settings,
    agent: { ...settings.agent, gateway_timeout: seconds },
  }),
});

/** A watch of 5 ms over a clock that stands still until the test moves it. */
function watch(isAsking: () => boolean = () => false) {
  const seen = { now: 0, looks: 0, stops: 0 };
  const clock = {
    monotonic: () => {
      seen.looks++;
      return seen.now;
    },
  };
  const silence = new TurnSilence({ limitMs: 5, clock, isAsking, stop: () => void seen.stops++ });
  const pass = async (ms: number) => {
    seen.now += ms;
    const { looks } = seen;
    await eventually(() => seen.stops > 0 || seen.looks > looks + 4, 5_000, "a look of the watch");
  };
  return { silence, seen, pass };
}

Deno.test("the limit counts from the last event, and stops once", async () => {
  const { silence, seen, pass } = watch();
  await pass(4);
  silence.touch();
  await pass(4);
  assertEquals([seen.stops, silence.stopped], [0, false]);
  await pass(1);
  assertEquals([seen.stops, silence.stopped], [1, true]);
  silence.end();
});

Deno.test("a call with a limit of its own may use it up, an open question does not count", async () => {
  const held = watch();
  const release = held.silence.hold(1);
  await held.pass(900);
  assertEquals(held.seen.stops, 0);
  release();
  await held.pass(4);
  assertEquals(held.seen.stops, 0);
  await held.pass(5);
  assertEquals(held.seen.stops, 1);
  let asking = true;
  const asked = watch(() => asking);
  await asked.pass(10_000);
  assertEquals(asked.seen.stops, 0);
  asking = false;
  await asked.pass(5);
  assertEquals(asked.seen.stops, 1);
});

Deno.test("0 is never, and end() leaves no timer behind", () => {
  const options = { clock: { monotonic: () => 0 }, isAsking: () => false, stop: () => {} };
  const never = new TurnSilence({ ...options, limitMs: 0 });
  const later = new TurnSilence({ ...options, limitMs: 60_000 });
  later.end();
  assertEquals([never.stopped, later.stopped], [false, false]);
});

Deno.test("a silent model is aborted; the turn has failed, its rows and its steer are kept", async () => {
  await using core = await makeScriptedCore(limited(0.05));
  const { session, events } = await openSession(core);
  let aborted = false;
  core.push(async function* (_request, signal): AsyncIterable<Batch> {
    yield [text("Hel")];
    session.steer("and then?");
    await untilAborted(signal).finally(() => aborted = true);
  });
  const result = await prompt(session, "hi");
  assertEquals([result.outcome, result.exitReason, result.text, result.partial], [
    "failed",
    "inactivity_timeout",
    "Hel",
    true,
  ]);
  assertEquals([result.failure?.kind, result.failure?.message], ["timeout", MESSAGE]);
  assertEquals([aborted, result.pendingSteer], [true, "and then?"]);
  const rows = core.services.store().loadMessages(session.headId);
  assertEquals(rows.map((row) => [row.role, row.content]), [["user", "hi"], ["assistant", "Hel"]]);
  const end = events.at(-1)!;
  assert(end.type === "turn.end" && end.result.outcome === "failed");
  core.push(say("again"));
  assertEquals((await prompt(session, "once more")).text, "again");
});

Deno.test("a tool that hangs without a limit is ended, one with a longer limit is not", async () => {
  for (const [limit, outcome] of [[undefined, "failed"], [patient(60), "completed"]] as const) {
    await using core = await makeScriptedCore(limited(0.05));
    const { session } = await openSession(core);
    addTool(core, "slow", async (_args, { signal }) => {
      if (limit === undefined) await untilAborted(signal);
      else await new Promise((resolve) => setTimeout(resolve, 400));
      return { content: "{}", isError: false };
    });
    const tool = core.services.tools("tui").at(-1)!;
    if (limit !== undefined) Object.assign(tool, { limitSeconds: () => limit });
    core.push(callTool("slow", {}), say("done"));
    assertEquals((await prompt(session, "go")).outcome, outcome);
  }
});

Deno.test("core C.5: a question that waits longer than the limit is still answered", async () => {
  await using core = await makeScriptedCore(limited(0.05));
  const { session } = await openSession(core);
  core.verdict(askAlways(["once", "deny"]));
  core.push(callTool("shell", { command: "x" }), say("done"));
  const turn = prompt(session, "go", EVERYONE);
  await eventually(() => session.asks().length === 1, 5_000, "a question");
  await new Promise((resolve) => setTimeout(resolve, 400));
  assertEquals(session.answer(session.asks()[0]!.id, { type: "choice", choice: "once" }), "accepted");
  assertEquals((await turn).outcome, "completed");
  assertEquals(core.ran.length, 1);
});
