/** What one turn has spent so far: tokens, money and time, call by call. */
import { localDay } from "./budgets.ts";
import { addUsage, NO_USAGE, type Usage } from "./messages.ts";
import type { ModelCost, UsageCost, UsageTotals } from "./ports.ts";
import type { Platform } from "@/platform/mod.ts";

export class TurnSpending {
  readonly #platform: Platform;
  readonly #startedAt: number;
  #countedUntil: number;
  #usage: Usage = NO_USAGE;
  #calls = 0;
  #usd = 0;
  #costs: ModelCost[] = [];

  constructor(platform: Platform) {
    this.#platform = platform;
    this.#startedAt = this.#countedUntil = platform.clock.monotonic();
  }

  get usage(): Usage {
    return this.#usage;
  }

  /** Requests that were sent, answered or not. */
  get calls(): number {
    return this.#calls;
  }

  sent(requests: number): void {
    this.#calls += requests;
  }

  /** One answered call; what it adds to the totals of its session and day. */
  answered(usage: Usage, cost: ModelCost): UsageCost {
    this.#usage = addUsage(this.#usage, usage);
    this.#usd += cost.usd ?? 0;
    this.#costs.push(cost);
    const now = this.#platform.clock.monotonic();
    const seconds = (now - this.#countedUntil) / 1000;
    this.#countedUntil = now;
    return { ...cost, day: localDay(this.#platform.clock.now()), seconds };
  }

  /** A call of a child: its time is within the turn's own, and its session has counted it for the day. */
  byChild(usage: Usage, cost: ModelCost): void {
    this.#calls++;
    this.#usage = addUsage(this.#usage, usage);
    this.#usd += cost.usd ?? 0;
    this.#costs.push(cost);
  }

  totals(): UsageTotals {
    const { input, output, cacheRead, cacheWrite } = this.#usage;
    return {
      modelCalls: this.#calls,
      tokens: input + output + cacheRead + cacheWrite,
      usd: this.#usd,
      seconds: (this.#platform.clock.monotonic() - this.#startedAt) / 1000,
    };
  }

  /** Of the whole turn; `null` when a call's price is unknown, or nothing was called. */
  cost(): ModelCost | null {
    const [first] = this.#costs;
    if (!first || this.#costs.some((cost) => cost.usd === null)) return null;
    return this.#costs.find((cost) => cost.status === "estimated")
      ? { ...this.#costs.find((cost) => cost.status === "estimated")!, usd: this.#usd }
      : { ...first, usd: this.#usd };
  }
}
