import { assertEquals } from "../support/assert.ts";
import { createPaint } from "@/cli/paint.ts";
import { editLines, seconds, summarize } from "@/cli/tool_lines.ts";

const PLAIN = createPaint(false);

Deno.test("summarize() finds the words that matter in a tool's result", () => {
  assertEquals(summarize('{"error":"no such file\\nmore"}', true), "no such file");
  assertEquals(summarize('{"output":"a\\nb\\n","exit_code":2}', false), "exit 2, 2 lines");
  assertEquals(summarize('{"output":"one","exit_code":0}', false), "one");
  assertEquals(summarize("plain text\nrest", false), "plain text");
});

Deno.test("seconds() reads well at every length", () => {
  assertEquals([0.2, 480, 1_240, 61_000].map(seconds), ["1 ms", "480 ms", "1.2 s", "1 min 1 s"]);
});

Deno.test("editLines() shows counts and changed lines, and how many it left out", () => {
  const edit = { path: "/w/a.txt", oldText: "a\nb\nc\n", newText: "a\nx\ny\n" };
  assertEquals(editLines(edit, PLAIN, 80, 3), [
    "  /w/a.txt +2 -2",
    "    - b",
    "    - c",
    "    + x",
    "    … 1 more changed lines",
  ]);
});

Deno.test("editLines() takes escape sequences out of file contents", () => {
  const edit = { path: "/w/a", oldText: null, newText: "\x1b]0;x\x07hi" };
  assertEquals(editLines(edit, PLAIN, 80, 3), ["  /w/a (new file) +1 -0", "    + hi"]);
});
