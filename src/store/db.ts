/**
 * The one file that knows `node:sqlite` (a connection with cached statements and transactions) and the few calls
 * on database files that the platform does not offer. Values are null, numbers, strings and bytes; a lone
 * surrogate is written as U+FFFD. The driver cuts a string it reads at the first NUL, so a column that may hold one
 * is read as bytes by whoever owns it, and elsewhere NULs are kept out by `withoutNul`.
 */
import process from "node:process";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { HermesError } from "@/core/contract.ts";
import { unpackPicture } from "./picture.ts";

/** SQLite's own default: pages of the log from which on a commit folds it back. */
const CHECKPOINT_PAGES = 1_000;

export type SqlValue = null | number | string | Uint8Array;
export type SqlRow = Record<string, SqlValue>;

export class Db {
  readonly #raw: DatabaseSync;
  /** By text; texts are literals of this room, so their number is small and fixed. */
  readonly #statements = new Map<string, StatementSync>();
  #open = true;
  /** Pages of the log from which on a commit folds it back; 0 = never. */
  #checkpointPages = CHECKPOINT_PAGES;

  constructor(path: string, options: { readonly readOnly?: boolean } = {}) {
    this.#raw = new DatabaseSync(path, options);
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Also false when SQLite has rolled back by itself (full disk, I/O error). */
  get isInTransaction(): boolean {
    return this.#raw.isTransaction;
  }

  all(sql: string, ...values: SqlValue[]): SqlRow[] {
    return this.#prepare(sql).all(...bindable(values)) as SqlRow[];
  }

  /** As `all`, each row an array in the order of its columns: less than half the price where there are many rows. */
  arrays(sql: string, ...values: SqlValue[]): SqlValue[][] {
    // A statement gives one or the other; a text belongs to one kind of call. The declarations lack the method.
    const statement = this.#prepare(sql) as StatementSync & { setReturnArrays(enabled: boolean): void };
    statement.setReturnArrays(true);
    return statement.all(...bindable(values)) as unknown as SqlValue[][];
  }

  get(sql: string, ...values: SqlValue[]): SqlRow | undefined {
    return this.#prepare(sql).get(...bindable(values)) as SqlRow | undefined;
  }

  /** Number of changed rows and the id of the last inserted one. */
  run(sql: string, ...values: SqlValue[]): { changes: number; lastId: number } {
    const result = this.#prepare(sql).run(...bindable(values));
    return { changes: Number(result.changes), lastId: Number(result.lastInsertRowid) };
  }

  /** Several statements, not cached; for the schema. */
  exec(sql: string): void {
    this.#raw.exec(sql);
  }

  /** All or nothing. `work` may run again after a lock, so it changes nothing but the database. */
  transaction<T>(work: () => T): T {
    this.run("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.run("COMMIT");
      return result;
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  /** All or nothing of `work`, in a transaction that goes on. */
  within<T>(work: () => T): T {
    this.run("SAVEPOINT work");
    try {
      const result = work();
      this.run("RELEASE work");
      return result;
    } catch (error) {
      try {
        this.run("ROLLBACK TO work");
        this.run("RELEASE work");
      } catch {
        // SQLite has rolled back the whole transaction by itself, see `isInTransaction`.
      }
      throw error;
    }
  }

  /** Keeps what was done since `BEGIN IMMEDIATE`, or nothing of it. */
  commit(): void {
    try {
      this.run("COMMIT");
    } catch (error) {
      this.rollBack();
      throw error;
    }
  }

  /** As `commit`; folding the log back, which takes as long again after much was written, is left to a later one. */
  commitAlone(): void {
    this.#setCheckpoint(0);
    try {
      this.commit();
    } finally {
      this.#setCheckpoint(this.#checkpointPages);
    }
  }

  /** Whether a commit folds the log back when it has grown long. */
  foldsBackItself(is: boolean): void {
    this.#checkpointPages = is ? CHECKPOINT_PAGES : 0;
    this.#setCheckpoint(this.#checkpointPages);
  }

  #setCheckpoint(pages: number): void {
    this.exec(`PRAGMA wal_autocheckpoint=${pages}`);
  }

  /** How many rows this connection has written, those of the text index among them. */
  changes(): number {
    return Number(this.get("SELECT total_changes() AS n")?.["n"]);
  }

  /** How long one statement may block the thread for a lock. */
  setBusyTimeout(ms: number): void {
    this.#raw.exec(`PRAGMA busy_timeout=${ms}`);
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#statements.clear();
    this.#raw.close();
  }

  #prepare(sql: string): StatementSync {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      if (!this.#open) throw new HermesError("shutting_down", "The session database is closed");
      statement = this.#raw.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }

  /** Harmless when no transaction is open. */
  rollBack(): void {
    try {
      this.run("ROLLBACK");
    } catch {
      // SQLite has rolled back by itself (full disk, I/O error): there is nothing left to undo.
    }
  }
}

/** In place: the array is the caller's own rest parameter. */
function bindable(values: SqlValue[]): SqlValue[] {
  for (let at = 0; at < values.length; at++) {
    const value = values[at];
    if (typeof value === "string") values[at] = value.toWellFormed();
  }
  return values;
}

/** A text that is read back whole. */
export function withoutNul(text: string): string {
  return text.replaceAll("\u0000", "\uFFFD");
}

/** Whether the file begins as a database does; SQLite itself would already drop the log of one that does not. */
export function hasDatabaseHeader(path: string): boolean {
  const magic = "SQLite format 3\0";
  const head = new Uint8Array(magic.length);
  using file = Deno.openSync(path);
  const size = file.readSync(head) ?? 0;
  return size === magic.length && new TextDecoder().decode(head) === magic;
}

/** Name of the picture of an empty database with that many steps done, beside the code in a built program. */
export function emptyDatabaseName(steps: number): string {
  return `empty-${steps}.db`;
}

/** The picture that the build has put beside the code; `null` where the program runs from its source. */
export function emptyDatabase(steps: number): Uint8Array | null {
  try {
    return unpackPicture(Deno.readFileSync(new URL(emptyDatabaseName(steps), import.meta.url)));
  } catch {
    return null; // then it is built, which takes a few milliseconds
  }
}

export function writeBytes(path: string, bytes: Uint8Array): void {
  Deno.writeFileSync(path, bytes);
}

/** For the user alone: 0600 on the database and its sidecars, which SQLite creates with the database's own mode. */
export function tightenMode(path: string): void {
  if (Deno.build.os === "windows") return;
  for (const file of [path, `${path}-wal`, `${path}-shm`]) {
    try {
      if (((Deno.statSync(file).mode ?? 0) & 0o077) !== 0) Deno.chmodSync(file, 0o600);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** Gives `temp`, written out to the disk, the name `path` unless that is taken; `temp` is gone afterwards. */
export function publishFile(temp: string, path: string): void {
  syncFile(temp);
  try {
    Deno.linkSync(temp, path);
  } catch (error) {
    // A filesystem without hard links: no longer one step, two first starts at once may collide.
    if (!(error instanceof Deno.errors.AlreadyExists) && !exists(path)) return Deno.renameSync(temp, path);
  }
  Deno.removeSync(temp);
}

function syncFile(path: string): void {
  using file = Deno.openSync(path, { read: true, write: true });
  file.syncSync();
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false; // absent, or not ours to see: the rename will say so
  }
}

/** Milliseconds that a repair waits for the repair of another process. */
const LOCK_WAIT_MS = 10_000;

/**
 * Runs `work` while no other process runs it for the same lock file; blocks the thread, for repairs only. The lock is
 * one of SQLite's, which waits for a bounded time (then the error is "database is locked") and ends with its process.
 */
export function withFileLock(lockPath: string, work: () => void, waitMs = LOCK_WAIT_MS): void {
  const lock = new Db(lockPath);
  try {
    lock.exec(`PRAGMA busy_timeout=${waitMs}; BEGIN EXCLUSIVE`);
    try {
      work();
    } finally {
      removeQuietly(lockPath);
    }
  } finally {
    lock.close();
  }
}

/** As the machine calls itself; empty where it does not say. */
export function hostName(): string {
  try {
    return Deno.hostname();
  } catch {
    return "";
  }
}

/** Where a link of the system points to; empty where there is none. */
export function readLink(path: string): string {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return "";
  }
}

/** Signal 0 only asks. A process of somebody else counts as running. */
export function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as { code?: unknown }).code === "EPERM";
  }
}

/** Removes a file that does no harm if it stays (Windows keeps one that is open). */
export function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // As said: it may stay.
  }
}
