/**
 * What the core needs of whoever decides what may run (core.md C): verdicts on commands, edits and calls, grants, and
 * the redactor. `approvals/` implements it.
 */
import type { AskAnswer, AskOutcome, AskPayload, SmartVerdict } from "./asks.ts";
import type { Usage } from "./messages.ts";
import type { ResolvedModel } from "./ports_models.ts";
import type { EditProposal } from "./ports_tools.ts";
import type { Settings } from "./settings.ts";

export type RedactMode = "full" | "terminal" | "file";

/** How edits are approved in a session (acp.md C7); `null` = no diff question, only sensitive targets are asked. */
export type EditPolicy = "ask" | "workspace_session" | "session" | null;

export interface GuardContext {
  /** Grants are kept under this key: the session, or a run or completion of the API. */
  readonly scope: string;
  readonly sessionId: string;
  readonly cwd: string;
  readonly roots: readonly string[];
  readonly editPolicy: EditPolicy;
  /** The session's own `/yolo`. */
  readonly yolo: boolean;
  /** False where nobody can be asked (core.md D10). */
  readonly canAsk: boolean;
  readonly settings: Settings;
  /** `acp`, `tui`, `api_server`, `cli`. */
  readonly surface?: string;
  /** The tool that is called; absent for a command that no tool runs. */
  readonly toolName?: string;
  /** True when a person has said no to one of these commands or paths in this turn (FC-14). Absent: to nothing yet. */
  isRefused?(targets: readonly string[]): boolean;
}

/** A call that is neither a command nor an edit, as the guard sees it. */
export interface PlainCall {
  readonly tool: string;
  /** `null` for a built-in tool. */
  readonly mcpServer: string | null;
  /** For people, secrets out. */
  readonly title: string;
  /** Absolute paths it touches. */
  readonly paths: readonly string[];
}

export type Verdict =
  | { readonly type: "allow"; readonly note?: string }
  /** Refused without a question; `content` is the tool result. */
  | { readonly type: "block"; readonly content: string; readonly reason: string }
  | {
    readonly type: "ask";
    readonly payload: AskPayload;
    /** What a refusal also refuses for the rest of the turn (FC-14): commands and paths. */
    readonly targets: readonly string[];
    /** `Guard.judge` may answer it before a person does (`approvals.mode: smart`). */
    readonly judgeable?: boolean;
  };

export interface JudgeOptions {
  readonly signal: AbortSignal;
  /** The session's own model, for who has not configured another. */
  readonly model: ResolvedModel;
  /** Called with what the call has used. */
  count(usage: Usage, model: ResolvedModel): void;
}

/** Decides what may run. State: grants by scope, the permanent list in the config. */
export interface Guard {
  reviewCommand(command: string, context: GuardContext): Verdict;
  reviewEdit(proposal: EditProposal, context: GuardContext): Promise<Verdict>;
  /** Any other call: allowed unless a rule of `policy.rules` says otherwise. Absent: always allowed. */
  reviewCall?(call: PlainCall, context: GuardContext): Verdict;
  /** Records an answer; `always` also writes the permanent list. */
  grant(payload: AskPayload, answer: AskAnswer, context: GuardContext): Promise<void>;
  /**
   * What the auxiliary model says to a judgeable question (core.md C.4). Bounded; never rejects: what goes wrong, a
   * cancel too, is `escalate`. Absent: every question goes to the person.
   */
  judge?(payload: AskPayload, context: GuardContext, options: JudgeOptions): Promise<SmartVerdict>;
  /** The tool result of an ask that did not end in consent (core.md C.5). */
  refusal(payload: AskPayload, outcome: AskOutcome): string;
  dropScope(scope: string): void;
  redact(text: string, mode: RedactMode): string;
}
