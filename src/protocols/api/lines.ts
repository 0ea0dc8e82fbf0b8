import { abortable } from "@/lib/abort.ts";

/** Waiting lines by name: who comes later goes on when the one before has left. Nothing is kept for an empty line. */
export class Lines {
  readonly #last = new Map<string, Promise<void>>();

  /**
   * Waits for its turn; the result leaves the line and may be called again without effect. Rejects when the signal
   * fires before, and then those behind wait for the one before.
   */
  async enter(name: string, signal?: AbortSignal): Promise<() => void> {
    const before = this.#last.get(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(name, promise);
    const leave = () => {
      if (this.#last.get(name) === promise) this.#last.delete(name);
      resolve();
    };
    if (before === undefined) return leave;
    try {
      await abortable(before, signal);
      return leave;
    } catch (error) {
      void before.then(leave);
      throw error;
    }
  }
}
