/** The short form of `deno task torture` against the program; the long form is run by hand with larger numbers. */
import { DOORS, runTorture } from "../../scripts/torture/run.ts";
import { assertEquals } from "../support/assert.ts";

for (const door of DOORS) {
  Deno.test(`torture: ${door} stands bad frames and kills`, async () => {
    const said: string[] = [];
    const findings = await runTorture({
      seed: 1,
      frames: 120,
      kills: 3,
      faults: [],
      doors: [door],
      say: (text) => said.push(text),
    });
    assertEquals(findings, []);
    assertEquals(said.map((text) => /: (\d+) done/.exec(text)?.[1]), ["120", "3"]);
  });
}

/** What each attack says of itself when it has been made. */
const MORE = [
  { name: "bad messages and bytes on sockets", plan: { wsFrames: 80 }, done: "80" },
  { name: "kills in compressions, rewinds, approvals and journals", plan: { aimedKills: 4 }, done: "4" },
  { name: "a failing disk and other programs in the home", plan: { lockMs: 1_500 }, done: "12" },
  { name: "a storm of bad clients", plan: { storm: true }, done: "12" },
] as const;

const NOTHING = { seed: 1, frames: 0, kills: 0, faults: [], doors: [] };

for (const { name, plan, done } of MORE) {
  Deno.test(`torture: the program stands ${name}`, async () => {
    const said: string[] = [];
    const findings = await runTorture({ ...NOTHING, ...plan, say: (text) => said.push(text) });
    assertEquals(findings, []);
    assertEquals(/: (\d+) done/.exec(said.at(-1) ?? "")?.[1], done);
  });
}
