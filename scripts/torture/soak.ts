/**
 * Mixed load through all doors for some time: turns with and without tools, sessions and connections that come and
 * go. How memory, open files and the time of a turn have moved since the warm-up is told, and judged by `flat.ts`.
 */
import { makeRig } from "../../tests/support/program.ts";
import { judgeFlat, type Sample, type Timed } from "./flat.ts";
import type { Judge } from "./judge.ts";
import { startTortureModel, tortureConfig } from "./model.ts";
import { openDoors, openGateway, type SoakDoor } from "./soak_turns.ts";

const SAMPLE_MS = 500;
/** How long a program counts as young, and its first turns that count for nothing. */
const YOUNG_MS = 15_000;
const WARM_TURNS = 10;
/** After so many turns that failed there is nothing to measure any more. */
const MOST_FAILURES = 20;

interface Load {
  readonly door: SoakDoor;
  readonly samples: Sample[];
  /** How long each turn took. */
  readonly turns: Timed[];
}

/** Runs for `seconds`; `say` is told a line of figures for each door. Returns the number of turns. */
export async function soak(seconds: number, judge: Judge, say: (text: string) => void): Promise<number> {
  await using model = await startTortureModel(judge);
  await using rig = await makeRig({ config: tortureConfig(model.url) });
  const loads: readonly Load[] = (await openDoors(rig, judge))
    .map((door) => ({ door, samples: [], turns: [] }));
  const young: Timed[] = [];
  const end = performance.now() + seconds * 1_000;
  const isOver = () => performance.now() > end || judge.findings.length > MOST_FAILURES;
  // Else the harness grows by what the doors ask.
  const cleaner = setInterval(() => model.requests.length = 0, SAMPLE_MS);
  const timer = setInterval(() => loads.forEach((load) => void sample(load)), SAMPLE_MS);
  await Promise.all([
    ...loads.map((load) => play(load, isOver, judge)),
    playYoung(tortureConfig(model.url), judge, young, isOver),
  ]);
  clearInterval(timer);
  clearInterval(cleaner);
  for (const { door, samples, turns } of loads) {
    say(`  ${judgeFlat({ name: door.name, samples, turns }, young, judge)}`);
  }
  await Promise.all(loads.map(({ door }) => door.end()));
  judge.database(rig);
  await judge.processes(rig);
  return loads.reduce((sum, { turns }) => sum + turns.length, 0);
}

async function play({ door, turns }: Load, isOver: () => boolean, judge: Judge): Promise<void> {
  for (let n = 0; !isOver(); n++) {
    const at = performance.now();
    const status = await door.turn(n).catch((error) => String(error));
    turns.push({ at, took: performance.now() - at });
    if (status !== "complete") judge.report(`${door.name}, turn ${n}: ${status}`);
  }
}

/**
 * The yardstick: a young program in a young home plays plain turns all the while, and is replaced by another after
 * some time. It suffers from a busy machine as the others do, but not from age.
 */
async function playYoung(
  config: Record<string, unknown>,
  judge: Judge,
  young: Timed[],
  isOver: () => boolean,
): Promise<void> {
  while (!isOver()) {
    await using rig = await makeRig({ config });
    const door = openGateway(rig, judge);
    const old = performance.now() + YOUNG_MS;
    for (let n = 0; !isOver() && performance.now() < old; n++) {
      const at = performance.now();
      // No turn with tools among them.
      const status = await door.turn(4 * n);
      if (status !== "complete") judge.report(`a young gateway, turn ${n}: ${status}`);
      if (n >= WARM_TURNS) young.push({ at, took: performance.now() - at });
    }
    await door.end();
  }
}

async function sample({ door, samples }: Load): Promise<void> {
  try {
    const status = await Deno.readTextFile(`/proc/${door.pid}/status`);
    const files = [...Deno.readDirSync(`/proc/${door.pid}/fd`)].length;
    samples.push({ at: performance.now(), rss: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024, files });
  } catch {
    // No /proc on this system, or the process has ended.
  }
}
