/**
 * How much agent work goes on at once (api-server.md A13). A slot is taken when a turn-starting request is let in
 * and given back when its agent work ends, not when its stream does; a request does not count itself.
 */
import { ApiError } from "./errors.ts";

export interface Slot {
  /** Idempotent. */
  release(): void;
}

export class Admission {
  #active = 0;
  #draining = false;
  #idle: (() => void)[] = [];

  get active(): number {
    return this.#active;
  }

  get draining(): boolean {
    return this.#draining;
  }

  /** From now on nothing is let in. */
  drain(): void {
    this.#draining = true;
  }

  /** For requests that were let in before; throws 503. */
  refuseWhenDraining(): void {
    if (!this.#draining) return;
    throw new ApiError(503, "gateway_draining", "The server is shutting down", {
      headers: { "Retry-After": "1" },
    });
  }

  /** Throws 503 while draining and 429 at the limit; 0 = no limit. */
  admit(limit: number): Slot {
    this.refuseWhenDraining();
    if (limit > 0 && this.#active >= limit) {
      throw new ApiError(429, "rate_limit_exceeded", `Too many concurrent runs (max ${limit})`, {
        headers: { "Retry-After": "1" },
      });
    }
    this.#active++;
    let held = true;
    return {
      release: () => {
        if (!held) return;
        held = false;
        this.#active--;
        if (this.#active === 0) { for (const resolve of this.#idle.splice(0)) resolve(); }
      },
    };
  }

  /** Resolves when no slot is held. */
  whenIdle(): Promise<void> {
    if (this.#active === 0) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }
}
