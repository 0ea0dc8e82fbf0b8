/**
 * Rewriting of a stored transcript (core.md D.8, tui-gateway.md B.11): rows are never deleted, only made inactive,
 * and counters and preview are worked out anew. Who may ask for it and with which consent is decided above.
 */
import { HermesError } from "@/core/contract.ts";
import type { Db } from "./db.ts";
import { chainUpTo } from "./lineage.ts";
import { COPIED_COLUMNS, readIds, readPreview } from "./message_rows.ts";
import { sessionNotFound } from "./session_rows.ts";

/** Counters and preview from the rows that are active now. */
export function recount(db: Db, sessionId: string): void {
  db.run(
    `UPDATE sessions SET preview = ?2, (message_count, tool_call_count) = (
       SELECT count(*) FILTER (WHERE display_kind IS NULL), coalesce(sum(json_array_length(tool_calls)), 0)
       FROM messages WHERE session_id = ?1 AND active = 1)
     WHERE id = ?1`,
    sessionId,
    readPreview(db, sessionId),
  );
}

/** Rewinds to before `rowId`; the number of rows that left. Throws `message_not_found`. */
export function hideFrom(db: Db, sessionId: string, rowId: number): number {
  requireActive(db, sessionId, rowId);
  const hidden = hideRows(db, sessionId, rowId);
  finishRewind(db, sessionId);
  return hidden;
}

/** Keeps rows before `rowId` (0 = none) as new rows; new ids by old id. Throws `message_not_found`. */
export function keepBefore(db: Db, sessionId: string, rowId: number): Map<number, number> {
  if (rowId !== 0) requireActive(db, sessionId, rowId);
  else requireKnown(db, sessionId);
  const kept = readIds(db, sessionId).filter((id) => id < rowId);
  hideRows(db, sessionId, rowId);
  const boundary = kept.at(-1) ?? 0;
  // Carried-on rows stay carried on, so the transcript over the chain keeps its order.
  db.run(
    `INSERT INTO messages (session_id, display_identity, ${COPIED_COLUMNS})
     SELECT session_id, display_identity, ${COPIED_COLUMNS} FROM messages
     WHERE session_id = ? AND active = 1 AND id <= ? ORDER BY id`,
    sessionId,
    boundary,
  );
  db.run(
    "UPDATE messages SET active = 0 WHERE session_id = ? AND active = 1 AND id <= ?",
    sessionId,
    boundary,
  );
  finishRewind(db, sessionId);
  const fresh = readIds(db, sessionId);
  return new Map(kept.map((id, at) => [id, fresh[at]!]));
}

/** Empties the conversation, over its whole chain; title and id stay. */
export function hideAll(db: Db, sessionId: string): void {
  requireKnown(db, sessionId);
  for (const id of chainUpTo(db, sessionId)) {
    db.run("UPDATE messages SET active = 0 WHERE session_id = ? AND active = 1", id);
    recount(db, id);
  }
}

function hideRows(db: Db, sessionId: string, from: number): number {
  // A dropped row that an earlier session of the chain holds too must not come back from there.
  const dropped = `SELECT display_identity FROM messages
    WHERE session_id = ?1 AND id >= ?2 AND active = 1 AND display_identity IS NOT NULL`;
  db.run(
    `UPDATE messages SET active = 0
     WHERE active = 1 AND session_id <> ?1 AND (id IN (${dropped}) OR display_identity IN (${dropped}))`,
    sessionId,
    from,
  );
  return db.run(
    "UPDATE messages SET active = 0 WHERE session_id = ? AND active = 1 AND id >= ?",
    sessionId,
    from,
  ).changes;
}

function finishRewind(db: Db, sessionId: string): void {
  db.run("UPDATE sessions SET rewind_count = rewind_count + 1 WHERE id = ?", sessionId);
  recount(db, sessionId);
}

function requireActive(db: Db, sessionId: string, rowId: number): void {
  const sql = "SELECT 1 FROM messages WHERE id = ? AND session_id = ? AND active = 1";
  if (Number.isSafeInteger(rowId) && db.get(sql, rowId, sessionId) !== undefined) return;
  throw new HermesError("message_not_found", `Session "${sessionId}" has no message with row id ${rowId}`, {
    sessionId,
    rowId,
  });
}

function requireKnown(db: Db, sessionId: string): void {
  if (db.get("SELECT 1 FROM sessions WHERE id = ?", sessionId) === undefined) {
    throw sessionNotFound(sessionId);
  }
}
