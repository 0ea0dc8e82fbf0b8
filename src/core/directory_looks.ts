/**
 * What all sessions of a program know of the disk when they build their prompts: whether directories answer at all, so
 * that a dead file system holds up one look and not many, and texts of the data home that have not changed.
 */
import { within } from "@/lib/abort.ts";
import type { Files } from "@/platform/mod.ts";

/** Milliseconds; a directory that takes longer does not answer. */
const BOUND_MS = 5_000;

export class DirectoryLooks {
  readonly #files: Pick<Files, "stat" | "lookSync">;
  /** Looks that are under way. */
  readonly #waiting = new Map<string, Promise<boolean>>();

  /** The last text of a file, and the state of the file that it is of. */
  readonly #texts = new Map<string, { readonly stamp: string; readonly text: Promise<string | null> }>();

  /** Answers that hold for as long as the program runs. */
  readonly #kept = new Map<string, Promise<string>>();

  constructor(files: Pick<Files, "stat" | "lookSync">) {
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

  /** What `look` gives, which never rejects: asked at the first call with this key. */
  once(key: string, look: () => Promise<string>): Promise<string> {
    const known = this.#kept.get(key) ?? look();
    this.#kept.set(key, known);
    return known;
  }

  /**
   * What `read` gives of a file of the data home, which is known to answer: anew only where the file has changed, since
   * every session begins with it. `null` where there is none; a failure is not kept.
   */
  text(path: string, read: () => Promise<string | null>): Promise<string | null> {
    const stat = statOf(this.#files, path);
    if (stat === null) return Promise.resolve(null);
    const stamp = `${stat.mtimeMs}:${stat.size}`;
    const known = this.#texts.get(path);
    if (known?.stamp === stamp) return known.text;
    const text = read();
    this.#texts.set(path, { stamp, text });
    text.then((found) => found === null && this.#texts.delete(path), () => this.#texts.delete(path));
    return text;
  }
}

/** A file that is there, but not ours to look at, has no state: whoever reads it says so. */
function statOf(files: Pick<Files, "lookSync">, path: string): { mtimeMs: number; size: number } | null {
  try {
    return files.lookSync(path);
  } catch {
    return { mtimeMs: NaN, size: NaN };
  }
}
