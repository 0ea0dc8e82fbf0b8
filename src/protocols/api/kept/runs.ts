/**
 * Runs on disk, or in memory while the disk fails (api-server.md A1 step 3, B4). A run is in one place: one that the
 * disk has lost on its way goes on in memory with the events that could be read. A key that cannot be looked up is not
 * used, since its run may have been made already.
 */
import type { RunEventRow, RunKey, RunQuery, RunRow, RunStore, Store } from "@/core/contract.ts";
import { type Fallback, isDiskFailure } from "./fallback.ts";

type Reserved = Awaited<ReturnType<RunStore["insert"]>>;

/** More runs than an hour has. */
const ALL = 100_000;

export class KeptRuns implements RunStore {
  readonly #fallback: Fallback;
  /** Addresses of runs that have not ended, for those that have to move. */
  readonly #callbacks = new Map<string, string>();

  constructor(fallback: Fallback) {
    this.#fallback = fallback;
  }

  async insert(run: RunRow, key?: RunKey, callbackUrl?: string): Promise<Reserved> {
    const known = key && this.#fallback.memory?.runs.findByKey(key.digest);
    if (known) return known;
    const earlier = await this.#fallback.write(
      "runs",
      (disk) => disk.runs.insert(run, key, callbackUrl),
      async (memory) =>
        key && this.#fallback.disk.runs.findByKey(key.digest) ||
        await memory.runs.insert(run, key, callbackUrl),
    );
    if (!earlier && callbackUrl !== undefined) this.#callbacks.set(run.id, callbackUrl);
    return earlier;
  }

  async save(run: RunRow, events: readonly RunEventRow[], keep: number): Promise<void> {
    const inMemory = async (memory: Store) => {
      await this.#move(memory, run, keep);
      await memory.runs.save(run, events, keep);
    };
    const here = this.#holderOf(run.id);
    if (here) await here.runs.save(run, events, keep);
    else await this.#fallback.write("runs", (disk) => disk.runs.save(run, events, keep), inMemory);
    if (run.terminal) this.#callbacks.delete(run.id);
  }

  async settle(run: RunRow, event: (seq: number) => string, keep: number): Promise<boolean> {
    const here = this.#holderOf(run.id);
    if (here) return await here.runs.settle(run, event, keep);
    return await this.#fallback.write(
      "runs",
      (disk) => disk.runs.settle(run, event, keep),
      async (memory) => {
        await this.#move(memory, { ...run, terminal: false }, keep);
        return await memory.runs.settle(run, event, keep);
      },
    );
  }

  async remove(id: string): Promise<void> {
    this.#callbacks.delete(id);
    await (this.#holderOf(id) ?? this.#fallback.disk).runs.remove(id);
  }

  get(id: string): RunRow | null {
    const { memory, disk } = this.#fallback;
    return memory?.runs.get(id) ?? disk.runs.get(id);
  }

  findByKey(digest: string): Reserved {
    const { memory, disk } = this.#fallback;
    return memory?.runs.findByKey(digest) ?? disk.runs.findByKey(digest);
  }

  list(query: RunQuery): RunRow[] {
    const { memory, disk } = this.#fallback;
    if (!memory) return disk.runs.list(query);
    const { after, ...wanted } = query;
    const last = after === undefined ? null : this.get(after);
    if (after !== undefined && !last) return [];
    const everything = { ...wanted, limit: ALL };
    const rows = [
      ...memory.runs.list(everything),
      ...disk.runs.list(everything).filter((row) => memory.runs.get(row.id) === null),
    ].sort(newestFirst);
    return rows.filter((row) => !last || newestFirst(last, row) < 0).slice(0, query.limit);
  }

  /** In memory is nothing that an earlier server has left. */
  unfinished(): RunRow[] {
    return this.#fallback.disk.runs.unfinished();
  }

  events(id: string, afterSeq: number): RunEventRow[] {
    return (this.#holderOf(id) ?? this.#fallback.disk).runs.events(id, afterSeq);
  }

  async touch(owner: string, now: number): Promise<void> {
    await this.#fallback.disk.runs.touch(owner, now);
  }

  heardOf(id: string): number | null {
    return (this.#holderOf(id) ?? this.#fallback.disk).runs.heardOf(id);
  }

  async prune(before: number, keyedBefore: number): Promise<void> {
    await this.#fallback.memory?.runs.prune(before, keyedBefore);
    await this.#fallback.write(
      "runs",
      (disk) => disk.runs.prune(before, keyedBefore),
      () => Promise.resolve(),
    );
  }

  #holderOf(id: string): Store | null {
    const { memory } = this.#fallback;
    return memory?.runs.get(id) ? memory : null;
  }

  async #move(memory: Store, run: RunRow, keep: number): Promise<void> {
    await memory.runs.insert(run, undefined, this.#callbacks.get(run.id));
    const events = this.#readable(run.id);
    if (events.length > 0) await memory.runs.save(run, events, keep);
  }

  #readable(id: string): RunEventRow[] {
    try {
      return this.#fallback.disk.runs.events(id, -1);
    } catch (error) {
      if (isDiskFailure(error)) return [];
      throw error;
    }
  }
}

function newestFirst(a: RunRow, b: RunRow): number {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : a.id > b.id ? -1 : 0);
}
