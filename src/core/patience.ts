/**
 * How often one call of the model is tried (core.md A.5): streams that break off in the middle of a tool call have a
 * number of their own, and an endpoint that was silent again and again, over turns, is not waited for several times.
 */
import type { ModelFailure } from "./errors.ts";

const STREAM_RETRIES = 2;
const GIVE_UP_AFTER = 5;

export type Variable = (name: string) => string | undefined;

/** One per session. */
export class Patience {
  readonly #env: Variable;
  #silences = 0;

  constructor(env: Variable) {
    this.#env = env;
  }

  /** The model has answered. */
  answered(): void {
    this.#silences = 0;
  }

  /** Requests that a failure may cost in all, when `max` is the number for ordinary ones; counts the silences. */
  attempts(failure: ModelFailure, isMidStream: boolean, max: number): number {
    if (failure.kind === "timeout") this.#silences++;
    if (this.#silences >= this.#number("HERMES_STREAM_STALE_GIVEUP", GIVE_UP_AFTER)) return 1;
    return isMidStream ? Math.min(max, 1 + this.#number("HERMES_STREAM_RETRIES", STREAM_RETRIES)) : max;
  }

  #number(name: string, fallback: number): number {
    const stated = this.#env(name)?.trim();
    return stated !== undefined && /^\d+$/.test(stated) ? Number(stated) : fallback;
  }
}
