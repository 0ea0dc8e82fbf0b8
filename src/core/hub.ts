/**
 * One writer, many readers per session. Readers are called synchronously and in order, so nothing is queued here;
 * a reader whose transport is full returns a promise, and the turn waits for it before it reads on from the model
 * (cancel still ends that wait). A reader that throws is reported and disturbs neither the turn nor the others.
 */
import type { CoreEvent, CoreEventBody } from "./events.ts";

export type EventReader = (event: CoreEvent) => void | Promise<void>;

export class EventHub {
  readonly #readers = new Set<EventReader>();
  readonly #sessionId: string;
  readonly #onReaderError: (error: unknown) => void;
  #seq = 0;
  #full: Promise<void>[] = [];

  constructor(sessionId: string, onReaderError: (error: unknown) => void) {
    this.#sessionId = sessionId;
    this.#onReaderError = onReaderError;
  }

  /** Returns the function that ends the subscription. */
  subscribe(reader: EventReader): () => void {
    this.#readers.add(reader);
    return () => void this.#readers.delete(reader);
  }

  publish(turnId: string, body: CoreEventBody): void {
    this.#seq++;
    if (this.#readers.size === 0) return;
    const event: CoreEvent = { ...body, sessionId: this.#sessionId, turnId, seq: this.#seq };
    for (const reader of this.#readers) {
      try {
        const full = reader(event);
        if (full) this.#full.push(full.catch(this.#onReaderError));
      } catch (error) {
        this.#onReaderError(error);
      }
    }
  }

  /** What the writer should wait for before it produces more; `null` when every reader has room. */
  takeBackpressure(): Promise<void> | null {
    if (this.#full.length === 0) return null;
    const waits = this.#full;
    this.#full = [];
    return Promise.all(waits).then(() => undefined);
  }
}
