/**
 * The one way to write: jobs run as transactions in the order in which they were handed in. Without contention a
 * job is done before `write` returns; while another program holds the lock, jobs wait in line and the event loop
 * stays free (core.md D.2, FC-24). A job that waits longer than its budget fails with `store_locked`.
 *
 * Where many sessions write at once, the jobs of one turn of the event loop are committed together, since a commit
 * costs several times the work it keeps. No promise is settled before its job is kept.
 */
import { clearImmediate, setImmediate } from "node:timers";
import { HermesError, type Logger } from "@/core/contract.ts";
import { inOneGo, type Steps } from "@/lib/slices.ts";
import type { Platform } from "@/platform/mod.ts";
import type { Db } from "./db.ts";
import { isLocked, LOCKED_CLASS, toStoreError } from "./errors.ts";
import { LongWrite } from "./long_write.ts";

export const WRITE_BUDGET_MS = 20_000;
export const TRANSCRIPT_BUDGET_MS = 60_000;
export const STAMP_BUDGET_MS = 500;

const RETRY_MIN_MS = 20;
const RETRY_SPREAD_MS = 130;
/** Jobs that follow each other faster than this are committed together. */
const TOGETHER_MS = 2;
/** From here on the log says that saving is delayed. */
const SLOW_MS = 2_000;

interface Job {
  run(): unknown;
  /** Of a write in steps: begins it, when the transaction has begun. */
  start?(): void;
  readonly since: number;
  readonly budgetMs: number;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** Jobs that are done and not yet committed. */
interface Group {
  readonly jobs: { readonly job: Job; readonly value: unknown }[];
  readonly timer: ReturnType<typeof setImmediate>;
}

export class Writer {
  readonly #db: Db;
  readonly #platform: Platform;
  readonly #log: Logger;
  readonly #longestWaitMs: number;
  /** Called after each finished write, never inside one. */
  readonly #onWrite: () => void;
  /** Called after each write in steps with the number of its rows, those of the text index among them. */
  readonly #onLongWrite: (rows: number) => void;
  /** Waiting for a lock, oldest first; the head stays here until it is settled. */
  readonly #jobs: Job[] = [];
  readonly #closing = new AbortController();
  #toldSlow = false;
  #isRetrying = false;
  #group: Group | null = null;
  /** The others wait for its end. */
  #long: { finish(): void } | null = null;
  /** `#long` where it changes what others read; `ended` never rejects. */
  #rewrite: { finish(): void; readonly ended: Promise<void> } | null = null;
  /** When the last job was done. */
  #lastAt = -Infinity;

  constructor(
    db: Db,
    deps: {
      platform: Platform;
      log: Logger;
      onWrite: () => void;
      onLongWrite?: (rows: number) => void;
      longestWaitMs?: number;
    },
  ) {
    this.#db = db;
    this.#longestWaitMs = deps.longestWaitMs ?? Infinity;
    this.#platform = deps.platform;
    this.#log = deps.log;
    this.#onWrite = deps.onWrite;
    this.#onLongWrite = deps.onLongWrite ?? (() => {});
  }

  /** `run` may be called again after a lock; it must change nothing but the database. */
  write<T>(run: () => T, budgetMs = WRITE_BUDGET_MS): Promise<T> {
    if (this.#closing.signal.aborted) return Promise.reject(closedError());
    const since = this.#platform.clock.monotonic();
    const isBurst = this.#group !== null || since - this.#lastAt < TOGETHER_MS;
    this.#lastAt = since;
    const isFree = this.#jobs.length === 0 && this.#long === null;
    if (isFree && !isBurst) {
      try {
        const value = this.#db.transaction(run);
        this.#onWrite();
        return Promise.resolve(value);
      } catch (error) {
        if (!isLocked(error)) return Promise.reject(toStoreError(error));
      }
    }
    return new Promise<T>((resolve, reject) => {
      const budget = Math.min(budgetMs, this.#longestWaitMs);
      const job = { run, since, budgetMs: budget, resolve: resolve as (value: unknown) => void, reject };
      if (!isFree || !isBurst || !this.#join(job)) this.#wait([job]);
    });
  }

  /** As `write`, and the thread is free between the steps. */
  writeInSteps<T>(steps: () => Steps<T>, budgetMs?: number): Promise<T> {
    return this.#inSteps(steps, false, budgetMs);
  }

  /**
   * As `writeInSteps`, of rows that others read: one connection sees what it has not committed, so who reads meanwhile
   * calls `finishRewrite` first, or waits while there is a `rewriting`.
   */
  rewriteInSteps<T>(steps: () => Steps<T>, budgetMs?: number): Promise<T> {
    return this.#inSteps(steps, true, budgetMs);
  }

  /** Does what is left of a rewrite at once. */
  finishRewrite(): void {
    this.#rewrite?.finish();
  }

  /** Resolves when the rewrite that runs has ended, one way or the other; `null` when there is none. */
  get rewriting(): Promise<void> | null {
    return this.#rewrite?.ended ?? null;
  }

  async #inSteps<T>(
    steps: () => Steps<T>,
    isRewrite: boolean,
    budgetMs = WRITE_BUDGET_MS,
  ): Promise<T> {
    if (this.#closing.signal.aborted) throw closedError();
    this.#commit();
    const isFree = this.#jobs.length === 0 && this.#long === null;
    if (isFree && this.#begin()) return await this.#runLong(steps(), isRewrite);
    return await new Promise<T>((resolve, reject) =>
      this.#wait([{
        run: () => inOneGo(steps()),
        start: () => void this.#runLong(steps(), isRewrite).then(resolve, reject),
        since: this.#platform.clock.monotonic(),
        budgetMs: Math.min(budgetMs, this.#longestWaitMs),
        resolve: resolve as (value: unknown) => void,
        reject,
      }])
    );
  }

  async #runLong<T>(steps: Steps<T>, isRewrite: boolean): Promise<T> {
    const before = this.#db.changes();
    const long = new LongWrite(this.#db, steps);
    this.#long = long;
    const ended = long.run().then(() => this.#afterLong(this.#db.isOpen ? this.#db.changes() - before : 0));
    if (isRewrite && !long.hasEnded) this.#rewrite = { finish: () => long.finish(), ended };
    return await long.result;
  }

  /** False when somebody has the lock. */
  #begin(): boolean {
    try {
      this.#db.run("BEGIN IMMEDIATE");
      return true;
    } catch (error) {
      if (isLocked(error)) return false;
      throw toStoreError(error);
    }
  }

  #afterLong(rows: number): void {
    this.#rewrite = null;
    if (this.#closing.signal.aborted) return; // `close` has seen to the others
    this.#long = null;
    this.#onLongWrite(rows);
    this.#onWrite();
    this.#settleAll();
    void this.#retry();
  }

  #wait(jobs: readonly Job[]): void {
    if (jobs.length === 0) return;
    this.#jobs.push(...jobs);
    void this.#retry();
  }

  /** Does the job now, to be kept with the others of this turn of the event loop; false when somebody has the lock. */
  #join(job: Job): boolean {
    try {
      if (this.#group === null) {
        this.#db.run("BEGIN IMMEDIATE");
        this.#group = { jobs: [], timer: setImmediate(() => this.#commit()) };
      }
      this.#group.jobs.push({ job, value: this.#db.within(job.run) });
      return true;
    } catch (error) {
      // What was done before it is kept before it waits or fails.
      this.#commit();
      if (isLocked(error)) return false;
      job.reject(toStoreError(error));
      return true;
    }
  }

  #commit(): void {
    const group = this.#group;
    if (group === null) return;
    this.#group = null;
    clearImmediate(group.timer);
    const jobs = group.jobs.map(({ job }) => job);
    // A full disk ends the whole transaction: the others are tried again, each by itself.
    if (!this.#db.isInTransaction) return this.#wait(jobs);
    try {
      this.#db.commit();
    } catch (error) {
      if (isLocked(error)) this.#wait(jobs);
      else for (const job of jobs) job.reject(toStoreError(error));
      return;
    }
    for (const { job, value } of group.jobs) {
      job.resolve(value);
      this.#onWrite();
    }
  }

  /** Tries what still waits once more, then fails it; nothing is written afterwards. */
  close(): void {
    this.#commit();
    this.#long?.finish();
    this.#closing.abort();
    let locked = false;
    for (const job of this.#jobs.splice(0)) {
      locked = locked || !this.#settle(job);
      if (locked) job.reject(lockedError(job));
    }
  }

  /** While jobs wait for somebody else's lock; those behind a long write of our own are seen to when it ends. */
  async #retry(): Promise<void> {
    if (this.#isRetrying) return;
    this.#isRetrying = true;
    while (this.#jobs.length > 0 && this.#long === null) {
      const pause = RETRY_MIN_MS + this.#platform.random() * RETRY_SPREAD_MS;
      try {
        await this.#platform.clock.delay(pause, { signal: this.#closing.signal });
      } catch {
        return; // closed: `close` has settled every job
      }
      this.#settleAll();
      this.#expire();
    }
    this.#isRetrying = false;
    if (this.#jobs.length === 0) this.#toldSlow = false;
  }

  /** Up to the first one that somebody else's lock holds up, or that takes long. */
  #settleAll(): void {
    while (this.#jobs.length > 0 && this.#long === null && this.#settle(this.#jobs[0]!)) this.#jobs.shift();
  }

  /** False when the lock is still held by somebody else. */
  #settle(job: Job): boolean {
    let value: unknown;
    try {
      if (job.start && !this.#closing.signal.aborted) {
        if (!this.#begin()) return false;
        job.start();
        return true;
      }
      value = this.#db.transaction(() => job.run());
    } catch (error) {
      if (isLocked(error)) return false;
      job.reject(toStoreError(error));
      return true;
    }
    job.resolve(value);
    this.#onWrite();
    return true;
  }

  #expire(): void {
    const now = this.#platform.clock.monotonic();
    for (let at = 0; at < this.#jobs.length;) {
      const job = this.#jobs[at]!;
      const waited = now - job.since;
      if (waited >= job.budgetMs) {
        this.#jobs.splice(at, 1);
        job.reject(lockedError(job));
        continue;
      }
      if (waited >= SLOW_MS && !this.#toldSlow) {
        this.#toldSlow = true;
        this.#log.warn("Saving is delayed: another program holds the lock of the session database");
      }
      at++;
    }
  }
}

function lockedError(job: Job): HermesError {
  const seconds = job.budgetMs / 1000;
  return new HermesError(
    "store_locked",
    `Cannot save: another program has locked the session database for more than ${seconds} s; end it and try again`,
    { class: LOCKED_CLASS, budgetMs: job.budgetMs },
  );
}

function closedError(): HermesError {
  return new HermesError("shutting_down", "Cannot save: the session database is closed");
}
