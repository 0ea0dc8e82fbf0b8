/**
 * One call on its way through the steps of `tool_calls.ts`: what is known of it, whether its start was told, and what
 * came of the question whether it may run. It lives from the answer that asked for it to its stored result.
 */
import type { ToolCallView } from "./events.ts";
import type { FileEdit, ToolCall } from "./messages.ts";
import type { EditProposal, Tool, ToolOutcome } from "./ports.ts";
import type { TurnScope } from "./turn_scope.ts";

export type Refused = "policy" | "denied" | "timeout" | "unattended" | "cancelled";

/** One call on its way. */
export interface Running {
  readonly call: ToolCall;
  readonly view: ToolCallView;
  readonly tool: Tool | null;
  readonly args: Record<string, unknown>;
  readonly paths: readonly string[];
  /** A result that was known before anything ran (unknown tool, bad arguments). */
  readonly ready: ToolOutcome | null;
  announced: boolean;
  /** Refused by policy before it started: it is never announced, only its end is told. */
  blocked: boolean;
  startedAt: number;
  /** Where the command would have run when it was judged. */
  place?: string;
  /** The command was allowed without a question. */
  isFree?: boolean;
  /** The edit that the guard has judged. */
  reviewed?: EditProposal;
  /** The open question of a command, asked before the batch runs. */
  consent: Promise<Consent> | null;
}

export type Consent =
  | { readonly type: "go"; readonly approved: EditProposal | null; readonly note: string | null }
  /** `refused` is null when it could not be done anyway: an ordinary error, nobody's refusal. */
  | { readonly type: "stop"; readonly refused: Refused | null; readonly content: string };

export const GO: Consent = { type: "go", approved: null, note: null };

/** Tells the start, once; `waiting`: a question is open before it runs. */
export function announce(
  one: Running,
  waiting: boolean,
  scope: TurnScope,
  edits?: readonly FileEdit[],
): void {
  if (one.announced) return;
  one.announced = true;
  one.startedAt = scope.platform.clock.monotonic();
  scope.publish({ type: "tool.start", call: one.view, waiting, ...(edits ? { edits } : {}) });
}

/** A fault in what only describes or judges a call never ends the turn. */
export function safely<T>(run: () => T, fallback: T): T {
  try {
    return run();
  } catch {
    return fallback;
  }
}
