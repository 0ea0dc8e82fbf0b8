/** One writer per file in this process, over all sessions: later callers wait in order. Taken in a fixed order. */
import { abortable } from "@/lib/abort.ts";

export class PathLocks {
  readonly #tails = new Map<string, Promise<void>>();

  /** Runs `work` alone on these paths; an abort ends the wait, not the work. */
  async with<T>(paths: readonly string[], signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const releases: (() => void)[] = [];
    try {
      for (const path of [...new Set(paths)].sort()) releases.push(await this.#take(path, signal));
      return await work();
    } finally {
      for (const release of releases) release();
    }
  }

  async #take(path: string, signal: AbortSignal): Promise<() => void> {
    const before = this.#tails.get(path);
    let release!: () => void;
    const mine = new Promise<void>((resolve) => release = resolve);
    const tail = before ? before.then(() => mine) : mine;
    this.#tails.set(path, tail);
    tail.then(() => {
      if (this.#tails.get(path) === tail) this.#tails.delete(path);
    });
    try {
      if (before) await abortable(before, signal);
    } catch (error) {
      release();
      throw error;
    }
    return release;
  }
}
