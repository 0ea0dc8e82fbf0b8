/**
 * Keeps calls away from a server that fails again and again (core.md G.3): three failures in a row close the way for
 * a minute, then one call may try. A server's own "no" to a call is an answer and not a failure.
 */

const LIMIT = 3;
const REST_MS = 60_000;

export class Breaker {
  readonly #now: () => number;
  #failures = 0;
  #openedAt = 0;

  /** `now`: monotonic milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Milliseconds until a call may try again; 0 = now. */
  restMs(): number {
    if (this.#failures < LIMIT) return 0;
    return Math.max(0, this.#openedAt + REST_MS - this.#now());
  }

  get failures(): number {
    return this.#failures;
  }

  failed(): void {
    this.#failures++;
    if (this.#failures >= LIMIT) this.#openedAt = this.#now();
  }

  worked(): void {
    this.#failures = 0;
  }
}
