/**
 * The one event stream (style §14): every protocol renders it, nothing else leaves the core.
 * Promises: `turn.start` first, exactly one `turn.end` last; nothing is thrown out of the stream; a stored row is
 * written before the event that mentions it; a call that was announced ends before its turn ends; secrets are out.
 */
import type { Ask, AskOutcome } from "./asks.ts";
import type { SubagentStep, SubagentView } from "./delegation_api.ts";
import type { ModelFailure } from "./errors.ts";
import type { FileEdit, ToolCall, Usage } from "./messages.ts";
import type { ModelCost, ToolDescription } from "./ports.ts";

export interface TodoItem {
  readonly id: string;
  readonly content: string;
  readonly status: "pending" | "in_progress" | "completed" | "cancelled";
}

/** A call as hosts may see it: unique id, redacted arguments, described by its tool. */
export interface ToolCallView {
  readonly id: string;
  readonly name: string;
  /** Redacted. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly description: ToolDescription;
}

/** How a turn ended. `completed` is the only success. */
export type TurnOutcome =
  | "completed"
  /** Interrupted by the user, the client or a shutdown. */
  | "cancelled"
  | "failed"
  /** The output cap cut the answer. */
  | "max_tokens"
  /** The steps, a budget or a guardrail ended it: `turnLimit()` says which. After the steps `text` is a summary. */
  | "max_turns"
  /** The provider's filter refused. */
  | "refused";

export interface TurnResult {
  readonly outcome: TurnOutcome;
  /** The final answer (text after the last tool batch); may be empty unless `completed`. */
  readonly text: string;
  readonly reasoning: string;
  /** `turn_exit_reason` of core.md A.2. */
  readonly exitReason: string;
  /** True when `text` is only a part of an answer. */
  readonly partial: boolean;
  readonly failure: ModelFailure | null;
  readonly usage: Usage;
  readonly apiCalls: number;
  /** What the turn has cost, where the price of each of its calls is known. */
  readonly cost?: ModelCost;
  readonly model: string;
  readonly provider: string;
  /** Steer text that met no tool boundary; the caller owns it now. */
  readonly pendingSteer: string | null;
  /** Calls of the caller's own tools, in order: the turn has ended for their results. Absent: none. */
  readonly clientCalls?: readonly ToolCall[];
  /** Row id of the user message; null when it could not be stored. */
  readonly userRowId: number | null;
  /** Set when something could not be saved. */
  readonly warning?: string;
}

export type CoreEventBody =
  | { readonly type: "turn.start"; readonly text: string; readonly userRowId: number | null }
  | { readonly type: "step.start"; readonly step: number }
  | { readonly type: "text.delta"; readonly text: string }
  | { readonly type: "reasoning.delta"; readonly text: string }
  /** One finished burst of thought, whole. */
  | { readonly type: "reasoning.end"; readonly text: string }
  /** The model began to write a call; no id yet. */
  | { readonly type: "tool.generating"; readonly name: string }
  /** Text that came with tool calls is now stored; later text is a new block. */
  | { readonly type: "text.end"; readonly text: string; readonly final: boolean }
  /** `waiting`: an ask for this call follows. `edits`: what it is about to change, when nobody was asked. */
  | {
    readonly type: "tool.start";
    readonly call: ToolCallView;
    readonly waiting: boolean;
    readonly edits?: readonly FileEdit[];
  }
  /** An allowed call goes on. */
  | { readonly type: "tool.run"; readonly callId: string }
  | { readonly type: "tool.progress"; readonly callId: string; readonly name: string; readonly text: string }
  /** A call that policy refused before it started has an end without a start (`refused: "policy"`). */
  | {
    readonly type: "tool.end";
    readonly call: ToolCallView;
    /** What the model reads, redacted. */
    readonly result: string;
    readonly isError: boolean;
    readonly durationMs: number;
    readonly edits: readonly FileEdit[];
    /** `todo` only: the whole list. */
    readonly todos: readonly TodoItem[] | null;
    /** Why it did not run, when it did not. */
    readonly refused: "policy" | "denied" | "timeout" | "unattended" | "cancelled" | null;
  }
  | { readonly type: "ask.open"; readonly ask: Ask }
  | { readonly type: "ask.close"; readonly ask: Ask; readonly outcome: AskOutcome }
  | { readonly type: "usage"; readonly usage: Usage; readonly total: Usage }
  /** Retry, fallback, warning, saving delayed: for people. */
  | {
    readonly type: "status";
    readonly kind: "retry" | "lifecycle" | "warn" | "error" | "compacting";
    readonly text: string;
  }
  | { readonly type: "steer.queued"; readonly text: string }
  | { readonly type: "steer.delivered"; readonly text: string }
  /** Title, model, cwd, mode, yolo, effort, tools or history changed, or results came in. */
  | { readonly type: "session.change"; readonly what: SessionChange }
  /** The internal id moved (compression); the session's own id stays. */
  | {
    readonly type: "session.rotated";
    readonly oldId: string;
    readonly newId: string;
    readonly before: { messages: number; tokens: number };
    readonly after: { messages: number; tokens: number };
  }
  /** A child of this session, or one of its children's; outside a turn (no `turnId`) for those in the background. */
  | { readonly type: "subagent"; readonly agent: SubagentView; readonly step: SubagentStep }
  | { readonly type: "turn.end"; readonly result: TurnResult };

export type SessionChange =
  | "title"
  | "model"
  | "cwd"
  | "mode"
  | "yolo"
  | "effort"
  | "tools"
  | "history"
  /** Results of background children wait for a turn. */
  | "delegation"
  /** Something waits to be told to the model (`Session.notices`). */
  | "notices"
  | "closed";

export type CoreEvent = CoreEventBody & {
  readonly sessionId: string;
  /** Empty for events outside a turn. */
  readonly turnId: string;
  /** 1, 2, … per session. */
  readonly seq: number;
};
