/** The short form of `deno task torture` against the program; the long form is run by hand with larger numbers. */
import { DOORS, runTorture } from "../../scripts/torture/run.ts";
import { assertEquals } from "../support/assert.ts";

/** Faults that end without waiting for a time limit. */
const QUICK_FAULTS = [
  "reset once",
  "a deep error",
  "events of wrong types",
  "deep arguments",
  "arguments that are no JSON",
  "a deep list in a text",
  "repeated ids",
];

for (const door of DOORS) {
  Deno.test(`torture: ${door} stands bad frames, kills and a faulty model`, async () => {
    const said: string[] = [];
    const findings = await runTorture({
      seed: 1,
      frames: 150,
      kills: 4,
      faults: QUICK_FAULTS,
      doors: [door],
      say: (text) => said.push(text),
    });
    assertEquals(findings, []);
    assertEquals(said.map((text) => /: (\d+) done/.exec(text)?.[1]), ["150", "4", `${QUICK_FAULTS.length}`]);
  });
}
