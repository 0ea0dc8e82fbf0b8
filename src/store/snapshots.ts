/**
 * Which files the turns of a conversation changed, from which content to which. The contents themselves are files
 * (`snapshot_files.ts`), named by the hashes kept here. A session that is deleted takes its rows with it.
 */
import type { Checkpoint, FileChange, SnapshotStore } from "@/core/contract.ts";
import { SAME_CONVERSATION } from "./audit.ts";
import type { Db, SqlRow } from "./db.ts";
import { withoutNul } from "./db.ts";
import { toStoreError } from "./errors.ts";
import type { Writer } from "./writer.ts";

/** Schema step "file_changes". */
export function createFileChanges(db: Db): void {
  db.exec(`
    CREATE TABLE file_changes (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      at REAL NOT NULL,
      session_id TEXT NOT NULL,
      turn_id TEXT NOT NULL,
      path TEXT NOT NULL,
      before_hash TEXT,
      after_hash TEXT
    );
    CREATE INDEX file_changes_session ON file_changes(session_id, id);
    CREATE INDEX file_changes_at ON file_changes(at);
    CREATE TRIGGER file_changes_session_gone AFTER DELETE ON sessions
      BEGIN DELETE FROM file_changes WHERE session_id = old.id; END;
  `);
}

export class Snapshots implements SnapshotStore {
  readonly #db: Db;
  readonly #writer: Writer;

  constructor(db: Db, writer: Writer) {
    this.#db = db;
    this.#writer = writer;
  }

  record(changes: readonly FileChange[]): Promise<void> {
    return this.#writer.write(() => {
      for (const { at, sessionId, turnId, path, before, after } of changes) {
        this.#db.run(
          `INSERT INTO file_changes (at, session_id, turn_id, path, before_hash, after_hash)
           VALUES (?, ?, ?, ?, ?, ?)`,
          at,
          sessionId,
          turnId,
          withoutNul(path),
          before,
          after,
        );
      }
    });
  }

  changes(sessionId: string): FileChange[] {
    try {
      return this.#db.all(`SELECT * FROM file_changes WHERE ${SAME_CONVERSATION} ORDER BY id`, sessionId)
        .map(toChange);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  /** The words come from the audit trail, in one pass over what it has of the conversation. */
  checkpoints(sessionId: string): Checkpoint[] {
    try {
      return this.#db.all(
        `WITH said AS (
           SELECT turn_id, min(json_extract(detail, '$.text')) AS text FROM audit
           WHERE ${SAME_CONVERSATION} AND kind = 'turn.start' GROUP BY turn_id
         )
         SELECT f.turn_id, f.at, f.files, coalesce(said.text, '') AS text FROM (
           SELECT turn_id, min(at) AS at, count(DISTINCT path) AS files, min(id) AS first FROM file_changes
           WHERE ${SAME_CONVERSATION} AND turn_id <> '' GROUP BY turn_id
         ) f LEFT JOIN said ON said.turn_id = f.turn_id ORDER BY f.first DESC`,
        sessionId,
      ).map(toCheckpoint);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async prune(before: number): Promise<void> {
    await this.#writer.write(() => this.#db.run("DELETE FROM file_changes WHERE at < ?", before));
  }
}

function toChange(row: SqlRow): FileChange {
  return {
    at: row["at"] as number,
    sessionId: row["session_id"] as string,
    turnId: row["turn_id"] as string,
    path: row["path"] as string,
    before: row["before_hash"] as string | null,
    after: row["after_hash"] as string | null,
  };
}

function toCheckpoint(row: SqlRow): Checkpoint {
  return {
    id: row["turn_id"] as string,
    at: row["at"] as number,
    text: row["text"] as string,
    files: row["files"] as number,
  };
}
