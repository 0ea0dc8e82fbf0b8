/**
 * Reading JSONC at start-up without a parser package: comments and trailing commas are blanked out and `JSON.parse`
 * does the rest. Positions stay, so error messages point into the real file.
 */

import { findJsonError } from "./json_error.ts";

export type JsoncResult =
  | { readonly ok: true; readonly value: unknown }
  /** `line` and `column` from 1. */
  | { readonly ok: false; readonly line: number; readonly column: number; readonly message: string };

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"?`;
const COMMENTS = new RegExp(String.raw`${STRING}|\/\/[^\r\n]*|\/\*[^]*?\*\/`, "g");
/** A comma before a closing bracket, unless nothing stands before it. */
const TRAILING = new RegExp(String.raw`${STRING}|(?<![\[{,:]\s*),(?=\s*[}\]])`, "g");
/** Whether a text may be more than plain JSON. `JSON.parse` is not tried first: its exceptions cost milliseconds. */
const MORE_THAN_JSON = /\/[/*]|,\s*[}\]]/;

/** Same length, same lines: comments and trailing commas become blanks. An open comment stays and is refused later. */
export function blankComments(text: string): string {
  return text
    .replace(COMMENTS, (part) => part.startsWith('"') ? part : part.replace(/[^\r\n]/g, " "))
    .replace(TRAILING, (part) => part.startsWith('"') ? part : " ");
}

function failure(text: string): JsoncResult {
  const at = findJsonError(text);
  const before = text.slice(0, at).split("\n");
  const found = at >= text.trimEnd().length
    ? "the text ends too early"
    : `unexpected ${JSON.stringify(text[at])}`;
  return { ok: false, line: before.length, column: (before.at(-1) ?? "").length + 1, message: found };
}

/** Parses JSONC; never throws. A file with nothing but blanks and comments is an empty object. */
export function parseJsonc(source: string): JsoncResult {
  const text = source.startsWith("\uFEFF") ? source.slice(1) : source;
  const plain = MORE_THAN_JSON.test(text) ? blankComments(text) : text;
  if (plain.trim() === "") return { ok: true, value: {} };
  try {
    return { ok: true, value: JSON.parse(plain) };
  } catch {
    return failure(plain);
  }
}
