/** Callbacks of the runs on disk and of those in memory (api-server.md A1 step 3). */
import type { RunCallback, RunCallbacks } from "@/core/contract.ts";
import { type Fallback, isDiskFailure } from "./fallback.ts";

export class KeptCallbacks implements RunCallbacks {
  readonly #fallback: Fallback;

  constructor(fallback: Fallback) {
    this.#fallback = fallback;
  }

  owed(): RunCallback[] {
    const { memory } = this.#fallback;
    if (!memory) return this.#fallback.disk.callbacks.owed();
    return [...memory.callbacks.owed(), ...this.#readable()].sort((a, b) => a.nextAt - b.nextAt);
  }

  async take(callback: RunCallback, nextAt: number): Promise<boolean> {
    return await this.#holderOf(callback.runId).take(callback, nextAt);
  }

  async settle(runId: string): Promise<void> {
    await this.#holderOf(runId).settle(runId);
  }

  #holderOf(runId: string): RunCallbacks {
    const { memory, disk } = this.#fallback;
    return (memory?.runs.get(runId) ? memory : disk).callbacks;
  }

  /** Those in memory do not wait for a disk that is mended. */
  #readable(): RunCallback[] {
    try {
      return this.#fallback.disk.callbacks.owed();
    } catch (error) {
      if (isDiskFailure(error)) return [];
      throw error;
    }
  }
}
