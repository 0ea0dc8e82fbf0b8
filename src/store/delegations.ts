/**
 * Results of background subagents until a turn of their conversation has taken them in (core.md I.4).
 *
 *   running ──end──► pending ──take──► taken ──settle──► delivered
 *      │                ▲                │
 *      │ owner is gone  └──── not stored ┘      closed with its session: dropped
 *      └──────────────────────► pending
 */
import type { DelegationStore, LaterOutcome, LaterResult, NewDelegation } from "@/core/contract.ts";
import type { Db } from "./db.ts";
import { withoutNul } from "./db.ts";
import { toStoreError } from "./errors.ts";
import type { Writer } from "./writer.ts";

const KEEP_SECONDS = 7 * 24 * 3600;
const KEEP_PENDING = 1_000;
/** A program that was not heard of for so long is gone. */
const LOST_AFTER = 90;
/** Whoever took a result starts its turn at once; after this it may be taken again. */
const TAKEN_FOR = 60;
const MAX_ATTEMPTS = 5;

const SAME_CHAIN = `session_id IN (SELECT id FROM sessions WHERE root_id = (
  SELECT root_id FROM sessions WHERE id = ?1))`;

export function createDelegations(db: Db): void {
  db.exec(`
    CREATE TABLE async_delegations (
      id TEXT PRIMARY KEY NOT NULL,
      session_id TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
      state TEXT NOT NULL,
      goals TEXT NOT NULL,
      result TEXT,
      text TEXT,
      delivery TEXT NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0,
      owner TEXT NOT NULL,
      created_at REAL NOT NULL,
      heard_at REAL NOT NULL,
      updated_at REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX async_delegations_session ON async_delegations(session_id, delivery);
    CREATE INDEX async_delegations_owner ON async_delegations(owner) WHERE delivery = 'running';
    CREATE INDEX async_delegations_age ON async_delegations(delivery, created_at);
  `);
}

export class DelegationRows implements DelegationStore {
  readonly #db: Db;
  readonly #writer: Writer;

  constructor(db: Db, writer: Writer) {
    this.#db = db;
    this.#writer = writer;
  }

  async insert({ id, sessionId, goals, owner, at }: NewDelegation): Promise<void> {
    await this.#writer.write(() => {
      this.#prune(at);
      this.#db.run(
        `INSERT INTO async_delegations (id, session_id, state, goals, delivery, owner, created_at, heard_at, updated_at)
         VALUES (?1, ?2, 'running', ?3, 'running', ?4, ?5, ?5, ?5)`,
        id,
        sessionId,
        withoutNul(JSON.stringify(goals)),
        owner,
        at,
      );
    });
  }

  #prune(now: number): void {
    this.#db.run(
      "DELETE FROM async_delegations WHERE created_at < ? AND delivery <> 'running'",
      now - KEEP_SECONDS,
    );
    this.#db.run(
      `DELETE FROM async_delegations WHERE id IN (SELECT id FROM async_delegations WHERE delivery = 'pending'
       ORDER BY created_at DESC LIMIT -1 OFFSET ?)`,
      KEEP_PENDING,
    );
  }

  async finish(
    id: string,
    end: { state: string; text: string | null; result: string; at: number },
  ): Promise<void> {
    await this.#writer.write(() =>
      this.#db.run(
        `UPDATE async_delegations SET state = ?, text = ?, result = ?, delivery = ?, updated_at = ?
         WHERE id = ? AND delivery = 'running'`,
        end.state,
        end.text === null ? null : withoutNul(end.text),
        withoutNul(end.result),
        end.text === null ? "dropped" : "pending",
        end.at,
        id,
      )
    );
  }

  async touch(owner: string, at: number): Promise<void> {
    await this.#writer.write(() =>
      this.#db.run(
        "UPDATE async_delegations SET heard_at = ? WHERE owner = ? AND delivery = 'running'",
        at,
        owner,
      )
    );
  }

  hasWaiting(headId: string): boolean {
    try {
      const sql = `SELECT 1 FROM async_delegations WHERE ${SAME_CHAIN}
        AND delivery IN ('pending', 'taken', 'running') LIMIT 1`;
      return this.#db.get(sql, headId) !== undefined;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  take(headId: string, at: number): Promise<LaterResult | null> {
    return this.#writer.write(() => {
      this.#findLost(headId, at);
      const sql = `SELECT id, text FROM async_delegations WHERE ${SAME_CHAIN}
        AND (delivery = 'pending' OR (delivery = 'taken' AND updated_at < ?2)) ORDER BY created_at, id LIMIT 1`;
      const row = this.#db.get(sql, headId, at - TAKEN_FOR);
      if (row === undefined) return null;
      const id = row["id"] as string;
      // One that is taken again was not settled by whoever took it: that counts like a failure.
      this.#db.run(
        `UPDATE async_delegations SET attempts = attempts + (delivery = 'taken'), delivery = 'taken', updated_at = ?
         WHERE id = ?`,
        at,
        id,
      );
      return { id, text: row["text"] as string };
    });
  }

  /** What ran in a program that is gone will never end: the conversation hears of it. */
  #findLost(headId: string, at: number): void {
    const sql = `SELECT id, goals FROM async_delegations WHERE ${SAME_CHAIN}
      AND delivery = 'running' AND heard_at < ?2`;
    for (const row of this.#db.all(sql, headId, at - LOST_AFTER)) {
      const id = row["id"] as string;
      this.#db.run(
        "UPDATE async_delegations SET state = 'lost', text = ?, delivery = 'pending', updated_at = ? WHERE id = ?",
        lostText(id, JSON.parse(row["goals"] as string) as string[]),
        at,
        id,
      );
    }
  }

  async settle(id: string, outcome: LaterOutcome, at: number): Promise<void> {
    await this.#writer.write(() =>
      this.#db.run(
        `UPDATE async_delegations SET
           delivery = CASE WHEN ?1 = 'stored' THEN 'delivered' WHEN attempts + (?1 = 'failed') >= ?2 THEN 'dropped'
             ELSE 'pending' END,
           attempts = attempts + (?1 = 'failed'), updated_at = ?3
         WHERE id = ?4 AND delivery = 'taken'`,
        outcome,
        MAX_ATTEMPTS,
        at,
        id,
      )
    );
  }
}

function lostText(id: string, goals: readonly string[]): string {
  return `[ASYNC DELEGATION COMPLETE — ${id}] The program ended before the background work did; there is no ` +
    `result, and parts of it may have been done:\n${goals.map((goal) => `- ${goal}`).join("\n")}`;
}
