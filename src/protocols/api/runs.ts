/**
 * All runs of this server, live and stored (api-server.md B4, A10): reserving, finding, listing, and settling those
 * whose server died. A run of another server that still lives on the same store is left alone.
 */
import type { Hermes } from "@/app/mod.ts";
import type { RunKey, RunRow, RunStore } from "@/core/contract.ts";
import { ApiError } from "./errors.ts";
import { headOf, LiveRun, type RunSetup } from "./live_run.ts";
import { RunClock } from "./run_clock.ts";
import { JOURNAL_LIMIT, type JournalEvent } from "./run_journal.ts";

export interface RunsOptions {
  readonly instance: string;
  /** Absent: the database alone. */
  readonly store?: () => RunStore;
  /** Told after a run's end was saved. */
  onEnded(status: string): void;
  readonly isAlive?: (pid: number) => boolean;
}

/** Seconds after its end. */
const KEEP_STATUS = 3600;
const KEEP_KEYED = 86_400;
const PRUNE_EVERY = 60;
const HEARTBEAT_MS = 20_000;
/** Seconds without a heartbeat after which a server counts as dead, whatever its process id says. */
const SILENT_AFTER = 90;
const RESTARTED = "The server was restarted before the run ended";

export interface RunListQuery {
  readonly limit: number;
  readonly status?: string;
  readonly sessionId?: string;
  readonly after?: string;
  /** Only those of this scoped key. */
  readonly keyId?: string;
}

export interface Reservation {
  /** The run that has the key already. */
  readonly earlier: { readonly run: RunRow; readonly fingerprint: string } | null;
}

export class Runs {
  readonly #hermes: Hermes;
  readonly #options: RunsOptions;
  readonly #live = new Map<string, LiveRun>();
  readonly #clock: RunClock;
  #heart: ReturnType<typeof setInterval> | undefined;
  #closing = false;
  #prunedAt = 0;

  constructor(hermes: Hermes, options: RunsOptions) {
    this.#hermes = hermes;
    this.#options = options;
    this.#clock = new RunClock(hermes.platform.clock, HEARTBEAT_MS / 1000, KEEP_KEYED);
  }

  /** Runs that have not ended. */
  get live(): number {
    return this.#live.size;
  }

  /** A row for a run of this server. */
  newRow(id: string, sessionId: string, model: string): RunRow {
    const now = this.#now();
    return {
      id,
      sessionId,
      status: "queued",
      terminal: false,
      createdAt: now,
      updatedAt: now,
      owner: this.#options.instance,
      pid: this.#hermes.platform.pid,
      detail: JSON.stringify({ model, last_event: null }),
    };
  }

  findByKey(digest: string): Reservation["earlier"] {
    return this.#store().findByKey(digest);
  }

  async reserve(row: RunRow, key: RunKey | null, callbackUrl: string | null): Promise<Reservation> {
    await this.#prune();
    return { earlier: await this.#store().insert(row, key ?? undefined, callbackUrl ?? undefined) };
  }

  /** A reserved run that cannot begin. */
  async abandon(id: string): Promise<void> {
    await this.#store().remove(id);
  }

  /** From now on it is found as a live one, until its end is saved. */
  begin(setup: Omit<RunSetup, "store" | "log" | "now" | "journalLimit">): LiveRun {
    const run = new LiveRun({
      ...setup,
      journalLimit: this.#journalLimit(),
      store: () => this.#store(),
      log: this.#hermes.log,
      now: () => this.#now(),
    });
    this.#live.set(run.id, run);
    this.#heart ??= setInterval(() => this.#beat(), HEARTBEAT_MS);
    if (this.#closing) run.interrupt();
    void run.ended.then(() => {
      this.#forget(run.id);
      this.#options.onEnded(run.status);
    });
    return run;
  }

  getLive(id: string): LiveRun | undefined {
    return this.#live.get(id);
  }

  /** The public status; `null` when unknown or expired. */
  async view(id: string): Promise<Record<string, unknown> | null> {
    const live = this.#live.get(id);
    if (live) return live.view();
    const row = await this.stored(id);
    return row && viewOf(row);
  }

  /** The row as it is to be shown now: a run whose server died is settled first. */
  async stored(id: string): Promise<RunRow | null> {
    const row = this.#store().get(id);
    if (!row) return null;
    if (!row.terminal) return this.#isOrphan(row) ? await this.#settleOrphan(row) : row;
    const now = this.#clock.forKeeping();
    if (row.updatedAt >= now - KEEP_STATUS) return row;
    // Only one that was made under a key of its own is kept for longer.
    await this.#prune();
    return row.updatedAt >= now - KEEP_KEYED ? this.#store().get(id) : null;
  }

  /** Events of a run that is not live here. */
  events(id: string, afterSeq: number): readonly JournalEvent[] {
    return this.#store().events(id, afterSeq);
  }

  async list(query: RunListQuery): Promise<Record<string, unknown>[]> {
    // Status is looked for in the store, which learns of it a moment later.
    if (query.status !== undefined) await Promise.all([...this.#live.values()].map((run) => run.saved()));
    const rows = this.#store().list({ ...query, endedSince: this.#clock.forKeeping() - KEEP_STATUS });
    return rows.map((row) => this.#live.get(row.id)?.view() ?? viewOf(row));
  }

  /** Once, before the first request: what a dead server has left open is `interrupted` (A1 step 4). */
  async recover(): Promise<void> {
    try {
      for (const row of this.#store().unfinished()) if (this.#isOrphan(row)) await this.#settleOrphan(row);
      await this.#prune();
    } catch (error) {
      this.#hermes.log.warn(`api: runs of an earlier server could not be looked through: ${String(error)}`);
    }
  }

  /** The server goes away: what runs ends as `interrupted`. */
  interrupt(): void {
    this.#closing = true;
    for (const run of this.#live.values()) run.interrupt();
  }

  /** Resolves when the ends of all runs are saved. */
  async settled(): Promise<void> {
    await Promise.all([...this.#live.values()].map((run) => run.ended));
  }

  #forget(id: string): void {
    this.#live.delete(id);
    if (this.#live.size > 0) return;
    clearInterval(this.#heart);
    this.#heart = undefined;
  }

  #beat(): void {
    this.#store().touch(this.#options.instance, this.#now())
      .catch((error) => this.#hermes.log.debug(`api: no sign of life could be left: ${String(error)}`));
  }

  #isOrphan(row: RunRow): boolean {
    if (row.owner === this.#options.instance) return !this.#live.has(row.id);
    // The number of our own process was that of the other server before us.
    if (row.pid === this.#hermes.platform.pid || !this.#options.isAlive?.(row.pid)) return true;
    return this.#isSilent(row.id);
  }

  #isSilent(id: string): boolean {
    const heard = this.#store().heardOf(id) ?? 0;
    return Math.abs(this.#now() - heard) > SILENT_AFTER && !this.#clock.isNew();
  }

  async #settleOrphan(row: RunRow): Promise<RunRow> {
    const store = this.#store();
    const updatedAt = this.#now();
    const event = "run.interrupted";
    const { approval: _, approvals: __, clarify: ___, ...detail } = readDetail(row);
    const ended: RunRow = {
      ...row,
      status: "interrupted",
      terminal: true,
      updatedAt,
      detail: JSON.stringify({ ...detail, last_event: event, error: RESTARTED }),
    };
    const dataOf = (seq: number) =>
      JSON.stringify({ event, run_id: row.id, timestamp: updatedAt, error: RESTARTED, seq });
    // Other readers and servers find it at the same time; the end is one's and counted once.
    if (!await store.settle(ended, dataOf, this.#journalLimit())) return store.get(row.id) ?? ended;
    this.#options.onEnded(ended.status);
    return ended;
  }

  async #prune(): Promise<void> {
    const now = this.#clock.forKeeping();
    if (Math.abs(now - this.#prunedAt) < PRUNE_EVERY) return;
    this.#prunedAt = now;
    await this.#store().prune(now - KEEP_STATUS, now - KEEP_KEYED);
  }

  #journalLimit(): number {
    return this.#hermes.settings().gateway.api_server.run_journal_events ?? JOURNAL_LIMIT;
  }

  #store(): RunStore {
    return this.#options.store?.() ?? this.#hermes.store().runs;
  }

  #now(): number {
    return this.#clock.now();
  }
}

export function runNotFound(id: string): ApiError {
  return new ApiError(404, "run_not_found", `Run not found: ${id.slice(0, 100)}`);
}

/** The public status of a stored run. */
export function viewOf(row: RunRow): Record<string, unknown> {
  return { ...headOf(row), ...readDetail(row) };
}

function readDetail(row: RunRow): Record<string, unknown> {
  try {
    return JSON.parse(row.detail) as Record<string, unknown>;
  } catch {
    return {}; // a damaged detail must not hide the status
  }
}
