/**
 * Server-sent events out of raw bytes: one `push` per network read gives the data of every event that is complete.
 * Comments and other fields are skipped; any split of the bytes gives the same events.
 *
 *   bytes ──► UTF-8 (streaming) ──► lines ──► data of an event at each empty line
 */

/** No honest event is longer (characters). */
const MAX_PENDING = 64 << 20;

export class SseParser {
  readonly #decoder = new TextDecoder();
  #rest = "";
  #data: string | null = null;

  /** Data of the events that this read completed. Throws `RangeError` when an event never ends. */
  push(bytes: Uint8Array): string[] {
    const events: string[] = [];
    this.#consume(this.#decoder.decode(bytes, { stream: true }), events);
    return events;
  }

  /** The last event, when the stream ended without its empty line. */
  end(): string[] {
    const events: string[] = [];
    this.#consume(this.#decoder.decode() + "\n\n", events);
    return events;
  }

  #consume(text: string, events: string[]): void {
    // Only what is new is looked through, so that a long line costs its length and not the square of it.
    const endsNoLine = !text.includes("\n");
    const buffer = this.#rest === "" ? text : this.#rest + text;
    let start = 0;
    for (let at = endsNoLine ? -1 : buffer.indexOf("\n"); at !== -1; at = buffer.indexOf("\n", start)) {
      this.#line(buffer, start, at > start && buffer.charCodeAt(at - 1) === 13 ? at - 1 : at, events);
      start = at + 1;
    }
    this.#rest = start === 0 ? buffer : buffer.slice(start);
    if (this.#rest.length + (this.#data?.length ?? 0) > MAX_PENDING) {
      throw new RangeError("An event is too long");
    }
  }

  #line(buffer: string, start: number, end: number, events: string[]): void {
    if (end === start) {
      if (this.#data !== null) events.push(this.#data);
      this.#data = null;
      return;
    }
    if (!buffer.startsWith("data:", start)) return;
    const from = buffer.charCodeAt(start + 5) === 32 ? start + 6 : start + 5;
    const value = buffer.slice(from, end);
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`;
  }
}
