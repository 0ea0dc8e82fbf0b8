/**
 * `SessionStore` on SQLite (core.md D): reads are plain calls, writes go through one queue as transactions. Which
 * rows a call touches is written in the files beside this one; here stand only order, budgets and the clock.
 */
import type {
  Content,
  CountedCall,
  CountedModel,
  ImportedSession,
  Logger,
  Message,
  NewSessionRow,
  SearchHit,
  SessionPatch,
  SessionPruning,
  SessionQuery,
  SessionRow,
  SessionSummary,
  Store,
  TurnStep,
  Usage,
  UsageCost,
  UsageTotals,
} from "@/core/contract.ts";
import { inOneGo, type Steps } from "@/lib/slices.ts";
import type { Platform } from "@/platform/mod.ts";
import { ApiCallbacks } from "./api_callbacks.ts";
import { ApiOwners } from "./api_owners.ts";
import { compactRows, dropLock, takeLock } from "./compaction.ts";
import { Audit } from "./audit.ts";
import { type Db, withoutNul } from "./db.ts";
import { DelegationRows } from "./delegations.ts";
import { toStoreError } from "./errors.ts";
import { branchRow, createRow, giveTitle, rotateRow } from "./fork.ts";
import {
  type Ancestors,
  markEnded,
  markPinned,
  markReopened,
  readAncestors,
  readLineage,
  readResumed,
  readTip,
  removeConversation,
} from "./lineage.ts";
import { readList } from "./listing.ts";
import { readLineageSlowly, readMessagesSlowly } from "./slow_reads.ts";
import { FoldBack, type FoldBackElsewhere } from "./fold_back.ts";
import { Maintenance } from "./maintenance.ts";
import {
  countCalls,
  countMessages,
  insertMessages,
  previewOf,
  readMessages,
  replaceContent,
} from "./message_rows.ts";
import { openDb } from "./open.ts";
import { Responses } from "./responses.ts";
import { hideAll, hideFrom, keepBefore } from "./rewrite.ts";
import { Runs } from "./runs.ts";
import { Snapshots } from "./snapshots.ts";
import { searchMessages, type SearchOptions } from "./search.ts";
import {
  countUsage,
  patchSession,
  readByPrefix,
  readSession,
  requireSession,
  sessionNotFound,
} from "./session_rows.ts";
import { cleanTitle, nextTitle, titleOwner } from "./titles.ts";
import { requireCurrent, TurnLeases } from "./turn_leases.ts";
import { countTotals, readTotals } from "./usage_totals.ts";
import { STAMP_BUDGET_MS, TRANSCRIPT_BUDGET_MS, Writer } from "./writer.ts";

/** Messages up to which the thread is not held up for long. */
const AT_ONCE = 64;

export interface StoreDeps {
  readonly platform: Platform;
  readonly log: Logger;
  /** Milliseconds that a write may wait for another program at most, whatever it is; absent: core.md D.2. */
  readonly longestWaitMs?: number;
  /** Folds the log back after writes of many rows; absent: SQLite does it in a later commit. */
  readonly foldBack?: FoldBackElsewhere;
}

/**
 * Opens or creates the database at `path` (`:memory:` for tests). An empty or broken file is moved aside and
 * replaced. Throws `store_newer` for a file of a newer program, `store_failed` when it cannot be used at all.
 */
export function openStore(path: string, deps: StoreDeps): Store {
  return new SqliteStore(openDb(path, deps), path, deps);
}

class SqliteStore implements Store {
  readonly runs: Runs;
  readonly responses: Responses;
  readonly callbacks: ApiCallbacks;
  readonly owners: ApiOwners;
  readonly audit: Audit;
  readonly snapshots: Snapshots;
  readonly delegations: DelegationRows;
  readonly #db: Db;
  readonly #platform: Platform;
  readonly #log: Logger;
  readonly #writer: Writer;
  readonly #foldBack: FoldBack;
  readonly #maintenance: Maintenance;
  readonly #leases: TurnLeases;

  constructor(db: Db, path: string, deps: StoreDeps) {
    this.#db = db;
    this.#platform = deps.platform;
    this.#log = deps.log;
    this.#foldBack = new FoldBack(db, path, deps);
    this.#maintenance = new Maintenance(db, { ...deps, isFolding: () => this.#foldBack.isRunning });
    this.#writer = new Writer(db, {
      ...deps,
      onWrite: () => this.#maintenance.noteWrite(),
      onLongWrite: (rows) => this.#foldBack.afterLongWrite(rows),
    });
    this.#leases = new TurnLeases(db, this.#writer, deps);
    this.runs = new Runs(db, this.#writer);
    this.responses = new Responses(db, this.#writer, deps.log);
    this.callbacks = new ApiCallbacks(db, this.#writer);
    this.owners = new ApiOwners(db, this.#writer);
    this.audit = new Audit(db, this.#writer);
    this.snapshots = new Snapshots(db, this.#writer);
    this.delegations = new DelegationRows(db, this.#writer);
  }

  // ── Sessions ──────────────────────────────────────────────────────────────────────────────────────────────

  createSession(row: NewSessionRow, isUrgent = false): Promise<string | null> {
    const budgetMs = isUrgent ? STAMP_BUDGET_MS : undefined;
    return this.#writer.write(() => createRow(this.#db, row, this.#now()), budgetMs);
  }

  getSession(id: string): SessionRow | null {
    return this.#read(() => readSession(this.#db, id));
  }

  /** A patch of nothing but the activity stamp is given up after half a second of lock: it is not worth an error. */
  async updateSession(id: string, patch: SessionPatch): Promise<void> {
    const keys = Object.keys(patch);
    const stamp = keys.length === 1 && keys[0] === "lastActivityAt";
    const written = this.#writer.write(
      () => patchSession(this.#db, id, patch),
      stamp ? STAMP_BUDGET_MS : undefined,
    );
    try {
      await written;
    } catch (error) {
      if (!stamp || (error as { code?: unknown }).code !== "store_locked") throw error;
      this.#log.debug(`The activity stamp of session ${id} was not saved: the database is locked`);
    }
  }

  endSession(id: string, reason: string): Promise<void> {
    return this.#writer.write(() => markEnded(this.#db, id, reason, this.#now()));
  }

  reopenSession(id: string): Promise<void> {
    return this.#writer.write(() => markReopened(this.#db, id));
  }

  deleteSession(id: string): Promise<boolean> {
    return this.#writer.write(() => removeConversation(this.#db, id));
  }

  listSessions(query: SessionQuery): SessionSummary[] {
    return this.#read(() => readList(this.#db, query));
  }

  // ── Messages ──────────────────────────────────────────────────────────────────────────────────────────────

  appendMessages(
    sessionId: string,
    messages: readonly Message[],
    calls?: readonly CountedCall[],
    step?: TurnStep,
    after?: number,
  ): Promise<number[]> {
    let noted: ReturnType<TurnLeases["step"]> = {};
    const lease = () => {
      if (step !== undefined) noted = this.#leases.step(sessionId, step);
    };
    const steps = () => this.#append(sessionId, messages, lease, calls ?? [], after);
    const written = messages.length > AT_ONCE
      ? this.#writer.rewriteInSteps(steps, TRANSCRIPT_BUDGET_MS)
      : this.#writer.write(() => inOneGo(steps()), TRANSCRIPT_BUDGET_MS);
    if (step === undefined) return written;
    return written.then((ids) => {
      this.#leases.note(step, noted);
      return ids;
    });
  }

  requireFree(sessionId: string): void {
    this.#read(() => this.#leases.require(sessionId));
  }

  *#append(
    sessionId: string,
    messages: readonly Message[],
    lease: () => void,
    calls: readonly CountedCall[],
    after: number | undefined,
  ): Steps<number[]> {
    lease();
    if (after !== undefined) requireCurrent(this.#db, sessionId, after);
    if (this.#db.get("SELECT 1 FROM sessions WHERE id = ?", sessionId) === undefined) {
      throw sessionNotFound(sessionId);
    }
    const now = this.#now();
    const ids = yield* insertMessages(this.#db, sessionId, messages, now);
    // The last step of many, with what others read without waiting: it may yet fail.
    this.#db.run(
      `UPDATE sessions SET last_activity_at = max(last_activity_at, ?), message_count = message_count + ?,
         tool_call_count = tool_call_count + ?, preview = CASE preview WHEN '' THEN ? ELSE preview END
       WHERE id = ?`,
      now,
      countMessages(messages),
      countCalls(messages),
      previewOf(messages),
      sessionId,
    );
    for (const call of calls) this.#count(sessionId, call);
    return ids;
  }

  #count(sessionId: string, call: CountedCall): void {
    countUsage(this.#db, sessionId, call, this.#now());
    if (call.cost) countTotals(this.#db, sessionId, call.usage, call.cost);
  }

  updateContent(rowId: number, content: Content): Promise<void> {
    return this.#writer.write(() => replaceContent(this.#db, rowId, content), TRANSCRIPT_BUDGET_MS);
  }

  loadMessages(sessionId: string): Message[] {
    return this.#readMessages(() => readMessages(this.#db, sessionId).map((entry) => entry.message));
  }

  loadLineage(sessionId: string): Message[] {
    return this.#readMessages(() => readLineage(this.#db, sessionId));
  }

  fetchMessages(sessionId: string): Promise<Message[]> {
    return this.#readSlowly(readMessagesSlowly(this.#db, sessionId, this.#writer));
  }

  fetchLineage(sessionId: string): Promise<Message[]> {
    return this.#readSlowly(readLineageSlowly(this.#db, sessionId, this.#writer));
  }

  addUsage(
    sessionId: string | null,
    usage: Usage,
    model: CountedModel,
    cost?: UsageCost,
  ): Promise<void> {
    if (sessionId === null) {
      return this.#writer.write(() => cost && countTotals(this.#db, "", usage, cost));
    }
    return this.#writer.write(() => this.#count(sessionId, { usage, model, ...(cost ? { cost } : {}) }));
  }

  usageTotals(sessionId: string, day: string): { session: UsageTotals; day: UsageTotals } {
    return this.#read(() => readTotals(this.#db, sessionId, day));
  }

  setPinned(id: string, pinned: boolean): Promise<boolean> {
    return this.#writer.write(() => markPinned(this.#db, id, pinned));
  }

  deactivateFrom(sessionId: string, rowId: number): Promise<number> {
    return this.#writer.rewriteInSteps(() => hideFrom(this.#db, sessionId, rowId));
  }

  truncateBefore(sessionId: string, rowId: number): Promise<Map<number, number>> {
    return this.#writer.rewriteInSteps(() => keepBefore(this.#db, sessionId, rowId));
  }

  clearMessages(sessionId: string): Promise<void> {
    return this.#writer.rewriteInSteps(() => hideAll(this.#db, sessionId));
  }

  branch(sourceId: string, row: NewSessionRow, options: { count?: number } = {}): Promise<SessionRow> {
    return this.#writer.writeInSteps(() => this.#branch(sourceId, row, options.count), TRANSCRIPT_BUDGET_MS);
  }

  rotate(id: string, child: NewSessionRow, messages: readonly Message[]): Promise<SessionRow> {
    return this.#writer.rewriteInSteps(() => this.#rotate(id, child, messages), TRANSCRIPT_BUDGET_MS);
  }

  compactInPlace(id: string, messages: readonly Message[]): Promise<void> {
    return this.#writer.rewriteInSteps(
      () => compactRows(this.#db, id, messages, this.#now()),
      TRANSCRIPT_BUDGET_MS,
    );
  }

  lockCompression(id: string, holder: string, seconds: number): Promise<boolean> {
    return this.#writer.write(() => {
      const now = this.#now();
      return takeLock(this.#db, id, holder, now, now + seconds);
    });
  }

  unlockCompression(id: string, holder: string): Promise<void> {
    return this.#writer.write(() => dropLock(this.#db, id, holder));
  }

  // ── Names and lineage ─────────────────────────────────────────────────────────────────────────────────────

  setTitle(id: string, title: string | null, by: "user" | "llm" = "user"): Promise<string | null> {
    return this.#writer.write(() => {
      requireSession(this.#db, id);
      const clean = cleanTitle(title);
      if (clean === null) {
        this.#db.run("UPDATE sessions SET title = NULL, title_source = NULL WHERE id = ?", id);
      } else giveTitle(this.#db, id, clean, by);
      return clean;
    });
  }

  nextTitle(base: string): string {
    return this.#read(() => nextTitle(this.#db, base));
  }

  findByTitle(title: string): SessionRow | null {
    return this.#read(() => {
      const owner = titleOwner(this.#db, title.trim());
      return owner === null ? null : readTip(this.#db, owner);
    });
  }

  findByPrefix(prefix: string): SessionRow[] {
    return this.#read(() => readByPrefix(this.#db, prefix));
  }

  tipOf(id: string): SessionRow | null {
    return this.#read(() => readTip(this.#db, id));
  }

  resumedFrom(id: string): SessionRow | null {
    return this.#read(() => readResumed(this.#db, id));
  }

  ancestors(id: string): Ancestors {
    return this.#read(() => readAncestors(this.#db, id));
  }

  search(query: string, options?: SearchOptions): SearchHit[] {
    return this.#readMessages(() => searchMessages(this.#db, query, options));
  }

  // ── The rest ──────────────────────────────────────────────────────────────────────────────────────────────

  getMeta(key: string): string | null {
    return this.#read(() => {
      const row = this.#db.get("SELECT value FROM state_meta WHERE key = ?", key);
      return (row?.["value"] ?? null) as string | null;
    });
  }

  async setMeta(key: string, value: string): Promise<void> {
    const sql = `INSERT INTO state_meta (key, value) VALUES (?, ?)
      ON CONFLICT (key) DO UPDATE SET value = excluded.value`;
    await this.#writer.write(() => this.#db.run(sql, key, withoutNul(value)));
  }

  /** Its code is loaded at first use. */
  async pruning(): Promise<SessionPruning> {
    const { Pruning } = await import("./pruning.ts");
    return new Pruning({
      db: this.#db,
      writer: this.#writer,
      leases: this.#leases,
      platform: this.#platform,
      log: this.#log,
    });
  }

  async importSession(session: ImportedSession): Promise<boolean> {
    const { importRow } = await import("./imports.ts");
    return await this.#writer.write(() => importRow(this.#db, session, this.#now()), TRANSCRIPT_BUDGET_MS);
  }

  check(): string {
    return this.#read(() => {
      const found = this.#db.all("PRAGMA integrity_check(10)").map((row) => String(row["integrity_check"]));
      const orphans = this.#db.all("PRAGMA foreign_key_check").length;
      if (orphans > 0) found.push(`${orphans} rows point at a session that is gone`);
      const wrong = found.filter((line) => line !== "ok");
      return wrong.length === 0 ? "ok" : wrong.join("; ");
    });
  }

  /** Resolves when no process of ours has the database open: what is closed then is folded back, and whole. */
  async settled(): Promise<void> {
    await this.#foldBack.stop();
  }

  close(): void {
    if (!this.#db.isOpen) return;
    this.#writer.close();
    this.#maintenance.close();
    this.#foldBack.close();
    this.#leases.close();
    this.#db.close();
  }

  *#branch(sourceId: string, row: NewSessionRow, count: number | undefined): Steps<SessionRow> {
    yield* branchRow(this.#db, sourceId, row, count, this.#now());
    return requireSession(this.#db, row.id);
  }

  *#rotate(id: string, child: NewSessionRow, messages: readonly Message[]): Steps<SessionRow> {
    yield* rotateRow(this.#db, id, child, messages, this.#now());
    return requireSession(this.#db, child.id);
  }

  /** Unix seconds. */
  #now(): number {
    return this.#platform.clock.now() / 1000;
  }

  /** Of the rows of messages: those that are rewritten in steps are seen whole. */
  #readMessages<T>(read: () => T): T {
    this.#writer.finishRewrite();
    return this.#read(read);
  }

  #read<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      throw toStoreError(error);
    }
  }

  async #readSlowly<T>(reading: Promise<T>): Promise<T> {
    try {
      return await reading;
    } catch (error) {
      throw toStoreError(error);
    }
  }
}
