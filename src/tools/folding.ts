/**
 * Texts folded for comparison, with a way back: each character of the folded text knows where it came from, so a
 * match in the folded text is a range of the real one.
 */

export interface Folded {
  readonly text: string;
  /** For each character of `text` and its end: the offset in the source. */
  readonly from: readonly number[];
}

const UNICODE: Readonly<Record<string, string>> = {
  "\u2018": "'",
  "\u2019": "'",
  "\u201a": "'",
  "\u201b": "'",
  "\u201c": '"',
  "\u201d": '"',
  "\u201e": '"',
  "\u201f": '"',
  "\u2010": "-",
  "\u2011": "-",
  "\u2012": "-",
  "\u2013": "-",
  "\u2014": "-",
  "\u2015": "-",
  "\u2212": "-",
  "\u2026": "...",
  "\u00a0": " ",
  "\u2007": " ",
  "\u202f": " ",
};
const FOLDABLE = /[\u2018-\u201f\u2010-\u2015\u2212\u2026\u00a0\u2007\u202f]/;

/** Smart quotes, dashes, ellipsis and no-break spaces as their ASCII forms. */
export function foldUnicode(source: string): Folded {
  return fold(source, (char) => UNICODE[char] ?? char);
}

/** One string without the way back. */
export function asciiOf(text: string): string {
  if (!FOLDABLE.test(text)) return text;
  let out = "";
  for (const char of text) out += UNICODE[char] ?? char;
  return out;
}

/** Runs of spaces and tabs as one space. */
export function foldBlanks(source: string): Folded {
  let inRun = false;
  return fold(source, (char) => {
    const blank = char === " " || char === "\t";
    const out = blank ? (inRun ? "" : " ") : char;
    inRun = blank;
    return out;
  });
}

function fold(source: string, map: (char: string) => string): Folded {
  const parts: string[] = [];
  const from: number[] = [];
  for (let i = 0; i < source.length; i++) {
    const out = map(source[i]!);
    parts.push(out);
    for (let k = 0; k < out.length; k++) from.push(i);
  }
  from.push(source.length);
  return { text: parts.join(""), from };
}

/**
 * Ranges of the source whose folded form is `pattern` (folded already). A match that begins or ends inside a
 * character that folds to several is none.
 */
export function findFolded(folded: Folded, pattern: string): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  if (pattern === "") return ranges;
  for (let at = folded.text.indexOf(pattern); at >= 0;) {
    const until = at + pattern.length;
    const whole = (at === 0 || folded.from[at] !== folded.from[at - 1]) &&
      (until === folded.text.length || folded.from[until] !== folded.from[until - 1]);
    if (whole) ranges.push({ start: folded.from[at]!, end: folded.from[until]! });
    at = folded.text.indexOf(pattern, whole ? until : at + 1);
  }
  return ranges;
}
