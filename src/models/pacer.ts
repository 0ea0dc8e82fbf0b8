/** `rate_limit_delay` (core.md E.4): calls to one endpoint start that far apart, over all sessions of this program. */
import type { Clock } from "@/platform/mod.ts";

const MAX = 100;

export class Pacer {
  readonly #clock: Clock;
  /** When the next call may start, by endpoint; milliseconds that only grow. */
  readonly #free = new Map<string, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits for the turn of this call; rejects with `AbortError` when the signal fires first. */
  async wait(baseUrl: string, seconds: number, signal: AbortSignal): Promise<void> {
    const now = this.#clock.monotonic();
    const start = Math.max(now, this.#free.get(baseUrl) ?? now);
    this.#free.delete(baseUrl);
    this.#free.set(baseUrl, start + seconds * 1000);
    if (this.#free.size > MAX) this.#free.delete(this.#free.keys().next().value!);
    if (start > now) await this.#clock.delay(start - now, { signal });
  }
}
