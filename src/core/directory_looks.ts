/** Whether directories answer at all, for all sessions of a program: a dead file system holds up one look, not many. */
import { within } from "@/lib/abort.ts";
import type { Files } from "@/platform/mod.ts";

/** Milliseconds; a directory that takes longer does not answer. */
const BOUND_MS = 5_000;

export class DirectoryLooks {
  readonly #files: Pick<Files, "stat">;
  /** Looks that are under way. */
  readonly #waiting = new Map<string, Promise<boolean>>();

  constructor(files: Pick<Files, "stat">) {
    this.#files = files;
  }

  /**
   * Afterwards names in and above it may be looked up on the spot (`isPresent`): most of them are never there, and a
   * look that leaves the thread costs twenty times as much. Who asks while somebody waits for the same answer gets
   * that one. Never rejects.
   */
  answers(directory: string): Promise<boolean> {
    const known = this.#waiting.get(directory);
    if (known) return known;
    const look = within(this.#files.stat(directory).catch(() => null), BOUND_MS)
      .then((stat) => stat !== undefined && stat !== null)
      .finally(() => this.#waiting.delete(directory));
    this.#waiting.set(directory, look);
    return look;
  }
}
