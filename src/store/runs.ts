/**
 * Runs of the HTTP API and their event journals (api-server.md B4, E1, A10). A run is reserved together with its
 * idempotency key, so that two equal requests can never both begin; status and events are saved in one step, so that
 * whoever reads the last event finds the last status.
 */
import type { RunEventRow, RunKey, RunQuery, RunRow, RunStore } from "@/core/contract.ts";
import { type Db, type SqlRow, type SqlValue, withoutNul } from "./db.ts";
import { toStoreError } from "./errors.ts";
import type { Writer } from "./writer.ts";

const COLUMNS = "id, session_id, status, terminal, created_at, updated_at, owner, pid, detail, key_id";
/** What may be shown: it has not ended, or not long ago. */
const VISIBLE = "(terminal = 0 OR updated_at >= ?)";

export class Runs implements RunStore {
  readonly #db: Db;
  readonly #writer: Writer;

  constructor(db: Db, writer: Writer) {
    this.#db = db;
    this.#writer = writer;
  }

  insert(
    run: RunRow,
    key?: RunKey,
    callbackUrl?: string,
  ): Promise<{ run: RunRow; fingerprint: string } | null> {
    return this.#writer.write(() => {
      const holder = key === undefined ? null : this.#byKey(key.digest);
      if (holder) return holder;
      this.#db.run(
        `INSERT INTO api_runs (${COLUMNS}, heard_at, key_digest, key_fingerprint)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        ...valuesOf(run),
        run.updatedAt,
        key?.digest ?? null,
        key?.fingerprint ?? null,
      );
      if (callbackUrl !== undefined) {
        this.#db.run("INSERT INTO api_callbacks (run_id, url) VALUES (?, ?)", run.id, callbackUrl);
      }
      return null;
    });
  }

  save(run: RunRow, events: readonly RunEventRow[], keep: number): Promise<void> {
    return this.#writer.write(() => {
      const { changes } = this.#db.run(
        `UPDATE api_runs SET session_id = ?, status = ?, terminal = ?, updated_at = ?, owner = ?, pid = ?,
           detail = ?, heard_at = max(heard_at, ?) WHERE id = ?`,
        run.sessionId,
        run.status,
        run.terminal ? 1 : 0,
        run.updatedAt,
        run.owner,
        run.pid,
        withoutNul(run.detail),
        run.updatedAt,
        run.id,
      );
      if (changes > 0) this.#addEvents(run.id, events, keep);
    });
  }

  settle(run: RunRow, event: (seq: number) => string, keep: number): Promise<boolean> {
    return this.#writer.write(() => {
      const { changes } = this.#db.run(
        "UPDATE api_runs SET status = ?, terminal = 1, updated_at = ?, detail = ? WHERE id = ? AND terminal = 0",
        run.status,
        run.updatedAt,
        withoutNul(run.detail),
        run.id,
      );
      if (changes === 0) return false;
      const last = this.#db.get("SELECT max(seq) AS seq FROM api_run_events WHERE run_id = ?", run.id);
      const seq = Number(last?.["seq"] ?? -1) + 1;
      this.#addEvents(run.id, [{ seq, data: event(seq) }], keep);
      return true;
    });
  }

  #addEvents(id: string, events: readonly RunEventRow[], keep: number): void {
    for (const event of events) {
      this.#db.run(
        "INSERT OR REPLACE INTO api_run_events (run_id, seq, data) VALUES (?, ?, ?)",
        id,
        event.seq,
        withoutNul(event.data),
      );
    }
    const last = events.at(-1);
    if (last && last.seq >= keep) {
      this.#db.run("DELETE FROM api_run_events WHERE run_id = ? AND seq <= ?", id, last.seq - keep);
    }
  }

  async remove(id: string): Promise<void> {
    await this.#writer.write(() => this.#db.run("DELETE FROM api_runs WHERE id = ?", id));
  }

  get(id: string): RunRow | null {
    const row = this.#read(() => this.#db.get(`SELECT ${COLUMNS} FROM api_runs WHERE id = ?`, id));
    return row === undefined ? null : toRun(row);
  }

  findByKey(digest: string): { run: RunRow; fingerprint: string } | null {
    return this.#read(() => this.#byKey(digest));
  }

  list(query: RunQuery): RunRow[] {
    const where = [VISIBLE];
    const values: SqlValue[] = [query.endedSince];
    if (query.status !== undefined) {
      where.push("status = ?");
      values.push(query.status);
    }
    if (query.sessionId !== undefined) {
      where.push("session_id = ?");
      values.push(query.sessionId);
    }
    if (query.keyId !== undefined) {
      where.push("key_id = ?");
      values.push(query.keyId);
    }
    if (query.after !== undefined) {
      where.push("(created_at, id) < (SELECT created_at, id FROM api_runs WHERE id = ?)");
      values.push(query.after);
    }
    const sql = `SELECT ${COLUMNS} FROM api_runs WHERE ${
      where.join(" AND ")
    } ORDER BY created_at DESC, id DESC LIMIT ?`;
    return this.#read(() => this.#db.all(sql, ...values, query.limit)).map(toRun);
  }

  unfinished(): RunRow[] {
    return this.#read(() => this.#db.all(`SELECT ${COLUMNS} FROM api_runs WHERE terminal = 0`)).map(toRun);
  }

  events(id: string, afterSeq: number): RunEventRow[] {
    const sql = "SELECT seq, data FROM api_run_events WHERE run_id = ? AND seq > ? ORDER BY seq";
    return this.#read(() => this.#db.all(sql, id, afterSeq))
      .map((row) => ({ seq: row["seq"] as number, data: row["data"] as string }));
  }

  async touch(owner: string, now: number): Promise<void> {
    const sql = "UPDATE api_runs SET heard_at = ? WHERE terminal = 0 AND owner = ?";
    await this.#writer.write(() => this.#db.run(sql, now, owner));
  }

  heardOf(id: string): number | null {
    const row = this.#read(() => this.#db.get("SELECT heard_at FROM api_runs WHERE id = ?", id));
    return row === undefined ? null : row["heard_at"] as number;
  }

  async prune(before: number, keyedBefore: number): Promise<void> {
    await this.#writer.write(() => {
      this.#db.run(
        `DELETE FROM api_run_events WHERE run_id IN
           (SELECT id FROM api_runs WHERE terminal = 1 AND updated_at < ?)`,
        before,
      );
      this.#db.run(
        `DELETE FROM api_runs WHERE terminal = 1 AND updated_at < ? AND (key_digest IS NULL OR updated_at < ?)`,
        before,
        keyedBefore,
      );
    });
  }

  #byKey(digest: string): { run: RunRow; fingerprint: string } | null {
    const row = this.#db.get(
      `SELECT ${COLUMNS}, key_fingerprint FROM api_runs WHERE key_digest = ?`,
      digest,
    );
    return row === undefined ? null : { run: toRun(row), fingerprint: row["key_fingerprint"] as string };
  }

  #read<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw toStoreError(error);
    }
  }
}

function valuesOf(run: RunRow): SqlValue[] {
  return [
    run.id,
    run.sessionId,
    run.status,
    run.terminal ? 1 : 0,
    run.createdAt,
    run.updatedAt,
    run.owner,
    run.pid,
    withoutNul(run.detail),
    run.keyId ?? null,
  ];
}

function toRun(row: SqlRow): RunRow {
  return {
    id: row["id"] as string,
    sessionId: row["session_id"] as string,
    status: row["status"] as string,
    terminal: row["terminal"] === 1,
    createdAt: row["created_at"] as number,
    updatedAt: row["updated_at"] as number,
    owner: row["owner"] as string,
    pid: row["pid"] as number,
    detail: row["detail"] as string,
    ...(row["key_id"] === null ? {} : { keyId: row["key_id"] as string }),
  };
}
