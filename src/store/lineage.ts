/**
 * How rows of `sessions` hang together (core.md D.6). A compression chain is a parent ended as `compression` and
 * its newest child that is neither branch nor delegate; the chain is one conversation and its last row, the tip,
 * is the one that is listed. `root_id` and `listed` follow from the links and are kept true here. Where somebody has
 * taken rows out of the middle, they tell how what is left hangs together.
 *
 *   root ──compression──► child ──compression──► tip        branch, delegate: children that continue nothing
 */
import type { Message, SessionRow } from "@/core/contract.ts";
import type { Db } from "./db.ts";
import { readMessages, type StoredMessage } from "./message_rows.ts";
import { readSession, sessionNotFound } from "./session_rows.ts";

/** Of the walk that tells where a session comes from (acp.md C13). */
const MAX_ANCESTORS = 100;

interface Link {
  readonly id: string;
  readonly parent: string | null;
  readonly relation: string | null;
}

function readLink(db: Db, id: string): Link | null {
  const row = db.get(
    "SELECT parent_session_id, relation FROM sessions WHERE id = ?",
    id,
  );
  if (row === undefined) return null;
  return {
    id,
    parent: row["parent_session_id"] as string | null,
    relation: row["relation"] as string | null,
  };
}

/** Children that continue `id`, newest first; more than one only when a compression was done again. */
function continuations(db: Db, id: string): string[] {
  const sql = `SELECT id FROM sessions WHERE parent_session_id = ? AND relation = 'continuation'
    ORDER BY started_at DESC, rowid DESC`;
  return db.all(sql, id).map((row) => row["id"] as string);
}

/** The newest row of the conversation after `id` whose parent is gone; `id` may be gone, too. */
function afterGap(db: Db, id: string): string | undefined {
  const own = db.get("SELECT root_id, listed, rowid AS place FROM sessions WHERE id = ?", id);
  if (own?.["listed"] === 1) return undefined;
  const sql = `SELECT id FROM sessions s WHERE root_id = ? AND rowid > ? AND relation = 'continuation'
      AND NOT EXISTS (SELECT 1 FROM sessions p WHERE p.id = s.parent_session_id)
    ORDER BY started_at DESC, rowid DESC LIMIT 1`;
  return db.get(sql, own?.["root_id"] ?? id, own?.["place"] ?? 0)?.["id"] as string | undefined;
}

/** The newest row of the conversation before `id`, a row whose parent is gone. */
function beforeGap(db: Db, id: string): string | undefined {
  const sql = `SELECT o.id FROM sessions s JOIN sessions o ON o.root_id = s.root_id AND o.rowid < s.rowid
    WHERE s.id = ? AND (o.id = o.root_id OR o.relation = 'continuation')
    ORDER BY o.started_at DESC, o.rowid DESC LIMIT 1`;
  return db.get(sql, id)?.["id"] as string | undefined;
}

function delegates(db: Db, id: string): string[] {
  const sql = "SELECT id FROM sessions WHERE parent_session_id = ? AND relation = 'delegate'";
  return db.all(sql, id).map((row) => row["id"] as string);
}

/** Puts a new child in its place: one that continues its parent is listed instead of it, and of older siblings. */
export function linkToParent(db: Db, id: string): void {
  const link = readLink(db, id);
  if (link === null || link.parent === null || link.relation !== "continuation") return;
  db.run(
    "UPDATE sessions SET root_id = (SELECT root_id FROM sessions WHERE id = ?) WHERE id = ?",
    link.parent,
    id,
  );
  db.run("UPDATE sessions SET listed = 0 WHERE id = ?", link.parent);
  for (const sibling of continuations(db, link.parent).slice(1)) {
    db.run("UPDATE sessions SET listed = 0 WHERE id = ?", sibling);
  }
}

/** The live end of the chain that `id` is in, looking forward; a loop ends where it closes. `id` itself may be gone. */
export function readTip(db: Db, id: string): SessionRow | null {
  const seen = new Set<string>();
  let at = id;
  for (let next: string | undefined = id; next !== undefined && !seen.has(next);) {
    at = next;
    seen.add(at);
    next = continuations(db, at)[0] ?? afterGap(db, at);
  }
  return readSession(db, at);
}

/** Generations below a row that are looked at. */
const MAX_DESCENDANTS = 32;

/**
 * Where a resume of `id` goes on: the tip; where that holds no message, the deepest of its descendants that does.
 * Branches and delegates are conversations of their own, and another door's session is not handed on.
 */
export function readResumed(db: Db, id: string): SessionRow | null {
  const tip = readTip(db, id);
  if (tip === null || tip.messageCount > 0) return tip;
  const found = db.get(
    `WITH RECURSIVE below(id, depth) AS (
       SELECT ?1, 0
       UNION SELECT s.id, below.depth + 1 FROM below JOIN sessions s ON s.parent_session_id = below.id
         WHERE below.depth < ${MAX_DESCENDANTS} AND s.source = ?2
           AND (s.relation IS NULL OR s.relation = 'continuation'))
     SELECT s.id FROM below JOIN sessions s ON s.id = below.id WHERE s.message_count > 0
     ORDER BY below.depth DESC, s.started_at DESC, s.rowid DESC LIMIT 1`,
    tip.id,
    tip.source,
  );
  return found === undefined ? tip : readSession(db, found["id"] as string);
}

export interface Ancestors {
  rows: SessionRow[];
  status: "ok" | "broken" | "cycle" | "too_deep";
  brokenAt?: string;
}

/** Parent, grandparent, … of `id`; `brokenAt` names the id that could not be followed. */
export function readAncestors(db: Db, id: string): Ancestors {
  const start = readSession(db, id);
  if (start === null) return { rows: [], status: "broken", brokenAt: id };
  const rows: SessionRow[] = [];
  const seen = new Set([id]);
  let next = start.parentId;
  while (next !== null) {
    if (seen.has(next)) return { rows, status: "cycle", brokenAt: next };
    if (rows.length === MAX_ANCESTORS) return { rows, status: "too_deep", brokenAt: next };
    const row = readSession(db, next);
    if (row === null) return { rows, status: "broken", brokenAt: next };
    seen.add(next);
    rows.push(row);
    next = row.parentId;
  }
  return { rows, status: "ok" };
}

/** Ids of the chain up to and with `id`, oldest first; rows that are gone are passed over. */
export function chainUpTo(db: Db, id: string): string[] {
  const chain = new Set([id]);
  let link = readLink(db, id);
  while (link !== null && link.relation === "continuation") {
    const parent = link.parent === null ? null : readLink(db, link.parent);
    const before: string | undefined = parent?.id ?? beforeGap(db, link.id);
    if (before === undefined || chain.has(before)) break;
    chain.add(before);
    link = parent ?? readLink(db, before);
  }
  return [...chain].reverse();
}

/**
 * The conversation over the chain as a person saw it: a message that a compression carried on stands once, at its
 * first place, with the row id it has now.
 */
export function readLineage(db: Db, id: string): Message[] {
  return joinChain(chainUpTo(db, id).map((member) => readMessages(db, member)));
}

/** The rows of each member of a chain, oldest first, as one conversation. */
export function joinChain(members: readonly (readonly StoredMessage[])[]): Message[] {
  if (members.length === 1) return members[0]!.map((entry) => entry.message);
  const places = new Map<number, StoredMessage>();
  // Setting a key again keeps its place: first place, newest row.
  for (const member of members) for (const entry of member) places.set(entry.identity, entry);
  return [...places.values()].map((entry) => entry.message);
}

/** True when `owner` is an earlier row of the conversation that ends in `id`. */
export function isChainAncestor(db: Db, owner: string, id: string): boolean {
  return owner !== id && chainUpTo(db, id).includes(owner);
}

/** Kept in the first row, so that it stays through compressions. False when it was so before. Throws `session_not_found`. */
export function markPinned(db: Db, id: string, pinned: boolean): boolean {
  if (readLink(db, id) === null) throw sessionNotFound(id);
  const sql = `UPDATE sessions SET pinned = ?1
    WHERE id = (SELECT root_id FROM sessions WHERE id = ?2) AND pinned <> ?1`;
  return db.run(sql, pinned ? 1 : 0, id).changes > 0;
}

/** Removes the whole conversation `id` is in, and what was delegated from it; branches lose their parent. */
export function removeConversation(db: Db, id: string): boolean {
  const head = readTip(db, id);
  if (head === null) return false;
  dropRows(db, readConversation(db, head.id));
  return true;
}

/** Ids of the whole conversation `id` is in, and of what was delegated from it. */
export function readConversation(db: Db, id: string): ReadonlySet<string> {
  const doomed = new Set<string>();
  const pending = chainUpTo(db, id);
  while (pending.length > 0) {
    const at = pending.pop()!;
    if (doomed.has(at)) continue;
    doomed.add(at);
    pending.push(...continuations(db, at), ...delegates(db, at));
  }
  return doomed;
}

/** Removes rows with all that hangs on them; whoever has one of them as its parent has none afterwards. */
export function dropRows(db: Db, ids: Iterable<string>): void {
  const doomed = [...ids];
  for (const gone of doomed) {
    db.run("UPDATE sessions SET parent_session_id = NULL WHERE parent_session_id = ?", gone);
  }
  for (const gone of doomed) db.run("DELETE FROM sessions WHERE id = ?", gone);
}

/** The first end reason wins. An unknown id is left alone: what is gone needs no end. */
export function markEnded(db: Db, id: string, reason: string, now: number): void {
  const sql = "UPDATE sessions SET ended_at = ?, end_reason = ? WHERE id = ? AND end_reason IS NULL";
  db.run(sql, now, reason, id);
}

/** A row whose conversation goes on in a child stays ended. Throws `session_not_found`. */
export function markReopened(db: Db, id: string): void {
  if (readLink(db, id) === null) throw sessionNotFound(id);
  if (continuations(db, id).length > 0) return;
  db.run("UPDATE sessions SET ended_at = NULL, end_reason = NULL WHERE id = ?", id);
}
