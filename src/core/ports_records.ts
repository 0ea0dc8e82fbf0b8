/** What is kept of what happened: the audit trail, and what files held before a turn changed them. */
import type { Checkpoint } from "./restore_api.ts";

export interface AuditEntry {
  /** Unix seconds, fractions allowed. */
  readonly at: number;
  readonly sessionId: string;
  readonly turnId: string;
  readonly surface: string;
  /** Who drove the turn: the program's own name, else the key under which an API client keeps the session, else its source. */
  readonly client: string;
  readonly kind: "turn.start" | "ask" | "answer" | "tool" | "turn.end" | "restore" | "browser";
  readonly tool: string | null;
  readonly callId: string | null;
  /** Bounded, secrets out. */
  readonly detail: Readonly<Record<string, unknown>>;
}

export interface AuditRow extends AuditEntry {
  readonly id: number;
}

export interface AuditQuery {
  readonly limit: number;
  /** Any id of the conversation, also of one that was deleted. */
  readonly sessionId?: string;
  /** Unix seconds. */
  readonly since?: number;
}

/** Only ever added to. */
export interface AuditStore {
  append(entries: readonly AuditEntry[]): Promise<void>;
  /** The newest `limit` ones, oldest first. */
  list(query: AuditQuery): AuditRow[];
}

/** One change of one file by a turn; hashes are SHA-256 of the text, `null` = absent. */
export interface FileChange {
  /** Unix seconds, fractions allowed. */
  readonly at: number;
  readonly sessionId: string;
  /** Empty: a restore. */
  readonly turnId: string;
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface SnapshotStore {
  record(changes: readonly FileChange[]): Promise<void>;
  /** Of the whole conversation, oldest first. */
  changes(sessionId: string): FileChange[];
  /** The turns of the conversation that changed files, the newest first. */
  checkpoints(sessionId: string): Checkpoint[];
  /** Forgets changes before (Unix seconds). */
  prune(before: number): Promise<void>;
}
