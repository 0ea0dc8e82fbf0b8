/**
 * Callbacks that runs of the HTTP API still owe: one per run, gone once it was delivered or given up. A try is taken by
 * counting it, so that of several servers on one store only one makes it, and one that dies in it loses only that try.
 */
import type { RunCallback, RunCallbacks } from "@/core/contract.ts";
import type { Db, SqlRow } from "./db.ts";
import { toStoreError } from "./errors.ts";
import type { Writer } from "./writer.ts";

export class ApiCallbacks implements RunCallbacks {
  readonly #db: Db;
  readonly #writer: Writer;

  constructor(db: Db, writer: Writer) {
    this.#db = db;
    this.#writer = writer;
  }

  /** Only of runs that have ended. */
  owed(): RunCallback[] {
    try {
      return this.#db.all(
        `SELECT c.run_id, c.url, c.attempts, c.next_at FROM api_callbacks c
           JOIN api_runs r ON r.id = c.run_id WHERE r.terminal = 1 ORDER BY c.next_at, c.run_id`,
      ).map(toCallback);
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async take({ runId, attempts }: RunCallback, nextAt: number): Promise<boolean> {
    const sql =
      "UPDATE api_callbacks SET attempts = attempts + 1, next_at = ? WHERE run_id = ? AND attempts = ?";
    return (await this.#writer.write(() => this.#db.run(sql, nextAt, runId, attempts))).changes > 0;
  }

  async settle(runId: string): Promise<void> {
    await this.#writer.write(() => this.#db.run("DELETE FROM api_callbacks WHERE run_id = ?", runId));
  }
}

function toCallback(row: SqlRow): RunCallback {
  return {
    runId: row["run_id"] as string,
    url: row["url"] as string,
    attempts: row["attempts"] as number,
    nextAt: row["next_at"] as number,
  };
}
