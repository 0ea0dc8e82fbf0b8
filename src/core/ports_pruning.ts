/** What goes away by itself or by `hermes sessions prune`, and what comes in as a whole (core.md D.10). */
import type { Message } from "./messages.ts";
import type { NewSessionRow } from "./ports_store.ts";

/** A conversation that has ended and may go. */
export interface EndedSession {
  readonly id: string;
  readonly source: string;
  readonly title: string | null;
  /** Unix seconds. */
  readonly lastActivityAt: number;
  readonly messageCount: number;
}

export interface PruneWish {
  /** Conversations that ended before this (Unix seconds) and were not touched since; `null`: none of them. */
  readonly before: number | null;
  /** Where the contents that `hermes sessions restore` needs are kept. */
  readonly snapshots: string;
  /** Bytes of data up to which the file is written anew to make it smaller: the thread stands still for that long. */
  readonly rewriteUpTo: number;
  /** At most so many conversations. */
  readonly limit: number;
  /** True for a session that this program has open. */
  isLive?(id: string): boolean;
  /** True ends it before the next one. */
  shouldStop?(): boolean;
  onRemoved?(session: EndedSession): void;
}

export interface PruneResult {
  readonly removed: number;
  /** Had ended, and are in use all the same. */
  readonly kept: number;
  /** There may be more: the limit was reached, or it was stopped. */
  readonly isMore: boolean;
  /** Bytes that the file is smaller; 0 where it was not written anew. */
  readonly freed: number;
}

export interface SessionPruning {
  /** The oldest first. */
  find(before: number, limit: number): Promise<EndedSession[]>;
  /** In small transactions with pauses between them; a turn that runs somewhere is never disturbed. */
  prune(wish: PruneWish): Promise<PruneResult>;
}

/** A conversation from another home. */
export interface ImportedSession {
  /** Without a parent; a title that is taken gets a number. */
  readonly row: NewSessionRow;
  readonly messages: readonly Message[];
  /** Unix seconds. */
  readonly lastActivityAt: number;
  readonly endedAt: number | null;
  readonly endReason: string | null;
}
