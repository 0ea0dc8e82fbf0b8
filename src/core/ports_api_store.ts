/**
 * What the HTTP API keeps in the database beside the conversations: runs, answers, callbacks that are owed, and which
 * scoped key a conversation belongs to (api-server.md).
 */
import type { Message } from "./messages.ts";

/** One run of the API as it is kept: queryable facts in columns, the rest of its public status as JSON text. */
export interface RunRow {
  readonly id: string;
  readonly sessionId: string;
  readonly status: string;
  readonly terminal: boolean;
  /** Unix seconds, fractions allowed. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The server that runs it, and its process. */
  readonly owner: string;
  readonly pid: number;
  readonly detail: string;
  /** The scoped API key that made it; absent = the full key. */
  readonly keyId?: string;
}

export interface RunEventRow {
  /** 0, 1, 2, … per run. */
  readonly seq: number;
  /** JSON text. */
  readonly data: string;
}

/** Only digests: neither the client's key nor its body is kept. */
export interface RunKey {
  readonly digest: string;
  readonly fingerprint: string;
}

export interface RunQuery {
  readonly limit: number;
  readonly status?: string;
  readonly sessionId?: string;
  /** Only runs older than this one, in the order of the list. */
  readonly after?: string;
  /** Only runs that have not ended, or ended since (Unix seconds). */
  readonly endedSince: number;
  /** Only those of this scoped key. */
  readonly keyId?: string;
}

export interface RunStore {
  /** Reserves a run, with its key in the same step; the run that holds the key already, and then nothing is written. */
  insert(
    run: RunRow,
    key?: RunKey,
    /** Where its end is to be told (`RunCallbacks`). */
    callbackUrl?: string,
  ): Promise<{ readonly run: RunRow; readonly fingerprint: string } | null>;
  /** Status and new events in one transaction; events older than the newest `keep` go. */
  save(run: RunRow, events: readonly RunEventRow[], keep: number): Promise<void>;
  /**
   * Ends a run that nobody works on any more, with one last event, unless it has ended meanwhile: false then. Of all
   * who try it only one succeeds. `event` gets the number of the event.
   */
  settle(run: RunRow, event: (seq: number) => string, keep: number): Promise<boolean>;
  /** A run that never began. */
  remove(id: string): Promise<void>;
  get(id: string): RunRow | null;
  findByKey(digest: string): { readonly run: RunRow; readonly fingerprint: string } | null;
  /** Newest first. */
  list(query: RunQuery): RunRow[];
  unfinished(): RunRow[];
  /** In order; only those with a higher number. */
  events(id: string, afterSeq: number): RunEventRow[];
  /** Says that the owner is alive (Unix seconds). */
  touch(owner: string, now: number): Promise<void>;
  /** When the owner of a run was last heard of. */
  heardOf(id: string): number | null;
  /** Ended runs before `before` go with their events; those with a key keep their status until `keyedBefore`. */
  prune(before: number, keyedBefore: number): Promise<void>;
}

/** A stored answer of `/v1/responses` with what a continuation needs. */
export interface ResponseRow {
  readonly id: string;
  /** The name that points at it from now on. */
  readonly conversation: string | null;
  readonly sessionId: string;
  /** Where the session's transcript stood at its end; `null` when unknown. */
  readonly headId: string | null;
  readonly lastRowId: number | null;
  readonly owner: string;
  readonly status: string;
  /** JSON text of the whole response object. */
  readonly response: string;
  /** The whole conversation up to and with this turn. */
  readonly history: readonly Message[];
  readonly instructions: string | null;
  /** The scoped API key that made it; absent = the full key. */
  readonly keyId?: string;
}

export interface ResponseStore {
  /** Inserts or replaces; beyond `limit` the least recently used ones go, with the names that point at them. */
  put(row: ResponseRow, limit: number): Promise<void>;
  /** Counts as an access. A damaged row is dropped and unknown from then on. */
  get(id: string): Promise<ResponseRow | null>;
  /** Also forgets the names that point at it. */
  delete(id: string): Promise<boolean>;
  findByConversation(name: string): string | null;
}

/** A callback that a run still owes. */
export interface RunCallback {
  readonly runId: string;
  readonly url: string;
  /** Tries so far. */
  readonly attempts: number;
  /** Unix seconds; not before then. */
  readonly nextAt: number;
}

export interface RunCallbacks {
  /** Of runs that have ended, the next one first. */
  owed(): RunCallback[];
  /** Counts one more try; false when another server has taken it, or it is settled. */
  take(callback: RunCallback, nextAt: number): Promise<boolean>;
  /** Delivered, or given up. */
  settle(runId: string): Promise<void>;
}

/** Which scoped API key a conversation belongs to. */
export interface SessionOwners {
  /** `null`: it belongs to the full key alone. */
  ofSession(id: string): string | null;
  /** False when another key has it. */
  claimSession(id: string, keyId: string): Promise<boolean>;
  /** Takes a claim back when no conversation came of it. */
  releaseSession(id: string, keyId: string): Promise<void>;
}
