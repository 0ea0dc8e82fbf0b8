/**
 * How an old text is found in a file: nine strategies from exact to similar, tried in order (core.md B.5). Each takes
 * texts with LF line ends and returns every range it would accept; which of them is edited, if any, is decided by
 * `replace.ts`. None of them changes anything.
 */
import { findFolded, foldBlanks, foldUnicode } from "./folding.ts";
import { indexLines, type LineIndex } from "./line_index.ts";
import { mayReach, similarity } from "./similarity.ts";

export interface Range {
  readonly start: number;
  readonly end: number;
}

export interface Strategy {
  readonly name: string;
  /** Matches by likeness: never used for more than one place. */
  readonly byLikeness: boolean;
  find(content: string, pattern: string): Range[];
}

/** Lines a pattern must have to be found by likeness. */
const MIN_CONTEXT = 3;
/** Work bound of the strategies that compare by likeness, in characters of both texts multiplied. */
const MAX_WORK = 100_000_000;
/** Places with equal first and last lines that are looked at. */
const MAX_ANCHORED = 50;

function findAll(content: string, pattern: string): Range[] {
  const ranges: Range[] = [];
  if (pattern === "") return ranges;
  for (let at = content.indexOf(pattern); at >= 0; at = content.indexOf(pattern, at + pattern.length)) {
    ranges.push({ start: at, end: at + pattern.length });
  }
  return ranges;
}

/** The pattern's lines, and whether its last one is to be taken with its line end. */
function patternLines(pattern: string): { lines: readonly string[]; closed: boolean } {
  return { lines: indexLines(pattern).lines, closed: pattern.endsWith("\n") };
}

function rangeOf(index: LineIndex, first: number, count: number, closed: boolean, length: number): Range {
  const end = index.ends[first + count - 1]!;
  return { start: index.starts[first]!, end: closed ? Math.min(end + 1, length) : end };
}

type SameLine = (line: string, wanted: string, at: number, last: number) => boolean;

/** Runs of whole lines of which each equals the pattern's line in the sense of `same`; they do not overlap. */
function findLines(content: string, pattern: string, same: SameLine): Range[] {
  const { lines, closed } = patternLines(pattern);
  if (lines.every((line) => line.trim() === "")) return [];
  const index = indexLines(content);
  const ranges: Range[] = [];
  for (let first = 0; first + lines.length <= index.lines.length; first++) {
    if (!lines.every((wanted, i) => same(index.lines[first + i]!, wanted, i, lines.length - 1))) continue;
    ranges.push(rangeOf(index, first, lines.length, closed, content.length));
    first += lines.length - 1;
  }
  return ranges;
}

/** `\n`, `\t`, `\r` written as two characters, read as control characters; CRLF counts as one line end. */
export function unescapeControls(text: string): string {
  return text.replace(/\\r\\n/g, "\n").replace(/\\n/g, "\n").replace(/\\t/g, "\t").replace(/\\r/g, "\r");
}

/** First and last line equal but for blanks around them; the lines between are alike by at least one half. */
function findByAnchors(content: string, pattern: string): Range[] {
  const { lines, closed } = patternLines(pattern);
  if (lines.length < MIN_CONTEXT) return [];
  const index = indexLines(content);
  const first = lines[0]!.trim(), last = lines[lines.length - 1]!.trim();
  if (first === "" || last === "") return [];
  const anchored: number[] = [];
  for (let at = 0; at + lines.length <= index.lines.length; at++) {
    if (index.lines[at]!.trim() === first && index.lines[at + lines.length - 1]!.trim() === last) {
      anchored.push(at);
    }
  }
  const alike = anchored.slice(0, MAX_ANCHORED).some((at) => middleLikeness(index.lines, at, lines) >= 0.5);
  // With several candidates it may not choose, so all of them are named.
  return (alike ? anchored : []).map((at) => rangeOf(index, at, lines.length, closed, content.length));
}

function middleLikeness(content: readonly string[], at: number, wanted: readonly string[]): number {
  let sum = 0, weight = 0;
  for (let i = 1; i < wanted.length - 1; i++) {
    const a = content[at + i]!.trim(), b = wanted[i]!.trim();
    const size = Math.max(a.length, b.length, 1);
    sum += similarity(a, b) * size;
    weight += size;
  }
  return weight === 0 ? 1 : sum / weight;
}

/** At least half of the lines are alike by 80 %; fewer than three telling lines are no context. */
function findByContext(content: string, pattern: string): Range[] {
  const { lines, closed } = patternLines(pattern);
  const wanted = lines.map((line) => line.trim());
  if (wanted.filter((line) => line !== "").length < MIN_CONTEXT) return [];
  const index = indexLines(content);
  if (content.length * pattern.length > MAX_WORK) return [];
  const trimmed = index.lines.map((line) => line.trim());
  const alike = new Map<string, boolean>();
  const isAlike = (line: string, want: string): boolean => {
    if (line === want) return true;
    if (line === "" || want === "" || !mayReach(line, want, 0.8)) return false;
    const key = `${line}\n${want}`;
    let known = alike.get(key);
    if (known === undefined) alike.set(key, known = similarity(line, want) >= 0.8);
    return known;
  };
  const ranges: Range[] = [];
  for (let at = 0; at + wanted.length <= trimmed.length; at++) {
    let hits = 0, telling = 0;
    for (let i = 0; i < wanted.length; i++) {
      if (!isAlike(trimmed[at + i]!, wanted[i]!)) continue;
      hits++;
      if (wanted[i] !== "") telling++;
    }
    if (telling > 0 && hits * 2 >= wanted.length) {
      ranges.push(rangeOf(index, at, wanted.length, closed, content.length));
    }
  }
  return ranges;
}

export const STRATEGIES: readonly Strategy[] = [
  { name: "exact", byLikeness: false, find: findAll },
  {
    name: "line_trimmed",
    byLikeness: false,
    find: (content, pattern) => findLines(content, pattern, (line, wanted) => line.trim() === wanted.trim()),
  },
  {
    name: "whitespace_normalized",
    byLikeness: false,
    find: (content, pattern) => findFolded(foldBlanks(content), foldBlanks(pattern).text),
  },
  {
    name: "indentation_flexible",
    byLikeness: false,
    find: (content, pattern) =>
      findLines(content, pattern, (line, wanted) => line.trimStart() === wanted.trimStart()),
  },
  {
    name: "escape_normalized",
    byLikeness: false,
    find: (content, pattern) => {
      const unescaped = unescapeControls(pattern);
      return unescaped === pattern ? [] : findAll(content, unescaped);
    },
  },
  {
    name: "trimmed_boundary",
    byLikeness: false,
    find: (content, pattern) =>
      findLines(
        content,
        pattern,
        (line, wanted, at, last) => at === 0 || at === last ? line.trim() === wanted.trim() : line === wanted,
      ),
  },
  {
    name: "unicode_normalized",
    byLikeness: false,
    find: (content, pattern) => findFolded(foldUnicode(content), foldUnicode(pattern).text),
  },
  { name: "block_anchor", byLikeness: true, find: findByAnchors },
  { name: "context_aware", byLikeness: true, find: findByContext },
];
