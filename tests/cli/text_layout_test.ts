import { assertEquals } from "../support/assert.ts";
import { cut, pad, table, widthOf, withoutControls, wrap, wrapIndented } from "@/cli/text_layout.ts";

Deno.test("widthOf() counts columns: wide characters two, colours and combining marks none", () => {
  assertEquals(widthOf("abc"), 3);
  assertEquals(widthOf("日本"), 4);
  assertEquals(widthOf("\x1b[31mred\x1b[39m"), 3);
  assertEquals(widthOf("e\u0301"), 1);
});

Deno.test("cut() keeps what fits and marks what it takes away", () => {
  assertEquals(cut("hello", 5), "hello");
  assertEquals(cut("hello world", 6), "hello…");
  assertEquals(cut("a\n b", 9), "a b");
  assertEquals(cut("日本語", 4), "日…");
});

Deno.test("wrap() breaks at spaces, keeps empty lines and splits words that are too long", () => {
  assertEquals(wrap("one two three", 7), ["one two", "three"]);
  assertEquals(wrap("a\n\nb", 5), ["a", "", "b"]);
  assertEquals(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
});

Deno.test("pad() and table() align columns whatever their colours", () => {
  assertEquals(pad("\x1b[1mab\x1b[22m", 4), "\x1b[1mab\x1b[22m  ");
  assertEquals(table([["a", "one"], ["bbb", "two"]], 40), ["a    one", "bbb  two"]);
});

Deno.test("withoutControls() takes escape sequences and control characters out of foreign text", () => {
  assertEquals(withoutControls("a\x1b[2Jb\x07c\td\r\ne"), "abc\td\ne");
  assertEquals(withoutControls("\x1b[31mred\x1b[0m"), "red");
  assertEquals(withoutControls("\x1b]0;title\x07x\x1bMy\x9b"), "xy");
});

Deno.test("wrapIndented() keeps how far a line stands in, and hangs what follows", () => {
  assertEquals(wrapIndented("  one two three\nshort\n\n", 9), "  one two\n  three\nshort\n\n");
  assertEquals(wrapIndented("one two three", 7, 2), "one two\n  three");
  assertEquals(wrapIndented("key  one two three", 13, 5), "key  one two\n     three");
});
