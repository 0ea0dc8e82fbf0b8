import { assertEquals } from "../../support/assert.ts";
import { looksLikePath, splitDropped } from "../../../src/protocols/gateway/dropped_path.ts";
import { isImagePath } from "../../../src/protocols/gateway/image_files.ts";
import { rankFiles } from "../../../src/protocols/gateway/methods/complete_path.ts";

Deno.test("splitDropped() takes bare, quoted, escaped and file:// paths, and leaves the text behind them", () => {
  const split = (text: string) => {
    const found = splitDropped(text, "/home/me");
    return found && [found.path, found.remainder];
  };
  assertEquals(split("  "), null);
  assertEquals(split("/a/b.png"), ["/a/b.png", ""]);
  assertEquals(split("/a/b.png  what is it?\nreally"), ["/a/b.png", "what is it?\nreally"]);
  assertEquals(split("'/a b/c.png' x"), ["/a b/c.png", "x"]);
  assertEquals(split('"/a b/c.png"'), ["/a b/c.png", ""]);
  assertEquals(split("/a\\ b/c.png x"), ["/a b/c.png", "x"]);
  assertEquals(split("file:///a%20b/c.png x"), ["/a b/c.png", "x"]);
  assertEquals(split("file:///%zz x"), ["file:///%zz", "x"]);
  assertEquals(split("~/c.png"), ["/home/me/c.png", ""]);
});

Deno.test("looksLikePath() is true for what can be nothing else", () => {
  for (const text of ["/a", "~/a", "./a", "../a", "file:///a", "'/a b'", "C:\\a"]) {
    assertEquals(looksLikePath(text), true, text);
  }
  for (const text of ["hello", "a/b", "~", "", "?"]) assertEquals(looksLikePath(text), false, text);
});

Deno.test("isImagePath() goes by the ending", () => {
  assertEquals(["a.PNG", "b.jpeg", "c.svg", "d"].map(isImagePath), [true, true, false, false]);
});

Deno.test("rankFiles() puts exact names first, then prefixes, words, substrings, subsequences", () => {
  const files = ["lib/rails.ts", "src/my-ai.ts", "plain.ts", "ai", "air.ts", "zzz"];
  assertEquals(rankFiles(files, "ai"), ["ai", "air.ts", "src/my-ai.ts", "plain.ts", "lib/rails.ts"]);
  assertEquals(rankFiles(files, "lrs"), ["lib/rails.ts"]);
  assertEquals(rankFiles(Array.from({ length: 99 }, (_, n) => `f${n}`), "f").length, 30);
});
