/**
 * Subagents as the rest of the program sees them (core.md I): what a turn may order, what it gets back, what hosts
 * see and control, and what is kept of results that come later. Types, and one name; `delegation.ts` does the work.
 */
import type { ModelCost } from "./ports.ts";
import type { Usage } from "./messages.ts";

/** Marks the row that brings results of the background into a conversation: no message of the user. */
export const DELEGATION_KIND = "async_delegation";

/** An orchestrator may start children of its own, a leaf may not. */
export type ChildRole = "leaf" | "orchestrator";

export interface ChildTask {
  readonly goal: string;
  /** All that the child learns beside its goal; may be empty. */
  readonly context: string;
  readonly role: ChildRole;
}

export interface DelegationOrder {
  readonly callId: string;
  readonly tasks: readonly ChildTask[];
  /** What the call itself wants; `null` = whatever is usual where it runs. */
  readonly background: boolean | null;
  /** Ends children that are waited for. */
  readonly signal: AbortSignal;
}

export type ChildStatus = "completed" | "failed" | "interrupted" | "timeout" | "error";
export type ChildExit = "completed" | "interrupted" | "max_iterations" | "timeout" | "error";

/** What became of one task. */
export interface ChildResult {
  readonly taskIndex: number;
  readonly subagentId: string;
  readonly goal: string;
  readonly status: ChildStatus;
  readonly exitReason: ChildExit;
  /** The child's last words, whole; bounded by whoever hands them on. */
  readonly summary: string;
  readonly error: string | null;
  readonly apiCalls: number;
  readonly durationSeconds: number;
  readonly model: string;
  readonly usage: Usage;
  /** `null` when the price of a call is unknown. */
  readonly costUsd: number | null;
  readonly trace: readonly ToolTrace[];
  readonly filesRead: readonly string[];
  readonly filesWritten: readonly string[];
  readonly outputTail: readonly OutputTail[];
  /** Guidance that met no tool boundary any more. */
  readonly missedSteer: string | null;
}

export interface ToolTrace {
  readonly tool: string;
  readonly argsBytes: number;
  readonly resultBytes: number;
  readonly status: "ok" | "error";
}

export interface OutputTail {
  readonly tool: string;
  readonly preview: string;
  readonly isError: boolean;
}

/** A result with its summary cut to what its reader has room for. */
export interface BoundedResult extends ChildResult {
  /** Where the whole summary is; absent when nothing was cut, or the file could not be written. */
  readonly fullPath?: string;
  readonly truncated: boolean;
}

export type DelegationReply =
  /** The children run on; their results come as a later turn. */
  | { readonly type: "dispatched"; readonly id: string; readonly goals: readonly string[] }
  | {
    readonly type: "results";
    readonly results: readonly BoundedResult[];
    readonly seconds: number;
    /** For the model: what was done otherwise than ordered. */
    readonly notes: readonly string[];
  };

/** What a tool may do with children, on behalf of one turn. */
export interface Delegator {
  /** Throws an `Error` with a text for the model when nothing was started. */
  order(order: DelegationOrder): Promise<DelegationReply>;
  /** Running children below this session. */
  active(): readonly SubagentState[];
  stop(subagentId: string): boolean;
  steer(subagentId: string, text: string): boolean;
}

// ── What hosts see ──────────────────────────────────────────────────────────────────────────────────────────

/** One child in every event about it. */
export interface SubagentView {
  /** `sa-<task index>-<8 hex>`, the same from its first event to its last. */
  readonly id: string;
  /** The child that started it; `null` at the first level. */
  readonly parentId: string | null;
  readonly delegationId: string;
  /** The call that ordered it. */
  readonly callId: string;
  readonly taskIndex: number;
  readonly taskCount: number;
  /** Redacted. */
  readonly goal: string;
  /** 0 = started by the session itself. */
  readonly depth: number;
  /** Empty until it is known. */
  readonly model: string;
  readonly toolsets: readonly string[];
  /** `null` until the session exists. */
  readonly childSessionId: string | null;
  readonly toolCount: number;
}

/** What happened in it (core.md I.2); texts are redacted. */
export type SubagentStep =
  | { readonly kind: "spawn_requested" }
  | { readonly kind: "start" }
  /** One finished burst of thought. */
  | { readonly kind: "thinking"; readonly text: string }
  /** One finished block of text. */
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "tool"; readonly toolName: string; readonly preview: string }
  /** Names of the tools since the last such step; every five tools, and the rest at the end. */
  | { readonly kind: "progress"; readonly tools: readonly string[] }
  /** Every 30 s. `stale`: nothing has happened in it for so long that somebody should look. */
  | { readonly kind: "heartbeat"; readonly idleSeconds: number; readonly stale: boolean }
  | { readonly kind: "complete"; readonly result: ChildResult };

export interface SubagentState extends SubagentView {
  /** Unix seconds. */
  readonly startedAt: number;
  readonly lastTool: string | null;
  readonly status: "running" | "stopping";
  /** The session at the root, whose event stream shows it. */
  readonly sessionId: string;
}

/** Control over the children of all sessions of a process (core.md I.3). */
export interface DelegationControl {
  active(): readonly SubagentState[];
  readonly paused: boolean;
  /** While paused no child starts; those that run go on. */
  pause(on: boolean): void;
  /** False when no such child runs. */
  interrupt(subagentId: string): boolean;
  /** False when it is gone, takes no more, or belongs to another session. */
  steer(sessionId: string, subagentId: string, text: string): boolean;
  /** True while this is the session of a running child. */
  isChild(sessionId: string): boolean;
  /** Running children whose results will come to this session as a later turn. */
  detachedIn(sessionId: string): number;
  /**
   * The oldest result that waits for a turn of the conversation with this row; `null` = none. Whoever takes it starts
   * a turn with its text at once and then says what became of it.
   */
  takeLater(headId: string): Promise<LaterResult | null>;
  /** True when something may wait; cheap. */
  hasLater(headId: string): boolean;
  settleLater(id: string, outcome: LaterOutcome): Promise<void>;
}

/** `stored`: its message is in the conversation. `failed`: its turn did not begin. `unused`: no turn was tried. */
export type LaterOutcome = "stored" | "failed" | "unused";

export interface LaterResult {
  readonly id: string;
  /** The message of the later turn. */
  readonly text: string;
}

/** Sums that a child's model calls add to whoever ordered it. */
export interface ChildCall {
  readonly usage: Usage;
  readonly model: { readonly model: string; readonly provider: string };
  readonly cost: ModelCost;
}

// ── What is kept ────────────────────────────────────────────────────────────────────────────────────────────

export interface NewDelegation {
  readonly id: string;
  /** The stored row the conversation was in. */
  readonly sessionId: string;
  readonly goals: readonly string[];
  readonly owner: string;
  /** Unix seconds. */
  readonly at: number;
}

/** Results of background children, kept until a turn has taken them in (core.md I.4). */
export interface DelegationStore {
  /** Also forgets what is older than 7 days, and the oldest of more than 1,000 that wait. */
  insert(row: NewDelegation): Promise<void>;
  /** `text` `null`: nobody waits for it any more. */
  finish(id: string, end: { state: string; text: string | null; result: string; at: number }): Promise<void>;
  /** Says that the program which runs them is alive. */
  touch(owner: string, at: number): Promise<void>;
  /** True when the conversation with this row may have something waiting. */
  hasWaiting(headId: string): boolean;
  /** Takes the oldest that waits; those of a program that is gone count as lost and are among them. */
  take(headId: string, at: number): Promise<LaterResult | null>;
  /** One that has failed too often is given up. */
  settle(id: string, outcome: LaterOutcome, at: number): Promise<void>;
}
