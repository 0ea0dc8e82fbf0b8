/**
 * Redaction of text that is shown while it comes (core.md C.9): what could be the beginning of a credential is held
 * back until it turns out to be none, or is masked as in the whole text. Ordinary text passes at once, in the pieces
 * it came in, for the price of two searches in the last few dozen characters.
 *
 *   shown already (public beginnings at most) │ this piece ─► no hint: passes
 *                                             └─► hint: shown up to where a credential may go on │ the rest waits
 */
import { HEAD, TOKEN_HINT, type Watch } from "./redact.ts";

/** Characters of what was shown that are looked at together with the next piece. */
const CONTEXT = 64;
/** More than any credential is long; what waits longer is masked as it is. */
const MAX_HELD = 16_384;
/** What a token consists of: while it lasts, more of it may follow. */
const RUN = /[A-Za-z0-9_.:+/=~-]*$/;
const PEM_BEGIN = "-----BEGIN ";
const PEM_END = "-----END";

export interface StreamRedactor {
  /** What may be shown now. */
  push(piece: string): string;
  /** What was still held back; the next piece begins anew. */
  end(): string;
}

export interface StreamRedactorOptions {
  /** Masks a whole text. */
  redact(text: string): string;
  /** Values that are masked wherever they occur. */
  readonly watch: Watch;
}

export function createStreamRedactor(options: StreamRedactorOptions): StreamRedactor {
  return new Holder(options);
}

/** For programs that show everything. */
export const OPEN_STREAM: StreamRedactor = { push: (piece) => piece, end: () => "" };

class Holder implements StreamRedactor {
  readonly #redact: (text: string) => string;
  readonly #known: readonly string[];
  readonly #heads: RegExp | null;
  /** The end of what was shown, as it came. */
  #context = "";
  #held = "";
  /** Inside a private key that is longer than what can be held: nothing is shown up to its end. */
  #isSealed = false;

  constructor({ redact, watch }: StreamRedactorOptions) {
    this.#redact = redact;
    this.#known = watch.known;
    this.#heads = watch.heads;
  }

  push(piece: string): string {
    let text = this.#held + piece;
    if (this.#isSealed) {
      const end = text.indexOf(PEM_END);
      this.#held = text.slice(-PEM_END.length);
      if (end === -1) return "";
      this.#isSealed = false;
      text = text.slice(end);
    }
    const seen = this.#context + text;
    if (!this.#isSuspicious(seen)) {
      this.#held = "";
      this.#context = seen.slice(-CONTEXT);
      return text;
    }
    const open = this.#holdFrom(seen);
    const stop = seen.length - open > MAX_HELD ? seen.length : open;
    this.#isSealed = stop > open && seen.startsWith(PEM_BEGIN, open);
    // What was shown cannot be taken back.
    const cut = Math.max(0, stop - this.#context.length);
    this.#held = text.slice(cut);
    return this.#show(text.slice(0, cut));
  }

  end(): string {
    const rest = this.#isSealed ? "" : this.#held;
    this.#held = "";
    this.#isSealed = false;
    const shown = rest === "" ? "" : this.#show(rest);
    this.#context = "";
    return shown;
  }

  #isSuspicious(seen: string): boolean {
    return TOKEN_HINT.test(seen) || (this.#heads?.test(seen) ?? false) || seen.includes(PEM_BEGIN);
  }

  /** Masks a part together with the harmless beginning that was shown before it. */
  #show(part: string): string {
    const context = this.#context;
    const whole = context + part;
    const masked = this.#redact(whole);
    if (part !== "") this.#context = masked === whole ? whole.slice(-CONTEXT) : "";
    if (masked.startsWith(context)) return masked.slice(context.length);
    // The beginning belongs to what is masked: the mask follows it.
    let same = 0;
    while (same < context.length && masked[same] === context[same]) same++;
    return masked.slice(same);
  }

  /** Where the first credential begins that may go on in the next piece; the length when there is none. */
  #holdFrom(seen: string): number {
    let from = seen.length;
    const run = seen.length - RUN.exec(seen)![0].length;
    if (TOKEN_HINT.test(seen.slice(run))) from = run;
    const pem = seen.lastIndexOf(PEM_BEGIN);
    if (pem !== -1 && !seen.includes(PEM_END, pem)) from = Math.min(from, pem);
    for (const value of this.#known) from = Math.min(from, openAt(seen, value));
    return from;
  }
}

/** Where `value` has begun and not ended at the end of `seen`; the length when it has not. */
function openAt(seen: string, value: string): number {
  const head = value.slice(0, HEAD);
  const first = Math.max(0, seen.length - value.length + 1);
  for (let at = seen.indexOf(head, first); at !== -1; at = seen.indexOf(head, at + 1)) {
    if (value.startsWith(seen.slice(at))) return at;
  }
  return seen.length;
}
