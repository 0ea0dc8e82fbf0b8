/** What a person is told about an error: advice only where it helps. */
import { HermesError } from "@/core/contract.ts";
import { describeError } from "@/cli/errors.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("a refused value is followed by a word on the schema, a refused file is not", () => {
  const value = new HermesError("config_invalid", "Cannot set a.b: wanted a number", { key: "a.b" });
  assertEquals(describeError(value, "config").lines, [
    "hermes: Cannot set a.b: wanted a number",
    "  try: hermes config schema says what each key takes",
  ]);
  const settled = new HermesError("config_invalid", "a.b is settled", { key: "a.b", path: "/etc/x" });
  assertEquals(describeError(settled, "config").lines, ["hermes: a.b is settled"]);
  assertEquals([value, settled].map((error) => describeError(error, "config").exitCode), [2, 1]);
});
