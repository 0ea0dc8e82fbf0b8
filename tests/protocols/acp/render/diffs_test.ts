/** Diffs of large files stay below what clients read in one line (acp.md A5, B3, C7). */
import { diffContents } from "../../../../src/protocols/acp/render/diffs.ts";
import { assert, assertEquals } from "../../../support/assert.ts";

const MAX = 4 * 1024 * 1024;

// deno-lint-ignore no-explicit-any
function shown(...edits: { path: string; oldText: string | null; newText: string | null }[]): any[] {
  return diffContents(edits);
}

function lines(count: number, change: Record<number, string> = {}): string {
  return Array.from({ length: count }, (_, n) => change[n + 1] ?? `line ${n + 1} of the file`).join("\n") +
    "\n";
}

Deno.test("diffContents() shows texts in whole up to 4 MiB together", () => {
  const half = "x".repeat(MAX / 2);
  assertEquals(shown({ path: "/a", oldText: half, newText: half }), [
    { type: "diff", path: "/a", oldText: half, newText: half },
  ]);
  assertEquals(shown({ path: "/a", oldText: "gone", newText: null }), [
    { type: "diff", path: "/a", oldText: "gone", newText: "" },
  ]);
});

Deno.test("diffContents() shows of a larger file the lines that change and twenty around them", () => {
  const count = 150_000;
  const [note, diff] = shown(
    { path: "/a", oldText: lines(count), newText: lines(count, { 100: "CHANGED" }) },
    { path: "/b", oldText: null, newText: "new" },
  );
  assertEquals(
    note.content.text,
    "Too large to be shown in whole. Shown is the part that changes:\n" +
      "/a: from line 80 on\n/b: from line 1 on",
  );
  const around = (changed: string) =>
    Array.from({ length: 41 }, (_, n) => n === 20 ? changed : `line ${n + 80} of the file`).join("\n") + "\n";
  assertEquals(diff, {
    type: "diff",
    path: "/a",
    oldText: around("line 100 of the file"),
    newText: around("CHANGED"),
  });
});

Deno.test("diffContents() finds a change at the beginning, at the end, and in a line without end", () => {
  const long = lines(150_000);
  for (
    const [oldText, newText, line] of [
      [long, "first\n" + long, 1],
      [long, long + "last\n", 149_981],
      ["x".repeat(MAX), "x".repeat(MAX - 1) + "y", 1],
      ["\u{1F600}".repeat(MAX), "\u{1F600}".repeat(MAX / 2) + "\u{1F601}" + "\u{1F600}".repeat(MAX / 2), 1],
    ] as const
  ) {
    const [note, diff] = shown({ path: "/a", oldText, newText });
    assert(note.content.text.endsWith(`/a: from line ${line} on`), note.content.text);
    assert(diff.oldText.length < 20_000 && diff.newText.length < 20_000);
    assert(diff.oldText !== diff.newText && oldText.includes(diff.oldText) && newText.includes(diff.newText));
    assert(diff.oldText.isWellFormed() && diff.newText.isWellFormed());
  }
});

Deno.test("diffContents() cuts what is all new, and says so", () => {
  const [note, diff] = shown({ path: "/a", oldText: null, newText: "y".repeat(MAX + 1) });
  assertEquals(note.content.text.split("\n")[1], "/a: from line 1 on, cut");
  assertEquals(
    [diff.oldText, diff.newText],
    [null, `${"y".repeat(MAX / 2)}\n… (cut, ${MAX + 1} characters in all)`],
  );
});
