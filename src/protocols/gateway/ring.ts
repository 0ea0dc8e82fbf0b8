/**
 * The last events of a session, for hosts that reconnect (tui-gateway.md E.3). Bounded three ways: per session by
 * number and by size, and over all sessions by size; what was evicted is reported as `truncated`.
 */
import { paramsOf } from "./frame.ts";

export const MAX_EVENTS = 512;
export const MAX_BYTES = 4 << 20;
export const MAX_TOTAL_BYTES = 64 << 20;
export const MAX_RINGS = 64;

/** What all rings of a process share. */
export class RingBudget {
  readonly #rings = new Set<EventRing>();
  bytes = 0;

  add(ring: EventRing): void {
    this.#rings.add(ring);
    if (this.#rings.size <= MAX_RINGS) return;
    this.remove(this.#rings.values().next().value!);
  }

  /** It keeps counting, but keeps nothing any more. */
  remove(ring: EventRing): void {
    ring.close();
    this.#rings.delete(ring);
  }

  stats(): Record<string, number> {
    let events = 0;
    for (const ring of this.#rings) events += ring.size;
    return {
      sessions: this.#rings.size,
      events,
      bytes: this.bytes,
      max_per_session: MAX_EVENTS,
      max_bytes_per_session: MAX_BYTES,
      max_bytes_process: MAX_TOTAL_BYTES,
    };
  }
}

export class EventRing {
  readonly #budget: RingBudget;
  readonly #slots: (string | undefined)[] = [];
  /** Sequence number of the oldest event kept. */
  #first = 1;
  #latest = 0;
  #bytes = 0;
  #closed = false;

  constructor(budget: RingBudget) {
    this.#budget = budget;
    budget.add(this);
  }

  get latest(): number {
    return this.#latest;
  }

  get size(): number {
    return this.#latest - this.#first + 1;
  }

  /** `frame` is the event number `latest + 1`. */
  push(frame: string): void {
    this.#latest++;
    if (this.#closed) {
      this.#first = this.#latest + 1;
      return;
    }
    if (this.size > MAX_EVENTS) this.#evict();
    this.#slots[this.#latest % MAX_EVENTS] = frame;
    this.#bytes += frame.length;
    this.#budget.bytes += frame.length;
    while (this.size > 1 && (this.#bytes > MAX_BYTES || this.#budget.bytes > MAX_TOTAL_BYTES)) this.#evict();
  }

  /** Events after `seen`, oldest first; `truncated` when some of them are gone. */
  since(seen: number): { events: Record<string, unknown>[]; truncated: boolean } {
    const events: Record<string, unknown>[] = [];
    const from = Math.max(seen, 0) + 1;
    for (let seq = Math.max(from, this.#first); seq <= this.#latest; seq++) {
      events.push(JSON.parse(paramsOf(this.#slots[seq % MAX_EVENTS]!)));
    }
    return { events, truncated: from < this.#first };
  }

  close(): void {
    this.#closed = true;
    while (this.size > 0) this.#evict();
  }

  #evict(): void {
    const slot = this.#first % MAX_EVENTS;
    const frame = this.#slots[slot];
    this.#slots[slot] = undefined;
    this.#first++;
    this.#bytes -= frame?.length ?? 0;
    this.#budget.bytes -= frame?.length ?? 0;
  }
}
