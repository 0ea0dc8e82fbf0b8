/**
 * Three minutes of mixed load through all doors: memory, open files and the time of a turn stay flat after the
 * warm-up. `scripts/test.ts` runs this alone, since it measures; `HERMES_SOAK_SECONDS` makes it shorter or longer.
 */
import { runTorture } from "../../scripts/torture/run.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";

const SECONDS = Number(Deno.env.get("HERMES_SOAK_SECONDS") ?? 180);
const DOORS = ["gateway", "acp", "gateway --ws", "serve"];
/** So many turns a second are few even for a slow machine that is busy. */
const FEWEST = 0.5;

Deno.test("soak: under mixed load through all doors memory, open files and the time of a turn stay flat", async () => {
  const said: string[] = [];
  const say = (text: string) => {
    said.push(text);
    Deno.stdout.writeSync(new TextEncoder().encode(`${text}\n`));
  };
  const nothing = { seed: 1, frames: 0, kills: 0, faults: [], doors: [] };
  assertEquals(await runTorture({ ...nothing, soakSeconds: SECONDS, say }), []);
  for (const [n, door] of DOORS.entries()) {
    assertMatch(said[n]!, new RegExp(`^  ${door}: \\d+ turns, memory \\d+ MiB`), said.join("\n"));
  }
  assert(Number(/: (\d+) done/.exec(said.at(-1)!)?.[1]) > FEWEST * SECONDS, said.join("\n"));
});
