/**
 * The surface of the core that doors program against: sessions, turns, and who may be asked. Implemented by
 * `session.ts` and `sessions.ts`. A session's `id` is its stable public handle; `headId` names the stored row,
 * which moves when a compression rotates (core.md D1).
 */
import type { AnswerResult, Ask, AskAnswer } from "./asks.ts";
import type { HermesError } from "./errors.ts";
import type { DelegationControl } from "./delegation_api.ts";
import type { TurnResult } from "./events.ts";
import type { McpServerEntry, McpServerStatus } from "./external_tools.ts";
import type { EventReader } from "./hub.ts";
import type { Content, Message, ToolMessage, Usage } from "./messages.ts";
import type {
  EditPolicy,
  FileAccess,
  ModelChoice,
  ResolvedModel,
  SessionNotice,
  SessionScope,
  SwitchResult,
  Tool,
  ToolSpec,
} from "./ports.ts";

export interface UserInput {
  readonly content: Content;
  /** What a person sees and the store shows, when it differs (attachments as labels). */
  readonly displayText?: string;
  /** `hidden` and the like: stored as a timeline row. */
  readonly displayKind?: string;
  /** Results of the caller's own tools: the turn goes on with them, and `content` is left out. */
  readonly results?: readonly ToolMessage[];
}

/** Which questions can reach a human from this turn. What cannot be asked is refused, never allowed. */
export interface AskPolicy {
  readonly approval: boolean;
  /** Diffs: every edit where the session has an edit policy, else sensitive targets only. */
  readonly edit: boolean;
  readonly clarify: boolean;
  /** Passwords and secret values, typed where nobody else reads them; absent: no. */
  readonly secret?: boolean;
}

export const NOBODY_TO_ASK: AskPolicy = { approval: false, edit: false, clarify: false };

export interface SubmitOptions {
  readonly asks: AskPolicy;
  /** Key of approval grants; the session's id by default (API: the run or completion id). */
  readonly scope?: string;
  /** A system layer for this turn only (API `system`/`instructions`). */
  readonly systemExtra?: string;
  /** Name of the personality in place of `display.personality`; `none` for none. */
  readonly personality?: string;
  /** For this turn only; the session keeps its own. */
  readonly model?: ModelChoice;
  readonly reasoningEffort?: string;
  /** The fast mode, wished for or not, whatever the session's own wish is. */
  readonly fast?: boolean;
  /** Model calls of this turn at most; the configuration's number when absent. */
  readonly maxSteps?: number;
  /** The context of this turn instead of the session's history (stateless API); never stored. */
  readonly history?: readonly Message[];
  /**
   * Tools of the caller, offered beside our own (ours win a name). The turn ends when the model calls one; the
   * result tells which, and a later turn brings the results.
   */
  readonly clientTools?: readonly ToolSpec[];
  /** Tools that the door brings for this turn, run like any other; they win a name over the session's own. */
  readonly doorTools?: readonly Tool[];
  /** Approvals are given once without a question (`delegation.subagent_auto_approve`); nobody is asked. */
  readonly approveOnce?: boolean;
  /** Children may outlive the turn: whoever submits it also starts the later turns with their results. */
  readonly detach?: boolean;
  /** The caller leaves when the turn has ended: nothing is begun after it. */
  readonly oneShot?: boolean;
  /** Aborting it cancels this turn, queued or running. */
  readonly signal?: AbortSignal;
  /** Name of the program that asks, for the audit trail; the session's own when absent. */
  readonly client?: string;
}

export interface TurnHandle {
  readonly id: string;
  /** How many turns stood before it when it was submitted; 0 = it starts at once. */
  readonly position: number;
  /** Settles when the turn has ended; never rejects. */
  readonly done: Promise<TurnResult>;
  /** This turn only: a queued one ends as `cancelled` without having started. */
  cancel(): void;
}

/** What a running turn has shown so far; for clients that join late. */
export interface Inflight {
  readonly turnId: string;
  readonly user: string;
  /** Text since the last tool batch. */
  readonly assistant: string;
  readonly reasoning: string;
  readonly startedAt: number;
}

export interface SessionUsage {
  readonly usage: Usage;
  readonly calls: number;
  /** Estimated tokens of the next request (prompt, history, tool schemas). */
  readonly contextUsed: number;
  /** `null` when unknown. */
  readonly contextMax: number | null;
}

export interface CompactionReport {
  readonly before: { readonly messages: number; readonly tokens: number };
  readonly after: { readonly messages: number; readonly tokens: number };
}

/** A compression on the user's word (core.md A.16, H.2). */
export interface CompactOptions {
  /** A topic that gets room in the summary. */
  readonly focus?: string;
  /** So many last turns of the user stay as they are, and no more; what fits when absent. */
  readonly keepTurns?: number;
  readonly signal?: AbortSignal;
}

/** What a compression would do now; tokens are estimates, those afterwards with the summary as long as it may get. */
export interface CompactionPreview extends CompactionReport {
  /** Messages that stay word for word before and after the summary. */
  readonly kept: { readonly first: number; readonly last: number };
  readonly summarised: { readonly messages: number; readonly tokens: number };
}

export interface Session {
  readonly id: string;
  readonly source: string;
  /** Id of the stored row the conversation is in now. */
  readonly headId: string;
  /** True once the row exists in the store. */
  readonly stored: boolean;
  readonly createdAt: number;
  readonly lastActivityAt: number;
  readonly cwd: string;
  /** `[cwd, …additional directories]`. */
  readonly roots: readonly string[];
  readonly title: string | null;
  readonly running: boolean;
  /** Turns waiting behind the running one. */
  readonly queued: number;
  readonly closed: boolean;
  /** Another program has deleted it, as its last write has found. */
  readonly deleted: boolean;
  /** `null` when it cannot be resolved; `modelError` says why. */
  readonly model: ResolvedModel | null;
  readonly modelError: HermesError | null;
  readonly reasoningEffort: string | null;
  /** The fast mode of its model is in use (core.md F.10). */
  readonly fast: boolean;
  /** ACP mode id: `default`, `accept_edits`, `dont_ask`, `plan`. */
  readonly mode: string;
  readonly editPolicy: EditPolicy;
  /** Dangerous commands of this session run without a question; never with `execAsk`. */
  readonly yolo: boolean;
  /** `HERMES_EXEC_ASK` is set: they are asked about, whatever else is set. */
  readonly execAsk: boolean;
  /** What other rooms keep for as long as the session lives. */
  readonly scope: SessionScope;
  /** News worth a turn that none has brought yet: the running or the next one does. */
  readonly notices: number;

  /** Conversation in memory: what the next request is built from. */
  history(): readonly Message[];
  /** What waits to be told to the model (`notices` counts those worth a turn); it goes on waiting. */
  waitingNotices(): readonly SessionNotice[];
  /** Those news, for who starts a turn of their own with them; each is handed out once. */
  takeNotices(): readonly SessionNotice[];
  usage(): SessionUsage;
  inflight(): Inflight | null;
  /** Names of the tools offered to the model. */
  toolNames(): readonly string[];
  /** The same with all that is known of them; a turn in progress keeps the list it began with. */
  tools(): readonly Tool[];
  /**
   * Replaces the session's own MCP servers (core.md G.5): they start in the background, belong to the session alone
   * and end with it. One that is slow or fails is told by a `status` event of kind `warn`.
   */
  setMcpServers(servers: readonly McpServerEntry[]): void;
  /** Configured and own MCP servers as this session sees them. */
  mcpStatus(): readonly McpServerStatus[];

  subscribe(reader: EventReader): () => void;
  /** Never throws for model trouble: that is an outcome. Throws `session_busy` never: it queues, first in first out. */
  submit(input: UserInput, options: SubmitOptions): TurnHandle;
  /**
   * Throws `session_busy` while another program runs a turn in this conversation: a look, for doors that answer before
   * a turn has ended. A turn that begins all the same is refused with its first row (`refusedElsewhere`).
   */
  requireFree(): void;
  /** Trimmed; false when empty or when no turn runs (core.md A.15). */
  steer(text: string): boolean;
  /** Cancels the running turn, and the queued ones unless `keepQueue`. The numbers of each. */
  interrupt(options?: { keepQueue?: boolean }): { running: boolean; dropped: number };
  /** Resolves when no turn runs. */
  idle(): Promise<void>;

  asks(): readonly Ask[];
  /** `by`: name of the client that answers, for the audit trail. */
  answer(askId: string, answer: AskAnswer, by?: string): AnswerResult;

  /** `/model` syntax. Throws `session_busy`, `invalid_model`, … and then nothing has changed. */
  setModel(argument: string, options?: { signal?: AbortSignal }): Promise<SwitchResult>;
  setMode(mode: string): Promise<void>;
  setYolo(on: boolean): void;
  /** `null` = default. */
  setReasoningEffort(effort: string | null): Promise<void>;
  /** For this session, whatever the configuration says. Throws `invalid_argument` where the model has none. */
  setFast(on: boolean): Promise<void>;
  setCwd(cwd: string, additional?: readonly string[]): Promise<void>;
  /** Throws `invalid_title`, `title_taken`; stores the row if it is missing. */
  setTitle(title: string | null): Promise<string | null>;
  /** Empties the conversation, keeps the session (ACP `/reset`). Throws `session_busy`. */
  reset(): Promise<void>;
  /**
   * Drops the row and all later ones; the dropped rows stay archived. New row ids by old ones, for what is kept.
   * Throws `session_busy`, `message_not_found`, or the store's error, and then nothing has changed.
   */
  rewindBefore(rowId: number): Promise<ReadonlyMap<number, number>>;
  /** The same for `/undo` (core.md D.8): what is kept keeps its row ids, too. */
  dropFrom(rowId: number): Promise<void>;
  /** Summarises the older part now; `null` when there is too little. Throws `session_busy`, or when it fails. */
  compact(options?: CompactOptions): Promise<CompactionReport | null>;
  /** What `compact` would do: no model is asked, nothing is written. `null` when there is too little. */
  previewCompaction(options?: CompactOptions): Promise<CompactionPreview | null>;
  /** Makes sure the row exists in the store. */
  store(): Promise<void>;
  /** Cancels, frees processes and grants, marks the row ended. Idempotent. */
  close(reason: string): Promise<void>;
}

export interface CreateOptions {
  /** Public handle and first row id; made by the rules of the source when absent (core.md D.3). */
  readonly id?: string;
  readonly source: string;
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[];
  readonly model?: ModelChoice;
  readonly reasoningEffort?: string;
  /** Of its own, whatever the configuration says; a wish. */
  readonly fast?: boolean;
  readonly mode?: string;
  /** `null` where no diff question exists (everything but ACP). */
  readonly editPolicy?: EditPolicy;
  readonly title?: string;
  readonly parentId?: string;
  readonly history?: readonly Message[];
  /**
   * Write the row at once; otherwise with the first turn. `unless_locked`: at once, so that no other process can take
   * the id any more, but with the first turn while the database is locked.
   */
  readonly storeNow?: boolean | "unless_locked";
  readonly sessionKey?: string;
  readonly fingerprint?: string;
  /** Where files are read and written; the local disk when absent. */
  readonly files?: FileAccess;
  /** The session's own MCP servers; absent: those it has already. */
  readonly mcpServers?: readonly McpServerEntry[];
  /** System-prompt hint of the surface: `acp`, `tui`, `api_server`, `cli`. */
  readonly surface: string;
}

export interface OpenOptions {
  readonly surface: string;
  /** Only sessions of these sources exist for the caller. */
  readonly sources?: readonly string[];
  readonly editPolicy?: EditPolicy;
  readonly cwd?: string;
  readonly additionalDirectories?: readonly string[];
  readonly files?: FileAccess;
  /** The session's own MCP servers; absent: those it has already. */
  readonly mcpServers?: readonly McpServerEntry[];
  /** False: the row the id names, not the tip of its compression chain. */
  readonly followTip?: boolean;
}

export interface Sessions {
  /** Children of all sessions (core.md I). */
  readonly delegation: DelegationControl;
  create(options: CreateOptions): Promise<Session>;
  /** The live session, or one restored from the store. Throws `session_not_found`. Racing calls get the same one. */
  open(id: string, options: OpenOptions): Promise<Session>;
  /** Live only. */
  get(id: string): Session | undefined;
  live(): readonly Session[];
  /** Copies up to the last complete message group into a new session. Throws `session_not_found`, `empty_history`. */
  fork(
    sourceId: string,
    options: OpenOptions & { id?: string; title?: string; count?: number; allowEmpty?: boolean },
  ): Promise<Session>;
  /** Removes the stored conversation and closes it when live; false when unknown. */
  delete(id: string): Promise<boolean>;
  /** Cancels and closes all, at most `deadlineMs`. */
  closeAll(reason: string, options?: { deadlineMs?: number }): Promise<void>;
}
