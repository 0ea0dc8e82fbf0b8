/**
 * Edits as diffs of a card (acp.md A5, C7). The texts are whole, as far as clients can read them in one line (B3): of
 * larger ones the part that changes is shown, with what stands around it, and the card says so. Pure.
 */
import type { FileEdit } from "@/core/contract.ts";
import type { ToolCallContent } from "../sdk.ts";
import { cut } from "./text.ts";

/** Characters of all texts of one card. */
const MAX_CHARS = 4 * 1024 * 1024;
const AROUND_LINES = 20;
const AROUND_CHARS = 8_192;
const STRIDE = 65_536;

interface Part {
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string;
  /** Line of the file that the texts begin with. */
  readonly line: number;
}

function wholeOf({ path, oldText, newText }: FileEdit): Part {
  return { path, oldText, newText: newText ?? "", line: 1 };
}

function sizeOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + (part.oldText?.length ?? 0) + part.newText.length, 0);
}

/** One `diff` per file, in their order, behind a note where not all of them is shown. */
export function diffContents(edits: readonly FileEdit[]): ToolCallContent[] {
  let parts = edits.map(wholeOf);
  if (sizeOf(parts) <= MAX_CHARS) return parts.map(toDiff);
  const notes: string[] = [];
  parts = parts.map(changedPart);
  const room = sizeOf(parts) <= MAX_CHARS ? MAX_CHARS : Math.floor(MAX_CHARS / parts.length / 2);
  for (const { path, line, oldText, newText } of parts) {
    const isCut = Math.max(oldText?.length ?? 0, newText.length) > room;
    notes.push(`${path}: from line ${line} on${isCut ? ", cut" : ""}`);
  }
  const note = `Too large to be shown in whole. Shown is the part that changes:\n${notes.join("\n")}`;
  const shown = parts.map((part) => ({
    ...part,
    oldText: part.oldText === null ? null : cut(part.oldText, room),
    newText: cut(part.newText, room),
  }));
  return [{ type: "content", content: { type: "text", text: note } }, ...shown.map(toDiff)];
}

function toDiff({ path, oldText, newText }: Part): ToolCallContent {
  return { type: "diff", path, oldText, newText };
}

/** Without what both texts begin and end with, but for the lines around the change. */
function changedPart(part: Part): Part {
  const { oldText, newText } = part;
  if (oldText === null || newText === "") return part;
  const most = Math.min(oldText.length, newText.length);
  const same = sameBeginning(oldText, newText, most);
  const sameAfter = sameEnd(oldText, newText, most - same);
  const start = linesBefore(oldText, same);
  const after = oldText.length - linesAfter(oldText, oldText.length - sameAfter);
  return {
    ...part,
    oldText: oldText.slice(start, oldText.length - after),
    newText: newText.slice(start, newText.length - after),
    line: countLines(oldText, start) + 1,
  };
}

function sameBeginning(a: string, b: string, most: number): number {
  let at = 0;
  while (at + STRIDE <= most && a.slice(at, at + STRIDE) === b.slice(at, at + STRIDE)) at += STRIDE;
  while (at < most && a.charCodeAt(at) === b.charCodeAt(at)) at++;
  return at;
}

function sameEnd(a: string, b: string, most: number): number {
  let n = 0;
  while (
    n + STRIDE <= most &&
    a.slice(a.length - n - STRIDE, a.length - n) === b.slice(b.length - n - STRIDE, b.length - n)
  ) n += STRIDE;
  while (n < most && a.charCodeAt(a.length - 1 - n) === b.charCodeAt(b.length - 1 - n)) n++;
  return n;
}

/** Where the lines around a place begin; in a long line, some characters before it. */
function linesBefore(text: string, place: number): number {
  const least = Math.max(0, place - AROUND_CHARS);
  let at = place;
  for (let n = 0; n <= AROUND_LINES && at > 0; n++) at = text.lastIndexOf("\n", at - 1);
  return outsidePair(text, Math.max(least, at < 0 ? 0 : at > 0 ? at + 1 : 0));
}

function linesAfter(text: string, place: number): number {
  const most = Math.min(text.length, place + AROUND_CHARS);
  let at = place;
  for (let n = 0; n <= AROUND_LINES && at !== -1 && at < most; n++) {
    const end = text.indexOf("\n", at);
    at = end === -1 ? -1 : end + 1;
  }
  return outsidePair(text, at === -1 ? most : Math.min(most, at));
}

function outsidePair(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return at > 0 && code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}

function countLines(text: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < end; at = text.indexOf("\n", at + 1)) count++;
  return count;
}
