/**
 * The clock by which runs are kept and servers are heard of (api-server.md B4): the wall clock, since rows outlive a
 * server, with the other clock beside it, which nobody can set. Seconds since 1970.
 */
import type { Platform } from "@/platform/mod.ts";

export class RunClock {
  readonly #clock: Pick<Platform["clock"], "now" | "monotonic">;
  readonly #holdFor: number;
  readonly #jump: number;
  /** By how much the wall clock is ahead of the other, and when that has changed last (the other clock). */
  #ahead: number;
  #changedAt = -Infinity;
  /** The same for keeping: what is left of a jump forward is held back since then. */
  #kept: number;
  #heldSince: number | null = null;

  /** `jump`: seconds from which a change counts as one; `holdFor`: as long as the longest time that rows are kept. */
  constructor(clock: Pick<Platform["clock"], "now" | "monotonic">, jump: number, holdFor: number) {
    this.#clock = clock;
    this.#jump = jump;
    this.#holdFor = holdFor;
    this.#ahead = this.#kept = this.#lead();
  }

  now(): number {
    return this.#clock.now() / 1000;
  }

  /** The clock was changed a moment ago (or the machine slept): who lives is first to be heard of again. */
  isNew(): boolean {
    const [ahead, now] = [this.#lead(), this.#clock.monotonic() / 1000];
    if (Math.abs(ahead - this.#ahead) > this.#jump) this.#changedAt = now;
    this.#ahead = ahead;
    return now - this.#changedAt < 2 * this.#jump;
  }

  /**
   * Now, for the age of what is kept: never later than the time that has really passed, so that a clock that is put
   * forward makes nothing old; and never later than the wall clock, so that one that is put back makes nothing new
   * old either. A jump forward counts once everything from before it is old by any clock.
   */
  forKeeping(): number {
    const [ahead, now] = [this.#lead(), this.#clock.monotonic() / 1000];
    if (ahead - this.#kept > this.#jump) this.#heldSince ??= now;
    else this.#heldSince = null;
    const isOver = this.#heldSince !== null && now - this.#heldSince > this.#holdFor;
    if (isOver || ahead < this.#kept) {
      this.#kept = ahead;
      this.#heldSince = null;
    }
    return now + this.#kept;
  }

  #lead(): number {
    return (this.#clock.now() - this.#clock.monotonic()) / 1000;
  }
}
