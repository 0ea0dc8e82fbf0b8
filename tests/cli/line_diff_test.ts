import { assertEquals } from "../support/assert.ts";
import { diffLines } from "@/cli/line_diff.ts";

const shown = (a: string, b: string) => diffLines(a, b).map((line) => line.kind + line.text);

Deno.test("diffLines() shows a changed line between its neighbours", () => {
  assertEquals(shown("a\nb\nc\n", "a\nx\nc\n"), [" a", "-b", "+x", " c"]);
});

Deno.test("diffLines() shows a new and a deleted file", () => {
  assertEquals(shown("", "a\nb\n"), ["+a", "+b"]);
  assertEquals(shown("a\nb\n", ""), ["-a", "-b"]);
});

Deno.test("diffLines() keeps common lines in the middle", () => {
  assertEquals(shown("a\nb\nc\nd\n", "x\nb\ny\nd\n"), ["-a", "+x", " b", "-c", "+y", " d"]);
});

Deno.test("diffLines() of equal texts has no change", () => {
  assertEquals(shown("a\nb", "a\nb"), [" a", " b"]);
});

Deno.test("diffLines() shows a huge middle as one block, in bounded time", () => {
  const lines = (mark: string) => Array.from({ length: 2_000 }, (_, i) => `${mark}${i}`).join("\n");
  const diff = diffLines(lines("a"), lines("b"));
  assertEquals(diff.length, 4_000);
  assertEquals([diff[0]!.kind, diff.at(-1)!.kind], ["-", "+"]);
});
