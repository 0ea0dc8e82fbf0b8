/**
 * `deno task torture`: attacks the compiled program with bad frames, kills and a faulty model, the same way for the
 * same seed. Findings go to stdout as JSON, one a line; progress to stderr. Exit code 1 when anything was found.
 *
 *   deno task torture [--seed n] [--frames n] [--door acp|gateway|api] [--kills n] [--fault none|NAME]… [--binary FILE]
 */
import { parseArgs } from "node:util";
import type { Finding } from "./torture/judge.ts";
import { DOORS, runTorture } from "./torture/run.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    seed: { type: "string", default: "1" },
    frames: { type: "string", default: "600" },
    kills: { type: "string", default: "6" },
    fault: { type: "string", multiple: true },
    door: { type: "string", multiple: true },
    binary: { type: "string" },
  },
});
const built = new URL("../dist/hermes", import.meta.url).pathname;
const binary = values.binary ?? Deno.env.get("HERMES_BIN") ?? built;
if (await Deno.stat(binary).then((stat) => stat.isFile, () => false)) Deno.env.set("HERMES_BIN", binary);
else {throw new Error(
    `There is no program at ${binary}: build it with "deno task build", or name it with --binary`,
  );}

function write(to: typeof Deno.stdout | typeof Deno.stderr, text: string): void {
  const bytes = new TextEncoder().encode(`${text}\n`);
  for (let at = 0; at < bytes.length;) at += to.writeSync(bytes.subarray(at));
}

const findings: readonly Finding[] = await runTorture({
  seed: Number(values.seed),
  frames: Number(values.frames),
  kills: Number(values.kills),
  ...(values.fault ? { faults: values.fault.filter((name) => name !== "none") } : {}),
  doors: DOORS.filter((door) => values.door?.includes(door) ?? true),
  say: (text) => write(Deno.stderr, text),
});
for (const finding of findings) write(Deno.stdout, JSON.stringify(finding));
Deno.exit(findings.length === 0 ? 0 : 1);
