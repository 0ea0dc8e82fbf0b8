/**
 * Rewriting of a stored transcript (core.md D.8, tui-gateway.md B.11): rows are never deleted, only made inactive,
 * and counters and preview are worked out anew. Who may ask for it and with which consent is decided above.
 */
import { HermesError } from "@/core/contract.ts";
import type { Steps } from "@/lib/slices.ts";
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

/** Rows that change their place, also in the text index, at a time. */
const CHUNK = 32;

/** Rewinds to before `rowId`, in steps; the number of rows that left. Throws `message_not_found`. */
export function* hideFrom(db: Db, sessionId: string, rowId: number): Steps<number> {
  requireActive(db, sessionId, rowId);
  const hidden = yield* hideRows(db, sessionId, readIds(db, sessionId).filter((id) => id >= rowId));
  yield;
  finishRewind(db, sessionId);
  return hidden;
}

/** Keeps rows before `rowId` (0 = none) as new rows, in steps; new ids by old id. Throws `message_not_found`. */
export function* keepBefore(db: Db, sessionId: string, rowId: number): Steps<Map<number, number>> {
  if (rowId !== 0) requireActive(db, sessionId, rowId);
  else requireKnown(db, sessionId);
  const ids = readIds(db, sessionId);
  const kept = ids.filter((id) => id < rowId);
  yield* hideRows(db, sessionId, ids.slice(kept.length));
  for (const [first, last] of chunksOf(kept)) {
    yield;
    // Carried-on rows stay carried on, so the transcript over the chain keeps its order.
    db.run(
      `INSERT INTO messages (session_id, display_identity, ${COPIED_COLUMNS})
       SELECT session_id, display_identity, ${COPIED_COLUMNS} FROM messages
       WHERE session_id = ? AND active = 1 AND id BETWEEN ? AND ? ORDER BY id`,
      sessionId,
      first,
      last,
    );
    hideRange(db, sessionId, first, last);
  }
  yield;
  const fresh = readIds(db, sessionId);
  yield;
  finishRewind(db, sessionId);
  return new Map(kept.map((id, at) => [id, fresh[at]!]));
}

/** Empties the conversation, over its whole chain, in steps; title and id stay. Throws `session_not_found`. */
export function* hideAll(db: Db, sessionId: string): Steps<void> {
  requireKnown(db, sessionId);
  const chain = chainUpTo(db, sessionId);
  for (const id of chain) {
    for (const [first, last] of chunksOf(readIds(db, id))) {
      yield;
      hideRange(db, id, first, last);
    }
  }
  yield;
  for (const id of chain) recount(db, id);
}

/** How many have left. `ids` are active rows of the session, in order. */
function* hideRows(db: Db, sessionId: string, ids: readonly number[]): Steps<number> {
  // A dropped row that an earlier session of the chain holds too must not come back from there.
  const dropped = `SELECT display_identity FROM messages
    WHERE session_id = ?1 AND id BETWEEN ?2 AND ?3 AND active = 1 AND display_identity IS NOT NULL`;
  let hidden = 0;
  for (const [first, last] of chunksOf(ids)) {
    yield;
    db.run(
      `UPDATE messages SET active = 0
       WHERE active = 1 AND session_id <> ?1 AND (id IN (${dropped}) OR display_identity IN (${dropped}))`,
      sessionId,
      first,
      last,
    );
    hidden += hideRange(db, sessionId, first, last);
  }
  return hidden;
}

function hideRange(db: Db, sessionId: string, first: number, last: number): number {
  return db.run(
    "UPDATE messages SET active = 0 WHERE session_id = ? AND active = 1 AND id BETWEEN ? AND ?",
    sessionId,
    first,
    last,
  ).changes;
}

/** First and last id of each part of them, which are in order. */
export function* chunksOf(ids: readonly number[]): Generator<readonly [number, number]> {
  for (let at = 0; at < ids.length; at += CHUNK) {
    yield [ids[at]!, ids[Math.min(at + CHUNK, ids.length) - 1]!];
  }
}

/** The last step, kept at once: nobody sees the row of a session whose rewind may yet fail. */
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
