/**
 * One writer, many readers per session. Readers are called synchronously and in order, so nothing is queued here;
 * a reader that may block keeps its own bounded queue (transports do). A reader that throws is reported and does
 * not disturb the turn or the other readers.
 */
import type { CoreEvent, CoreEventBody } from "./events.ts";

export type EventReader = (event: CoreEvent) => void;

export class EventHub {
  readonly #readers = new Set<EventReader>();
  readonly #sessionId: string;
  readonly #onReaderError: (error: unknown) => void;
  #seq = 0;

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
        reader(event);
      } catch (error) {
        this.#onReaderError(error);
      }
    }
  }
}
