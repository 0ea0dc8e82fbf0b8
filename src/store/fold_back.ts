/**
 * After a write of many rows SQLite would fold its log back within the next commit, however small: it copies every page
 * and waits for the disk twice, a tenth of a second in which the thread hears nobody. Here somebody else does it, and
 * the commits of that time leave it alone. When that fails the next commit does it, as ever. Here alone is decided who
 * folds the log back after long writes, and how long it may become.
 */
import type { Logger } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { Db, hasDatabaseHeader } from "./db.ts";

/** Rows of one write, those of the text index among them, from which on it is worth a process. */
const MANY_ROWS = 1_000;
/** Bytes. Long writes that follow each other leave nobody a moment to fold back: a longer log is folded at once. */
const LONGEST_LOG = 64 << 20;

/** Folds the log of the database at `path` back, in another process. Rejects when that cannot be done. */
export type FoldBackElsewhere = (path: string, signal: AbortSignal) => Promise<void>;

export interface FoldBackDeps {
  readonly log: Pick<Logger, "debug">;
  readonly platform: Pick<Platform, "files">;
  /** Absent: SQLite does it. */
  readonly foldBack?: FoldBackElsewhere | undefined;
}

export class FoldBack {
  readonly #db: Db;
  readonly #path: string;
  readonly #deps: FoldBackDeps;
  readonly #closing = new AbortController();
  #running: Promise<void> | null = null;
  /** There was another long write meanwhile. */
  #isDue = false;

  constructor(db: Db, path: string, deps: FoldBackDeps) {
    this.#db = db;
    this.#path = path;
    this.#deps = deps;
  }

  /** While it is true, nobody else is to fold the log back. */
  get isRunning(): boolean {
    return this.#running !== null;
  }

  /** A write in steps of so many rows has ended, and no other one has begun. */
  afterLongWrite(rows: number): void {
    const { foldBack } = this.#deps;
    if (this.#closing.signal.aborted) return;
    const size = this.#logSize();
    if (size > LONGEST_LOG) return this.#foldNow();
    // Without a log there is nothing to fold back.
    if (!foldBack || size === 0 || rows < MANY_ROWS) return;
    this.#isDue = true;
    this.#running ??= this.#run(foldBack).finally(() => this.#running = null);
  }

  /** Resolves when nobody else has the database open any more. */
  async stop(): Promise<void> {
    this.close();
    await this.#running;
  }

  close(): void {
    this.#closing.abort();
  }

  async #run(foldBack: FoldBackElsewhere): Promise<void> {
    while (this.#isDue) {
      this.#isDue = false;
      this.#db.foldsBackItself(false);
      try {
        await foldBack(this.#path, this.#closing.signal);
        this.#deps.log.debug("The log of the session database was folded back by another process");
      } catch (error) {
        this.#isDue = false;
        if (!this.#closing.signal.aborted) this.#tellLater(error);
      } finally {
        if (this.#db.isOpen) this.#db.foldsBackItself(true);
      }
      if (!this.#db.isOpen || this.#closing.signal.aborted) return;
    }
  }

  #foldNow(): void {
    try {
      this.#db.get("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch (error) {
      this.#tellLater(error);
    }
  }

  #tellLater(error: unknown): void {
    this.#deps.log.debug(`The log of the session database is folded back later: ${error}`);
  }

  #logSize(): number {
    return this.#deps.platform.files.statSync(`${this.#path}-wal`)?.size ?? 0;
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
