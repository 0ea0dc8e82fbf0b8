/**
 * After a write of many rows SQLite would fold its log back within the next commit, however small: it copies every page
 * and waits for the disk twice, a tenth of a second in which the thread hears nobody. Here somebody else does it, and
 * the commits of that time leave it alone. When that fails the next commit does it, as ever.
 */
import type { Logger } from "@/core/contract.ts";
import { Db, hasDatabaseHeader } from "./db.ts";

/** Rows, those of the text index among them, from which on it is worth a process. */
const MANY_ROWS = 1_000;

/** Folds the log of the database at `path` back, in another process. Rejects when that cannot be done. */
export type FoldBackElsewhere = (path: string, signal: AbortSignal) => Promise<void>;

export interface FoldBackDeps {
  readonly log: Pick<Logger, "debug">;
  /** Absent: SQLite does it. */
  readonly foldBack?: FoldBackElsewhere | undefined;
}

export class FoldBack {
  readonly #db: Db;
  readonly #path: string;
  readonly #deps: FoldBackDeps;
  readonly #closing = new AbortController();
  #rows = 0;
  #isRunning = false;

  constructor(db: Db, path: string, deps: FoldBackDeps) {
    this.#db = db;
    this.#path = path;
    this.#deps = deps;
  }

  /** While it is true, nobody else is to fold the log back. */
  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** A write in steps has been kept. */
  afterLongWrite(): void {
    const { foldBack } = this.#deps;
    if (!foldBack || this.#isRunning || this.#closing.signal.aborted) return;
    const rows = this.#db.changes();
    const written = rows - this.#rows;
    this.#rows = rows;
    if (written >= MANY_ROWS) void this.#run(foldBack);
  }

  close(): void {
    this.#closing.abort();
  }

  async #run(foldBack: FoldBackElsewhere): Promise<void> {
    this.#isRunning = true;
    this.#db.foldsBackItself(false);
    let isDone = false;
    try {
      await foldBack(this.#path, this.#closing.signal);
      isDone = true;
      this.#deps.log.debug("The log of the session database was folded back by another process");
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        this.#deps.log.debug(`The log of the session database is folded back later: ${error}`);
      }
    } finally {
      this.#isRunning = false;
      if (this.#db.isOpen) this.#db.foldsBackItself(true);
    }
    // There may have been another long write meanwhile.
    if (isDone && this.#db.isOpen) this.afterLongWrite();
  }
}

/** What the other process does. Throws where there is no such database. */
export function foldLogBack(path: string): void {
  if (!hasDatabaseHeader(path)) throw new Error(`${path} is no database`);
  const db = new Db(path);
  try {
    db.setBusyTimeout(5_000);
    db.get("PRAGMA wal_checkpoint(PASSIVE)");
  } finally {
    db.close();
  }
}
