/** Keys and pastes at a prompt. */
import { PastedTexts, PasteSplitter, showMarks, withNewLineKeys } from "@/cli/pasted.ts";
import { assertEquals } from "../support/assert.ts";

function split(...chunks: string[]): [string, string][] {
  const splitter = new PasteSplitter();
  const pieces = chunks.flatMap((chunk) => splitter.push(chunk));
  return [...pieces, ...splitter.release()].map(({ type, text }) => [type, text]);
}

Deno.test("PasteSplitter tells pastes from keys, wherever the chunks are torn", () => {
  const input = "ab\x1b[200~one\rtwo\x1b[201~c\x1b[D\x1b[200~x\x1b[201~";
  const whole = [["keys", "ab"], ["paste", "one\rtwo"], ["keys", "c\x1b[D"], ["paste", "x"]];
  assertEquals(split(input), whole);
  for (let at = 1; at < input.length; at++) {
    const joined: string[][] = [];
    for (const [type, text] of split(input.slice(0, at), input.slice(at))) {
      if (joined.at(-1)?.[0] === type) joined.at(-1)![1] += text;
      else joined.push([type, text]);
    }
    assertEquals(joined, whole);
  }
});

Deno.test("PasteSplitter holds a lone Escape only until it is released", () => {
  const splitter = new PasteSplitter();
  assertEquals(splitter.push("\x1b"), []);
  assertEquals(splitter.isUndecided, true);
  assertEquals(splitter.release(), [{ type: "keys", text: "\x1b" }]);
  assertEquals([splitter.isUndecided, splitter.release()], [false, []]);
});

Deno.test("PasteSplitter gives nothing of a paste before its end, and release() leaves it whole", () => {
  const splitter = new PasteSplitter();
  assertEquals(splitter.push("\x1b[200~once\r"), []);
  assertEquals(splitter.release(), []);
  assertEquals(splitter.push("\x1b[201~"), [{ type: "paste", text: "once\r" }]);
});

Deno.test("PastedTexts brings short texts back as they were, without their last line end and without controls", () => {
  const texts = new PastedTexts();
  const line = texts.toLine("a\r\n\x1b[31mb\x1b[0m\rc\n");
  assertEquals([line.includes("\n"), showMarks(line), texts.toText(line)], [false, "a⏎b⏎c", "a\nb\nc"]);
});

Deno.test("PastedTexts shows a long text as a note and gives it back, $ signs included", () => {
  const texts = new PastedTexts();
  const long = Array.from({ length: 20 }, (_, i) => `$& ${i}`).join("\n");
  const [first, second] = [texts.toLine(long), texts.toLine("x".repeat(5000))];
  assertEquals([first, second], ["[pasted 1: 20 lines]", "[pasted 2: 5000 characters]"]);
  assertEquals(texts.toText(`a ${first} b ${second}`), `a ${long} b ${"x".repeat(5000)}`);
});

Deno.test("withNewLineKeys makes a line end of Alt-Enter and leaves Enter alone", () => {
  const texts = new PastedTexts();
  assertEquals(texts.toText(withNewLineKeys("a\x1b\rb\x1b[13;2uc\r")), "a\nb\nc\r");
});
