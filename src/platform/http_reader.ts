/** Reads one HTTP/1.1 answer from a byte stream: heads, and a body by its length, in chunks, or until the end. */

type Bytes = Uint8Array<ArrayBuffer>;

export interface Head {
  readonly status: number;
  readonly statusText: string;
  readonly headers: Headers;
}

const MAX_HEAD = 1 << 16;
const LF = 10;

export class HttpReader {
  readonly #source: AsyncIterator<Uint8Array>;
  #rest: Bytes = new Uint8Array();

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Throws `TypeError` when what comes is no HTTP/1.x head, or more than 64 KiB. */
  async head(): Promise<Head> {
    const first = await this.#line();
    const match = /^HTTP\/1\.\d (\d{3})(?: (.*))?$/.exec(first);
    if (!match) throw new TypeError("the server does not speak HTTP/1.1");
    const headers = new Headers();
    let size = first.length;
    for (let line = await this.#line(); line !== ""; line = await this.#line()) {
      size += line.length;
      if (size > MAX_HEAD) throw new TypeError("the head of the answer is too long");
      const colon = line.indexOf(":");
      if (colon < 1 || /\s/.test(line.slice(0, colon))) {
        throw new TypeError("the head of the answer is broken");
      }
      headers.append(line.slice(0, colon), line.slice(colon + 1).trim());
    }
    return { status: Number(match[1]), statusText: match[2] ?? "", headers };
  }

  /** Throws `TypeError` when the end comes too early. */
  async *body(headers: Headers): AsyncGenerator<Bytes> {
    if (/\bchunked\b/i.test(headers.get("transfer-encoding") ?? "")) return yield* this.#chunks();
    const length = headers.get("content-length");
    if (length !== null) {
      // Two lengths are one too many, and none of another kind is believed: the rest would be taken for the whole.
      if (!/^\d{1,15}$/.test(length)) throw new TypeError("the length of the answer is broken");
      return yield* this.#exactly(Number(length));
    }
    for (let piece = await this.#take(Infinity); piece; piece = await this.#take(Infinity)) yield piece;
  }

  async *#chunks(): AsyncGenerator<Bytes> {
    for (;;) {
      const line = await this.#line();
      const size = /^([0-9a-f]{1,12})[ \t]*(?:;|$)/i.exec(line)?.[1];
      if (size === undefined) throw new TypeError("a chunk of the answer is broken");
      if (Number.parseInt(size, 16) === 0) return;
      yield* this.#exactly(Number.parseInt(size, 16));
      if (await this.#line() !== "") throw new TypeError("a chunk of the answer is broken");
    }
  }

  async *#exactly(length: number): AsyncGenerator<Bytes> {
    for (let left = length; left > 0;) {
      const piece = await this.#take(left);
      if (!piece) throw new TypeError("the answer broke off");
      left -= piece.length;
      yield piece;
    }
  }

  async #line(): Promise<string> {
    for (let from = 0;;) {
      const at = this.#rest.indexOf(LF, from);
      if (at >= 0) {
        const line = new TextDecoder().decode(this.#rest.subarray(0, at)).replace(/\r$/, "");
        this.#rest = this.#rest.subarray(at + 1);
        return line;
      }
      if (this.#rest.length > MAX_HEAD) throw new TypeError("a line of the answer is too long");
      from = this.#rest.length;
      if (!await this.#more()) throw new TypeError("the answer broke off");
    }
  }

  /** At most `most` bytes of what is there, or comes next; `null` at the end. */
  async #take(most: number): Promise<Bytes | null> {
    if (this.#rest.length === 0 && !await this.#more()) return null;
    const piece = this.#rest.slice(0, Math.min(most, this.#rest.length));
    this.#rest = this.#rest.subarray(piece.length);
    return piece;
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#source.next();
    if (done) return false;
    const joined = new Uint8Array(this.#rest.length + value.length);
    joined.set(this.#rest);
    joined.set(value, this.#rest.length);
    this.#rest = joined;
    return true;
  }
}
