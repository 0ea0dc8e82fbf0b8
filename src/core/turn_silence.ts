/**
 * Ends a turn in which nothing happens any more (core.md E.4 `agent.gateway_timeout`). What counts is the session's
 * event stream and what comes from the model; an open question has a limit of its own, and a call of a tool that has
 * one may use it up (`hold`). One timer for the turn: an event only notes the time.
 */
import { LONGEST_TIMER_MS } from "@/lib/abort.ts";
import { plural } from "@/lib/plural.ts";
import type { Clock } from "@/platform/mod.ts";
import type { TurnResult } from "./events.ts";

export interface SilenceOptions {
  /** Milliseconds; 0 or less: never. */
  readonly limitMs: number;
  readonly clock: Pick<Clock, "monotonic">;
  /** Whether a question to a person is open. */
  isAsking(): boolean;
  /** Called once, when the limit is reached. */
  stop(): void;
}

export class TurnSilence {
  readonly #options: SilenceOptions;
  /** Until when calls may be silent; milliseconds of the same clock. */
  readonly #held = new Map<symbol, number>();
  #lastAt: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;

  constructor(options: SilenceOptions) {
    this.#options = options;
    this.#lastAt = options.clock.monotonic();
    if (options.limitMs > 0) this.#wait(options.limitMs);
  }

  /** True when it has ended the turn. */
  get stopped(): boolean {
    return this.#stopped;
  }

  /** Something has happened. */
  touch(): void {
    this.#lastAt = this.#options.clock.monotonic();
  }

  /** A call that may be silent for so long; the function that ends it. */
  hold(seconds: number): () => void {
    const key = Symbol();
    this.#held.set(key, this.#options.clock.monotonic() + seconds * 1000);
    return () => {
      if (this.#held.delete(key)) this.touch();
    };
  }

  /** Idempotent. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#look(), Math.min(ms, LONGEST_TIMER_MS));
  }

  #look(): void {
    const { limitMs, clock, isAsking, stop } = this.#options;
    if (isAsking()) this.touch();
    const left = Math.max(this.#lastAt, ...this.#held.values()) + limitMs - clock.monotonic();
    if (left > 0) return this.#wait(Math.max(left, 1));
    this.#stopped = true;
    stop();
  }
}

/** How such a turn ends: like an error, with what it has shown and spent until then. */
export function silentResult(reached: TurnResult, seconds: number): TurnResult {
  if (reached.outcome === "completed") return reached;
  const { model, provider } = reached;
  const message =
    `No activity for ${
      plural(seconds, "second")
    } (agent.gateway_timeout), so the turn was stopped. Send the ` +
    "message again; if the model or a tool needs longer, raise the setting (0: no limit)";
  return {
    ...reached,
    outcome: "failed",
    exitReason: "inactivity_timeout",
    failure: { kind: "timeout", message, model, provider, retryable: true },
  };
}
