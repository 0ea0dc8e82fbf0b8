/**
 * Notices of background processes: an end, or output that matches what was asked to be watched. Kept with the process
 * until a door takes them. Rates are bounded: one notice per 15 s and process, three breaches switch a watch off;
 * 15 per 10 s over the whole program make all watches pause for 30 s (core.md B.3).
 */
import type { Clock } from "@/platform/mod.ts";

const PER_PROCESS_MS = 15_000;
const STRIKES = 3;
const GLOBAL_COUNT = 15;
const GLOBAL_WINDOW_MS = 10_000;
const GLOBAL_PAUSE_MS = 30_000;
const MAX_LINE = 2_000;

/** Shared by all sessions of the program. Times are monotonic milliseconds. */
export class NoticeLimiter {
  #times: number[] = [];
  #pausedUntil = -Infinity;

  allow(now: number): boolean {
    if (now < this.#pausedUntil) return false;
    this.#times = this.#times.filter((time) => now - time < GLOBAL_WINDOW_MS);
    if (this.#times.length >= GLOBAL_COUNT) {
      this.#pausedUntil = now + GLOBAL_PAUSE_MS;
      return false;
    }
    this.#times.push(now);
    return true;
  }
}

export interface WatchFinding {
  readonly kind: "match" | "watch_disabled";
  readonly text: string;
}

/** Looks for patterns (plain text) in the lines of one process. */
export class OutputWatch {
  readonly #patterns: readonly string[];
  readonly #clock: Clock;
  readonly #limiter: NoticeLimiter;
  #line = "";
  #last = -Infinity;
  #suppressed = 0;
  #strikes = 0;
  #struck = false;
  #disabled = false;

  constructor(patterns: readonly string[], clock: Clock, limiter: NoticeLimiter) {
    this.#patterns = patterns;
    this.#clock = clock;
    this.#limiter = limiter;
  }

  /** There were too many matches: nothing more is told. */
  get disabled(): boolean {
    return this.#disabled;
  }

  /** What to tell now: lines that match, and once that there were too many. */
  feed(text: string): WatchFinding[] {
    if (this.#disabled || this.#patterns.length === 0) return [];
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop()!.slice(-MAX_LINE);
    const out: WatchFinding[] = [];
    for (const line of lines) {
      if (!this.#disabled && this.#patterns.some((pattern) => line.includes(pattern))) this.#hit(line, out);
    }
    return out;
  }

  #hit(line: string, out: WatchFinding[]): void {
    const now = this.#clock.monotonic();
    if (now - this.#last >= PER_PROCESS_MS) {
      if (!this.#limiter.allow(now)) return;
      const more = this.#suppressed > 0 ? ` (${this.#suppressed} more matches since the last notice)` : "";
      if (!this.#struck) this.#strikes = 0; // A quiet interval: the breaches were not in a row.
      this.#last = now;
      this.#suppressed = 0;
      this.#struck = false;
      out.push({ kind: "match", text: line.slice(0, MAX_LINE) + more });
      return;
    }
    this.#suppressed++;
    if (this.#struck) return;
    this.#struck = true;
    this.#strikes++;
    if (this.#strikes < STRIKES) return;
    this.#disabled = true;
    out.push({
      kind: "watch_disabled",
      text: "The watched patterns match too often; the watch was switched off",
    });
  }
}
