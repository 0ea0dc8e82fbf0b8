/** What a person is told about an error: advice only where it helps. */
import { UsageError } from "@/cli/args.ts";
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

Deno.test("C.9: a key that stood in the wrong place is masked; words about keys are not", () => {
  const secret = "sk-or-v1-aaaabbbbccccdddd1111";
  for (
    const error of [
      new UsageError(`unexpected argument "${secret}"`),
      new HermesError("session_not_found", `no stored session has the title "${secret}"`),
    ]
  ) {
    const told = describeError(error, "auth");
    assertEquals([...told.lines, told.message].filter((text) => text.includes(secret)), []);
  }
  const words = new HermesError("config_invalid", "Cannot set model.api_key: wanted a text, got 5");
  assertEquals(describeError(words, "config").message, "Cannot set model.api_key: wanted a text, got 5");
});
