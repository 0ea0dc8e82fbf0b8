/**
 * New sessions made from stored ones: a branch copies a conversation, a rotation continues it after a compression
 * (core.md D.6, A.16). Both run inside the caller's transaction, so a failure leaves the source as it was.
 */
import { HermesError, type Message, type NewSessionRow } from "@/core/contract.ts";
import type { Steps } from "@/lib/slices.ts";
import { countRows, insertCarried } from "./compaction.ts";
import type { Db } from "./db.ts";
import { isChainAncestor, linkToParent, markEnded } from "./lineage.ts";
import { COPIED_COLUMNS, previewOf, readIds } from "./message_rows.ts";
import { chunksOf, recount } from "./rewrite.ts";
import { insertSession, requireSession } from "./session_rows.ts";
import { cleanTitle, nextTitle, titleOwner, titleTaken } from "./titles.ts";

/** A plain new row; its title. Throws `session_exists`, `session_not_found` (parent), `invalid_title`, `title_taken`. */
export function createRow(db: Db, row: NewSessionRow, now: number): string | null {
  const title = cleanTitle(row.title);
  if (title !== null) {
    const owner = titleOwner(db, title);
    if (owner !== null) throw titleTaken(title, owner);
  }
  insertSession(db, row, { now, title, titleSource: "user" });
  if (row.parentId) linkToParent(db, row.id);
  return title;
}

/**
 * Copies the first `count` active rows (all by default), every field, under new ids, in steps. The title is the given one, or
 * the next "#N" of the source's; `null` leaves it untitled. Throws `session_not_found`, `session_exists`, …
 */
export function* branchRow(
  db: Db,
  sourceId: string,
  row: NewSessionRow,
  count: number | undefined,
  now: number,
): Steps<void> {
  const source = requireSession(db, sourceId);
  const named = row.title === undefined && source.title !== null ? nextTitle(db, source.title) : row.title;
  createRow(db, {
    ...row,
    parentId: sourceId,
    config: { ...row.config, branchedFrom: sourceId },
    title: named ?? null,
  }, now);
  if (named !== row.title) db.run("UPDATE sessions SET title_source = 'branch' WHERE id = ?", row.id);
  for (const [first, last] of chunksOf(readIds(db, sourceId).slice(0, count))) {
    yield;
    db.run(
      `INSERT INTO messages (session_id, ${COPIED_COLUMNS})
       SELECT ?, ${COPIED_COLUMNS} FROM messages
       WHERE session_id = ? AND active = 1 AND id BETWEEN ? AND ? ORDER BY id`,
      row.id,
      sourceId,
      first,
      last,
    );
  }
  yield;
  recount(db, row.id);
}

/**
 * Ends `id` as compressed and continues it in `child`, in steps; before the last one there is no such child. A message
 * with a row id of `id` is carried on: the transcript over the chain shows it once. The child gets the next "#N" of the
 * title unless it brings its own, and keeps the preview. Throws `session_busy` when another program has compressed the session meanwhile.
 */
export function* rotateRow(
  db: Db,
  id: string,
  child: NewSessionRow,
  messages: readonly Message[],
  now: number,
): Steps<void> {
  const parent = requireSession(db, id);
  if (parent.endReason === "compression") {
    throw new HermesError("session_busy", `Session "${id}" has been compressed already`, { sessionId: id });
  }
  // The messages before their session: whoever looks meanwhile finds the conversation where it was.
  db.exec("PRAGMA defer_foreign_keys=ON");
  yield* insertCarried(db, id, child.id, messages, now);
  yield;
  // An end by another reason (a host closed it meanwhile) gives way: the conversation goes on in the child.
  db.run("UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?", id);
  markEnded(db, id, "compression", now);
  const title = child.title === undefined && parent.title !== null
    ? nextTitle(db, parent.title)
    : cleanTitle(child.title);
  const preview = db.get("SELECT preview FROM sessions WHERE id = ?", id)?.["preview"] as string | undefined;
  const row = { ...child, parentId: id };
  insertSession(db, row, { now, title: null, titleSource: null, preview: preview || previewOf(messages) });
  linkToParent(db, child.id);
  if (title !== null) giveTitle(db, child.id, title, "branch");
  countRows(db, child.id, messages);
}

/** An earlier row of the same conversation hands the title over. Throws `title_taken` otherwise. */
export function giveTitle(db: Db, id: string, title: string, source: string): void {
  const owner = titleOwner(db, title);
  if (owner !== null && owner !== id) {
    if (!isChainAncestor(db, owner, id)) throw titleTaken(title, owner);
    db.run("UPDATE sessions SET title = NULL, title_source = NULL WHERE id = ?", owner);
  }
  db.run("UPDATE sessions SET title = ?, title_source = ? WHERE id = ?", title, source, id);
}
