/** Applies the hunks of one file to its text (core.md B.5 "Patch mode"). Pure: text in, text out. */
import { ToolError } from "./args.ts";
import { CrMap, indexLines } from "./line_index.ts";
import type { Range } from "./match_strategies.ts";
import { replaceText } from "./replace.ts";
import { lineEndOf, toLf, withLineEnd } from "./text_file.ts";
import type { Hunk } from "./v4a_parse.ts";

/** Characters before and behind a hint line in which its hunk is looked for. */
const BEFORE_HINT = 500;
const BEHIND_HINT = 2_000;

export interface Applied {
  readonly text: string;
  /** Hunks that changed something. */
  readonly changed: number;
}

/** Throws `ToolError` naming the hunk that does not fit; nothing is applied then. */
export function applyHunks(original: string, hunks: readonly Hunk[]): Applied {
  let text = original;
  let changed = 0;
  hunks.forEach((hunk, i) => {
    if (!hunk.lines.some((line) => line.kind !== " ")) return;
    try {
      text = applyHunk(text, hunk);
      changed++;
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      const name = hunk.hint ? `hunk ${i + 1} (@@ ${hunk.hint} @@)` : `hunk ${i + 1}`;
      throw new ToolError(
        `${name}: ${error.message.replaceAll("old_string", "its context and removed lines")}`,
      );
    }
  });
  return { text, changed };
}

function applyHunk(text: string, hunk: Hunk): string {
  const old = hunk.lines.filter((line) => line.kind !== "+").map((line) => line.text);
  const wanted = hunk.lines.filter((line) => line.kind !== "-").map((line) => line.text);
  if (old.length === 0) return insertLines(text, hunk.hint, wanted);
  if (old.join("\n") === wanted.join("\n")) return text;
  const window = hunk.hint ? windowOf(toLf(text), hunk.hint) : undefined;
  if (old.every((line) => line.trim() === "")) {
    throw new ToolError("it has only blank lines to match; give more lines around the change");
  }
  const options = window ? { window } : {};
  // Lines that only go away take their line end with them.
  const close = wanted.length === 0 ? "\n" : "";
  return replaceText(text, old.join("\n") + close, wanted.join("\n"), options).text;
}

/** Places of a hint: lines that are equal to it, else lines that contain it. */
function hintLines(lines: readonly string[], hint: string): number[] {
  const at = (test: (line: string) => boolean) => lines.flatMap((line, i) => test(line) ? [i] : []);
  const equal = at((line) => line.trim() === hint);
  return equal.length > 0 ? equal : at((line) => line.includes(hint));
}

/** The part of the text around the hint; everything when the hint is nowhere or at several places. */
function windowOf(content: string, hint: string): Range | undefined {
  const index = indexLines(content);
  const places = hintLines(index.lines, hint);
  if (places.length !== 1) return undefined;
  const at = index.starts[places[0]!]!;
  return {
    start: Math.max(0, at - BEFORE_HINT),
    end: Math.min(content.length, at + hint.length + BEHIND_HINT),
  };
}

/** A hunk of additions only: behind its hint line, else at the end of the file. */
function insertLines(text: string, hint: string, wanted: readonly string[]): string {
  const end = lineEndOf(text);
  const block = wanted.map((line) => withLineEnd(`${line}\n`, end)).join("");
  if (!hint) {
    if (text === "") return block;
    // A missing final line end stays missing.
    return /\n$/.test(text) ? text + block : text + end + block.slice(0, -end.length);
  }
  const content = toLf(text);
  const index = indexLines(content);
  const places = hintLines(index.lines, hint);
  if (places.length === 0) throw new ToolError(`Could not find the hint line '${hint}'`);
  if (places.length > 1) {
    throw new ToolError(`The hint '${hint}' is ambiguous: found ${places.length} matches`);
  }
  const lineEnd = index.ends[places[0]!]!;
  const map = new CrMap(text);
  if (lineEnd >= content.length) return text + end + block.slice(0, -end.length);
  const at = map.toOriginal(lineEnd + 1);
  return text.slice(0, at) + block + text.slice(at);
}
