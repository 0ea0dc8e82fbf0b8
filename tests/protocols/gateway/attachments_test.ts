import { assertEquals } from "../../support/assert.ts";
import { looksLikePath, splitDropped } from "../../../src/protocols/gateway/dropped_path.ts";
import { isImagePath, sizeOf } from "../../../src/protocols/gateway/image_files.ts";
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

Deno.test("sizeOf() reads the head of each format, and none from anything else", () => {
  const bytes = (text: string, length = 40) => {
    const all = new Uint8Array(length);
    all.set([...text].map((c) => c.charCodeAt(0)));
    return all;
  };
  const png = bytes("\x89PNG\r\n\x1a\n");
  png.set([0, 0, 2, 1, 0, 0, 0, 3], 16);
  assertEquals(sizeOf(png), [513, 3]);
  const gif = bytes("GIF89a");
  gif.set([1, 2, 3, 0], 6);
  assertEquals(sizeOf(gif), [513, 3]);
  const bmp = bytes("BM");
  bmp.set([5, 0, 0, 0, 0xfa, 0xff, 0xff, 0xff], 18);
  assertEquals(sizeOf(bmp), [5, 6]);
  const webp = bytes("RIFF....WEBPVP8X");
  webp.set([9, 0, 0, 1, 1, 0], 24);
  assertEquals(sizeOf(webp), [10, 258]);
  const lossless = bytes("RIFF....WEBPVP8L");
  lossless.set([0x2f, 0x04, 0x80, 0x02, 0x00], 20);
  assertEquals(sizeOf(lossless), [5, 11]);
  const jpeg = bytes("\xff\xd8\xff\xe0\x00\x04..\xff\xc0\x00\x11\x08");
  jpeg.set([0, 7, 1, 0], 13);
  assertEquals(sizeOf(jpeg), [256, 7]);
  assertEquals([sizeOf(bytes("nonsense")), sizeOf(new Uint8Array(3))], [null, null]);
  assertEquals(["a.PNG", "b.jpeg", "c.svg", "d"].map(isImagePath), [true, true, false, false]);
});

Deno.test("rankFiles() puts exact names first, then prefixes, words, substrings, subsequences", () => {
  const files = ["lib/rails.ts", "src/my-ai.ts", "plain.ts", "ai", "air.ts", "zzz"];
  assertEquals(rankFiles(files, "ai"), ["ai", "air.ts", "src/my-ai.ts", "plain.ts", "lib/rails.ts"]);
  assertEquals(rankFiles(files, "lrs"), ["lib/rails.ts"]);
  assertEquals(rankFiles(Array.from({ length: 99 }, (_, n) => `f${n}`), "f").length, 30);
});
