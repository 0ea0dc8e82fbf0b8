/**
 * The runs as one key sees them: its own, found, listed and made; those of others are unknown to it. The full key has
 * the same view with nothing left out.
 */
import type { RunKey, RunRow } from "@/core/contract.ts";
import { type Caller, ownedBy, sees } from "./callers.ts";
import type { LiveRun } from "./live_run.ts";
import type { JournalEvent } from "./run_journal.ts";
import type { Reservation, RunListQuery, Runs } from "./runs.ts";

export class OwnRuns {
  readonly #runs: Runs;
  readonly #caller: Caller;

  constructor(runs: Runs, caller: Caller) {
    this.#runs = runs;
    this.#caller = caller;
  }

  /** Of all keys. */
  get live(): number {
    return this.#runs.live;
  }

  newRow(id: string, sessionId: string, model: string): RunRow {
    return { ...this.#runs.newRow(id, sessionId, model), ...ownedBy(this.#caller) };
  }

  /** Digests are the caller's own already. */
  findByKey(digest: string): Reservation["earlier"] {
    return this.#runs.findByKey(digest);
  }

  reserve(row: RunRow, key: RunKey | null, callbackUrl: string | null): Promise<Reservation> {
    return this.#runs.reserve(row, key, callbackUrl);
  }

  abandon(id: string): Promise<void> {
    return this.#runs.abandon(id);
  }

  begin(setup: Parameters<Runs["begin"]>[0]): LiveRun {
    return this.#runs.begin(setup);
  }

  getLive(id: string): LiveRun | undefined {
    const run = this.#runs.getLive(id);
    return run && sees(this.#caller, run.keyId) ? run : undefined;
  }

  async view(id: string): Promise<Record<string, unknown> | null> {
    return this.getLive(id)?.view() ?? (await this.stored(id) ? await this.#runs.view(id) : null);
  }

  async stored(id: string): Promise<RunRow | null> {
    const row = await this.#runs.stored(id);
    return row && sees(this.#caller, row.keyId) ? row : null;
  }

  /** Of a run that was found before. */
  events(id: string, afterSeq: number): readonly JournalEvent[] {
    return this.#runs.events(id, afterSeq);
  }

  list(query: RunListQuery): Promise<Record<string, unknown>[]> {
    return this.#runs.list({ ...query, ...ownedBy(this.#caller) });
  }
}
