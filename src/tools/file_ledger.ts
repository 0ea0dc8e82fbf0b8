/**
 * What a session has seen of files: which content it knows (so newer text of the user is never overwritten, FC-17),
 * which reads and searches it repeats, and where its edits keep failing. Lives in the session's scope; all of it is
 * bounded. Knows hashes, never content.
 */
import type { SessionScope } from "@/core/contract.ts";

const MAX_FILES = 5_000;
const MAX_READS = 2_000;

/** Line numbers of a file that were shown, as a sorted list of closed ranges. */
type Ranges = [number, number][];

interface Seen {
  hash: string;
  /** `null` = the whole file (written by this session). */
  shown: Ranges | null;
  totalLines: number;
}

interface PastRead {
  hash: string;
  /** How often "unchanged" was answered in a row. */
  stubs: number;
}

export type SeenState = "current" | "partial" | "changed" | "never";

function addRange(ranges: Ranges, from: number, to: number): Ranges {
  const all = [...ranges, [from, to] as [number, number]].sort((a, b) => a[0] - b[0]);
  const merged: Ranges = [];
  for (const [start, end] of all) {
    const last = merged[merged.length - 1];
    if (last && start <= last[1] + 1) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

function remember<V>(map: Map<string, V>, key: string, value: V, max: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > max) map.delete(map.keys().next().value!);
}

export class FileLedger {
  readonly #seen = new Map<string, Seen>();
  readonly #reads = new Map<string, PastRead>();
  readonly #failures = new Map<string, number>();
  #lastKey = "";
  #repeats = 0;

  /** Lines `from`…`to` (from 1) of the content with this hash were shown. */
  noteShown(real: string, hash: string, lines: { from: number; to: number; total: number }): void {
    const old = this.#seen.get(real);
    if (old?.hash === hash && old.shown === null) return;
    const known = old?.hash === hash ? old.shown! : [];
    const shown = addRange(known, lines.from, lines.to);
    remember(this.#seen, real, { hash, shown, totalLines: lines.total }, MAX_FILES);
  }

  /** The session itself put this content there, or was shown all of it. */
  noteWhole(real: string, hash: string): void {
    remember(this.#seen, real, { hash, shown: null, totalLines: 0 }, MAX_FILES);
  }

  noteGone(real: string): void {
    this.#seen.delete(real);
  }

  stateOf(real: string, hash: string): SeenState {
    const seen = this.#seen.get(real);
    if (!seen) return "never";
    if (seen.hash !== hash) return "changed";
    if (seen.shown === null) return "current";
    const [only] = seen.shown;
    const whole = seen.totalLines === 0 ||
      (seen.shown.length === 1 && only![0] <= 1 && only![1] >= seen.totalLines);
    return whole ? "current" : "partial";
  }

  /** Was this very range read before with this very content? Counts the repeats of the answer "unchanged". */
  repeatedRead(key: string, hash: string): "new" | "unchanged" | "blocked" {
    const past = this.#reads.get(key);
    if (past?.hash !== hash) {
      remember(this.#reads, key, { hash, stubs: 0 }, MAX_READS);
      return "new";
    }
    past.stubs++;
    return past.stubs === 1 ? "unchanged" : "blocked";
  }

  /** How often this same request has now come in a row, this one included. */
  countInRow(key: string): number {
    this.#repeats = key === this.#lastKey ? this.#repeats + 1 : 1;
    this.#lastKey = key;
    return this.#repeats;
  }

  /** Another tool ran: the model is not going in circles. What it was shown stays known. */
  noteOtherTool(): void {
    this.#lastKey = "";
    this.#repeats = 0;
    for (const read of this.#reads.values()) read.stubs = 0;
  }

  /** Earlier reads are no longer in the conversation (compression, reset, rewind): show content again. */
  forgetReads(): void {
    this.#reads.clear();
    this.noteOtherTool();
  }

  /** The number of failed edits of this file in a row, this one included. */
  countFailure(real: string): number {
    const count = (this.#failures.get(real) ?? 0) + 1;
    remember(this.#failures, real, count, MAX_FILES);
    return count;
  }

  clearFailures(real: string): void {
    this.#failures.delete(real);
  }
}

/** The ledger of a session. */
export function ledgerOf(scope: SessionScope): FileLedger {
  return scope.state("tools.files", () => new FileLedger());
}
