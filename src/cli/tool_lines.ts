/**
 * How tool calls, their results, diffs and questions look in one or two lines of a terminal; shared by `chat` and
 * by the progress of `run`. Pure: facts in, text out; text that comes from tools loses its control characters.
 */
import type { FileEdit } from "@/core/contract.ts";
import { showInvisible } from "@/lib/visible.ts";
import { blockReasonOf, type ToolEnd } from "./blocked_calls.ts";
import { type DiffLine, diffLines } from "./line_diff.ts";
import type { Paint } from "./paint.ts";
import { cut, withoutControls } from "./text_layout.ts";

export function seconds(ms: number): string {
  if (ms < 1000) return `${Math.max(1, Math.round(ms))} ms`;
  return ms < 60_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round(ms % 60_000 / 1000)} s`;
}

/** `● terminal: npm test` */
export function toolStartLine(title: string, paint: Paint, width: number): string {
  return `${paint.cyan("●")} ${cut(withoutControls(title), width - 2)}`;
}

/** `  ✓ 12 lines, 1.2 s` or `  ✗ why it failed`. */
export function toolEndLine(event: ToolEnd, paint: Paint, width: number): string {
  const took = seconds(event.durationMs);
  const room = width - 6 - took.length;
  const blocked = refusalText(event);
  if (blocked) return `  ${paint.yellow("⊘")} ${cut(blocked, room + took.length)}`;
  const summary = withoutControls(summarize(event.result, event.isError));
  const mark = event.isError ? paint.red("✗") : paint.green("✓");
  return `  ${mark} ${summary === "" ? "" : cut(summary, room) + paint.dim(", ")}${paint.dim(took)}`;
}

function refusalText(event: ToolEnd): string | null {
  switch (blockReasonOf(event)) {
    case "policy":
      return `blocked: ${withoutControls(summarize(event.result, true))}`;
    case "denied":
      return "denied";
    case "timeout":
      return "not run: nobody answered in time";
    case "unattended":
      return "not run: it needs an approval and nobody can be asked here";
    case "cancelled":
      return "cancelled";
    case null:
      return null;
  }
}

/** The words of a result that matter to a person; JSON results by their usual fields. */
export function summarize(result: string, isError: boolean): string {
  const parsed = parseObject(result);
  if (!parsed) return firstLine(result);
  if (typeof parsed.error === "string" && parsed.error !== "") return firstLine(parsed.error);
  if (isError && typeof parsed.message === "string") return firstLine(parsed.message);
  const parts: string[] = [];
  if (typeof parsed.exit_code === "number" && parsed.exit_code !== 0) parts.push(`exit ${parsed.exit_code}`);
  const text = typeof parsed.output === "string" ? parsed.output : parsed.content;
  if (typeof text === "string" && text.trim() !== "") {
    const lines = text.trimEnd().split("\n").length;
    parts.push(lines === 1 ? firstLine(text) : `${lines} lines`);
  }
  if (typeof parsed.total_count === "number") parts.push(`${parsed.total_count} found`);
  return parts.join(", ");
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? value as Record<string, unknown>
      : null;
  } catch {
    return null;
  }
}

function firstLine(text: string): string {
  return text.trim().split("\n")[0] ?? "";
}

/** A file's change: name and counts, then at most `limit` changed lines (0 = none), each cut to the width. */
export function editLines(edit: FileEdit, paint: Paint, width: number, limit: number): string[] {
  const { head, changed } = changesOf(edit, paint, width);
  const shown = changed.slice(0, limit).map((line) => colourLine(line, cutRaw(line.text, width - 6), paint));
  const more = limit > 0 ? changed.length - shown.length : 0;
  return [head, ...shown, ...(more > 0 ? [paint.dim(`    … ${more} more changed lines`)] : [])];
}

/** The same with nothing left out, for a change that somebody is asked to allow. */
export function wholeEditLines(edit: FileEdit, paint: Paint, width: number): string[] {
  const { head, changed } = changesOf(edit, paint, Infinity, showInvisible);
  const parts = (text: string) => {
    const room = width - 6;
    return Array.from(
      { length: Math.max(1, Math.ceil(text.length / room)) },
      (_, i) => text.slice(i * room, (i + 1) * room),
    );
  };
  return [head, ...changed.flatMap((line) => parts(line.text).map((part) => colourLine(line, part, paint)))];
}

/** `clean` makes foreign text fit for a screen. */
function changesOf(
  edit: FileEdit,
  paint: Paint,
  width: number,
  clean = withoutControls,
): { head: string; changed: DiffLine[] } {
  const changed = diffLines(edit.oldText ?? "", edit.newText ?? "")
    .filter((line) => line.kind !== " ")
    .map(({ kind, text }): DiffLine => ({ kind, text: clean(text).replaceAll("\t", "  ") }));
  const added = changed.filter((line) => line.kind === "+").length;
  const what = edit.oldText === null ? " (new file)" : edit.newText === null ? " (deleted)" : "";
  const counts = `${paint.green(`+${added}`)} ${paint.red(`-${changed.length - added}`)}`;
  return { head: `  ${paint.bold(cut(clean(edit.path), width - 24))}${what} ${counts}`, changed };
}

function colourLine(line: DiffLine, text: string, paint: Paint): string {
  const shown = `    ${line.kind} ${text}`;
  return line.kind === "+" ? paint.green(shown) : paint.red(shown);
}

/** Keeps inner white space, which matters in code. */
function cutRaw(text: string, width: number): string {
  return text.length <= width ? text : text.slice(0, width - 1) + "…";
}
