/** Where a JSON text stops being JSON. Only run on texts that `JSON.parse` refused, whose message may not say. */

const BLANK = /[ \t\r\n]*/y;
// deno-lint-ignore no-control-regex
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const ATOM = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;
/** Deeper texts are not looked into: the place is a help, not a promise. */
const MAX_DEPTH = 200;

class Scan {
  at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  take(pattern: RegExp): boolean {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text);
    if (!found) return false;
    this.at = pattern.lastIndex;
    return true;
  }

  char(expected: string): boolean {
    this.take(BLANK);
    if (this.#text[this.at] !== expected) return false;
    this.at++;
    return true;
  }

  value(depth: number): boolean {
    this.take(BLANK);
    if (depth > MAX_DEPTH) return false;
    if (this.char("{")) {
      return this.#members("}", () => this.take(STRING) && this.char(":") && this.value(depth + 1));
    }
    if (this.char("[")) return this.#members("]", () => this.value(depth + 1));
    return this.take(STRING) || this.take(ATOM);
  }

  #members(close: string, member: () => boolean): boolean {
    if (this.char(close)) return true;
    for (;;) {
      this.take(BLANK);
      if (!member()) return false;
      if (this.char(close)) return true;
      if (!this.char(",")) return false;
    }
  }
}

/** Index of the first character that does not belong there; the length when the text only ends too early. */
export function findJsonError(text: string): number {
  const scan = new Scan(text);
  if (scan.value(0)) scan.take(BLANK);
  return scan.at;
}
