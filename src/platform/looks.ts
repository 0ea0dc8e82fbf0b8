/** What one turn of the event loop has seen of the disk: many sessions that begin at once look at the same files. */
import { setImmediate } from "node:timers";
import type { Files, FileStat } from "./mod.ts";

/** Milliseconds; a turn in which much is done is as long as several, and work that is done at once puts off its end. */
const LONGEST_MS = 5;
/** Milliseconds of the program's life in which each look is made: there is one session, and it would share with none. */
const ALONE_MS = 500;

class Looks {
  readonly #look: (path: string) => FileStat | null;
  readonly #aloneMs: number;
  readonly #seen = new Map<string, FileStat | null>();
  #since = 0;
  readonly #forget = () => this.forget();

  constructor(look: (path: string) => FileStat | null, aloneMs: number) {
    this.#look = look;
    this.#aloneMs = aloneMs;
  }

  at(path: string): FileStat | null {
    const now = performance.now();
    if (now < this.#aloneMs) return this.#look(path);
    if (now - this.#since > LONGEST_MS) this.#seen.clear();
    const known = this.#seen.get(path);
    if (known !== undefined) return known;
    const stat = this.#look(path);
    if (this.#seen.size === 0) {
      this.#since = now;
      setImmediate(this.#forget);
    }
    this.#seen.set(path, stat);
    return stat;
  }

  forget(): void {
    this.#seen.clear();
  }
}

/** The files with `lookSync`; whatever is written through them is seen by the next look. */
export function withLooks(files: Omit<Files, "lookSync">, aloneMs = ALONE_MS): Files {
  const looks = new Looks(files.statSync, aloneMs);
  const seen =
    <A extends unknown[], T>(change: (...args: A) => Promise<T>) => async (...args: A): Promise<T> => {
      try {
        return await change(...args);
      } finally {
        looks.forget();
      }
    };
  const seenSync = <A extends unknown[]>(change: (...args: A) => void) => (...args: A): void => {
    looks.forget();
    change(...args);
  };
  return {
    ...files,
    lookSync: (path) => looks.at(path),
    write: seen(files.write),
    append: seen(files.append),
    rename: seen(files.rename),
    remove: seen(files.remove),
    mkdir: seen(files.mkdir),
    writeSync: seenSync(files.writeSync),
    mkdirSync: seenSync(files.mkdirSync),
    renameSync: seenSync(files.renameSync),
  };
}
