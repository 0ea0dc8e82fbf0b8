/**
 * Old conversations go (core.md D.10): those that have ended, with what they delegated; branches stay and lose their
 * parent. Whoever is in use stays: a row is reopened while a program has its session, a turn has a lease
 * (`turn_leases.ts`), and both are looked at in the transaction that removes.
 *
 *   long conversations:  ended ──marked `pruned`, not listed──► messages go, a few at a time ──► rows go
 *
 * A program that ends on the way leaves marked rows; the next one goes on with them.
 */
import type { EndedSession, Logger, PruneResult, PruneWish, SessionPruning } from "@/core/contract.ts";
import { Slices } from "@/lib/slices.ts";
import type { Platform } from "@/platform/mod.ts";
import type { Db, SqlRow } from "./db.ts";
import { isLocked } from "./errors.ts";
import { dropRows, readConversation } from "./lineage.ts";
import { SnapshotFiles } from "./snapshot_files.ts";
import type { TurnLeases } from "./turn_leases.ts";
import type { Writer } from "./writer.ts";

const MARK = "pruned";
/** Messages that one transaction may remove: the text index makes it some 40 µs each. */
const MESSAGES_AT_ONCE = 250;
/** Milliseconds between two such transactions, for whoever waits for the lock. */
const PAUSE_MS = 10;
/** An empty session of a gateway is kept this long after its end. */
const EMPTY_FOR = 86_400;
/** Contents younger than this may belong to a turn that has not yet written down what it changed. */
const UNUSED_FOR_MS = 48 * 3_600_000;
const ROWS_AT_ONCE = 2_000;
/** Part of the file that is free from which on it is written anew. */
const FREE_PART = 0.25;

export interface PruningDeps {
  readonly db: Db;
  readonly writer: Writer;
  readonly leases: TurnLeases;
  readonly platform: Platform;
  readonly log: Logger;
}

/** In `state_meta` while there may be marked rows. */
const UNFINISHED = "sessions_half_pruned";
/** Sessions that are looked at between two pauses. */
const LOOKED_AT_ONCE = 1_000;

const ENDED = `s.end_reason IS NOT NULL AND s.ended_at < ?1
  AND (s.relation IS NOT 'delegate' OR s.parent_session_id IS NULL)`;
/** Of a gateway, whatever its host calls itself (`HERMES_SESSION_SOURCE`). */
const EMPTY =
  `s.source NOT IN ('acp', 'api_server', 'cli', 'cron', 'subagent', 'tool') AND s.message_count = 0 AND s.ended_at < ?1
  AND NOT EXISTS (SELECT 1 FROM sessions c WHERE c.parent_session_id = s.id)
  AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.session_id = s.id)`;
const OLD = "s.listed = 1 AND s.last_activity_at < ?1";
/** What a person has pinned stays (core.md D.3). */
const LOOSE = "NOT EXISTS (SELECT 1 FROM sessions r WHERE r.id = s.root_id AND r.pinned = 1)";

/** What may be removed, and by whom it is in use. */
interface Look {
  /** `ENDED` or `EMPTY`. */
  readonly where: string;
  readonly before: number;
  isLive?(id: string): boolean;
}

export class Pruning implements SessionPruning {
  readonly #db: Db;
  readonly #deps: PruningDeps;

  constructor(deps: PruningDeps) {
    this.#db = deps.db;
    this.#deps = deps;
  }

  find(before: number, limit: number): Promise<EndedSession[]> {
    return this.#find({ where: ENDED, before }, limit);
  }

  async prune(wish: PruneWish): Promise<PruneResult> {
    await this.#finishMarked();
    let removed = 0;
    let kept = 0;
    const now = this.#deps.platform.clock.now() / 1000;
    const live = wish.isLive ? { isLive: wish.isLive } : {};
    const looks: Look[] = [{ where: EMPTY, before: now - EMPTY_FOR, ...live }];
    if (wish.before !== null) looks.push({ where: ENDED, before: wish.before, ...live });
    let isMore = false;
    for (const look of looks) {
      const found = await this.#find(look, wish.limit);
      isMore ||= found.length === wish.limit;
      for (const session of found) {
        if (wish.shouldStop?.()) return { removed, kept, isMore: true, freed: 0 };
        if (!await this.#remove(session.id, look)) kept++;
        else {
          removed++;
          wish.onRemoved?.(session);
        }
        await this.#pause();
      }
    }
    await this.#dropUnusedFiles(wish.snapshots);
    const freed = removed > 0 ? this.#shrink(wish.rewriteUpTo) : 0;
    return { removed, kept, isMore, freed };
  }

  /** Oldest first; a slice at a time, since all that are old are looked at. */
  async #find({ where, before }: Look, limit: number): Promise<EndedSession[]> {
    const found: EndedSession[] = [];
    const slices = new Slices();
    for (let after: readonly [number, string] = [-1, ""];;) {
      const rows = this.#db.all(
        `SELECT s.id, s.source, s.title, s.last_activity_at, s.message_count, ${where} AND ${LOOSE} AS fits FROM sessions s
         WHERE ${OLD} AND (s.last_activity_at, s.id) > (?2, ?3)
         ORDER BY s.last_activity_at, s.id LIMIT ${LOOKED_AT_ONCE}`,
        before,
        ...after,
      );
      found.push(...rows.filter((row) => row["fits"] === 1).map(toEnded));
      const last = rows.at(-1);
      if (rows.length < LOOKED_AT_ONCE || found.length >= limit || last === undefined) break;
      after = [last["last_activity_at"] as number, last["id"] as string];
      if (slices.isOver) await slices.next();
    }
    return found.slice(0, limit);
  }

  /** False when it is in use, or is none of those any more. */
  async #remove(id: string, look: Look): Promise<boolean> {
    const marked = await this.#deps.writer.write(() => this.#begin(id, look));
    if (marked === null) return false;
    await this.#empty(marked);
    return true;
  }

  /** A short one goes at once; the rows of a long one that are still to go; `null` when it may not go. */
  #begin(id: string, { where, before, isLive }: Look): readonly string[] | null {
    const sql = `SELECT 1 FROM sessions s WHERE ${OLD} AND s.id = ?2 AND ${where} AND ${LOOSE}`;
    if (this.#db.get(sql, before, id) === undefined) return null;
    const doomed = [...readConversation(this.#db, id)];
    if (doomed.some((one) => isLive?.(one) || this.#isUsed(one, before))) return null;
    if (doomed.reduce((sum, one) => sum + this.#countUpTo(one), 0) <= MESSAGES_AT_ONCE) {
      dropRows(this.#db, doomed);
      return [];
    }
    this.#db.run("INSERT OR REPLACE INTO state_meta (key, value) VALUES (?, '1')", UNFINISHED);
    const own = new Set(doomed);
    for (const one of doomed) {
      this.#db.run(
        "UPDATE sessions SET end_reason = ?2, listed = 0, title = NULL, session_key = NULL WHERE id = ?1",
        one,
        MARK,
      );
      const children = this.#db.all("SELECT id FROM sessions WHERE parent_session_id = ?", one);
      for (const child of children.map((row) => row["id"] as string)) {
        if (!own.has(child)) this.#db.run("UPDATE sessions SET parent_session_id = NULL WHERE id = ?", child);
      }
    }
    return doomed;
  }

  #isUsed(id: string, before: number): boolean {
    const row = this.#db.get("SELECT last_activity_at FROM sessions WHERE id = ?", id);
    if (row === undefined || (row["last_activity_at"] as number) >= before) return true;
    try {
      this.#deps.leases.require(id);
      return this.#deps.leases.isHeld(id);
    } catch {
      return true; // a turn runs in it
    }
  }

  #countUpTo(id: string): number {
    const sql = "SELECT count(*) AS n FROM (SELECT 1 FROM messages WHERE session_id = ?1 LIMIT ?2)";
    return this.#db.get(sql, id, MESSAGES_AT_ONCE + 1)!["n"] as number;
  }

  async #finishMarked(): Promise<void> {
    if (this.#db.get("SELECT 1 FROM state_meta WHERE key = ?", UNFINISHED) === undefined) return;
    const rows = this.#db.all("SELECT id FROM sessions WHERE end_reason = ?", MARK);
    await this.#empty(rows.map((row) => row["id"] as string));
    // Another program may be in the middle of its own.
    await this.#deps.writer.write(() =>
      this.#db.run(
        "DELETE FROM state_meta WHERE key = ? AND NOT EXISTS (SELECT 1 FROM sessions WHERE end_reason = ?)",
        UNFINISHED,
        MARK,
      )
    );
  }

  /** Somebody who has opened a marked row meanwhile keeps it, with what it still has. */
  async #empty(marked: readonly string[]): Promise<void> {
    const { writer } = this.#deps;
    for (const id of marked) {
      for (;;) {
        const { changes } = await writer.write(() =>
          this.#db.run(
            `DELETE FROM messages WHERE id IN (SELECT m.id FROM messages m JOIN sessions s ON s.id = m.session_id
               WHERE m.session_id = ?1 AND s.end_reason = ?2 LIMIT ?3)`,
            id,
            MARK,
            MESSAGES_AT_ONCE,
          )
        );
        if (changes === 0) break;
        await this.#pause();
      }
    }
    if (marked.length > 0) await writer.write(() => this.#dropMarked(marked));
  }

  #dropMarked(marked: readonly string[]): void {
    const gone: string[] = [];
    for (const id of marked) {
      const row = this.#db.get("SELECT end_reason FROM sessions WHERE id = ?", id);
      if (row?.["end_reason"] === MARK) gone.push(id);
      else this.#db.run("UPDATE sessions SET listed = 1, root_id = id, relation = NULL WHERE id = ?", id);
    }
    dropRows(this.#db, gone);
  }

  /** Contents that no change names any more. */
  async #dropUnusedFiles(folder: string): Promise<void> {
    const files = new SnapshotFiles(this.#deps.platform, folder);
    const old = await files.olderThan(UNUSED_FOR_MS);
    if (old.size === 0) return;
    const slices = new Slices();
    for (let after = 0;;) {
      const rows = this.#db.arrays(
        `SELECT id, before_hash FROM file_changes WHERE id > ? ORDER BY id LIMIT ${ROWS_AT_ONCE}`,
        after,
      );
      for (const [, hash] of rows) if (hash !== null) old.delete(hash as string);
      if (rows.length < ROWS_AT_ONCE) break;
      after = rows.at(-1)![0] as number;
      if (slices.isOver) await slices.next();
    }
    for (const hash of old) await files.removeOlder(hash, UNUSED_FOR_MS);
  }

  /** Only while nothing runs in any program: everybody's next write would wait for it. */
  #shrink(upTo: number): number {
    const number = (pragma: string) => Object.values(this.#db.get(`PRAGMA ${pragma}`) ?? {})[0] as number;
    const [pages, free, size] = [number("page_count"), number("freelist_count"), number("page_size")];
    if (free < pages * FREE_PART || this.#db.isInTransaction || this.#deps.leases.isAnyHeld()) return 0;
    if ((pages - free) * size > upTo) {
      this.#deps.log.info(
        `${Math.round(free * size / 2 ** 20)} MiB of the session database are free; ` +
          "`hermes sessions prune` gives them back",
      );
      return 0;
    }
    try {
      this.#db.exec("VACUUM");
      return Math.max(0, pages - number("page_count")) * size;
    } catch (error) {
      if (!isLocked(error)) throw error;
      return 0; // another time
    }
  }

  async #pause(): Promise<void> {
    await this.#deps.platform.clock.delay(PAUSE_MS);
  }
}

function toEnded(row: SqlRow): EndedSession {
  return {
    id: row["id"] as string,
    source: row["source"] as string,
    title: row["title"] as string | null,
    lastActivityAt: row["last_activity_at"] as number,
    messageCount: row["message_count"] as number,
  };
}
