/** The plan of a run: every attack on every door, each with its own seed, so that one can be repeated alone. */
import { tryAimedKills } from "./aimed_kills.ts";
import type { Surface } from "./benches.ts";
import { FAULTS } from "./faults.ts";
import { fuzzHttp } from "./fuzz_http.ts";
import { fuzzStdio } from "./fuzz_stdio.ts";
import { fuzzWebSocket } from "./fuzz_ws.ts";
import { type Finding, Judge } from "./judge.ts";
import { tryKills } from "./kills.ts";
import { tryNeighbours } from "./neighbours.ts";
import { Random } from "./random.ts";
import { soak } from "./soak.ts";
import { tryStorms } from "./storms.ts";
import { tryFaults } from "./try_faults.ts";

export const DOORS = ["gateway", "acp", "api"] as const;
export type Door = typeof DOORS[number];

const SURFACES_OF: Readonly<Record<Door, readonly Surface[]>> = {
  gateway: ["gateway"],
  acp: ["acp"],
  api: ["chat", "chat stream", "runs"],
};

export interface TorturePlan {
  readonly seed: number;
  /** Frames per door. */
  readonly frames: number;
  /** Kills per door. */
  readonly kills: number;
  /** Names of the model's faults; absent: all. */
  readonly faults?: readonly string[];
  readonly doors: readonly Door[];
  /** Frames on the gateway's sockets. */
  readonly wsFrames?: number;
  /** Kills aimed at compressions, rewinds, approvals and journals of runs. */
  readonly aimedKills?: number;
  /** A faulty disk and other programs in the home; milliseconds for which the database is locked, 0 = not at all. */
  readonly lockMs?: number;
  /** Clients that behave badly, beside one that does not. */
  readonly storm?: boolean;
  /** Seconds of mixed load through all doors. */
  readonly soakSeconds?: number;
  say(text: string): void;
}

export async function runTorture(plan: TorturePlan): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const attack = async (name: string, run: (judge: Judge) => Promise<number>) => {
    const judge = new Judge(
      `${name}, seed ${plan.seed}`,
      ({ what, input }) => plan.say(`  finding: ${what}${input === undefined ? "" : `\n    sent: ${input}`}`),
    );
    const started = performance.now();
    const count = await run(judge);
    const seconds = ((performance.now() - started) / 1_000).toFixed(1);
    plan.say(`${judge.where}: ${count} done in ${seconds} s, ${judge.findings.length} findings`);
    findings.push(...judge.findings);
  };
  for (const door of plan.doors) {
    if (plan.frames > 0) await attack(`${door} frames`, (judge) => frames(door, plan, judge));
    if (plan.kills > 0) {
      await attack(`${door} kills`, (judge) => tryKills(door, plan.kills, judge, new Random(plan.seed)));
    }
    const faults = FAULTS.filter(({ name }) => plan.faults?.includes(name) ?? true);
    for (const surface of faults.length > 0 ? SURFACES_OF[door] : []) {
      await attack(`${surface} model`, (judge) => tryFaults(surface, faults, judge));
    }
  }
  const { wsFrames = 0, aimedKills = 0, lockMs = 0, storm = false, soakSeconds = 0 } = plan;
  const random = () => new Random(plan.seed);
  if (wsFrames > 0) await attack("sockets", (judge) => fuzzWebSocket(wsFrames, judge, random()));
  if (aimedKills > 0) await attack("aimed kills", (judge) => tryAimedKills(aimedKills, judge, random()));
  if (lockMs > 0) await attack("disk and neighbours", (judge) => tryNeighbours(judge, lockMs, plan.say));
  if (storm) await attack("bad clients", (judge) => tryStorms(judge, random(), plan.say));
  if (soakSeconds > 0) await attack("soak", (judge) => soak(soakSeconds, judge, plan.say));
  return findings;
}

function frames(door: Door, { frames, seed }: TorturePlan, judge: Judge): Promise<number> {
  const random = new Random(seed);
  return door === "api" ? fuzzHttp(frames, judge, random) : fuzzStdio(door, frames, judge, random);
}
