/**
 * Compression inside one session (core.md A.16): the in-place rewrite, and the lock that keeps two programs from
 * compressing one session at once. A rotation into a child session is `fork.ts`. Runs inside the caller's transaction.
 */
import type { Message } from "@/core/contract.ts";
import type { Steps } from "@/lib/slices.ts";
import type { Db } from "./db.ts";
import { countCalls, countMessages, insertMessages, readIds } from "./message_rows.ts";
import { chunksOf } from "./rewrite.ts";
import { requireSession } from "./session_rows.ts";

/** Seconds. */
const CLOCK_SLACK = 60;

/**
 * The active rows leave the conversation and stay searchable; `messages` are it from now on. In steps; title, preview
 * and id stay. Throws `session_not_found`.
 */
export function* compactRows(db: Db, id: string, messages: readonly Message[], now: number): Steps<void> {
  requireSession(db, id);
  for (const [first, last] of chunksOf(readIds(db, id))) {
    yield;
    const sql = `UPDATE messages SET active = 0, compacted = 1
      WHERE session_id = ? AND active = 1 AND id BETWEEN ? AND ?`;
    db.run(sql, id, first, last);
  }
  yield* insertCarried(db, id, id, messages, now);
  yield;
  countRows(db, id, messages);
}

/** As rows of `to`, in steps; those that are rows of `from` are carried on. */
export function* insertCarried(
  db: Db,
  from: string,
  to: string,
  messages: readonly Message[],
  now: number,
): Steps<void> {
  yield;
  yield* insertMessages(db, to, messages, now, (message) => identityOf(db, from, message));
}

/** `messages` are all that the session has. */
export function countRows(db: Db, id: string, messages: readonly Message[]): void {
  db.run(
    "UPDATE sessions SET message_count = ?, tool_call_count = ? WHERE id = ?",
    countMessages(messages),
    countCalls(messages),
    id,
  );
}

/** The row that a kept message was first stored as; `null` for a new one. */
function identityOf(db: Db, sessionId: string, message: Message): number | null {
  if (message.rowId === undefined) return null;
  const sql =
    "SELECT coalesce(display_identity, id) AS identity FROM messages WHERE id = ? AND session_id = ?";
  return (db.get(sql, message.rowId, sessionId)?.["identity"] ?? null) as number | null;
}

/** Takes or renews the lock of a session; false while another holder has it (Unix seconds). */
export function takeLock(db: Db, id: string, holder: string, now: number, until: number): boolean {
  const { changes } = db.run(
    `INSERT INTO compression_locks (session_id, holder, acquired_at, expires_at) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (session_id) DO UPDATE SET expires_at = excluded.expires_at, holder = excluded.holder,
       acquired_at = CASE holder WHEN ?2 THEN acquired_at ELSE excluded.acquired_at END
     WHERE holder = ?2 OR expires_at <= ?3 OR expires_at > ?5`,
    id,
    holder,
    now,
    until,
    // Nobody asks for that long: the clock has been put back since, and its holder may be long gone.
    until + CLOCK_SLACK,
  );
  return changes > 0;
}

export function dropLock(db: Db, id: string, holder: string): void {
  db.run("DELETE FROM compression_locks WHERE session_id = ? AND holder = ?", id, holder);
}
