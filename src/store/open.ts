/**
 * From a path to a usable connection (core.md D.1, D.2): creates the file, brings an older schema up, refuses a
 * newer one, moves a broken file aside. The usual case, a good file, costs one small query. A new file is built
 * under another name and published whole, so nobody ever meets a half-made one.
 */
import { HermesError, type Logger } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import {
  Db,
  emptyDatabase,
  hasDatabaseHeader,
  publishFile,
  removeQuietly,
  tightenMode,
  withFileLock,
  writeBytes,
} from "./db.ts";
import { isMalformed, isWalRefused, toStoreError } from "./errors.ts";
import { MIGRATIONS } from "./migrations.ts";
import { readVersion } from "./version.ts";

export interface OpenDeps {
  readonly platform: Platform;
  readonly log: Logger;
  /** Bytes of an empty database with that many steps done; absent: those that the build has put beside the code. */
  readonly image?: (steps: number) => Uint8Array | null;
  /** How a file is opened; absent: as this system does it. */
  readonly connect?: (path: string) => Db;
}

const NO_WAL =
  "The file system does not allow write-ahead logging: several programs at once will wait for each other";

/** While opening, nothing can be served anyway; afterwards a statement blocks the thread far shorter (FC-24). */
const OPEN_BUSY_MS = 1_000;
const BUSY_MS = 15;
/** Without WAL readers meet writers too, and a read cannot be tried again later. */
const ROLLBACK_JOURNAL_BUSY_MS = 50;

export function openDb(path: string, deps: OpenDeps): Db {
  try {
    if (path === ":memory:") return openMemory();
    const stat = deps.platform.files.statSync(path);
    if (stat === null) createFile(path, deps);
    else if (stat.isFile && !hasDatabaseHeader(path)) replaceBroken(path, deps);
    return openOrRepair(path, deps);
  } catch (error) {
    throw describe(error, path);
  }
}

function openMemory(): Db {
  const db = new Db(":memory:");
  db.exec("PRAGMA foreign_keys=ON");
  migrate(db, 0);
  return db;
}

function openOrRepair(path: string, deps: OpenDeps): Db {
  tightenMode(path);
  try {
    return openExisting(path, deps);
  } catch (error) {
    if (!isMalformed(error)) throw error;
    replaceBroken(path, deps);
    return openExisting(path, deps);
  }
}

function openExisting(path: string, deps: OpenDeps): Db {
  try {
    return openAsItIs(path, deps);
  } catch (error) {
    if (!isWalRefused(error) || !leaveWal(path, deps)) throw error;
    return openAsItIs(path, deps);
  }
}

/**
 * A database that was made where write-ahead logging works, and has come to a file system where it does not: who has
 * it alone can read it all the same, and ends that mode. False when that cannot be done either.
 */
function leaveWal(path: string, deps: OpenDeps): boolean {
  const db = connect(path, deps);
  try {
    db.exec("PRAGMA locking_mode=EXCLUSIVE");
    if (db.get("PRAGMA journal_mode=DELETE")?.["journal_mode"] !== "delete") return false;
    deps.log.warn(NO_WAL);
    return true;
  } catch {
    return false; // the first error says what is the matter
  } finally {
    db.close();
  }
}

function connect(path: string, deps: Pick<OpenDeps, "connect">): Db {
  return deps.connect?.(path) ?? new Db(path);
}

function openAsItIs(path: string, deps: OpenDeps): Db {
  const db = connect(path, deps);
  try {
    db.exec(`PRAGMA busy_timeout=${OPEN_BUSY_MS}; PRAGMA foreign_keys=ON`);
    const version = readVersion(db, path);
    if (version < MIGRATIONS.length) migrate(db, version);
    const wal = db.get("PRAGMA journal_mode")?.["journal_mode"] === "wal";
    db.exec(
      wal
        ? `PRAGMA busy_timeout=${BUSY_MS}; PRAGMA synchronous=NORMAL`
        : `PRAGMA busy_timeout=${ROLLBACK_JOURNAL_BUSY_MS}`,
    );
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Does the missing steps in one transaction; another process may have done them meanwhile. */
function migrate(db: Db, seen: number): void {
  db.transaction(() => {
    db.exec("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)");
    const row = db.get("SELECT version FROM schema_version");
    const from = Math.max(seen, Number(row?.["version"] ?? 0));
    for (const step of MIGRATIONS.slice(from)) step.up(db);
    const sql = row === undefined
      ? "INSERT INTO schema_version (version) VALUES (?)"
      : "UPDATE schema_version SET version = ?";
    db.run(sql, Math.max(from, MIGRATIONS.length));
  });
}

function createFile(path: string, deps: OpenDeps): void {
  const { files, ids, pid } = deps.platform;
  const directory = path.replace(/[/\\][^/\\]*$/, "");
  if (directory !== path && directory !== "") files.mkdirSync(directory, { mode: 0o700 });
  const temp = `${path}.new-${pid}-${ids.hex(8)}`;
  files.writeSync(temp, "", { mode: 0o600 });
  try {
    if (!copyImage(temp, deps)) buildDatabase(temp, deps);
    publishFile(temp, path);
  } catch (error) {
    removeQuietly(temp);
    throw error;
  }
}

/**
 * The picture in the program saves the building. It is of write-ahead logging, which not every file system allows;
 * that is found out here, while nobody else knows the file. False where it has to be built.
 */
function copyImage(temp: string, deps: OpenDeps): boolean {
  const image = (deps.image ?? emptyDatabase)(MIGRATIONS.length);
  if (image === null) return false;
  writeBytes(temp, image);
  try {
    readOnce(temp, deps);
    return true;
  } catch (error) {
    if (!isWalRefused(error)) throw error;
    writeBytes(temp, new Uint8Array());
    return false;
  }
}

function readOnce(path: string, deps: OpenDeps): void {
  const db = connect(path, deps);
  try {
    readVersion(db, path);
  } finally {
    db.close();
  }
}

/** Makes an empty database at a path where nothing is yet. */
export function buildDatabase(path: string, deps: Pick<OpenDeps, "connect" | "log">): void {
  const db = connect(path, deps);
  try {
    // Not yet anybody's data: one sync before it is published is enough.
    db.exec("PRAGMA synchronous=OFF");
    chooseJournal(db, deps.log);
    migrate(db, 0);
  } finally {
    db.close();
  }
}

/** The mode is kept in the file, so later openings need not set it. */
function chooseJournal(db: Db, log: Logger): void {
  try {
    if (db.get("PRAGMA journal_mode=WAL")?.["journal_mode"] === "wal") return;
  } catch (error) {
    if (!isWalRefused(error)) throw error;
    db.get("PRAGMA journal_mode=DELETE");
  }
  log.warn(NO_WAL);
}

/** Moves the file and its sidecars aside under a name that says so, and starts a new one. */
function replaceBroken(path: string, deps: OpenDeps): void {
  withFileLock(`${path}.lock`, () => {
    const why = whatIsWrong(path, deps);
    if (why === null) return; // another process has repaired it while we waited
    const stamp = new Date(deps.platform.clock.now()).toISOString().replace(/[-:]|\.\d+/g, "");
    const backup = `${path}.broken-${stamp}-${deps.platform.ids.hex(4)}`;
    for (const suffix of ["", "-wal", "-shm"]) {
      if (deps.platform.files.statSync(path + suffix)) {
        deps.platform.files.renameSync(path + suffix, backup + suffix);
      }
    }
    deps.log.warn(
      `The session database "${path}" ${why}: it was moved to "${backup}" and a new one was started`,
    );
    createFile(path, deps);
  });
}

function whatIsWrong(path: string, deps: OpenDeps): string | null {
  const stat = deps.platform.files.statSync(path);
  if (stat === null) return "is gone";
  if (stat.size === 0) return "is empty";
  if (!hasDatabaseHeader(path)) return "is broken (it is not a database)";
  try {
    openExisting(path, deps).close();
    return null;
  } catch (error) {
    if (!isMalformed(error)) throw error;
    return `is broken (${error instanceof Error ? error.message : String(error)})`;
  }
}

function describe(error: unknown, path: string): unknown {
  const known = toStoreError(error);
  if (known instanceof HermesError) {
    if (known.code !== "store_failed" || known.data["path"] !== undefined) return known;
    return new HermesError("store_failed", `${known.message} (${path})`, { ...known.data, path });
  }
  const detail = error instanceof Error ? error.message : String(error);
  return new HermesError("store_failed", `Cannot open the session database "${path}": ${detail}`, {
    path,
    detail,
  });
}
