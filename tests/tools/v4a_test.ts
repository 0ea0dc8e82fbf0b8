import { applyHunks } from "@/tools/v4a_apply.ts";
import { parsePatch, pathsInPatch } from "@/tools/v4a_parse.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";

function hunksOf(body: string) {
  const [operation] = parsePatch(`*** Begin Patch\n*** Update File: f\n${body}\n*** End Patch`);
  return operation!.type === "update" ? operation!.hunks : [];
}

function apply(text: string, body: string): string {
  return applyHunks(text, hunksOf(body)).text;
}

Deno.test("parsePatch() reads all four operations, with and without the envelope", () => {
  const body = [
    "***Update File: a.txt",
    "@@ hint @@",
    " ctx",
    "-old",
    "+new",
    "\\ No newline at end of file",
    "bare",
    "*** Add File: b.txt",
    "+one",
    "+",
    "+two",
    "*** Delete File: c.txt",
    "*** Move File: d.txt -> sub/e.txt",
  ].join("\n");
  const expected = [
    {
      type: "update" as const,
      path: "a.txt",
      hunks: [{
        hint: "hint",
        lines: [
          { kind: " " as const, text: "ctx" },
          { kind: "-" as const, text: "old" },
          { kind: "+" as const, text: "new" },
          { kind: " " as const, text: "bare" },
        ],
      }],
    },
    { type: "add" as const, path: "b.txt", text: "one\n\ntwo\n" },
    { type: "delete" as const, path: "c.txt" },
    { type: "move" as const, path: "d.txt", to: "sub/e.txt" },
  ];
  assertEquals(parsePatch(body), expected);
  assertEquals(
    parsePatch(`*** Begin Patch\r\n${body.replaceAll("\n", "\r\n")}\r\n*** End Patch\r\n`),
    expected,
  );
  assertEquals(pathsInPatch(body), ["a.txt", "b.txt", "c.txt", "d.txt", "sub/e.txt"]);
});

Deno.test("parsePatch() refuses what it would have to guess", () => {
  assertThrows(() => parsePatch(""), /no operations/);
  assertThrows(() => parsePatch("hello\n"), /belongs to no file/);
  assertThrows(() => parsePatch("*** Update File: ../x\n"), /contains '\.\.'/);
  assertThrows(() => parsePatch("*** Move File: a\n"), /'<path> -> <path>'/);
  assertThrows(() => parsePatch("*** Add File: a\nnot added\n"), /line without '\+'/);
  assertThrows(() => parsePatch("*** Delete File: \n"), /has no path/);
});

Deno.test("applyHunks() changes lines, keeps the rest and its line ends", () => {
  assertEquals(apply("a\r\nb\r\nc", "@@\n a\n-b\n+B\n c"), "a\r\nB\r\nc");
  assertEquals(apply("a\nb\nc\n", "-b"), "a\nc\n");
  assertEquals(apply("a\nb", "-b"), "a\n");
  assertEquals(apply("a\nb\n", " a\n+x\n b"), "a\nx\nb\n");
});

Deno.test("applyHunks() uses the hint to tell equal places apart", () => {
  const far = "-\n".repeat(2_000);
  const file = `class A\n  x = 1\n${far}class B\n  x = 1\n`;
  assertEquals(
    apply(file, "@@ class B @@\n-  x = 1\n+  x = 2"),
    `class A\n  x = 1\n${far}class B\n  x = 2\n`,
  );
  assertThrows(() => apply(file, "@@\n-  x = 1\n+  x = 2"), /hunk 1: Found 2 matches/);
});

Deno.test("applyHunks() puts additions behind their hint, else at the end", () => {
  assertEquals(apply("a\nb\n", "@@ a @@\n+x"), "a\nx\nb\n");
  assertEquals(apply("a\nb\n", "@@\n+x"), "a\nb\nx\n");
  assertEquals(apply("a\r\nb", "@@\n+x"), "a\r\nb\r\nx");
  assertThrows(() => apply("a\na\n", "@@ a @@\n+x"), /ambiguous: found 2 matches/);
  assertThrows(() => apply("a\n", "@@ q @@\n+x"), /Could not find the hint/);
});

Deno.test("applyHunks() takes a hunk of context only as doing nothing", () => {
  assertEquals(applyHunks("a\nb\n", hunksOf("@@\n a\n b")), { text: "a\nb\n", changed: 0 });
});
