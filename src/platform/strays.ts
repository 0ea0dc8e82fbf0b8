/**
 * Processes below a child that have left its group (`setsid`): a signal to the group does not reach them. Linux only,
 * elsewhere there are none to be found; one whose parents have all ended is nobody's child any more.
 */
export interface Stray {
  readonly pid: number;
  /** Ticks since the start of the machine: the same number later may be another process. */
  readonly started: string;
}

const MOST = 10_000;

/** Those that are there now. Never throws. */
export function findStrays(leader: number): readonly Stray[] {
  if (Deno.build.os !== "linux") return [];
  const strays: Stray[] = [];
  const seen = new Set([leader]);
  for (const pid of seen) {
    for (const child of childrenOf(pid)) if (seen.size < MOST) seen.add(child);
    const facts = pid === leader ? null : factsOf(pid);
    if (facts && facts.group !== leader) strays.push({ pid, started: facts.started });
  }
  return strays;
}

export function signalStray({ pid, started }: Stray, signal: Deno.Signal): void {
  if (factsOf(pid)?.started !== started) return;
  try {
    Deno.kill(pid, signal);
  } catch {
    // It has just ended.
  }
}

function childrenOf(pid: number): number[] {
  try {
    return [...Deno.readDirSync(`/proc/${pid}/task`)].flatMap(({ name }) =>
      Deno.readTextFileSync(`/proc/${pid}/task/${name}/children`).split(" ").filter(Boolean).map(Number)
    );
  } catch {
    return []; // It has just ended.
  }
}

function factsOf(pid: number): { group: number; started: string } | null {
  try {
    // `pid (name) state ppid pgrp … starttime …`; the name may hold anything.
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return { group: Number(fields[2]), started: fields[19] ?? "" };
  } catch {
    return null;
  }
}
