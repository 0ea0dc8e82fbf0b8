import { STRATEGIES } from "@/tools/match_strategies.ts";
import { assertEquals, assertWithin } from "../support/assert.ts";

function find(name: string, content: string, pattern: string): string[] {
  const strategy = STRATEGIES.find((one) => one.name === name)!;
  return strategy.find(content, pattern).map(({ start, end }) => content.slice(start, end));
}

Deno.test("STRATEGIES are tried in the order of core.md B.5", () => {
  assertEquals(STRATEGIES.map(({ name }) => name), [
    "exact",
    "line_trimmed",
    "whitespace_normalized",
    "indentation_flexible",
    "escape_normalized",
    "trimmed_boundary",
    "unicode_normalized",
    "block_anchor",
    "context_aware",
  ]);
});

Deno.test("STRATEGIES each find what their rule says", () => {
  assertEquals(find("exact", "abcabc", "bc"), ["bc", "bc"]);
  assertEquals(find("line_trimmed", "x\n  foo  \n y", "foo\ny"), ["  foo  \n y"]);
  assertEquals(find("whitespace_normalized", "a \t b c", "a b"), ["a \t b"]);
  assertEquals(find("indentation_flexible", "\t\tfoo\n\tbar\n", "  foo\nbar"), ["\t\tfoo\n\tbar"]);
  assertEquals(find("indentation_flexible", "foo  \n", "  foo\n"), []);
  assertEquals(find("escape_normalized", "a\nb", "a\\nb"), ["a\nb"]);
  assertEquals(find("escape_normalized", "ab", "ab"), []);
  assertEquals(find("trimmed_boundary", "  a\n mid\nb  \n", "a\n mid\n b"), ["  a\n mid\nb  "]);
  assertEquals(find("trimmed_boundary", "  a\n mid\nb\n", "a\nmid\nb"), []);
  assertEquals(find("unicode_normalized", "x \u2018y\u2019\u00a0z", "'y' z"), ["\u2018y\u2019\u00a0z"]);
  assertEquals(find("block_anchor", "s\nhello world\ne\n", "s\nhello there\ne"), ["s\nhello world\ne"]);
  assertEquals(find("block_anchor", "s\nhello world\ne\n", "s\nqqq\ne"), []);
  assertEquals(find("context_aware", "abcdefghij\nklmn\nzzz\n", "abcdefghiX\nklmn\nqqq"), [
    "abcdefghij\nklmn\nzzz",
  ]);
});

Deno.test("STRATEGIES never match inside a character that folds to several", () => {
  assertEquals(find("unicode_normalized", "a\u2026b", "a."), []);
});

Deno.test("STRATEGIES find a pattern closed by a line end together with that line end", () => {
  assertEquals(find("line_trimmed", "  a\n  b\nc\n", "a\nb\n"), ["  a\n  b\n"]);
});

Deno.test("STRATEGIES by likeness need three lines of context", () => {
  assertEquals(find("context_aware", "abcdefghij\n", "abcdefghiX"), []);
  assertEquals(find("block_anchor", "a\nb\n", "a\nb"), []);
});

Deno.test("STRATEGIES by likeness are bounded in work", () => {
  const file = Array.from({ length: 4_000 }, (_, i) => `const value${i} = compute(${i}, ${i * 7});`).join(
    "\n",
  );
  const start = performance.now();
  find("context_aware", file, file.slice(0, 3_000).replaceAll("compute", "kompute"));
  assertWithin(performance.now() - start, 5_000);
});
