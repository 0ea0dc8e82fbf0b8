/**
 * Edits of texts (FC-16): whatever is asked for, bytes outside of the match stay, line ends stay, a byte order mark
 * and a missing final line end stay, and a refusal is a `ToolError` that changed nothing.
 */
import { ToolError } from "@/tools/args.ts";
import { type Range, STRATEGIES } from "@/tools/match_strategies.ts";
import { replaceText } from "@/tools/replace.ts";
import { decodeText, encodeText, toLf } from "@/tools/text_file.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { fc, holds } from "./support.ts";

/** Few words and many blanks, so that lines resemble each other and every strategy gets its turn. */
const WORDS = [
  "foo",
  "bar",
  "(x)",
  "return",
  "\u201cq\u201d",
  '"q"',
  "'",
  "\\'",
  "\\n",
  "\\t",
  "\u2026",
  "...",
  "\u2014",
  "-",
  "é",
  "x",
  "{",
  "}",
  "$&",
  "$1",
];
const BLANKS = ["", " ", "  ", "\t", "    ", "\u00a0"];
const line = fc.tuple(
  fc.constantFrom(...BLANKS),
  fc.array(fc.constantFrom(...WORDS), { maxLength: 4 }),
  fc.constantFrom(" ", "  ", "\t", ""),
  fc.constantFrom("", "", "", " ", "\t"),
).map(([indent, words, glue, tail]) => indent + words.join(glue) + tail);

const text = (eol: fc.Arbitrary<string>) =>
  fc.tuple(fc.array(fc.tuple(line, eol), { minLength: 1, maxLength: 9 }), fc.boolean()).map((
    [lines, ended],
  ) => lines.map(([line, end], i) => line + (i < lines.length - 1 || ended ? end : "")).join(""));

const mixed = text(fc.constantFrom("\n", "\r\n"));

/** What a model gives as old text: a part of the file, slightly wrong, or something else. */
function askFor(original: string): fc.Arbitrary<string> {
  const lines = toLf(original).split("\n");
  const part = fc.tuple(fc.nat(lines.length - 1), fc.integer({ min: 1, max: 5 })).map(([from, count]) =>
    lines.slice(from, from + count).join("\n")
  );
  const slip = fc.constantFrom<(text: string) => string>(
    (text) => text,
    (text) => text.replaceAll("\n", "\r\n"),
    (text) => text.split("\n").map((line) => line.trim()).join("\n"),
    (text) => text.split("\n").map((line) => `  ${line}`).join("\n"),
    (text) => text.replace(/[ \t]+/g, " "),
    (text) => text.replaceAll("\n", "\\n").replaceAll("\t", "\\t"),
    (text) =>
      text.replaceAll("\u201c", '"').replaceAll("\u201d", '"').replaceAll("\u2026", "...").replaceAll(
        "\u2014",
        "-",
      ),
    (text) => text.replace("foo", "fo"),
    (text) => `${text}\n`,
    (text) => text.slice(1, -1),
  );
  return fc.oneof({ weight: 5, arbitrary: fc.tuple(part, slip, slip).map(([text, a, b]) => b(a(text))) }, {
    weight: 1,
    arbitrary: mixed,
  });
}

const edit = mixed.chain((original) =>
  fc.record({
    original: fc.constant(original),
    old: askFor(original),
    wanted: fc.oneof(mixed, line, fc.constant("")),
    replaceAll: fc.boolean(),
  })
);

/** The result, or `null` for a refusal; anything but a `ToolError` is a fault. */
function tryReplace(original: string, old: string, wanted: string, replaceAll = false) {
  try {
    return replaceText(original, old, wanted, { replaceAll });
  } catch (error) {
    assert(error instanceof ToolError, `threw ${error}`);
    return null;
  }
}

/** Offset in the original of an offset in its LF form; written apart from the code under test. */
function toOriginal(original: string, offset: number): number {
  let at = 0;
  for (let left = offset; left > 0; left--) at += original.startsWith("\r\n", at) ? 2 : 1;
  return at;
}

function rangesOf(original: string, old: string): { ranges: readonly Range[]; byLikeness: boolean } {
  for (const strategy of STRATEGIES) {
    const ranges = strategy.find(toLf(original), toLf(old));
    if (ranges.length > 0) return { ranges, byLikeness: strategy.byLikeness };
  }
  return { ranges: [], byLikeness: false };
}

Deno.test("FC-16: replaceText() keeps every character outside of its matches, whichever way it matches", async () => {
  const seen = new Set<string>();
  await holds(
    fc.property(edit, ({ original, old, wanted, replaceAll }) => {
      const done = tryReplace(original, old, wanted, replaceAll);
      const { ranges, byLikeness } = rangesOf(original, old);
      if (!done) return;
      seen.add(done.strategy);
      assertEquals(done.count, ranges.length);
      assert(ranges.length === 1 || (replaceAll && !byLikeness), "chose between several");
      let rest = done.text;
      let from = 0;
      for (const [i, range] of ranges.entries()) {
        const kept = original.slice(from, toOriginal(original, range.start));
        if (i === 0) assert(rest.startsWith(kept), "the text before the match has changed");
        else assert(rest.includes(kept), "the text between two matches has changed");
        rest = i === 0 ? rest.slice(kept.length) : rest.slice(rest.indexOf(kept) + kept.length);
        from = toOriginal(original, range.end);
      }
      assert(rest.endsWith(original.slice(from)), "the text behind the match has changed");
    }),
    6,
  );
  assertEquals([...seen].sort(), [
    "block_anchor",
    "context_aware",
    "escape_normalized",
    "exact",
    "line_trimmed",
    "unicode_normalized",
    "whitespace_normalized",
  ]);
});

Deno.test("FC-16: a text that is there once is replaced by exactly the new one", async () => {
  const marked = fc.tuple(mixed, mixed, mixed).map(([before, after, wanted]) => ({ before, after, wanted }));
  await holds(fc.property(marked, ({ before, after, wanted }) => {
    const done = tryReplace(`${before}@@here@@${after}`, "@@here@@", wanted);
    assert(done !== null && done.strategy === "exact");
    assert(done.text.startsWith(before) && done.text.endsWith(after));
    assertEquals(toLf(done.text.slice(before.length, done.text.length - after.length)), toLf(wanted));
  }));
});

Deno.test("FC-16: an edit of a file with one kind of line end leaves no other kind", async () => {
  for (const eol of ["\n", "\r\n"]) {
    const whole = text(fc.constant(eol)).filter((original) => original.includes(eol)).chain((original) =>
      fc.record({ original: fc.constant(original), old: askFor(original), wanted: mixed })
    );
    await holds(
      fc.property(whole, ({ original, old, wanted }) => {
        const done = tryReplace(original, old, wanted);
        if (!done) return;
        assertEquals(new Set(done.text.match(/\r?\n/g)).size <= 1, true);
        for (const end of done.text.match(/\r?\n/g) ?? []) assertEquals(end, eol);
      }),
      3,
    );
  }
});

Deno.test("FC-16: encodeText() of decodeText() is the same bytes, with any mark and any bytes", async () => {
  const bom = fc.constantFrom([], [0xef, 0xbb, 0xbf], [0xff, 0xfe], [0xfe, 0xff]);
  const body = fc.oneof(
    fc.uint8Array({ maxLength: 60 }),
    mixed.map((text) => new TextEncoder().encode(text)),
  );
  await holds(
    fc.property(bom, body, (bom, body) => {
      const bytes = Uint8Array.from([...bom, ...body]);
      const file = decodeText(bytes);
      if (file === null) return;
      assertEquals([...encodeText(file.text, file)], [...bytes]);
    }),
    3,
  );
});
