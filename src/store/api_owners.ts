/**
 * Which scoped key of the HTTP API a conversation belongs to. A row is written before the conversation is, so that it
 * is never there without its owner; one that is deleted takes the row along. Keys are named by their ids only.
 */
import type { SessionOwners } from "@/core/contract.ts";
import type { Db } from "./db.ts";
import { toStoreError } from "./errors.ts";
import type { Writer } from "./writer.ts";

/** Schema step "api_owners": owners of runs, responses and sessions, and the callbacks of runs. */
export function createApiOwners(db: Db): void {
  db.exec(`
    ALTER TABLE api_runs ADD COLUMN key_id TEXT;
    ALTER TABLE api_responses ADD COLUMN key_id TEXT;
    CREATE INDEX api_runs_owner ON api_runs(key_id, created_at DESC, id DESC) WHERE key_id IS NOT NULL;

    CREATE TABLE api_session_owners (
      session_id TEXT PRIMARY KEY NOT NULL,
      key_id TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TRIGGER api_session_owners_gone AFTER DELETE ON sessions
      BEGIN DELETE FROM api_session_owners WHERE session_id = old.id; END;

    CREATE TABLE api_callbacks (
      run_id TEXT PRIMARY KEY NOT NULL REFERENCES api_runs(id) ON DELETE CASCADE,
      url TEXT NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0,
      next_at REAL NOT NULL DEFAULT 0
    ) WITHOUT ROWID;
  `);
}

export class ApiOwners implements SessionOwners {
  readonly #db: Db;
  readonly #writer: Writer;

  constructor(db: Db, writer: Writer) {
    this.#db = db;
    this.#writer = writer;
  }

  ofSession(id: string): string | null {
    try {
      const row = this.#db.get("SELECT key_id FROM api_session_owners WHERE session_id = ?", id);
      return row === undefined ? null : row["key_id"] as string;
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async claimSession(id: string, keyId: string): Promise<boolean> {
    await this.#writer.write(() =>
      this.#db.run("INSERT OR IGNORE INTO api_session_owners (session_id, key_id) VALUES (?, ?)", id, keyId)
    );
    return this.ofSession(id) === keyId;
  }

  async releaseSession(id: string, keyId: string): Promise<void> {
    await this.#writer.write(() =>
      this.#db.run(
        `DELETE FROM api_session_owners WHERE session_id = ? AND key_id = ?
           AND NOT EXISTS (SELECT 1 FROM sessions WHERE id = api_session_owners.session_id)`,
        id,
        keyId,
      )
    );
  }
}
