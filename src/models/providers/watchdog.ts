/**
 * The time limits of one call as one timer. Reads only note the time; the timer looks when it fires and sleeps on for
 * what is left, so a token costs no timer work.
 */
import { LONGEST_TIMER_MS } from "@/lib/abort.ts";
import type { Clock } from "@/platform/mod.ts";
import type { TimeLimits } from "./time_limits.ts";

export class Watchdog {
  readonly #clock: Clock;
  readonly #limits: TimeLimits;
  readonly #streams: boolean;
  readonly #onExpire: (reason: string) => void;
  readonly #start: number;
  #lastRead: number;
  #lastChunk: number;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(clock: Clock, limits: TimeLimits, streams: boolean, onExpire: (reason: string) => void) {
    this.#clock = clock;
    this.#limits = limits;
    this.#streams = streams;
    this.#onExpire = onExpire;
    this.#start = this.#lastRead = this.#lastChunk = clock.monotonic();
    this.#check();
  }

  /** Bytes came; `useful` when a chunk was among them. */
  touch(useful: boolean): void {
    this.#lastRead = this.#clock.monotonic();
    if (useful) this.#lastChunk = this.#lastRead;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  #check(): void {
    const now = this.#clock.monotonic();
    let next = Infinity;
    for (const [since, limit, reason] of this.#deadlines()) {
      const left = since + limit - now;
      if (left <= 0) return this.#onExpire(`${reason} for ${Math.round(limit / 1000)} s`);
      next = Math.min(next, left);
    }
    this.#timer = setTimeout(() => this.#check(), Math.min(next, LONGEST_TIMER_MS));
  }

  #deadlines(): (readonly [since: number, limit: number, reason: string])[] {
    const { whole, read, stale, unstreamed } = this.#limits;
    const all: (readonly [number, number, string])[] = [[this.#start, whole, "the answer was not complete"]];
    if (!this.#streams) {
      if (unstreamed !== null) all.push([this.#start, unstreamed, "no answer came"]);
      return all;
    }
    if (read !== null) all.push([this.#lastRead, read, "nothing was sent"]);
    if (stale !== null) all.push([this.#lastChunk, stale, "no part of the answer was sent"]);
    return all;
  }
}
