/**
 * One run from acceptance to its end (api-server.md B4.2): state, public status, journal. It is saved in batches and
 * once more at its end, the status with the last event.
 *
 *   queued ─► running ◄─► waiting_for_… ─► completed | failed | cancelled | interrupted
 *      └─────────┴─────────────┴─► stopping ─► cancelled | failed
 */
import type { Ask, CoreEvent, Logger, RunRow, RunStore, TurnHandle, TurnResult } from "@/core/contract.ts";
import { approvalPayload } from "./render/approval.ts";
import { clarifyPayload } from "./render/clarify.ts";
import { type EventFields, runEnd, runEvents, type RunRenderOptions } from "./render/runs.ts";
import { RunJournal } from "./run_journal.ts";
import type { RunStatus } from "./run_status.ts";

export interface RunSetup extends RunRenderOptions {
  readonly row: RunRow;
  readonly model: string;
  /** Events that are kept of it. */
  readonly journalLimit: number;
  readonly store: () => RunStore;
  readonly log: Logger;
  /** Unix seconds. */
  now(): number;
  runtime(result: TurnResult): Record<string, unknown> | null;
}

const SAVE_AFTER_MS = 250;
const SAVE_AT = 100;

export class LiveRun {
  readonly id: string;
  readonly journal: RunJournal;
  /** Resolves when the end is saved. */
  readonly ended: Promise<void>;
  readonly #setup: RunSetup;
  readonly #asks = new Map<string, Ask>();
  readonly #settle: () => void;
  #status: RunStatus = "queued";
  #lastEvent: string | null = null;
  #updatedAt: number;
  #end: Readonly<Record<string, unknown>> = {};
  #handle: TurnHandle | null = null;
  #stopped = false;
  #closing = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saving: Promise<void> = Promise.resolve();

  constructor(setup: RunSetup) {
    this.id = setup.row.id;
    this.#setup = setup;
    this.journal = new RunJournal(setup.journalLimit);
    this.#updatedAt = setup.row.updatedAt;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#settle = resolve;
  }

  /** The scoped key that made it; `undefined` = the full key. */
  get keyId(): string | undefined {
    return this.#setup.row.keyId;
  }

  get status(): RunStatus {
    return this.#status;
  }

  /** Somebody asked for its end. */
  get isStopped(): boolean {
    return this.#stopped;
  }

  get isOver(): boolean {
    return isTerminal(this.#status);
  }

  attach(handle: TurnHandle): void {
    this.#handle = handle;
    if (this.#stopped || this.#closing) handle.cancel();
  }

  /** Every event of its turn. */
  take(event: CoreEvent): void {
    if (event.type === "turn.start" && this.#status === "queued") this.#enter("running");
    if (event.type === "ask.open") this.#open(event.ask);
    if (event.type === "ask.close") this.#close(event.ask);
    for (const fields of runEvents(event, this.#setup)) this.#publish(fields);
  }

  /** Asks for the end; the run stays `stopping` until its work really ends. */
  stop(): void {
    if (this.isOver) return;
    this.#stopped = true;
    this.#enter("stopping");
    this.#handle?.cancel();
  }

  /** The server goes away. */
  interrupt(): void {
    this.#closing = true;
    this.#handle?.cancel();
  }

  async finish(result: TurnResult): Promise<void> {
    const { redact, runtime } = this.#setup;
    const { status, fields } = runEnd(result, { stopped: this.#stopped, closing: this.#closing }, redact);
    this.#asks.clear();
    const ran = result.model === "" ? null : runtime(result);
    this.#end = { ...fields, ...(ran ? { runtime: ran } : {}) };
    this.#enter(status);
    this.#publish({ event: `run.${status}`, ...fields });
    this.journal.end();
    clearTimeout(this.#timer);
    await this.#save();
    // What could not be saved is still to be had here, as long as the server lives.
    if (this.journal.unsaved === 0) this.#settle();
  }

  /** Resolves when the store has the status that this run has now. */
  saved(): Promise<void> {
    return this.#timer === undefined ? this.#saving : this.#save();
  }

  /** The public status (B4.3). */
  view(): Record<string, unknown> {
    const { row } = this.#setup;
    return { ...headOf({ ...row, status: this.#status, updatedAt: this.#updatedAt }), ...this.#detail() };
  }

  #open(ask: Ask): void {
    this.#asks.set(ask.id, ask);
    this.#enterWaiting();
  }

  #close(ask: Ask): void {
    this.#asks.delete(ask.id);
    this.#enterWaiting();
  }

  /** Whatever waits, unless its end is on the way. */
  #enterWaiting(): void {
    if (this.#status === "queued" || this.#status === "stopping" || this.isOver) return;
    const kinds = [...this.#asks.values()].map((ask) => ask.payload.kind);
    const isApproval = kinds.some((kind) => kind !== "clarify");
    const status = isApproval ? "waiting_for_approval" : kinds.length > 0 ? "waiting_for_clarify" : "running";
    if (status !== this.#status) this.#enter(status);
  }

  #enter(status: RunStatus): void {
    this.#status = status;
    this.#touch();
  }

  #publish(fields: EventFields): void {
    const { event, ...rest } = fields;
    this.#lastEvent = event;
    this.#touch();
    this.journal.append({ event, run_id: this.id, timestamp: this.#updatedAt, ...rest });
    if (this.journal.unsaved >= SAVE_AT) void this.#save();
  }

  #touch(): void {
    this.#updatedAt = this.#setup.now();
    this.#timer ??= setTimeout(() => void this.#save(), SAVE_AFTER_MS);
  }

  #detail(): Record<string, unknown> {
    const { redact } = this.#setup;
    const asks = [...this.#asks.values()];
    const waiting = asks.flatMap((ask) => approvalPayload(ask, this.id, redact) ?? []);
    const [question] = asks.flatMap((ask) => clarifyPayload(ask, this.id, redact) ?? []);
    return {
      model: this.#setup.model,
      last_event: this.#lastEvent,
      ...(waiting.length === 0 ? {} : { approval: waiting[0], approvals: waiting }),
      ...(question ? { clarify: question } : {}),
      ...this.#end,
    };
  }

  /** One save at a time, in order; what cannot be saved is tried again with the next one. */
  #save(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { row, store, log, journalLimit } = this.#setup;
    this.#saving = this.#saving.then(async () => {
      const events = this.journal.takeUnsaved();
      const saved: RunRow = {
        ...row,
        status: this.#status,
        terminal: this.isOver,
        updatedAt: this.#updatedAt,
        detail: JSON.stringify(this.#detail()),
      };
      try {
        await store().save(saved, events, journalLimit);
      } catch (error) {
        this.journal.returnUnsaved(events);
        log.warn(`api: run ${this.id} could not be saved: ${String(error)}`);
      }
    });
    return this.#saving;
  }
}

function isTerminal(status: string): boolean {
  return status === "completed" || status === "failed" || status === "cancelled" || status === "interrupted";
}

/** The part of a status that stands in columns. */
export function headOf(row: RunRow): Record<string, unknown> {
  return {
    object: "hermes.run",
    run_id: row.id,
    status: row.status,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    session_id: row.sessionId,
  };
}
