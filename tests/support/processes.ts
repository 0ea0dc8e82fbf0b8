/** Looks at this machine's processes (Linux `/proc`) for tests of what must not survive. */
import { eventually } from "./program.ts";

async function find(file: "cmdline" | "environ", test: (text: string) => boolean): Promise<number[]> {
  const found: number[] = [];
  for await (const entry of Deno.readDir("/proc")) {
    if (!/^\d+$/.test(entry.name) || Number(entry.name) === Deno.pid) continue;
    const text = await Deno.readTextFile(`/proc/${entry.name}/${file}`).catch(() => "");
    if (!test(text)) continue;
    const stat = await Deno.readTextFile(`/proc/${entry.name}/stat`).catch(() => "");
    const isZombie = /^\d+ \(.*\) Z/s.test(stat);
    if (stat && !isZombie) found.push(Number(entry.name));
  }
  return found;
}

/** Ids of the processes whose command line holds `text`. */
export function processesWith(text: string): Promise<number[]> {
  return find("cmdline", (line) => line.replaceAll("\0", " ").includes(text));
}

/** Ids of the processes that were started with this `HERMES_HOME`. */
export function processesOfHome(home: string): Promise<number[]> {
  return find("environ", (env) => env.split("\0").includes(`HERMES_HOME=${home}`));
}

/** A `sleep` for so many seconds that no other process of this machine runs, in this run of the tests or another. */
export function ownSleep(seconds: number): string {
  return `sleep ${seconds}.0${crypto.getRandomValues(new Uint32Array(1))[0]}1`;
}

/** Waits for the last process whose command line holds `text`; what was killed is seen for a moment longer. */
export async function untilGone(text: string): Promise<void> {
  await eventually(async () => (await processesWith(text)).length === 0, 3_000, `the end of "${text}"`);
}

/** Waits for the last process with this `HERMES_HOME`, apart from `own`. */
export async function untilHomeIsLeft(home: string, ...own: readonly number[]): Promise<void> {
  const left = async () => (await processesOfHome(home)).filter((pid) => !own.includes(pid));
  await eventually(async () => (await left()).length === 0, 3_000, "the end of all processes");
}
