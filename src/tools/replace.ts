/**
 * Replacing an old text by a new one in a file's text, exactly or not at all (core.md B.5 "Replace mode", FC-16).
 * Bytes outside the match stay; a match that is not the only one is never chosen. Pure: text in, text out.
 */
import { ToolError } from "./args.ts";
import { CrMap, indexLines } from "./line_index.ts";
import { type Range, STRATEGIES, type Strategy, unescapeControls } from "./match_strategies.ts";
import { reshape } from "./reshape.ts";
import { mayReach, similarity } from "./similarity.ts";
import { lineEndOf, toLf } from "./text_file.ts";

/** In longer files no similar sections are looked for. */
const MAX_SUGGEST_LINES = 10_000;
/** A short text put in many places could make one that fills the memory. */
const MAX_RESULT_CHARS = 64 * 1024 * 1024;

export interface Replaced {
  readonly text: string;
  /** The strategy that matched. */
  readonly strategy: string;
  readonly count: number;
}

export interface ReplaceOptions {
  readonly replaceAll?: boolean;
  /** Only matches that lie in this range of the LF text. */
  readonly window?: Range;
}

/** No place was found, or too many: the file's text is as it was. */
export class MatchError extends ToolError {
  readonly count: number;

  constructor(message: string, count: number) {
    super(message);
    this.name = "MatchError";
    this.count = count;
  }
}

interface Hit {
  readonly strategy: Strategy;
  readonly ranges: readonly Range[];
}

function findHit(content: string, pattern: string, window: Range | undefined): Hit | null {
  for (const strategy of STRATEGIES) {
    let ranges = strategy.find(content, pattern);
    if (window) ranges = ranges.filter((range) => range.start >= window.start && range.end <= window.end);
    if (ranges.length > 0) return { strategy, ranges };
  }
  return null;
}

/** Throws `MatchError` when there is no match or more than one, `ToolError` when the texts make no edit. */
export function replaceText(
  original: string,
  oldText: string,
  newText: string,
  options: ReplaceOptions = {},
): Replaced {
  const pattern = toLf(oldText), replacement = toLf(newText);
  if (pattern === "") {
    throw new ToolError("old_string is empty. Give the text to replace, or use write_file for a new file");
  }
  if (pattern === replacement) {
    throw new ToolError("old_string and new_string are identical: there is nothing to change");
  }
  const content = toLf(original);
  const hit = findHit(content, pattern, options.window);
  if (!hit) {
    throw new MatchError(`Could not find old_string in the file.${suggestSections(content, pattern)}`, 0);
  }
  const { strategy, ranges } = hit;
  if (ranges.length > 1 && (!options.replaceAll || strategy.byLikeness)) {
    const advice = strategy.byLikeness
      ? "They only resemble it. Give the exact text of the one that is meant"
      : "Give more lines around it so that only one place matches, or set replace_all=true";
    throw new MatchError(
      `Found ${ranges.length} matches for old_string${
        strategy.name === "exact" ? "" : ` (by ${strategy.name})`
      }. ${advice}`,
      ranges.length,
    );
  }
  if (original.length + ranges.length * replacement.length > MAX_RESULT_CHARS) {
    throw new ToolError(
      `With ${ranges.length} replacements the file would become too large; nothing was changed`,
    );
  }
  return {
    text: splice(original, content, hit, pattern, replacement),
    strategy: strategy.name,
    count: ranges.length,
  };
}

/** Puts the new text in place of each range, in the original with its own line ends. */
function splice(original: string, content: string, hit: Hit, pattern: string, replacement: string): string {
  const map = new CrMap(original);
  const fileEnd = lineEndOf(original);
  const parts: string[] = [];
  let from = 0;
  for (const range of hit.ranges) {
    const region = content.slice(range.start, range.end);
    const wanted = hit.strategy.name === "exact"
      ? replacement
      : fit(content, region, pattern, replacement, hit);
    // What old and new have in common at both ends is not touched, so its line ends stay whatever they are.
    const { head, tail } = commonEnds(region, wanted);
    const start = map.toOriginal(range.start + head), end = map.toOriginal(range.end - tail);
    const middle = wanted.slice(head, wanted.length - tail);
    const nearEnd =
      /\r?\n/.exec(original.slice(map.toOriginal(range.start), map.toOriginal(range.end)))?.[0] ?? fileEnd;
    parts.push(original.slice(from, start), nearEnd === "\r\n" ? middle.replaceAll("\n", "\r\n") : middle);
    from = end;
  }
  parts.push(original.slice(from));
  return parts.join("");
}

function commonEnds(a: string, b: string): { head: number; tail: number } {
  const most = Math.min(a.length, b.length);
  let head = 0;
  while (head < most && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < most - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  return { head, tail };
}

/** The replacement for a match that was not exact. */
function fit(content: string, region: string, pattern: string, replacement: string, hit: Hit): string {
  let old = pattern, wanted = replacement;
  if (hit.strategy.name === "escape_normalized") {
    old = unescapeControls(pattern);
    // The whole call was escaped once too often: a new text without one real line end means real ones as well.
    if (old.includes("\n") && !pattern.includes("\n") && !wanted.includes("\n")) {
      wanted = wanted.replace(/\\r\\n|\\n/g, "\n");
    }
  }
  refuseEscapeDrift(content, region, pattern, wanted);
  if (region.includes("\t") && !pattern.includes("\t")) wanted = wanted.replaceAll("\\t", "\t");
  if (region.includes("\r") && !pattern.includes("\r")) wanted = wanted.replaceAll("\\r", "\r");
  // A pattern closed by a line end may have matched the last line of a file that has none: it stays without.
  if (old.endsWith("\n") && !region.endsWith("\n")) {
    old = old.slice(0, -1);
    if (wanted.endsWith("\n")) wanted = wanted.slice(0, -1);
  }
  return reshape(region, old, wanted);
}

/** Escaped quotes that only the call has are an artefact of its encoding, not a wish. */
function refuseEscapeDrift(content: string, region: string, pattern: string, wanted: string): void {
  for (const escaped of ["\\'", '\\"']) {
    if (!wanted.includes(escaped) || region.includes(escaped)) continue;
    if (pattern.includes(escaped) || !content.includes(escaped)) {
      throw new ToolError(
        `Escape drift: new_string has ${escaped} but the matched text has no escaped quotes. ` +
          "Read the file again and give both texts without the extra backslashes",
      );
    }
  }
}

/** The places that look most like the pattern, numbered, for the model to choose from. */
function suggestSections(content: string, pattern: string): string {
  const wanted = indexLines(pattern).lines.map((line) => line.trim()).filter((line) => line !== "");
  const { lines } = indexLines(content);
  if (wanted.length === 0 || lines.length === 0 || lines.length > MAX_SUGGEST_LINES) return "";
  const first = wanted[0]!;
  const best = lines
    .map((line, at) => ({ at, score: scoreOf(line.trim(), first) }))
    .filter(({ score }) => score >= 0.5)
    .sort((a, b) => b.score - a.score || a.at - b.at)
    .slice(0, 3)
    .sort((a, b) => a.at - b.at);
  if (best.length === 0) return "";
  const sections = best.map(({ at }) => {
    const from = Math.max(0, at - 1), to = Math.min(lines.length, at + Math.min(wanted.length, 8) + 1);
    return lines.slice(from, to).map((line, i) => `${from + i + 1}| ${line.slice(0, 200)}`).join("\n");
  });
  return `\n\nDid you mean one of these sections?\n${sections.join("\n---\n")}`;
}

function scoreOf(line: string, wanted: string): number {
  if (line === "") return 0;
  if (line.includes(wanted)) return 0.95;
  const a = line.slice(0, 200), b = wanted.slice(0, 200);
  return mayReach(a, b, 0.5) ? similarity(a, b) : 0;
}
