/** What `/compress` and `session.compress` understand (core H.2, tui-gateway D.2), and what they tell. */
import { describePlan, describeWish, parseCompression } from "../../src/commands/mod.ts";
import { HermesError } from "../../src/core/mod.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("core H.2: nothing, a topic, here with and without a number, --preview with each of them", () => {
  const cases: readonly (readonly [string, ReturnType<typeof parseCompression>])[] = [
    ["", { preview: false }],
    ["  the  auth part ", { preview: false, focus: "the  auth part" }],
    ["well-known -v flags", { preview: false, focus: "well-known -v flags" }],
    ["where it is", { preview: false, focus: "where it is" }],
    ["here", { preview: false, keepTurns: 1 }],
    ["HERE 3", { preview: false, keepTurns: 3 }],
    ["--preview", { preview: true }],
    ["—Preview", { preview: true }],
    ["--preview here 2", { preview: true, keepTurns: 2 }],
    ["here 12 --preview", { preview: true, keepTurns: 12 }],
    ["auth --preview part", { preview: true, focus: "auth part" }],
  ];
  for (const [args, wish] of cases) assertEquals(parseCompression(args), wish, args);
});

Deno.test("core H.2: an unknown option and a here without its number are refused with what is possible", () => {
  const possible =
    "use a topic, here, here 3 (keeps your last 3 turns) or --preview (shows what would happen)";
  const refused = (args: string) => {
    try {
      return parseCompression(args);
    } catch (error) {
      return error instanceof HermesError ? [error.code, error.message] : error;
    }
  };
  const cases = [
    ["--dry-run", "/compress has no option --dry-run"],
    ["auth --previw", "/compress has no option --previw"],
    ["–dry", "/compress has no option --dry"],
    ["-preview", "/compress has no option -preview"],
    ["--preview --all", "/compress has no option --all"],
    ["here 0", '"0" is no number of turns'],
    ["here -1", '"-1" is no number of turns'],
    ["here 1.5", '"1.5" is no number of turns'],
    ["here 2 3", '"2 3" is no number of turns'],
    ["here the auth part", '"the auth part" is no number of turns'],
  ] as const;
  for (const [args, why] of cases) {
    assertEquals(refused(args), ["invalid_argument", `${why}: ${possible}`], args);
  }
});

Deno.test("the wish and the plan of a compression are told in words", () => {
  assertEquals(
    [{ focus: "x" }, { keepTurns: 1 }, { keepTurns: 4 }, {}].map((wish) =>
      describeWish({ preview: false, ...wish })
    ),
    ["Focus: x", "Kept: your last turn", "Kept: your last 4 turns", null],
  );
  const plan = { before: { messages: 16, tokens: 9 }, after: { messages: 6, tokens: 5 } };
  assertEquals(
    describePlan({ ...plan, kept: { first: 3, last: 2 }, summarised: { messages: 11, tokens: 12_345 } }),
    "Summarised: 11 messages, about 12,345 tokens. Kept word for word: the first 3 and the last 2 messages.",
  );
  assertEquals(
    describePlan({ ...plan, kept: { first: 0, last: 1 }, summarised: { messages: 1, tokens: 7 } }),
    "Summarised: 1 message, about 7 tokens. Kept word for word: the last 1 message.",
  );
});
