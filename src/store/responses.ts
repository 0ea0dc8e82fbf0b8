/**
 * Stored answers of `/v1/responses` (api-server.md B3): a fixed number, the least recently used go first, and with
 * an answer the conversation names that point at it. The order of use is a counter, so it has no ties.
 */
import {
  HermesError,
  type Logger,
  type Message,
  type ResponseRow,
  type ResponseStore,
} from "@/core/contract.ts";
import { type Db, type SqlRow, withoutNul } from "./db.ts";
import { toStoreError } from "./errors.ts";
import type { Writer } from "./writer.ts";

export class Responses implements ResponseStore {
  readonly #db: Db;
  readonly #writer: Writer;
  readonly #log: Logger;

  constructor(db: Db, writer: Writer, log: Logger) {
    this.#db = db;
    this.#writer = writer;
    this.#log = log;
  }

  async put(row: ResponseRow, limit: number): Promise<void> {
    const history = withoutNul(JSON.stringify(row.history));
    await this.#writer.write(() => {
      this.#db.run(
        `INSERT INTO api_responses
           (id, accessed, session_id, head_id, last_row_id, owner, status, instructions, response, history,
            key_id)
         VALUES (?, ${NEXT}, ?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (id) DO UPDATE SET accessed = ${NEXT}, session_id = excluded.session_id,
           head_id = excluded.head_id, last_row_id = excluded.last_row_id, owner = excluded.owner,
           status = excluded.status, instructions = excluded.instructions, response = excluded.response,
           history = excluded.history`,
        row.id,
        row.sessionId,
        row.headId,
        row.lastRowId,
        row.owner,
        row.status,
        row.instructions === null ? null : withoutNul(row.instructions),
        withoutNul(row.response),
        history,
        row.keyId ?? null,
      );
      if (row.conversation !== null) {
        this.#db.run(
          `INSERT INTO api_conversations (name, response_id) VALUES (?, ?)
           ON CONFLICT (name) DO UPDATE SET response_id = excluded.response_id`,
          withoutNul(row.conversation),
          row.id,
        );
      }
      this.#db.run(
        `DELETE FROM api_responses WHERE id IN
           (SELECT id FROM api_responses ORDER BY accessed DESC LIMIT -1 OFFSET ?)`,
        limit,
      );
    });
  }

  async get(id: string): Promise<ResponseRow | null> {
    const row = this.#read(() => this.#db.get("SELECT * FROM api_responses WHERE id = ?", id));
    if (row === undefined) return null;
    const found = toResponse(row);
    if (found === null) {
      this.#log.warn(`api: the stored response ${id} was damaged and has been dropped`);
      await this.delete(id);
      return null;
    }
    await this.#noteAccess(id);
    return found;
  }

  /** Not noted, it may be evicted too early; that is no reason to withhold it now. */
  async #noteAccess(id: string): Promise<void> {
    try {
      await this.#writer.write(() =>
        this.#db.run(`UPDATE api_responses SET accessed = ${NEXT} WHERE id = ?`, id)
      );
    } catch (error) {
      if (!(error instanceof HermesError)) throw error;
      this.#log.debug(`api: the access to response ${id} could not be noted: ${error.message}`);
    }
  }

  async delete(id: string): Promise<boolean> {
    const sql = "DELETE FROM api_responses WHERE id = ?";
    return (await this.#writer.write(() => this.#db.run(sql, id))).changes > 0;
  }

  findByConversation(name: string): string | null {
    const sql = "SELECT response_id FROM api_conversations WHERE name = ?";
    const row = this.#read(() => this.#db.get(sql, withoutNul(name)));
    return row === undefined ? null : row["response_id"] as string;
  }

  #read<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw toStoreError(error);
    }
  }
}

const NEXT = "(SELECT COALESCE(max(accessed), 0) + 1 FROM api_responses)";

/** `null` for what cannot be read. */
function toResponse(row: SqlRow): ResponseRow | null {
  try {
    const response: unknown = JSON.parse(row["response"] as string);
    const history: unknown = JSON.parse(row["history"] as string);
    if (typeof response !== "object" || response === null || !Array.isArray(history)) return null;
    return {
      id: row["id"] as string,
      conversation: null,
      sessionId: row["session_id"] as string,
      headId: row["head_id"] as string | null,
      lastRowId: row["last_row_id"] as number | null,
      owner: row["owner"] as string,
      status: row["status"] as string,
      response: row["response"] as string,
      history: history as Message[],
      instructions: row["instructions"] as string | null,
      ...(row["key_id"] === null ? {} : { keyId: row["key_id"] as string }),
    };
  } catch {
    return null;
  }
}
