/**
 * The models of one turn, in order: the primary, then the fallbacks (core.md A.11). It lasts as long as the turn,
 * so the next one starts on the primary again, unless that is to be left alone for a while. Which failure calls for
 * the next model is the turn's decision.
 */
import type { ModelFailure } from "./errors.ts";
import type { ModelClient, ResolvedModel } from "./ports.ts";

/** With another model at hand these get one more try instead of all of them. */
const HURRIED: ReadonlySet<ModelFailure["kind"]> = new Set(["overloaded", "rate_limit", "timeout"]);
/** A model that was refused for one of these is left alone for a while. */
const LIMITS: ReadonlySet<ModelFailure["kind"]> = new Set(["rate_limit", "upstream_rate_limit", "billing"]);
const REST_AFTER_LIMIT_MS = 60_000;
const REST_AFTER_CHAIN_MS = 5_000;

/** Models that a session leaves alone for a while. */
export class Resting {
  readonly #until = new Map<string, number>();
  /** Milliseconds that only grow. */
  readonly #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
  }

  rest(model: ResolvedModel, ms: number): void {
    this.#until.set(keyOf(model), this.#now() + ms);
  }

  has(model: ResolvedModel): boolean {
    return (this.#until.get(keyOf(model)) ?? -Infinity) > this.#now();
  }
}

export class Failover {
  readonly #primary: ResolvedModel;
  readonly #fallbacks: readonly (() => ModelClient)[];
  readonly #resting: Resting;
  #client: ModelClient;
  #next = 0;

  constructor(primary: ModelClient, fallbacks: readonly (() => ModelClient)[], resting: Resting) {
    this.#primary = primary.info;
    this.#client = primary;
    this.#fallbacks = fallbacks;
    this.#resting = resting;
    if (resting.has(primary.info)) this.#toNext();
  }

  /** The model in force. */
  get client(): ModelClient {
    return this.#client;
  }

  /** True while a fallback answers. */
  get isAway(): boolean {
    return keyOf(this.#client.info) !== keyOf(this.#primary);
  }

  /** How many requests this failure may cost in all, when `max` is the configured number. */
  attempts(failure: ModelFailure, max: number): number {
    const hasNext = this.#next < this.#fallbacks.length;
    if (failure.kind === "upstream_rate_limit" && hasNext) return 1;
    const hurries = HURRIED.has(failure.kind) && hasNext;
    return Math.max(1, hurries ? Math.min(2, max) : max);
  }

  /** Moves to the next model that can be used and is another one; false when there is none. */
  advance(failure: ModelFailure): boolean {
    if (LIMITS.has(failure.kind)) {
      this.#resting.rest(this.#client.info, REST_AFTER_LIMIT_MS);
    }
    if (this.#toNext()) return true;
    if (this.isAway) this.#resting.rest(this.#primary, REST_AFTER_CHAIN_MS);
    return false;
  }

  #toNext(): boolean {
    while (this.#next < this.#fallbacks.length) {
      const client = clientOf(this.#fallbacks[this.#next++]!);
      if (client === null || isSame(client.info, this.#client.info)) continue;
      this.#client = client;
      return true;
    }
    return false;
  }

  /** The system prompt, naming the model in force. */
  prompt(system: string): string {
    const lines = (info: ResolvedModel) => `Model: ${info.model}\nProvider: ${info.provider}`;
    return this.isAway ? system.replace(lines(this.#primary), () => lines(this.#client.info)) : system;
  }
}

/** `null` when the entry is incomplete or has no credentials. */
function clientOf(make: () => ModelClient): ModelClient | null {
  try {
    return make();
  } catch {
    return null;
  }
}

/** One model under two names of its place is tried once. */
function isSame(a: ResolvedModel, b: ResolvedModel): boolean {
  if (a.model !== b.model) return false;
  // Endpoints of the user's own share the name `custom`.
  return a.baseUrl === b.baseUrl || (a.provider === b.provider && a.provider !== "custom");
}

function keyOf({ model, provider, baseUrl }: ResolvedModel): string {
  return JSON.stringify([model, provider, baseUrl]);
}
