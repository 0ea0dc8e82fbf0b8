/**
 * Upkeep beside the hot path (core.md D.2): after enough writes the write-ahead log is folded back and the text
 * index is merged, a little later, in small steps, never waiting for a lock. Failing is harmless: it comes again.
 */
import type { Logger } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import type { Db } from "./db.ts";

const CHECKPOINT_EVERY = 50;
const MERGE_EVERY = 1_000;
/** Pages of the index that one merge may write. */
const MERGE_PAGES = 64;
const PAUSE_MS = 100;

export class Maintenance {
  readonly #db: Db;
  readonly #platform: Platform;
  readonly #log: Logger;
  readonly #isFolding: () => boolean;
  readonly #closing = new AbortController();
  #writes = 0;
  #planned = false;
  #mergeDue = false;

  /** While `isFolding` says so, somebody else folds the log back. */
  constructor(db: Db, deps: { platform: Platform; log: Logger; isFolding?: () => boolean }) {
    this.#db = db;
    this.#platform = deps.platform;
    this.#log = deps.log;
    this.#isFolding = deps.isFolding ?? (() => false);
  }

  noteWrite(): void {
    this.#writes++;
    if (this.#writes % MERGE_EVERY === 0) this.#mergeDue = true;
    if (this.#writes % CHECKPOINT_EVERY !== 0 || this.#planned) return;
    this.#planned = true;
    void this.#runSoon();
  }

  close(): void {
    this.#closing.abort();
  }

  async #runSoon(): Promise<void> {
    try {
      await this.#platform.clock.delay(PAUSE_MS, { signal: this.#closing.signal });
      if (!this.#isFolding()) this.#db.get("PRAGMA wal_checkpoint(PASSIVE)");
      if (this.#mergeDue) this.#merge();
    } catch (error) {
      if (!this.#closing.signal.aborted) {
        this.#log.debug(`Upkeep of the session database was put off: ${error}`);
      }
    } finally {
      this.#planned = false;
    }
  }

  #merge(): void {
    this.#mergeDue = false;
    for (const table of ["messages_fts", "messages_fts_trigram"]) {
      this.#db.run(`INSERT INTO ${table}(${table}, rank) VALUES ('merge', ${MERGE_PAGES})`);
    }
  }
}
