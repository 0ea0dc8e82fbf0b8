/**
 * Output of a process as text while it comes in: bytes decoded over chunk borders, terminal escapes taken out, and
 * only so much of it kept as its reader can use (FC-18).
 */

const ESC = "\u001b";
/** Escapes that are cut by a chunk border are held back up to this length. */
const MAX_HELD = 4_096;
const ANSI =
  // deno-lint-ignore no-control-regex
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[PX^_][^\u001b]*\u001b\\|[ -/]*[0-OQ-WYZ\\`a-~])|\u009b[0-?]*[ -/]*[@-~]/g;

/** Text without terminal escapes (colours, cursor movement, titles, links). */
export function stripAnsi(text: string): string {
  return text.includes(ESC) || text.includes("\u009b") ? text.replace(ANSI, "") : text;
}

/** Bytes in, clean text out, in pieces. */
export class TextStream {
  readonly #decoder = new TextDecoder();
  #held = "";

  push(chunk: Uint8Array): string {
    return this.#clean(this.#decoder.decode(chunk, { stream: true }), false);
  }

  /** What was held back; call it once, at the end. */
  end(): string {
    return this.#clean(this.#decoder.decode(), true);
  }

  #clean(text: string, last: boolean): string {
    if (this.#held === "" && !text.includes(ESC)) return text;
    const clean = stripAnsi(this.#held + text);
    const open = last ? -1 : clean.lastIndexOf(ESC);
    const cut = open >= 0 && clean.length - open <= MAX_HELD ? open : clean.length;
    this.#held = clean.slice(cut);
    return clean.slice(0, cut);
  }
}

/** Keeps the head and the tail of a text of any length; memory is bounded by both together. */
export class HeadTail {
  readonly #headMax: number;
  readonly #tailMax: number;
  #head = "";
  #tail: string[] = [];
  #tailLength = 0;
  #total = 0;

  constructor(max: number) {
    this.#headMax = Math.floor(max * 0.4);
    this.#tailMax = max - this.#headMax;
  }

  get total(): number {
    return this.#total;
  }

  push(text: string): void {
    this.#total += text.length;
    let rest = text;
    const room = this.#headMax - this.#head.length;
    if (room > 0) {
      this.#head += rest.slice(0, room);
      rest = rest.slice(room);
    }
    if (rest === "") return;
    if (rest.length >= this.#tailMax) {
      this.#tail = [rest.slice(-this.#tailMax)];
      this.#tailLength = this.#tail[0]!.length;
      return;
    }
    this.#tail.push(rest);
    this.#tailLength += rest.length;
    while (this.#tailLength - this.#tail[0]!.length >= this.#tailMax) {
      this.#tailLength -= this.#tail.shift()!.length;
    }
    // Many tiny pieces cost more than their characters.
    if (this.#tail.length > 4_096) this.#tail = [this.#tail.join("")];
  }

  /** At most the last `max` characters. */
  last(max: number): string {
    let text = "";
    for (let i = this.#tail.length - 1; i >= 0 && text.length < max; i--) text = this.#tail[i] + text;
    if (text.length < max) text = this.#head + text;
    return text.slice(-max);
  }

  /** Head, the exact marker of core.md B.3 when something was left out, tail; each part through `clean`. */
  render(clean: (text: string) => string): string {
    const tail = this.#tail.join("");
    if (this.#total <= this.#headMax + this.#tailMax) return clean(this.#head + tail);
    const kept = tail.slice(-this.#tailMax);
    const omitted = this.#total - this.#head.length - kept.length;
    const marker = `[OUTPUT TRUNCATED - ${omitted} chars omitted out of ${this.#total} total]`;
    return `${clean(this.#head)}\n${marker}\n${clean(kept)}`;
  }
}

/** Keeps the last `max` characters. */
export class RollingText {
  readonly #max: number;
  #parts: string[] = [];
  #length = 0;
  #dropped = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** Characters that were dropped at the front. */
  get dropped(): number {
    return this.#dropped;
  }

  push(text: string): void {
    if (text === "") return;
    this.#parts.push(text);
    this.#length += text.length;
    if (this.#length < this.#max * 2 && this.#parts.length < 4_096) return;
    this.#compact();
  }

  text(): string {
    this.#compact();
    return this.#parts[0] ?? "";
  }

  #compact(): void {
    const all = this.#parts.join("");
    const kept = all.length > this.#max ? all.slice(-this.#max) : all;
    this.#dropped += all.length - kept.length;
    this.#parts = [kept];
    this.#length = kept.length;
  }
}
