/**
 * The V4A patch grammar of core.md B.5, read into operations. Lenient where models slip (missing envelope, missing
 * space after `***`, lines without a prefix), strict where a guess would be needed. Touches no file.
 */
import { ToolError } from "./args.ts";

/** `" "` context, `-` removed, `+` added. */
export interface HunkLine {
  readonly kind: " " | "-" | "+";
  readonly text: string;
}

export interface Hunk {
  /** Text between the `@@`; empty when there is none. */
  readonly hint: string;
  readonly lines: readonly HunkLine[];
}

export type PatchOperation =
  | { readonly type: "update"; readonly path: string; readonly hunks: readonly Hunk[] }
  | { readonly type: "add"; readonly path: string; readonly text: string }
  | { readonly type: "delete"; readonly path: string }
  | { readonly type: "move"; readonly path: string; readonly to: string };

const HEADER = /^\*\*\* ?(Update|Add|Delete|Move) File: ?(.*)$/;
const ENVELOPE = /^\*\*\* ?(Begin|End) Patch\s*$/;
/** Marks that say nothing here. */
const NO_MEANING = /^\*\*\* ?End of File\s*$|^\\ No newline at end of file/;

/** Every path named in the headers, in order, duplicates kept; never throws. */
export function pathsInPatch(patch: string): string[] {
  const paths: string[] = [];
  for (const line of patch.split(/\r?\n/)) {
    const header = HEADER.exec(line);
    if (!header) continue;
    const parts = header[1] === "Move" ? header[2]!.split(" -> ") : [header[2]!];
    for (const part of parts) if (part.trim()) paths.push(part.trim());
  }
  return paths;
}

/** Throws `ToolError` for a patch without operations or with a header that cannot be read. */
export function parsePatch(patch: string): PatchOperation[] {
  const lines = patch.replace(/\r\n/g, "\n").split("\n");
  if (lines[lines.length - 1] === "") lines.pop();
  const operations: PatchOperation[] = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at]!;
    const header = HEADER.exec(line);
    if (!header) {
      if (line.trim() !== "" && !ENVELOPE.test(line)) {
        throw new ToolError(
          `Patch line ${at + 1} belongs to no file: '${line.slice(0, 80)}'. ` +
            "Start each file with '*** Update File: <path>', '*** Add File: <path>', '*** Delete File: <path>' " +
            "or '*** Move File: <path> -> <path>'",
        );
      }
      at++;
      continue;
    }
    let end = at + 1;
    while (end < lines.length && !HEADER.test(lines[end]!) && !ENVELOPE.test(lines[end]!)) end++;
    operations.push(readOperation(header[1]!, header[2]!.trim(), lines.slice(at + 1, end)));
    at = end;
  }
  if (operations.length === 0) {
    throw new ToolError("The patch has no operations: no '*** … File:' header was found");
  }
  return operations;
}

function readOperation(kind: string, argument: string, body: readonly string[]): PatchOperation {
  if (kind === "Move") {
    const parts = argument.split(" -> ").map((part) => part.trim());
    if (parts.length !== 2 || !parts[0] || !parts[1]) {
      throw new ToolError(`Cannot read '*** Move File: ${argument}': write '<path> -> <path>'`);
    }
    return { type: "move", path: checkPath(parts[0]), to: checkPath(parts[1]) };
  }
  const path = checkPath(argument);
  if (kind === "Delete") return { type: "delete", path };
  if (kind === "Add") return { type: "add", path, text: readAdded(path, body) };
  return { type: "update", path, hunks: readHunks(body) };
}

function checkPath(path: string): string {
  if (!path) throw new ToolError("A '*** … File:' header has no path");
  if (path.split(/[\\/]/).includes("..")) {
    throw new ToolError(`Path '${path}' contains '..', which a patch must not`);
  }
  return path;
}

function readAdded(path: string, body: readonly string[]): string {
  const lines = body.filter((line) => !NO_MEANING.test(line));
  while (lines.at(-1) === "") lines.pop();
  const wrong = lines.find((line) => !line.startsWith("+") && line !== "");
  if (wrong !== undefined) {
    throw new ToolError(`'*** Add File: ${path}' has a line without '+': '${wrong.slice(0, 80)}'`);
  }
  return lines.map((line) => `${line.slice(1)}\n`).join("");
}

function readHunks(body: readonly string[]): Hunk[] {
  const hunks: { hint: string; lines: HunkLine[] }[] = [];
  const current = (): HunkLine[] => {
    if (hunks.length === 0) hunks.push({ hint: "", lines: [] });
    return hunks[hunks.length - 1]!.lines;
  };
  for (const line of body) {
    if (line.startsWith("@@")) {
      hunks.push({ hint: hintOf(line), lines: [] });
    } else if (NO_MEANING.test(line)) {
      continue;
    } else if (line.startsWith("+") || line.startsWith("-") || line.startsWith(" ")) {
      current().push({ kind: line[0] as HunkLine["kind"], text: line.slice(1) });
    } else {
      current().push({ kind: " ", text: line });
    }
  }
  for (const hunk of hunks) trimBlankEnds(hunk.lines);
  return hunks.filter((hunk) => hunk.lines.length > 0 || hunk.hint !== "");
}

/** `@@ hint @@` or `@@ hint`; the line numbers of a unified diff are no hint. */
function hintOf(line: string): string {
  const hint = line.replace(/^@@ ?/, "").replace(/ ?@@\s*$/, "").trim();
  return hint.replace(/^-\d+(,\d+)? \+\d+(,\d+)?( @@)?\s*/, "");
}

/** Blank lines between hunks are layout of the patch, not context. */
function trimBlankEnds(lines: HunkLine[]): void {
  const isBlank = (line: HunkLine | undefined) => line?.kind === " " && line.text === "";
  while (isBlank(lines[lines.length - 1])) lines.pop();
  while (isBlank(lines[0])) lines.shift();
}
