/**
 * Joins the text deltas of a stream that come within a short time (api-server.md B2.3): the first one leaves at
 * once, those that follow it closely leave together. Whatever else is to be sent pushes the waiting text out first.
 */
export class DeltaMerger {
  readonly #send: (text: string) => void | Promise<void>;
  readonly #ms: number;
  #text = "";
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The reader is full until it resolves. */
  #full: Promise<void> | null = null;

  constructor(ms: number, send: (text: string) => void | Promise<void>) {
    this.#ms = ms;
    this.#send = send;
  }

  /** Returns a promise only while the reader is full. */
  add(text: string): void | Promise<void> {
    this.#text += text;
    if (this.#timer === undefined) this.#tick();
    if (this.#full) return this.#full;
  }

  /** Sends what waits now. */
  flush(): void {
    const text = this.#text;
    this.#text = "";
    if (text === "") return;
    const full = this.#send(text);
    if (!full) return;
    const waiting = full.finally(() => {
      if (this.#full === waiting) this.#full = null;
    });
    this.#full = waiting;
  }

  /** The last of it; the timer ends with it. */
  close(): void {
    this.flush();
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #tick(): void {
    if (this.#text === "") {
      this.#timer = undefined;
      return;
    }
    this.flush();
    this.#timer = setTimeout(() => this.#tick(), this.#ms);
  }
}
