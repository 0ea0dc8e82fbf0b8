/**
 * The models of one turn, in order: the primary, then the fallbacks (core.md A.11). It lasts as long as the turn,
 * so the next one starts on the primary again. Which failure calls for the next model is the turn's decision.
 */
import type { ModelFailure } from "./errors.ts";
import type { ModelClient, ResolvedModel } from "./ports.ts";

/** With another model at hand these get one more try instead of all of them. */
const HURRIED: ReadonlySet<ModelFailure["kind"]> = new Set(["overloaded", "rate_limit", "timeout"]);

export class Failover {
  readonly #primary: ResolvedModel;
  readonly #fallbacks: readonly (() => ModelClient)[];
  #client: ModelClient;
  #next = 0;

  constructor(primary: ModelClient, fallbacks: readonly (() => ModelClient)[]) {
    this.#primary = primary.info;
    this.#client = primary;
    this.#fallbacks = fallbacks;
  }

  /** The model in force. */
  get client(): ModelClient {
    return this.#client;
  }

  /** How many requests this failure may cost in all, when `max` is the configured number. */
  attempts(failure: ModelFailure, max: number): number {
    const hurries = HURRIED.has(failure.kind) && this.#next < this.#fallbacks.length;
    return Math.max(1, hurries ? Math.min(2, max) : max);
  }

  /** Moves to the next model that can be used and is another one; false when there is none. */
  advance(): boolean {
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
    const { info } = this.#client;
    return isSame(info, this.#primary) ? system : system.replace(lines(this.#primary), () => lines(info));
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

function isSame(a: ResolvedModel, b: ResolvedModel): boolean {
  return a.model === b.model && a.provider === b.provider && a.baseUrl === b.baseUrl;
}
