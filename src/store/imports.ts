/** A conversation from another home comes in (core.md D.10): one transaction each, as it was there. */
import type { ImportedSession } from "@/core/contract.ts";
import { inOneGo } from "@/lib/slices.ts";
import type { Db } from "./db.ts";
import { createRow } from "./fork.ts";
import { countCalls, countMessages, insertMessages, previewOf } from "./message_rows.ts";
import { cleanTitle, nextTitle, titleOwner } from "./titles.ts";

/** Inside the caller's transaction; false when a session of that id is here already. Throws `invalid_title`. */
export function importRow(db: Db, session: ImportedSession, now: number): boolean {
  const { row, messages } = session;
  if (db.get("SELECT 1 FROM sessions WHERE id = ?", row.id) !== undefined) return false;
  const title = cleanTitle(row.title ?? null);
  const isTaken = title !== null && titleOwner(db, title) !== null;
  createRow(db, { ...row, title: isTaken ? nextTitle(db, title) : title }, now);
  inOneGo(insertMessages(db, row.id, messages, now));
  db.run(
    `UPDATE sessions SET last_activity_at = ?, message_count = ?, tool_call_count = ?, preview = ?,
       ended_at = ?, end_reason = ? WHERE id = ?`,
    session.lastActivityAt,
    countMessages(messages),
    countCalls(messages),
    previewOf(messages),
    session.endedAt,
    session.endReason,
    row.id,
  );
  return true;
}
