/**
 * The events of one run, numbered from 0 (api-server.md E1, E2). Holds the newest ones for any number of readers,
 * each of which keeps its own place; a reader that is slow costs nothing but its place. Knows no SSE and no store.
 */
export interface JournalEvent {
  readonly seq: number;
  /** JSON text, its `seq` included. */
  readonly data: string;
}

/** Events that are kept per run, unless the configuration says otherwise. */
export const JOURNAL_LIMIT = 1000;

export class RunJournal {
  readonly #limit: number;
  #events: JournalEvent[] = [];
  /** How many at the front have been dropped but not yet cut away. */
  #offset = 0;
  #next = 0;
  #ended = false;
  #unsaved: JournalEvent[] = [];
  #changed: PromiseWithResolvers<void> | null = null;

  constructor(limit: number = JOURNAL_LIMIT) {
    this.#limit = limit;
  }

  get lastSeq(): number {
    return this.#next - 1;
  }

  get ended(): boolean {
    return this.#ended;
  }

  get unsaved(): number {
    return this.#unsaved.length;
  }

  append(payload: Readonly<Record<string, unknown>>): void {
    const seq = this.#next++;
    const event = { seq, data: JSON.stringify({ ...payload, seq }) };
    this.#events.push(event);
    this.#unsaved.push(event);
    if (this.#events.length - this.#offset > this.#limit) this.#offset++;
    if (this.#offset > this.#limit) {
      this.#events = this.#events.slice(this.#offset);
      this.#offset = 0;
    }
    this.poke();
  }

  /** Nothing comes after this. */
  end(): void {
    this.#ended = true;
    this.poke();
  }

  /** Events not yet handed out for saving. */
  takeUnsaved(): JournalEvent[] {
    return this.#unsaved.splice(0);
  }

  /** Back again: they could not be saved. */
  returnUnsaved(events: readonly JournalEvent[]): void {
    this.#unsaved = [...events, ...this.#unsaved].slice(-this.#limit);
  }

  /** Retained events with a higher number, at most `limit`. */
  after(seq: number, limit: number): JournalEvent[] {
    const first = this.#events[this.#offset]?.seq ?? this.#next;
    const from = this.#offset + Math.max(0, seq + 1 - first);
    return this.#events.slice(from, from + limit);
  }

  /** Resolves with the next event or the end. */
  changed(): Promise<void> {
    this.#changed ??= Promise.withResolvers<void>();
    return this.#changed.promise;
  }

  /** Lets everyone who waits look again. */
  poke(): void {
    this.#changed?.resolve();
    this.#changed = null;
  }
}
