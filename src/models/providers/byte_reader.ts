/**
 * The bytes of a response, read by read. A plain reader of the runtime makes a new buffer of 64 KiB for every few
 * bytes that arrive; with one buffer that is filled again and again, a stream of tokens costs half as much. Bodies
 * that cannot be read so are read plainly.
 */

/** More than one read brings is left for the next. */
const BUFFER = 16 << 10;

export class ByteReader {
  readonly #plain: ReadableStreamDefaultReader<Uint8Array> | null;
  readonly #byob: ReadableStreamBYOBReader | null;
  #buffer = new ArrayBuffer(0);

  constructor(body: ReadableStream<Uint8Array>) {
    this.#byob = byobReaderOf(body);
    this.#plain = this.#byob ? null : body.getReader();
  }

  /** `null` at the end. What it gives is good until the next call. */
  async read(): Promise<Uint8Array | null> {
    if (!this.#byob) return (await this.#plain!.read()).value ?? null;
    const buffer = this.#buffer.byteLength === BUFFER ? this.#buffer : new ArrayBuffer(BUFFER);
    const { done, value } = await this.#byob.read(new Uint8Array(buffer));
    if (value) this.#buffer = value.buffer as ArrayBuffer;
    return done || !value ? null : value;
  }

  /** A read that waits ends as if the body had. */
  cancel(): Promise<void> {
    return (this.#byob ?? this.#plain!).cancel();
  }
}

function byobReaderOf(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return null; // not a stream of bytes: a body made by hand
  }
}
