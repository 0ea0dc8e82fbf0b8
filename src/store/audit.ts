/**
 * The audit trail: who asked, what was asked of a person, who answered what, what ran, what changed. Rows are only
 * ever added; the table itself refuses anything else, and the rows outlive the session they speak of.
 */
import type { AuditEntry, AuditQuery, AuditRow, AuditStore } from "@/core/contract.ts";
import { type Db, type SqlRow, type SqlValue, withoutNul } from "./db.ts";
import { toStoreError } from "./errors.ts";
import type { Writer } from "./writer.ts";

/** Schema step "audit". */
export function createAudit(db: Db): void {
  db.exec(`
    CREATE TABLE audit (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      at REAL NOT NULL,
      session_id TEXT NOT NULL,
      turn_id TEXT NOT NULL,
      surface TEXT NOT NULL,
      client TEXT NOT NULL,
      kind TEXT NOT NULL,
      tool TEXT,
      call_id TEXT,
      detail TEXT NOT NULL
    );
    CREATE INDEX audit_session ON audit(session_id, id);
    CREATE INDEX audit_at ON audit(at);
    CREATE TRIGGER audit_no_update BEFORE UPDATE ON audit
      BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
    CREATE TRIGGER audit_no_delete BEFORE DELETE ON audit
      BEGIN SELECT RAISE(ABORT, 'the audit trail is append-only'); END;
  `);
}

/** The ids under which a conversation was ever known: its own, and every row of its compression chain. */
export const SAME_CONVERSATION = `(session_id = ?1 OR session_id IN
  (SELECT id FROM sessions WHERE root_id = (SELECT root_id FROM sessions WHERE id = ?1)))`;

export class Audit implements AuditStore {
  readonly #db: Db;
  readonly #writer: Writer;

  constructor(db: Db, writer: Writer) {
    this.#db = db;
    this.#writer = writer;
  }

  append(entries: readonly AuditEntry[]): Promise<void> {
    return this.#writer.write(() => {
      for (const entry of entries) {
        this.#db.run(
          `INSERT INTO audit (at, session_id, turn_id, surface, client, kind, tool, call_id, detail)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          entry.at,
          entry.sessionId,
          entry.turnId,
          entry.surface,
          entry.client,
          entry.kind,
          entry.tool,
          entry.callId,
          withoutNul(JSON.stringify(entry.detail)),
        );
      }
    });
  }

  list(query: AuditQuery): AuditRow[] {
    const where = ["at >= ?2"];
    const values: SqlValue[] = [query.sessionId ?? "", query.since ?? 0, query.limit];
    if (query.sessionId !== undefined) where.push(SAME_CONVERSATION);
    else where.push("?1 = ''");
    const sql = `SELECT * FROM audit WHERE ${where.join(" AND ")} ORDER BY id DESC LIMIT ?3`;
    try {
      return this.#db.all(sql, ...values).map(toRow).reverse();
    } catch (error) {
      throw toStoreError(error);
    }
  }
}

function toRow(row: SqlRow): AuditRow {
  return {
    id: row["id"] as number,
    at: row["at"] as number,
    sessionId: row["session_id"] as string,
    turnId: row["turn_id"] as string,
    surface: row["surface"] as string,
    client: row["client"] as string,
    kind: row["kind"] as AuditRow["kind"],
    tool: row["tool"] as string | null,
    callId: row["call_id"] as string | null,
    detail: JSON.parse(row["detail"] as string) as Record<string, unknown>,
  };
}
