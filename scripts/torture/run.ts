/** The plan of a run: every attack on every door, each with its own seed, so that one can be repeated alone. */
import { FAULTS } from "./faults.ts";
import { fuzzHttp } from "./fuzz_http.ts";
import { fuzzStdio } from "./fuzz_stdio.ts";
import { type Finding, Judge } from "./judge.ts";
import { tryKills } from "./kills.ts";
import { Random } from "./random.ts";
import { tryFaults } from "./try_faults.ts";

export const DOORS = ["gateway", "acp", "api"] as const;
export type Door = typeof DOORS[number];

export interface TorturePlan {
  readonly seed: number;
  /** Frames per door. */
  readonly frames: number;
  /** Kills per door. */
  readonly kills: number;
  /** Names of the model's faults; absent: all. */
  readonly faults?: readonly string[];
  readonly doors: readonly Door[];
  say(text: string): void;
}

export async function runTorture(plan: TorturePlan): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  const attack = async (name: string, run: (judge: Judge) => Promise<number>) => {
    const judge = new Judge(`${name}, seed ${plan.seed}`);
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
    if (faults.length > 0) await attack(`${door} model`, (judge) => tryFaults(door, faults, judge));
  }
  return findings;
}

function frames(door: Door, { frames, seed }: TorturePlan, judge: Judge): Promise<number> {
  const random = new Random(seed);
  return door === "api" ? fuzzHttp(frames, judge, random) : fuzzStdio(door, frames, judge, random);
}
