import { assertEquals } from "../../support/assert.ts";
import {
  fenced,
  findReferences,
  mayRefer,
  quoteValue,
} from "../../../src/protocols/gateway/reference_text.ts";

const shown = (text: string) => findReferences(text).map((one) => [one.kind, one.value, one.lines ?? null]);

Deno.test("findReferences() reads bare and quoted names, ranges, and what stands alone", () => {
  assertEquals(shown("see @file:src/a.ts, and @folder:src."), [["file", "src/a.ts", null], [
    "folder",
    "src",
    null,
  ]]);
  assertEquals(shown("(@file:a.ts:10-20) @file:b.ts:7"), [["file", "a.ts", [10, 20]], ["file", "b.ts", [
    7,
    7,
  ]]]);
  assertEquals(shown("@file:\"my file.md\":x @file:`b c` @folder:'d e'"), [
    ["file", "my file.md", null],
    ["file", "b c", null],
    ["folder", "d e", null],
  ]);
  assertEquals(shown("@diff and @staged, @git:3 @url:https://a.example/x?y=1"), [
    ["diff", "", null],
    ["staged", "", null],
    ["git", "3", null],
    ["url", "https://a.example/x?y=1", null],
  ]);
});

Deno.test("findReferences() leaves addresses and other words alone, and takes each only once", () => {
  for (
    const text of ["me@diff.example", "a/@file:x", "@@file:x", "@diffs", "@diff-tool", "@file:", "@stagedx"]
  ) {
    assertEquals(shown(text), [], text);
  }
  assertEquals(shown("@file:a @file:a. @file:b").length, 2);
  assertEquals(findReferences("look at @file:a.ts.")[0]?.shown, "@file:a.ts");
  assertEquals(mayRefer("nothing @here"), false);
});

Deno.test("fenced() cannot be ended by what it holds", () => {
  assertEquals(fenced("x\n", "ts"), "```ts\nx\n```");
  assertEquals(fenced("````\n"), "`````\n````\n`````");
});

Deno.test("findReferences() keeps dots that are a folder, and drops those that end a sentence", () => {
  assertEquals(shown("@folder:.. @folder:. @folder:../.., and @file:a.ts. @folder:src/."), [
    ["folder", "..", null],
    ["folder", ".", null],
    ["folder", "../..", null],
    ["file", "a.ts", null],
    ["folder", "src/.", null],
  ]);
});

Deno.test("quoteValue() writes a path so that findReferences() reads it whole", () => {
  for (const path of ["a.ts", "two words.md", "end.", "(x)", 'a"b c', "it's one", "src/", "größe.txt"]) {
    assertEquals(shown(`see @file:${quoteValue(path)} there`), [["file", path, null]]);
  }
  assertEquals(quoteValue("plain/path.ts"), "plain/path.ts");
});
