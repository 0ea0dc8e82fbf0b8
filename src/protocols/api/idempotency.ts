/**
 * Equal requests under one `Idempotency-Key` run one turn (api-server.md A10): callers at the same time share it,
 * later ones get the stored answer, byte for byte. Another request under the key runs normally and takes the entry
 * over. Only completed turns are kept. In memory: 1000 entries, 300 s.
 */
import type { Clock } from "@/platform/mod.ts";

/** A finished answer that can be sent any number of times. */
export interface StoredAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** False for a turn that did not complete: it is shared, not kept. */
  readonly keep: boolean;
}

interface Entry {
  readonly fingerprint: string;
  readonly answer: Promise<StoredAnswer>;
  /** Monotonic milliseconds; infinite while the turn runs. */
  expiresAt: number;
}

const MAX_ENTRIES = 1000;
const KEEP_MS = 300_000;

export class IdempotencyCache {
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True when `run` would hand out an answer without a turn of its own. */
  has(key: string, fingerprint: string): boolean {
    const entry = this.#entries.get(key);
    return entry?.fingerprint === fingerprint && entry.expiresAt > this.#clock.monotonic();
  }

  run(key: string, fingerprint: string, work: () => Promise<StoredAnswer>): Promise<StoredAnswer> {
    const known = this.#entries.get(key);
    if (known && this.has(key, fingerprint)) return known.answer;
    const entry: Entry = { fingerprint, answer: work(), expiresAt: Infinity };
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    entry.answer.then(
      (answer) => this.#settle(key, entry, answer.keep),
      () => this.#settle(key, entry, false),
    );
    this.#trim();
    return entry.answer;
  }

  #settle(key: string, entry: Entry, keep: boolean): void {
    if (keep) entry.expiresAt = this.#clock.monotonic() + KEEP_MS;
    else if (this.#entries.get(key) === entry) this.#entries.delete(key);
  }

  /** What has expired goes with the next request, since answers can be long. */
  #trim(): void {
    const now = this.#clock.monotonic();
    for (const [key, { expiresAt }] of this.#entries) if (expiresAt <= now) this.#entries.delete(key);
    for (const key of this.#entries.keys()) {
      if (this.#entries.size <= MAX_ENTRIES) return;
      this.#entries.delete(key);
    }
  }
}
