/**
 * Every surface at once in one home while something is wrong with it: the database locked by another program, a full
 * disk, a disk that has become read-only, damaged pages. Each turn ends in a bounded time, as an answer or as an error
 * that says what to do; when the fault is over, the next turn works and what was answered is stored, once.
 */
import { DatabaseSync } from "node:sqlite";
import type { Rig } from "../../tests/support/program.ts";
import { type Bench, type Ended, openBench, type Surface, SURFACES } from "./benches.ts";
import { fillDisk, mount, onOwnDisk } from "./disks.ts";
import { type Judge, storedPrompts } from "./judge.ts";

export interface BrokenHome {
  readonly rig: Rig;
  readonly judge: Judge;
  readonly lockMs: number;
  say(text: string): void;
}

/** What a person can do, or what is done for them. */
const ADVICE = /hermes doctor|free space|permission|another program|HERMES_HOME|saving is delayed|not saved/i;
const TURN_MS = 60_000;

interface Scene {
  readonly benches: Map<Surface, Bench>;
  readonly judge: Judge;
  readonly rig: Rig;
}

/** `work` in a home with all doors open; one that does not open says what to do. */
async function withAllDoors(
  { rig, judge, lockMs }: BrokenHome,
  work: (scene: Scene) => Promise<void>,
): Promise<void> {
  const options = { knowsDamage: true, turnMs: TURN_MS + lockMs };
  const scene: Scene = { benches: new Map(), judge, rig };
  try {
    for (const surface of SURFACES) {
      try {
        scene.benches.set(surface, await openBench(surface, rig, judge, options));
      } catch (error) {
        if (!ADVICE.test(String(error))) judge.report(`${surface} does not open: ${error}`);
      }
    }
    for (const bench of scene.benches.values()) await bench.renew();
    await work(scene);
  } finally {
    for (const bench of scene.benches.values()) await bench[Symbol.asyncDispose]();
  }
}

/** One turn on every surface at the same time; `isRight` says which ends are. Returns the prompts that were answered. */
async function turns(
  { benches, judge }: Scene,
  when: string,
  isRight: (ended: Ended) => boolean,
): Promise<readonly string[]> {
  const ends = await Promise.all([...benches].map(async ([surface, bench]) => {
    const prompt = `${when} ${surface} hello`;
    const ended = await bench.turn(prompt);
    judge.text(`the end of the turn ${when}`, ended.text.replaceAll(/SQLITE_\w+/g, ""));
    if (!isRight(ended)) {
      judge.report(`${surface}, the turn ${when} the fault: ${ended.type}: ${ended.text.slice(0, 400)}`);
    }
    return ended.type === "complete" ? prompt : null;
  }));
  return ends.filter((prompt) => prompt !== null);
}

const isComplete = (ended: Ended) => ended.type === "complete";
const saysWhatToDo = (ended: Ended) =>
  ended.type === "complete" || (ended.type === "error" && ADVICE.test(ended.text));

function judgeStored({ rig, judge }: Scene, answered: readonly string[]): void {
  const stored = storedPrompts(rig);
  for (const prompt of answered) {
    const count = stored.filter((text) => text.includes(prompt)).length;
    if (count !== 1) judge.report(`the answered prompt "${prompt}" is stored ${count} times`);
  }
}

/** So long a write waits for a lock before whoever asked for it is told. */
const WRITE_WAITS_MS = 20_000;

/**
 * FC-24: all turns wait for the lock and then end as if nothing had been. What must be kept before it is accepted (a run)
 * is refused in a longer lock, with what to do.
 */
export async function lockedForAll(home: BrokenHome): Promise<void> {
  await withAllDoors(home, async (scene) => {
    await turns(scene, "before", isComplete);
    const db = new DatabaseSync(`${home.rig.home}/hermes.db`, { timeout: 10_000 });
    db.exec("PRAGMA busy_timeout=5000; BEGIN IMMEDIATE");
    const during = turns(scene, "during", home.lockMs < WRITE_WAITS_MS ? isComplete : saysWhatToDo);
    await new Promise((resolve) => setTimeout(resolve, home.lockMs));
    db.exec("ROLLBACK");
    db.close();
    const answered = await during;
    judgeStored(scene, [...answered, ...await turns(scene, "after", isComplete)]);
  });
}

export async function fullForAll(home: BrokenHome): Promise<void> {
  await onOwnDisk(home, "full disk under all doors", async () => {
    await withAllDoors(home, async (scene) => {
      await turns(scene, "before", isComplete);
      const filler = `${home.rig.home}/filler`;
      await fillDisk(filler);
      for (let n = 0; n < 3; n++) await turns(scene, `during${n}`, saysWhatToDo);
      await Deno.remove(filler);
      judgeStored(scene, await turns(scene, "after", isComplete));
    });
    home.judge.database(home.rig);
  });
}

export async function readOnlyForAll(home: BrokenHome): Promise<void> {
  await onOwnDisk(home, "read-only disk under all doors", async () => {
    await withAllDoors(home, async (scene) => void await turns(scene, "before", isComplete));
    if (!(await mount("mount", "-o", "remount,ro", home.rig.home))) {
      return home.judge.report("cannot be made read-only");
    }
    await withAllDoors(home, async (scene) => void await turns(scene, "during", saysWhatToDo));
    await mount("mount", "-o", "remount,rw", home.rig.home);
    await withAllDoors(home, async (scene) => judgeStored(scene, await turns(scene, "after", isComplete)));
    home.judge.database(home.rig);
  });
}

/** What can be read goes on; what cannot is told with what to do. */
export async function damagedForAll(home: BrokenHome): Promise<void> {
  await withAllDoors(home, async (scene) => void await turns(scene, "before", isComplete));
  for (const from of [4_096 * 3, 4_096 * 12, 4_096 * 40]) {
    const file = await Deno.open(`${home.rig.home}/hermes.db`, { write: true });
    await file.seek(from, Deno.SeekMode.Start);
    await file.write(crypto.getRandomValues(new Uint8Array(2_048)));
    file.close();
    await withAllDoors(home, async (scene) => void await turns(scene, "during", saysWhatToDo));
  }
}
