/**
 * Plays every fault of the model on a door: the turn must end in a bounded time, as an answer or as an error that says
 * so; the turn after it must work, and the process must still end well.
 */
import { makeRig } from "../../tests/support/program.ts";
import { type Bench, openBench, type Surface, TURN_MS } from "./benches.ts";
import type { Judge } from "./judge.ts";
import type { ModelFault } from "./faults.ts";
import { type FaultyModel, startFaultyModel } from "./faulty_model.ts";
import { tortureConfig } from "./model.ts";

/** Seconds a model call may take in these attacks; a local model has no other limit. */
const CALL_SECONDS = 3;
export async function tryFaults(
  surface: Surface,
  faults: readonly ModelFault[],
  judge: Judge,
): Promise<number> {
  await using model = await startFaultyModel();
  await using rig = await makeRig({
    config: tortureConfig(model.url),
    env: { HERMES_API_TIMEOUT: `${CALL_SECONDS}` },
  });
  await Deno.writeTextFile(`${rig.workspace}/a.txt`, "a\n");
  {
    await using bench = await openBench(surface, rig, judge);
    for (const fault of faults) await oneFault(fault, bench, model, judge);
  }
  judge.database(rig);
  await judge.processes(rig);
  return faults.length;
}

async function oneFault(fault: ModelFault, bench: Bench, model: FaultyModel, judge: Judge): Promise<void> {
  await bench.renew();
  model.break(fault.play, fault.times ?? 1);
  const started = performance.now();
  const ended = await bench.turn("hello");
  const seconds = ((performance.now() - started) / 1_000).toFixed(1);
  model.left = 0;
  const tell = (what: string) =>
    judge.report(`${fault.name}: ${what} (${seconds} s): ${ended.text.slice(0, 300)}`);
  judge.text(`the end of the turn after "${fault.name}"`, ended.text.slice(0, 50_000));
  if (ended.type === "late") tell(`the turn did not end within ${TURN_MS} ms`);
  else if (fault.end !== undefined && ended.type !== fault.end) tell(`ended as ${ended.type}`);
  if (ended.type === "error" && ended.text.trim() === "") tell("an error without a word");
  const next = await bench.turn("again");
  if (next.type !== "complete" || !next.text.includes("Fine.")) {
    judge.report(`${fault.name}: the next turn ended as ${next.type}: ${next.text.slice(0, 400)}`);
  }
}
