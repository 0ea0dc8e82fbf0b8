/**
 * JSON lines as bytes (FC-01): frames are split at 0x0A and nowhere else, and go out without any raw line break.
 *
 *   bytes ──► LineSplitter ──► line | too_long ──► decodeLine ──► text
 *   value ──► encodeFrame ──► text + "\n"   (`line_json.ts`)
 */
import { lineJson } from "./line_json.ts";

export type Line = { readonly type: "line"; readonly bytes: Uint8Array } | { readonly type: "too_long" };

const LF = 0x0a;

/** Cuts a byte stream into lines; a line over `limit` bytes is dropped up to its end and reported once. */
export class LineSplitter {
  readonly #limit: number;
  #parts: Uint8Array[] = [];
  #size = 0;
  #dropping = false;

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let at = chunk.indexOf(LF); at !== -1; at = chunk.indexOf(LF, start)) {
      this.#add(chunk.subarray(start, at), lines);
      if (this.#dropping) this.#dropping = false;
      else lines.push({ type: "line", bytes: this.#take() });
      start = at + 1;
    }
    // A copy: the caller may reuse its buffer, and a small rest must not keep a large one alive.
    if (start < chunk.length) this.#add(chunk.slice(start), lines);
    return lines;
  }

  /** The rest without a line end, at the end of input. */
  end(): Line[] {
    if (this.#dropping || this.#size === 0) return [];
    return [{ type: "line", bytes: this.#take() }];
  }

  #add(part: Uint8Array, lines: Line[]): void {
    if (this.#dropping) return;
    this.#size += part.length;
    if (this.#size > this.#limit) {
      this.#take();
      this.#dropping = true;
      lines.push({ type: "too_long" });
      return;
    }
    if (part.length > 0) this.#parts.push(part);
  }

  #take(): Uint8Array {
    const parts = this.#parts;
    const size = this.#size;
    this.#parts = [];
    this.#size = 0;
    if (parts.length === 1) return parts[0]!;
    const line = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      line.set(part, at);
      at += part.length;
    }
    return line;
  }
}

const strict = new TextDecoder("utf-8", { fatal: true });

/** Text of a line without surrounding white space; `null` when the bytes are not UTF-8. */
export function decodeLine(bytes: Uint8Array): string | null {
  try {
    return strict.decode(bytes).trim();
  } catch {
    return null;
  }
}

/** One frame: compact JSON, no raw line break of any kind and no half character, ended by one LF. */
export function encodeFrame(value: unknown): string {
  return lineJson(value) + "\n";
}
