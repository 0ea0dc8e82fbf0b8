/**
 * The replacement, made to fit what was really matched: lines that old and new text have in common stay as the file
 * has them, changed lines take over the file's indentation and quote style (core.md B.5, FC-16). Only used when the
 * match was not exact. Texts have LF line ends.
 */
import { asciiOf, type Folded, foldUnicode } from "./folding.ts";
import { indentOf } from "./line_index.ts";

/** Larger texts are indented but not compared line by line. */
const MAX_TABLE = 4_000_000;

/** Pairs of one indentation in the pattern and in the file, from lines that correspond. */
type Indents = ReadonlyMap<string, string>;

/** The text to put in place of `region`, which `pattern` has matched line by line. */
export function reshape(region: string, pattern: string, replacement: string): string {
  const old = pattern.split("\n"), wanted = replacement.split("\n"), real = region.split("\n");
  const indents = pairIndents(old, real);
  if (old.length !== real.length || old.length * wanted.length > MAX_TABLE) {
    return wanted.map((line) => indentLine(indents, line)).join("\n");
  }
  const out: string[] = [];
  for (const step of alignLines(old, wanted)) {
    if (step.type === "same") out.push(real[step.old]!);
    else {
      const line = wanted[step.new]!;
      const partner = step.old === null ? null : real[step.old]!;
      out.push(
        partner === null ? indentLine(indents, line) : fitLine(old[step.old!]!, line, partner, indents),
      );
    }
  }
  return out.join("\n");
}

type Step = { type: "same"; old: number; new: number } | { type: "new"; new: number; old: number | null };

/** Longest common subsequence of the lines; in a gap with as many lines on both sides they are partners. */
function alignLines(old: readonly string[], wanted: readonly string[]): Step[] {
  const height = old.length, width = wanted.length;
  const lengths = new Uint32Array((height + 1) * (width + 1));
  const at = (i: number, j: number) => i * (width + 1) + j;
  for (let i = height - 1; i >= 0; i--) {
    for (let j = width - 1; j >= 0; j--) {
      lengths[at(i, j)] = old[i] === wanted[j]
        ? lengths[at(i + 1, j + 1)]! + 1
        : Math.max(lengths[at(i + 1, j)]!, lengths[at(i, j + 1)]!);
    }
  }
  const steps: Step[] = [];
  let i = 0, j = 0;
  while (i < height || j < width) {
    const gapOld = i, gapNew = j;
    while (i < height && j < width && old[i] !== wanted[j]) {
      if (lengths[at(i + 1, j)]! >= lengths[at(i, j + 1)]!) i++;
      else j++;
    }
    if (i >= height || j >= width) {
      i = height;
      j = width;
    }
    const paired = i - gapOld === j - gapNew;
    for (let n = gapNew; n < j; n++) {
      steps.push({ type: "new", new: n, old: paired ? gapOld + n - gapNew : null });
    }
    if (i < height && j < width) steps.push({ type: "same", old: i++, new: j++ });
  }
  return steps;
}

function pairIndents(old: readonly string[], real: readonly string[]): Indents {
  const pairs = new Map<string, string>();
  for (let i = 0; i < Math.min(old.length, real.length); i++) {
    if (old[i]!.trim() === "" || real[i]!.trim() === "") continue;
    const from = indentOf(old[i]!);
    if (!pairs.has(from)) pairs.set(from, indentOf(real[i]!));
  }
  return pairs;
}

/** One line under the file's indentation: as a known line has it, else extended from the nearest known one. */
function indentLine(indents: Indents, line: string): string {
  if (line.trim() === "" || indents.size === 0) return line;
  const indent = indentOf(line);
  const rest = line.slice(indent.length);
  const known = indents.get(indent);
  if (known !== undefined) return known + rest;
  if ([...indents].every(([from, to]) => from === to)) return line;
  return extendIndent(indents, indent) + rest;
}

function extendIndent(indents: Indents, indent: string): string {
  let base: string | null = null;
  for (const from of indents.keys()) {
    if (indent.startsWith(from) && (base === null || from.length > base.length)) base = from;
  }
  if (base !== null) return indents.get(base)! + scaleIndent(indents, indent.slice(base.length));
  // Less deep than every known line: take the difference away from the least deep one.
  const least = [...indents.keys()].reduce((a, b) => a.length <= b.length ? a : b);
  const missing = scaleIndent(indents, least.slice(Math.min(indent.length, least.length)));
  const deep = indents.get(least)!;
  return deep.slice(0, Math.max(0, deep.length - missing.length));
}

/** An indentation step of the pattern in the file's own units (tabs or so many spaces). */
function scaleIndent(indents: Indents, step: string): string {
  const file = [...indents.values()].filter((indent) => indent !== "");
  const tabs = file.length > 0 && file.every((indent) => indent.includes("\t"));
  const units = unitsOf(indents);
  if (tabs) {
    return step.includes("\t") ? step : "\t".repeat(Math.max(1, Math.round(step.length / units.pattern)));
  }
  if (step.includes("\t")) return " ".repeat(step.length * units.file);
  return units.pattern === units.file
    ? step
    : " ".repeat(Math.round(step.length * units.file / units.pattern));
}

/** Width of one level on both sides, from two known lines of different depth; 4 where the pattern has none. */
function unitsOf(indents: Indents): { pattern: number; file: number } {
  const sorted = [...indents].sort((a, b) => a[0].length - b[0].length);
  for (let i = 1; i < sorted.length; i++) {
    const pattern = sorted[i]![0].length - sorted[i - 1]![0].length;
    const file = sorted[i]![1].length - sorted[i - 1]![1].length;
    if (pattern > 0 && file > 0) return { pattern, file };
  }
  const tabs = sorted.some(([, to]) => to.includes("\t"));
  return { pattern: 4, file: tabs ? 1 : 4 };
}

/** A changed line: what it shares with the old line at either end stays as the file has it. */
function fitLine(old: string, wanted: string, real: string, indents: Indents): string {
  const there = foldUnicode(real), then = foldUnicode(wanted);
  const before = asciiOf(old);
  if (there.text !== before || real === old) return quoteLike(real, old, indentLine(indents, wanted));
  const most = Math.min(before.length, then.text.length);
  let head = 0;
  while (head < most && before[head] === then.text[head]) head++;
  while (!isBorder(there, head) || !isBorder(then, head)) head--;
  let tail = 0;
  while (tail < most - head && before.at(-1 - tail) === then.text.at(-1 - tail)) tail++;
  while (!isBorder(there, before.length - tail) || !isBorder(then, then.text.length - tail)) tail--;
  const middle = wanted.slice(then.from[head], then.from[then.text.length - tail]);
  return real.slice(0, there.from[head]) + quoteLike(real, old, middle) +
    real.slice(there.from[before.length - tail]);
}

/** False inside a character that folds to several. */
function isBorder(folded: Folded, at: number): boolean {
  return at <= 0 || folded.from[at] !== folded.from[at - 1];
}

/** Straight quotes become the curly ones of the file where the file had curly ones and the pattern straight ones. */
function quoteLike(real: string, old: string, text: string): string {
  let out = text;
  if (/[\u201c\u201d]/.test(real) && old.includes('"') && !/[\u201c\u201d]/.test(old)) {
    out = out.replace(/(^|[\s([{\u2014\u2018])"/g, "$1\u201c").replaceAll('"', "\u201d");
  }
  if (/[\u2018\u2019]/.test(real) && old.includes("'") && !/[\u2018\u2019]/.test(old)) {
    out = out.replace(/(^|[\s([{\u2014\u201c])'/g, "$1\u2018").replaceAll("'", "\u2019");
  }
  return out;
}
