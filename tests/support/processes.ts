/** Looks at this machine's processes (Linux `/proc`) for tests of what must not survive. */

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
