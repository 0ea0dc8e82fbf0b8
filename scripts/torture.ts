/**
 * `deno task torture`: attacks the compiled program with bad frames, kills, a faulty model, a failing disk and bad
 * clients, the same way for the same seed. Findings go to stdout as JSON, one a line; progress to stderr. Exit code 1
 * when anything was found. The bare command takes a few minutes; `--long` takes 100,000 frames, 500 kills, a lock of
 * one minute and an hour of mixed load.
 *
 *   deno task torture [--long] [--seed n] [--frames n] [--ws-frames n] [--door acp|gateway|api|none]…
 *     [--kills n] [--aimed-kills n] [--fault none|NAME]… [--lock seconds] [--no-storm] [--soak seconds] [--binary FILE]
 */
import { parseArgs } from "node:util";
import type { Finding } from "./torture/judge.ts";
import { DOORS, runTorture } from "./torture/run.ts";

const { values } = parseArgs({
  args: Deno.args,
  options: {
    seed: { type: "string", default: "1" },
    long: { type: "boolean", default: false },
    frames: { type: "string" },
    "ws-frames": { type: "string" },
    kills: { type: "string" },
    "aimed-kills": { type: "string" },
    lock: { type: "string" },
    "no-storm": { type: "boolean", default: false },
    soak: { type: "string" },
    fault: { type: "string", multiple: true },
    door: { type: "string", multiple: true },
    binary: { type: "string" },
  },
});
const built = new URL("../dist/hermes", import.meta.url).pathname;
const binary = values.binary ?? Deno.env.get("HERMES_BIN") ?? built;
if (await Deno.stat(binary).then((stat) => stat.isFile, () => false)) {
  Deno.env.set("HERMES_BIN", await Deno.realPath(binary));
} else {throw new Error(
    `There is no program at ${binary}: build it with "deno task build", or name it with --binary`,
  );}

function write(to: typeof Deno.stdout | typeof Deno.stderr, text: string): void {
  const bytes = new TextEncoder().encode(`${text}\n`);
  for (let at = 0; at < bytes.length;) at += to.writeSync(bytes.subarray(at));
}

/** The number that was asked for, else that of the short or the long form. */
function sized(asked: string | undefined, short: number, long: number): number {
  return asked === undefined ? (values.long ? long : short) : Number(asked);
}

const findings: readonly Finding[] = await runTorture({
  seed: Number(values.seed),
  // Per door; the four ways in make 100,000 frames, the three doors and the aims 500 kills.
  frames: sized(values.frames, 600, 25_000),
  wsFrames: sized(values["ws-frames"], 200, 25_000),
  kills: sized(values.kills, 6, 130),
  aimedKills: sized(values["aimed-kills"], 4, 110),
  lockMs: 1_000 * sized(values.lock, 3, 60),
  storm: !values["no-storm"],
  soakSeconds: sized(values.soak, 30, 3_600),
  ...(values.fault ? { faults: values.fault.filter((name) => name !== "none") } : {}),
  doors: DOORS.filter((door) => values.door?.includes(door) ?? true),
  say: (text) => write(Deno.stderr, text),
});
for (const finding of findings) write(Deno.stdout, JSON.stringify(finding));
Deno.exit(findings.length === 0 ? 0 : 1);
