/**
 * Files as they were before turns of a conversation changed them: the port behind `/rollback`, `rollback.*`, a rewind
 * with `restore_files` and `hermes sessions restore` (core.md H.2, tui-gateway.md B.17). Implemented in `app/`.
 */

/** What becomes of one file when a conversation's changes are taken back. */
export interface FileRestore {
  readonly path: string;
  /**
   * `none`: it is already as it was. `conflict`: somebody else changed it since. `lost`: its old content is not kept
   * any more.
   */
  readonly action: "write" | "remove" | "none" | "conflict" | "lost";
  /** For people, where it is a conflict. */
  readonly why?: string;
}

/** A turn that changed files: going back to it means back to before its first change. */
export interface Checkpoint {
  /** Id of the turn. */
  readonly id: string;
  /** When it first changed a file (Unix seconds). */
  readonly at: number;
  /** What the user had said, secrets out; empty when it is not kept any more. */
  readonly text: string;
  /** How many files it changed. */
  readonly files: number;
}

/** One file then and now, secrets out. */
export interface FileDifference {
  readonly path: string;
  readonly added: number;
  readonly removed: number;
  /** Unified diff from then to now; a note where the old content is not kept, or the file is no text now. */
  readonly diff: string;
}

export interface RestoreOptions {
  /** Also over what somebody else changed since. */
  readonly force?: boolean;
  /** This file only, absolute. */
  readonly path?: string;
}

export interface RestoreOutcome {
  /** False: nothing was touched. */
  readonly done: boolean;
  readonly files: readonly FileRestore[];
}

/** Every call first waits for what is being recorded. They throw `store_failed`, `restore` also what the disk says. */
export interface FileHistory {
  /** False: what turns do from now on is not kept. */
  readonly enabled: boolean;
  /** When each turn that changed files began to, oldest first (Unix seconds). */
  turns(sessionId: string): readonly { readonly turnId: string; readonly at: number }[];
  /** The newest first. */
  checkpoints(sessionId: string): Promise<readonly Checkpoint[]>;
  /** What `restore` would do; changes nothing. */
  plan(sessionId: string, since: number, options?: RestoreOptions): Promise<readonly FileRestore[]>;
  /** What the conversation's files were at that time against what they are now; equal ones are left out. */
  compare(sessionId: string, since: number, options?: RestoreOptions): Promise<readonly FileDifference[]>;
  /**
   * Puts back everything the conversation changed since (Unix seconds), or nothing at all: with a conflict (unless
   * `force`) or a lost content nothing is touched, and a failure half-way is undone and thrown.
   */
  restore(sessionId: string, since: number, options?: RestoreOptions): Promise<RestoreOutcome>;
}

const LONGEST_NUMBER = 4;
const SHORTEST_PREFIX = 6;

/** By id, by a prefix of it of at least six characters that only one has, or by number, 1 = the newest. */
export function findCheckpoint(list: readonly Checkpoint[], ref: string): Checkpoint | null {
  const exact = list.find(({ id }) => id === ref);
  if (exact) return exact;
  if (/^\d+$/.test(ref) && ref.length <= LONGEST_NUMBER) return list[Number(ref) - 1] ?? null;
  if (ref.length < SHORTEST_PREFIX) return null;
  const fitting = list.filter(({ id }) => id.startsWith(ref));
  return fitting.length === 1 ? fitting[0]! : null;
}
