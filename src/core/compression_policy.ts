/**
 * When a conversation is compressed by itself (core.md A.16): the threshold, and what holds it back after failures
 * and after compressions that have gained nothing. One gate per session; a compression on the user's word resets it.
 */
import { isSameModel } from "./efforts.ts";
import type { ModelFailure } from "./errors.ts";
import type { Settings } from "./settings.ts";

const UNKNOWN_WINDOW = 256_000;
const LEAST_THRESHOLD = 64_000;
const LARGE_WINDOW = 512_000;
/** After a compression this much of the tokens is still there: it was not worth its call. */
const INEFFECTIVE = 0.9;
const IN_A_ROW = 2;

/** Tokens of a request from which a conversation is compressed; a wish for this very model is taken as it is. */
export function compressionThreshold(
  { model, contextWindow }: { readonly model: string; readonly contextWindow: number | null },
  maxTokens: number | null,
  settings: Settings["compression"],
): number {
  if (settings.threshold_tokens) return settings.threshold_tokens;
  const size = contextWindow ?? UNKNOWN_WINDOW;
  const ratio = ownRatio(model, settings) ??
    (size < LARGE_WINDOW ? Math.max(settings.threshold, 0.75) : settings.threshold);
  const threshold = Math.max(Math.floor((size - (maxTokens ?? 0)) * ratio), LEAST_THRESHOLD);
  return threshold >= size ? Math.floor(size * 0.85) : threshold;
}

/** `compression.model_thresholds`: names in any spelling; what is no part of a window is no wish. */
function ownRatio(model: string, { model_thresholds = {} }: Settings["compression"]): number | null {
  const ratio = Object.entries(model_thresholds).find(([name]) => isSameModel(name, model))?.[1];
  return typeof ratio === "number" && ratio >= 0.05 && ratio <= 1 ? ratio : null;
}

/** Tokens that stay word for word at the end. */
export function tailBudget(threshold: number, settings: Settings["compression"]): number {
  return Math.floor(threshold * Math.min(0.8, Math.max(0.1, settings.target_ratio)));
}

/** Nobody could be asked for a summary: the conversation stays as it is, and what there is may come back. */
export function isUnreachable(failure: ModelFailure | null): boolean {
  return failure !== null && UNREACHABLE.has(failure.kind);
}

const NO_PROVIDER: ReadonlySet<ModelFailure["kind"]> = new Set([
  "auth",
  "billing",
  "config",
  "model_not_found",
]);
const UNREACHABLE: ReadonlySet<ModelFailure["kind"]> = new Set([
  ...NO_PROVIDER,
  "connection",
  "timeout",
  "ssl",
  "rate_limit",
  "upstream_rate_limit",
  "overloaded",
]);

/** What of a gate outlives the program, in the session's row (core.md D.3). */
export interface KeptGate {
  /** Unix seconds. */
  readonly compressionRestsUntil?: number;
  /** What the failure was that it rests for. */
  readonly compressionError?: string;
  /** Compressions in a row without a model's summary. */
  readonly compressionFallbacks?: number;
}

const LONGEST_REST_S = 600;

export class CompressionGate {
  /** Milliseconds that only grow. */
  readonly #now: () => number;
  #restsUntil = -Infinity;
  #error = "";
  #ineffective = 0;
  #fallbacks = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** `wall` is the time of day in seconds; a clock that was turned cannot make a rest longer than any is. */
  restore(kept: KeptGate, wall: number): void {
    const { compressionRestsUntil = 0, compressionError = "", compressionFallbacks = 0 } = kept;
    const left = Math.min(compressionRestsUntil - wall, LONGEST_REST_S);
    if (left > 0) this.#restsUntil = this.#now() + left * 1000;
    this.#error = compressionError;
    this.#fallbacks = compressionFallbacks;
  }

  /** Only what holds back. */
  kept(wall: number): KeptGate {
    const left = (this.#restsUntil - this.#now()) / 1000;
    return {
      ...(left > 0 ? { compressionRestsUntil: wall + left, compressionError: this.#error } : {}),
      ...(this.#fallbacks > 0 ? { compressionFallbacks: this.#fallbacks } : {}),
    };
  }

  /** Two in a row have gained nothing, or had no model's summary: only the user's word goes on. */
  get blocked(): boolean {
    return this.#ineffective >= IN_A_ROW || this.#fallbacks >= IN_A_ROW;
  }

  /** For a little while after a failure. */
  get resting(): boolean {
    return this.#now() < this.#restsUntil;
  }

  done(tokens: { readonly before: number; readonly after: number }, isFallback: boolean): void {
    this.#ineffective = tokens.after > tokens.before * INEFFECTIVE ? this.#ineffective + 1 : 0;
    this.#fallbacks = isFallback ? this.#fallbacks + 1 : 0;
  }

  failed(failure: ModelFailure | null): void {
    this.#error = failure?.message ?? "The model gave no summary";
    const seconds = failure && NO_PROVIDER.has(failure.kind)
      ? LONGEST_REST_S
      : isUnreachable(failure)
      ? 60
      : 30;
    this.#restsUntil = this.#now() + seconds * 1000;
  }

  reset(): void {
    this.#restsUntil = -Infinity;
    this.#ineffective = 0;
    this.#fallbacks = 0;
  }
}
