/**
 * Requests per minute of scoped keys: a bucket per key that fills evenly and holds one minute's worth. In memory, per
 * server; the wait that a refusal names is the time until one more request fits.
 */
import type { Clock } from "@/platform/mod.ts";
import { ApiError } from "./errors.ts";

interface Bucket {
  tokens: number;
  /** Monotonic milliseconds. */
  at: number;
}

export class RateLimits {
  readonly #clock: Clock;
  readonly #buckets = new Map<string, Bucket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Counts one request of a key; throws 429 with `Retry-After` (whole seconds) when there were too many. */
  count(keyId: string, perMinute: number): void {
    const now = this.#clock.monotonic();
    const bucket = this.#buckets.get(keyId) ?? { tokens: perMinute, at: now };
    this.#buckets.set(keyId, bucket);
    const perMs = perMinute / 60_000;
    bucket.tokens = Math.min(perMinute, bucket.tokens + (now - bucket.at) * perMs);
    bucket.at = now;
    if (bucket.tokens >= 1) {
      bucket.tokens--;
      return;
    }
    const wait = Math.max(1, Math.ceil((1 - bucket.tokens) / perMs / 1000));
    throw new ApiError(429, "rate_limit_exceeded", `This key may send ${perMinute} requests per minute`, {
      headers: { "Retry-After": String(wait) },
    });
  }
}
