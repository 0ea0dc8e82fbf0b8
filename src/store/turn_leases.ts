/**
 * One running turn per conversation over all programs that share a database (core.md D.4 `session_turn_leases`). A
 * turn takes its conversation in the transaction that stores its first row and gives it back in the one that stores its
 * last: the first session of the compression chain, so that a turn that is compressed on its way keeps it, names who
 * has it. Who that is stands apart, once for all turns of a program, and is renewed while any of them runs; a program
 * that does not renew it has nothing any more, one that has died on this machine at once.
 *
 *   sessions.turn_holder ──► turn_holders (host, pid, expires_at)      session_turn_leases: both, to look at
 */
import { HermesError, type Logger, type TurnStep } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import type { Db, SqlRow, SqlValue } from "./db.ts";
import { hostIdentity, isProcessDead, processStart } from "./process_identity.ts";
import type { Writer } from "./writer.ts";

/** Seconds that a program is believed to run without being heard of. */
const LEASE_SECONDS = 60;
/** With less than this left it is said anew. */
const SPARE_SECONDS = 30;
const RENEW_MS = 15_000;
const RENEW_BUDGET_MS = 10_000;
/** Nobody asks for more than this beyond `LEASE_SECONDS`: the clock has been put back since. */
const CLOCK_SLACK = 60;
/** Seconds after which nobody asks for a program that has ended. */
const FORGET_AFTER = 86_400;

const ROOT = "SELECT root_id FROM sessions WHERE id = ?1";

export function createTurnLeases(db: Db): void {
  db.exec(`
    ALTER TABLE sessions ADD COLUMN turn_holder TEXT;
    CREATE TABLE turn_holders (
      holder TEXT PRIMARY KEY NOT NULL,
      host TEXT NOT NULL,
      pid INTEGER NOT NULL,
      process_start TEXT NOT NULL,
      expires_at REAL NOT NULL
    ) WITHOUT ROWID;
    CREATE VIEW session_turn_leases AS SELECT s.id AS session_id, h.holder, h.host, h.pid, h.expires_at
      FROM sessions s JOIN turn_holders h ON h.holder = s.turn_holder;
  `);
}

interface Holder {
  readonly name: string;
  readonly host: string;
  readonly start: string;
}

/** What a step has changed. */
interface Noted {
  /** First id of the conversation that was taken or given back. */
  readonly root?: string | undefined;
  readonly knownUntil?: number;
}

export class TurnLeases {
  readonly #db: Db;
  readonly #platform: Platform;
  readonly #log: Logger;
  readonly #writer: Writer;
  /** First ids of the conversations whose turns run here. */
  readonly #held = new Set<string>();
  /** Unix seconds until which this program is known to run, and none of them can have been lost. */
  #knownUntil = 0;
  #renewing: AbortController | null = null;
  #me: Holder | null = null;

  constructor(db: Db, writer: Writer, deps: { platform: Platform; log: Logger }) {
    this.#db = db;
    this.#writer = writer;
    this.#platform = deps.platform;
    this.#log = deps.log;
  }

  /**
   * Inside the transaction of a turn's rows, before them; changes nothing but the database. What `note` is to be told.
   * Throws `session_busy` while another program has the conversation.
   */
  step(sessionId: string, step: TurnStep): Noted {
    if (step === "alone") {
      this.require(sessionId);
      return {};
    }
    if (step === "end") return { root: this.#giveBack(sessionId) };
    const now = this.#now();
    // A program that was stopped for long may have lost it, and takes it again if nobody has.
    if (step === "begin" || now >= this.#knownUntil) return this.#take(sessionId, now);
    return {};
  }

  /** After that transaction was kept. The timer of one turn serves those that follow it. */
  note(step: TurnStep, { root, knownUntil }: Noted): void {
    if (knownUntil !== undefined) this.#knownUntil = knownUntil;
    if (!root) return;
    if (step === "end") this.#held.delete(root);
    else {
      this.#held.add(root);
      if (this.#renewing === null) void this.#renewUntilEmpty();
    }
  }

  /** Throws `session_busy` while another program runs a turn in the conversation of this session. */
  require(sessionId: string): void {
    const row = this.#db.get(
      `SELECT s.turn_holder AS holder, h.host, h.pid, h.process_start, h.expires_at
       FROM sessions s JOIN turn_holders h ON h.holder = s.turn_holder WHERE s.id = (${ROOT})`,
      sessionId,
    );
    if (row !== undefined && this.#isOthers(row)) throw busy(sessionId, row, this.#self.host);
  }

  /** True while a turn of this program runs in the conversation of this session. */
  isHeld(sessionId: string): boolean {
    const root = this.#db.get(ROOT, sessionId)?.["root_id"];
    return typeof root === "string" && this.#held.has(root);
  }

  /** True while a turn runs in this program, or in another that is alive. */
  isAnyHeld(): boolean {
    if (this.#held.size > 0) return true;
    return this.#db.all(
      `SELECT h.holder, h.host, h.pid, h.process_start, h.expires_at FROM turn_holders h
       WHERE h.holder IN (SELECT turn_holder FROM sessions WHERE turn_holder IS NOT NULL)`,
    ).some((row) => this.#isOthers(row));
  }

  /** What still runs here ends with the program. */
  close(): void {
    this.#renewing?.abort();
    if (this.#me === null) return;
    try {
      this.#db.run("DELETE FROM turn_holders WHERE holder = ?", this.#me.name);
    } catch {
      // Locked: our process will be gone, which ends them as well.
    }
  }

  #take(sessionId: string, now: number): Noted {
    const { name } = this.#self;
    const taken = this.#db.get(
      `UPDATE sessions SET turn_holder = ?2 WHERE id = (${ROOT}) AND (turn_holder IS NULL OR turn_holder = ?2)
       RETURNING id`,
      sessionId,
      name,
    );
    const root = (taken?.["id"] ?? this.#takeOver(sessionId)) as string | undefined;
    const left = this.#knownUntil - now;
    // More than was ever asked for: the clock has been put back.
    if (left >= SPARE_SECONDS && left <= LEASE_SECONDS) return { root };
    return { root, knownUntil: this.#register(now) };
  }

  /** Somebody has it or had it, or there is no such session, which the rows that follow will say. */
  #takeOver(sessionId: string): SqlValue | undefined {
    this.require(sessionId);
    const sql = `UPDATE sessions SET turn_holder = ?2 WHERE id = (${ROOT}) RETURNING id`;
    return this.#db.get(sql, sessionId, this.#self.name)?.["id"];
  }

  #giveBack(sessionId: string): string | undefined {
    const row = this.#db.get(
      `UPDATE sessions SET turn_holder = NULL WHERE id = (${ROOT}) AND turn_holder = ?2 RETURNING id`,
      sessionId,
      this.#self.name,
    );
    return row?.["id"] as string | undefined;
  }

  /** Says that this program runs; until when. */
  #register(now: number): number {
    const { name, host, start } = this.#self;
    const until = now + LEASE_SECONDS;
    this.#db.run(
      "INSERT OR REPLACE INTO turn_holders (holder, host, pid, process_start, expires_at) VALUES (?, ?, ?, ?, ?)",
      name,
      host,
      this.#platform.pid,
      start,
      until,
    );
    this.#db.run("DELETE FROM turn_holders WHERE expires_at < ?", now - FORGET_AFTER);
    return until;
  }

  #isOthers(row: SqlRow): boolean {
    const { name, host } = this.#self;
    if (row["holder"] === name) return false;
    const now = this.#now();
    const until = row["expires_at"] as number;
    if (until <= now || until > now + LEASE_SECONDS + CLOCK_SLACK) return false;
    if (row["host"] !== host) return true;
    return !isProcessDead(row["pid"] as number, row["process_start"] as string, this.#platform);
  }

  async #renewUntilEmpty(): Promise<void> {
    const { signal } = this.#renewing = new AbortController();
    try {
      do {
        await this.#platform.clock.delay(RENEW_MS, { signal });
        if (this.#held.size > 0) await this.#renew();
      } while (this.#held.size > 0 && !signal.aborted);
      this.#renewing = null;
    } catch {
      // The store is closed.
    }
  }

  async #renew(): Promise<void> {
    const now = this.#now();
    // Silent for too long: what was lost meanwhile is found out with the next row of each turn.
    if (now >= this.#knownUntil) return;
    try {
      this.#forgetDeleted();
      if (this.#held.size === 0) return;
      this.#knownUntil = await this.#writer.write(() => this.#register(now), RENEW_BUDGET_MS);
    } catch (error) {
      this.#log.debug(`The right to running turns was not renewed: ${String(error)}`);
    }
  }

  /** What another program has deleted meanwhile is never given back. */
  #forgetDeleted(): void {
    for (const root of this.#held) {
      if (!this.#db.get("SELECT 1 FROM sessions WHERE id = ?", root)) this.#held.delete(root);
    }
  }

  get #self(): Holder {
    return this.#me ??= {
      name: this.#platform.ids.hex(16),
      host: hostIdentity(this.#platform),
      start: processStart(this.#platform.pid, this.#platform),
    };
  }

  /** Unix seconds. */
  #now(): number {
    return this.#platform.clock.now() / 1000;
  }
}

/** Throws `session_busy` with `data.moved` where `after` is not the newest row, or the session was compressed. */
export function requireCurrent(db: Db, sessionId: string, after: number): void {
  const row = db.get(
    `SELECT end_reason = 'compression' AND listed = 0 AS moved,
       (SELECT max(id) FROM messages WHERE session_id = ?1 AND active = 1) AS last
     FROM sessions WHERE id = ?1`,
    sessionId,
  );
  if (row === undefined || (row["moved"] !== 1 && (row["last"] ?? 0) === after)) return;
  throw new HermesError("session_busy", "session busy: another hermes has changed this session", {
    sessionId,
    moved: true,
  });
}

function busy(sessionId: string, row: SqlRow, here: string): HermesError {
  const pid = row["pid"] as number;
  const host = String(row["host"]);
  const where = host === here ? `process ${pid}` : `process ${pid} on ${host.split(" ")[0]}`;
  return new HermesError(
    "session_busy",
    `session busy: another hermes (${where}) is running a turn in this session; ` +
      "wait until it has ended or stop it there, then send this again",
    { sessionId, pid },
  );
}
