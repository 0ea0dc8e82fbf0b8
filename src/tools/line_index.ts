/** A text as lines with their positions. Lines end at LF; a text that ends with LF has no empty last line. */

export interface LineIndex {
  readonly lines: readonly string[];
  /** Offset of each line's first character. */
  readonly starts: readonly number[];
  /** Offset behind each line's last character, its LF not counted. */
  readonly ends: readonly number[];
}

export function indexLines(text: string): LineIndex {
  const lines: string[] = [], starts: number[] = [], ends: number[] = [];
  for (let at = 0; at < text.length;) {
    const lf = text.indexOf("\n", at);
    const end = lf < 0 ? text.length : lf;
    lines.push(text.slice(at, end));
    starts.push(at);
    ends.push(end);
    at = end + 1;
  }
  return { lines, starts, ends };
}

/** Leading spaces and tabs. */
export function indentOf(line: string): string {
  return /^[ \t]*/.exec(line)![0];
}

/** Maps offsets of a text whose CRLF were read as LF back to offsets of the text itself. */
export class CrMap {
  /** Offsets, in the LF text, of each LF that was CRLF. */
  readonly #at: number[] = [];

  constructor(original: string) {
    for (let at = original.indexOf("\r\n"); at >= 0; at = original.indexOf("\r\n", at + 2)) {
      this.#at.push(at - this.#at.length);
    }
  }

  /** An offset that stands on such an LF maps to its CR. */
  toOriginal(offset: number): number {
    let low = 0, high = this.#at.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#at[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    return offset + low;
  }
}
