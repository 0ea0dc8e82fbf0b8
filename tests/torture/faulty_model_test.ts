/** A model that fails in every phase, on every surface: a bounded end, told as what it is, and the next turn works. */
import { FAULTS } from "../../scripts/torture/faults.ts";
import { Judge } from "../../scripts/torture/judge.ts";
import { SURFACES } from "../../scripts/torture/benches.ts";
import { tryFaults } from "../../scripts/torture/try_faults.ts";
import { assertEquals } from "../support/assert.ts";

/** One of every kind; `deno task torture` plays all of them. */
const TABLE = [
  "stall before the head",
  "stall inside the text",
  "close before the head",
  "reset once",
  "reset inside the text",
  "half a chunk",
  "html with 200",
  "401 for ever",
  "503 for ever",
  "a deep error",
  "events of wrong types",
  "endless text",
  "slow bytes",
  "10 MB of arguments",
  "deep arguments",
  "arguments that are no JSON",
  "repeated ids",
];
/** Programs for each surface, so that the waits of the faults go by at the same time. */
const PROGRAMS = 4;

Deno.test("FC-04, torture: a model that fails in any phase ends no more than its turn, on every surface", async () => {
  const faults = FAULTS.filter(({ name }) => TABLE.includes(name));
  assertEquals(faults.map(({ name }) => name), TABLE);
  const findings = await Promise.all(
    SURFACES.flatMap((surface) =>
      Array.from({ length: PROGRAMS }, async (_, program) => {
        const judge = new Judge(surface);
        await tryFaults(surface, faults.filter((_, n) => n % PROGRAMS === program), judge);
        return judge.findings;
      })
    ),
  );
  assertEquals(findings.flat(), []);
});
