/** What can go wrong in SQLite, by the numbers and words of the driver, and as the errors that callers see. */
import { HermesError } from "@/core/contract.ts";

/** SQLITE_CANTOPEN, SQLITE_PROTOCOL, SQLITE_IOERR_SHMOPEN, _SHMSIZE, _SHMLOCK and _SHMMAP. */
const WAL_REFUSED: ReadonlySet<number> = new Set([14, 15, 4618, 4874, 5130, 5386]);

function sqliteCode(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown }).errcode;
  return typeof code === "number" ? code & 0xff : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Another connection holds the lock: worth another try. */
export function isLocked(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === 5 || code === 6 || /database (table )?is (locked|busy)/i.test(messageOf(error));
}

/** The file is not a database, or not one any more. */
export function isMalformed(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === 11 || code === 26 ||
    /not a database|malformed|unsupported file format/i.test(messageOf(error));
}

/**
 * The filesystem cannot do the shared memory that WAL needs: no such memory at all (14, as when a file cannot be
 * opened), no way to make, size, lock or map it, or no locks that work (15).
 */
export function isWalRefused(error: unknown): boolean {
  const code = (error as { errcode?: unknown }).errcode;
  return (typeof code === "number" && WAL_REFUSED.has(code)) ||
    /locking protocol|not authorized/i.test(messageOf(error));
}

/** No room is left on the disk, or within the quota. */
function isFull(error: unknown): boolean {
  return sqliteCode(error) === 13 || /database or disk is full/i.test(messageOf(error));
}

/** What front ends know the failure by (core.md D.2). */
export const LOCKED_CLASS = "session_persistence_failed:locked";

/**
 * What callers of the store see: a `HermesError`, with `data.diskFull` where that is why; anything that is not
 * SQLite's passes through.
 */
export function toStoreError(error: unknown): unknown {
  if (error instanceof HermesError) return error;
  if ((error as { code?: unknown } | null)?.code !== "ERR_SQLITE_ERROR") return error;
  const detail = messageOf(error);
  if (isLocked(error)) {
    return new HermesError("store_locked", "The session database stays locked by another program", {
      class: LOCKED_CLASS,
      detail,
    });
  }
  const advice = isMalformed(error) ? "run `hermes doctor`" : "check free space and permissions";
  return new HermesError("store_failed", `The session database failed: ${detail}; ${advice}`, {
    detail,
    ...(isFull(error) ? { diskFull: true } : {}),
  });
}
