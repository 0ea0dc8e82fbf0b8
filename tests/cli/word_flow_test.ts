import { assertEquals } from "../support/assert.ts";
import { WordFlow } from "../../src/cli/word_flow.ts";

/** What a terminal shows of it: knows carriage return, cursor right and erase to the end of the line. */
function screen(pieces: readonly string[], columns: number): string[] {
  const flow = new WordFlow(() => columns);
  const lines = [""];
  let at = 0;
  const put = (char: string) => {
    const line = lines.at(-1)!;
    lines[lines.length - 1] = line.slice(0, at) + char + line.slice(at + 1);
    at++;
  };
  for (const piece of pieces) {
    // deno-lint-ignore no-control-regex -- the sequences that the flow writes
    for (const part of flow.push(piece).match(/\x1b\[\d*[CK]|[^]/g) ?? []) {
      if (part === "\n") lines.push(""), at = 0;
      else if (part === "\r") at = 0;
      else if (part.endsWith("C") && part.length > 1) at += Number(part.slice(2, -1));
      else if (part.endsWith("K") && part.length > 1) lines[lines.length - 1] = lines.at(-1)!.slice(0, at);
      else put(part);
    }
  }
  return lines.map((line) => line.trimEnd());
}

Deno.test("WordFlow breaks between words, however the text is cut into pieces", () => {
  const text = "the quick brown fox jumps over a lazy dog and goes home";
  const wanted = ["the quick brown fox", "jumps over a lazy", "dog and goes home"];
  assertEquals(screen([text], 20), wanted);
  assertEquals(screen([...text], 20), wanted);
  assertEquals(screen(text.match(/.{1,3}/g)!, 20), wanted);
});

Deno.test("WordFlow splits only a word longer than a line", () => {
  assertEquals(screen([`ab ${"x".repeat(25)} c`], 20), ["ab", "x".repeat(20), "xxxxx c"]);
});

Deno.test("WordFlow leaves fenced code and line ends alone", () => {
  const code = "a long line of code that goes on";
  assertEquals(screen([`hi\n\`\`\`ts\n${code}\n\`\`\`\nthe quick brown fox jumps`], 20), [
    "hi",
    "```ts",
    code,
    "```",
    "the quick brown fox",
    "jumps",
  ]);
});

Deno.test("WordFlow counts wide characters as two columns", () => {
  assertEquals(screen(["ab 漢字漢字漢字漢字 cd"], 20), ["ab 漢字漢字漢字漢字", "cd"]);
});
