/**
 * What the core needs from the rooms beside it, as interfaces (style §12): models, tools, guard, store, settings.
 * `app/build.ts` plugs the real ones in; tests plug in fakes. Siblings meet here and nowhere else.
 */
import type { ModelFailure } from "./errors.ts";
import type { Content, FileEdit, Message, Usage } from "./messages.ts";
import type { Checkpoint } from "./restore_api.ts";
import type { DelegationStore, Delegator } from "./delegation_api.ts";
import type { Eyes } from "./eyes.ts";
import type { Settings } from "./settings.ts";
import type { Ask, AskAnswer, AskOutcome, AskPayload, SmartVerdict } from "./asks.ts";
import type { Platform } from "@/platform/mod.ts";

// ── Models ──────────────────────────────────────────────────────────────────────────────────────────────────

/** What a session has chosen; absent fields follow the defaults (core.md E.2). */
export interface ModelChoice {
  readonly model?: string;
  readonly provider?: string;
  readonly baseUrl?: string;
  readonly apiMode?: string;
  /** Its place in the failover chain of the configuration: the key of that entry, if it has one, is used. */
  readonly fallback?: number;
  /** The entry of `model_routes` that it comes from: its key, if it has one, is used. */
  readonly route?: string;
  /** It comes from `delegation.*` of the configuration: the key that stands beside its address is used. */
  readonly delegation?: true;
}

/** A model that can be called: credentials were found, nothing was contacted yet. Never holds the key in JSON. */
export interface ResolvedModel {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly apiMode: string;
  /** For people: "Built-in demo (demo)", "OpenRouter". */
  readonly label: string;
  readonly isDemo: boolean;
  /** Tokens; `null` when unknown. */
  readonly contextWindow: number | null;
  readonly supportsVision: boolean;
  /** Efforts the model takes, in order; empty when unknown or none. */
  readonly reasoningEfforts: readonly string[];
  /** Where the choice came from: "session", "environment", "config", "auto", "request". */
  readonly source: string;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

export interface ModelRequest {
  readonly system: string;
  /** Repaired already (core.md A.1): strict providers accept it. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly maxTokens?: number;
  readonly reasoningEffort?: string;
  /** Stable per session, for provider-side caches and logs. */
  readonly sessionId: string;
}

export interface RawToolCall {
  /** As the provider gave it; empty when it gave none. */
  readonly id: string;
  readonly name: string;
  /** As the provider gave it: may be empty, cut or not JSON. */
  readonly arguments: string;
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

export type ModelChunk =
  /** Visible text, think tags already taken out. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** A tool call's name became known; once per call. */
  | { readonly type: "tool_name"; readonly name: string }
  /** Always last when the call succeeded. */
  | {
    readonly type: "done";
    readonly finish: FinishReason;
    readonly toolCalls: readonly RawToolCall[];
    readonly usage: Usage | null;
    readonly reasoningContent?: string;
    readonly reasoningDetails?: readonly unknown[];
  }
  /** Always last when it failed; nothing is thrown. `toolInFlight`: call deltas had begun. */
  | { readonly type: "error"; readonly failure: ModelFailure; readonly toolInFlight: boolean };

/**
 * One model. `stream` yields batches: all that one read of the network gave, so that work is done per read and
 * not per token. It never throws: a failure is an `error` chunk; an abort ends the iteration without a last chunk.
 */
export interface ModelClient {
  readonly info: ResolvedModel;
  stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncIterable<readonly ModelChunk[]>;
}

export interface SwitchResult {
  readonly model: ResolvedModel;
  readonly providerChanged: boolean;
  readonly warning?: string;
  /** The known price is far above the usual: a surface that can ask, asks first (core.md F.4 step 11). */
  readonly confirmRequired?: boolean;
  readonly global: boolean;
}

/** What a call has cost (core.md F.9): a sum of known prices, or honestly unknown. */
export interface ModelCost {
  /** US dollars; `null` when unknown. */
  readonly usd: number | null;
  /** `included`: nothing is charged per call. */
  readonly status: "estimated" | "included" | "unknown";
  readonly source: "provider_models_api" | "official_snapshot" | "none";
}

export interface CatalogRefresh {
  /** Models in the fetched catalogue; `null` when it was not fetched. */
  readonly models: number | null;
  /** Providers whose own lists were read, with their number of models. */
  readonly lists: readonly { readonly provider: string; readonly models: number }[];
  /** What could not be read, for people; the old knowledge stays in force. */
  readonly warnings: readonly string[];
}

export interface Models {
  /**
   * Pure of network; reads settings and environment. Throws `HermesError` `no_provider_configured`,
   * `missing_api_key`, `invalid_provider`, `invalid_model` (core.md F.2), each saying what to do.
   */
  resolve(choice?: ModelChoice): ResolvedModel;
  /** The client of a resolved model; cheap, the network library is loaded at the first call. */
  client(model: ResolvedModel): ModelClient;
  /** `/model` syntax of core.md F.4 (`name`, `provider:model`, `--provider`, `--global`). Changes nothing itself. */
  switchTo(
    argument: string,
    current: ResolvedModel | null,
    options?: { signal?: AbortSignal },
  ): Promise<SwitchResult>;
  /** Ids for pickers without any network wait: `[{provider, model, label}]`, the default first. */
  known(current?: ResolvedModel): readonly { provider: string; model: string; label: string }[];
  /** The `model.options` payload of core.md F.5, wire keys included. */
  options(query: ModelOptionsQuery): Promise<Record<string, unknown>>;
  /** The price of one call; add up calls, do not pass sums (prices depend on the size of a prompt). */
  estimateCost(usage: Usage, model: ResolvedModel): ModelCost;
  /** Fetches the catalogue and the lists of all configured providers; bounded, rejects only with `AbortError`. */
  refreshCatalog(options?: { signal?: AbortSignal }): Promise<CatalogRefresh>;
  /** Local servers that answer (Ollama, LM Studio, llama.cpp, vLLM); 2 s at most each, in parallel. */
  discoverLocal(options?: { signal?: AbortSignal }): Promise<readonly LocalServer[]>;
  /** One tiny real call; used by setup and doctor. */
  probe(model: ResolvedModel, options?: { signal?: AbortSignal }): Promise<{ ok: boolean; message: string }>;
  /** Loads what the first call of this model will need, in the background; never throws. */
  warm(model: ResolvedModel): void;
  /** Environment names that carry provider keys or base URLs; never given to child processes (core.md C.12). */
  secretEnvNames(): readonly string[];
}

export interface ModelOptionsQuery {
  readonly current?: ModelChoice;
  readonly refresh?: boolean;
  readonly includeUnconfigured?: boolean;
  readonly explicitOnly?: boolean;
}

export interface LocalServer {
  readonly kind: "ollama" | "lmstudio" | "llamacpp" | "vllm";
  readonly baseUrl: string;
  readonly models: readonly string[];
}

// ── Tools ───────────────────────────────────────────────────────────────────────────────────────────────────

export interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly items?: JsonSchema;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
  readonly additionalProperties?: boolean | JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
}

/** The tool kinds of ACP, the richest of the three vocabularies. */
export type ToolKind =
  | "read"
  | "edit"
  | "delete"
  | "move"
  | "search"
  | "execute"
  | "think"
  | "fetch"
  | "other";

/** How a call is shown, worked out by the tool itself from its arguments; never throws, whatever they are. */
export interface ToolDescription {
  /** acp.md C11 "Title": `terminal: ls -la`, `read: src/a.ts`. */
  readonly title: string;
  /** At most 80 characters, the main argument: `ls -la`. */
  readonly label: string;
  readonly kind: ToolKind;
  /** Absolute paths; `line` from 1. */
  readonly locations: readonly { readonly path: string; readonly line?: number }[];
  /** Text to show while it starts (acp.md C11 "At start"); empty = nothing. */
  readonly startText: string;
}

/** The frozen before and after of an edit that is asked about (acp.md C7). */
export interface EditProposal {
  readonly toolName: string;
  /** For people; several joined with ", ". */
  readonly path: string;
  readonly oldText: string | null;
  readonly newText: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** Absolute, authoritative, real links unresolved. */
  readonly paths: readonly string[];
  readonly edits: readonly FileEdit[];
}

/** Reading and writing of workspace files; the client's own buffers when an editor offers them. */
export interface FileAccess {
  read(path: string): Promise<Uint8Array>;
  /** `null` when absent. */
  exists(path: string): Promise<boolean>;
  /** Atomic where the backend can; creates parents. */
  write(path: string, data: Uint8Array): Promise<void>;
  remove(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
  /** True where reading may not give at once, or not exactly, what was written (an editor that formats on saving). */
  reshapes?(path: string): Promise<boolean>;
  /** Where foreground commands run when it is not a shell of ours (an editor's terminals); `null` or absent: ours. */
  shell?(): WorkspaceShell | null;
}

/** Runs commands where the workspace's owner wants to see them (acp.md C8.6). */
export interface WorkspaceShell {
  /**
   * Resolves when the command has ended, or was ended for the time or the signal, and what it ran in was given
   * back. Rejects with an `Error` whose text is for the model when it could not be run.
   */
  run(request: ShellRequest): Promise<ShellEnd>;
}

export interface ShellRequest {
  readonly callId: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
  /** Added to the environment that commands have there. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  /** Bytes of output that are wanted back, from its end. */
  readonly outputBytes: number;
  readonly signal: AbortSignal;
}

export interface ShellEnd {
  readonly end: "exited" | "timeout" | "interrupted";
  /** As a shell would show it. */
  readonly code: number;
  readonly output: string;
  /** The beginning of the output is missing. */
  readonly truncated: boolean;
}

/**
 * What lives as long as a session and belongs to a room below (files seen, background processes, todo list).
 * A value with a `dispose()` is disposed when the session closes.
 */
export interface SessionScope {
  readonly sessionId: string;
  state<T extends object>(key: string, create: () => T): T;
}

export interface ToolContext {
  readonly sessionId: string;
  readonly turnId: string;
  readonly callId: string;
  /** Absolute base of relative paths. */
  readonly cwd: string;
  /** `[cwd, …additional directories]`. */
  readonly roots: readonly string[];
  readonly signal: AbortSignal;
  readonly platform: Platform;
  readonly settings: Settings;
  readonly scope: SessionScope;
  readonly files: FileAccess;
  /** Environment for children: provider keys already removed. */
  readonly childEnv: Readonly<Record<string, string>>;
  /** Data home, absolute. */
  readonly home: string;
  /** The edit the user (or the policy) allowed for this call; the tool makes exactly this one or fails. */
  readonly approved: EditProposal | null;
  /** True when the user allowed the exact edit, so sensitive targets are written (decision 18). */
  readonly sensitiveAllowed: boolean;
  /** Children of this turn; absent where none may be started. */
  readonly delegator?: Delegator;
  /** How images are looked at in this turn; absent: not at all. */
  readonly eyes?: Eyes;
  /** Intermediate output; rate-limited by the core. */
  progress(text: string): void;
  /** Asks the human and waits; `null` outcome text rules in core.md C.5. */
  ask(payload: AskPayload): Promise<AskOutcome>;
  /** Secrets out, non-reusable form for file contents (core.md C.9). */
  redact(text: string, mode: RedactMode): string;
}

export interface ToolOutcome {
  /** What the model reads: JSON text by convention. */
  readonly content: Content;
  readonly isError: boolean;
  readonly effect?: "none" | "unknown";
  /** Edits that are on disk now. */
  readonly edits?: readonly FileEdit[];
  /** Exempt from spilling to a file (`read_file`). */
  readonly keepWhole?: boolean;
  /** It did not run because a question of its own (a password) did not end in consent. */
  readonly refused?: "denied" | "timeout" | "unattended" | "cancelled";
}

export interface Tool {
  readonly name: string;
  readonly toolset: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  /** core.md A.7: `safe` any segment, `path` by non-overlapping paths, `never` alone. */
  readonly parallel: "safe" | "path" | "never";
  /** Left out of the list when false. */
  available?(
    context: {
      platform: Platform;
      settings: Settings;
      canClarify: boolean; /** Some model sees images. */
      images?: boolean;
    },
  ): boolean;
  describe(args: Readonly<Record<string, unknown>>, context: { cwd: string }): ToolDescription;
  /** Paths it touches, absolute; for `parallel: "path"`. */
  paths?(args: Readonly<Record<string, unknown>>, context: { cwd: string }): readonly string[];
  /** The shell command the guard must judge. */
  command?(args: Readonly<Record<string, unknown>>): string | null;
  /** The edit it would make now; throws `Error` when it cannot be worked out (text for the model). */
  propose?(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<EditProposal>;
  /** May throw: the core turns it into an error result (core.md A.7). */
  execute(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolOutcome>;
}

// ── Skills ──────────────────────────────────────────────────────────────────────────────────────────────────

export interface SkillSummary {
  readonly name: string;
  readonly description: string;
  /** Folder it is kept in, `/` between levels; empty at the top. */
  readonly category: string;
}

export interface SkillQuery {
  readonly settings: Settings;
  /** Given: skills whose wishes these tools do not meet are left out, and stand-ins for tools that are there. */
  readonly tools?: readonly Pick<Tool, "name" | "toolset">[];
}

/** The skills of the data home and of `skills.external_dirs` (core.md B.11); one object for prompt, tools, commands. */
export interface Skills {
  /** Enabled ones that fit this machine, by category then name; several of one name are all there. Never throws. */
  list(query: SkillQuery): Promise<readonly SkillSummary[]>;
  /** What `/<name> args` sends as the user's message; `null` when no single skill has that name. */
  invocation(
    name: string,
    args: string,
    context: { readonly settings: Settings; readonly sessionId: string; readonly signal: AbortSignal },
  ): Promise<string | null>;
}

// ── Guard ───────────────────────────────────────────────────────────────────────────────────────────────────

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

// ── Store ───────────────────────────────────────────────────────────────────────────────────────────────────

/** What a session keeps beside its columns (`model_config` of core.md D.3). */
export interface SessionConfig {
  readonly model?: string;
  readonly provider?: string;
  readonly baseUrl?: string;
  readonly apiMode?: string;
  readonly reasoningEffort?: string;
  readonly serviceTier?: string;
  readonly mode?: string;
  readonly additionalDirectories?: readonly string[];
  readonly branchedFrom?: string;
  readonly delegateFrom?: string;
  /** API: hash of the system text and the like that opened a derived chat session. */
  readonly fingerprint?: string;
}

export interface SessionRow {
  readonly id: string;
  readonly source: string;
  readonly parentId: string | null;
  /** Unix seconds, fractions allowed. */
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly endReason: string | null;
  readonly title: string | null;
  readonly config: SessionConfig;
  readonly systemPrompt: string | null;
  readonly cwd: string | null;
  readonly messageCount: number;
  readonly toolCallCount: number;
  readonly apiCallCount: number;
  readonly usage: Usage;
  readonly lastActivityAt: number;
  readonly sessionKey: string | null;
}

export interface NewSessionRow {
  readonly id: string;
  readonly source: string;
  readonly parentId?: string | null;
  readonly cwd: string | null;
  readonly config: SessionConfig;
  readonly title?: string | null;
  readonly systemPrompt?: string | null;
  readonly sessionKey?: string | null;
  readonly startedAt?: number;
}

export interface SessionPatch {
  readonly cwd?: string;
  readonly config?: SessionConfig;
  readonly systemPrompt?: string | null;
  readonly lastActivityAt?: number;
}

/** A list row: a compressed conversation is one row, projected onto its tip (core.md D.6). */
export interface SessionSummary {
  readonly id: string;
  /** First id of the compression chain; equals `id` when never compressed. */
  readonly rootId: string;
  readonly source: string;
  readonly title: string | null;
  /** First text of the user, one line, at most 60 characters. */
  readonly preview: string;
  readonly cwd: string | null;
  readonly startedAt: number;
  readonly lastActivityAt: number;
  readonly messageCount: number;
  readonly model: string | null;
}

export interface SessionQuery {
  readonly limit: number;
  readonly sources?: readonly string[];
  readonly excludeSources?: readonly string[];
  /** Only rows older than this position, in the order of the list. */
  readonly before?: { readonly lastActivityAt: number; readonly id: string };
  /** Only sessions with at least one message. Default true. */
  readonly withMessages?: boolean;
  /** Called once per distinct stored directory; false leaves its sessions out. Much cheaper than `filter`. */
  readonly cwd?: (cwd: string | null) => boolean;
  /** Called per row; false leaves it out. */
  readonly filter?: (row: SessionSummary) => boolean;
}

/** What budgets count. Tokens are all of a call: prompt and output. */
export interface UsageTotals {
  readonly modelCalls: number;
  readonly tokens: number;
  /** Calls without a known price count as nothing. */
  readonly usd: number;
  /** Wall time of turns. */
  readonly seconds: number;
}

/** What one call adds beside its tokens. */
export interface UsageCost {
  /** The local day it counts for: `2026-01-31`; `null` when another session has counted it there already. */
  readonly day: string | null;
  /** `null` when the price is unknown. */
  readonly usd: number | null;
  readonly seconds: number;
}

export interface SearchHit {
  readonly messageId: number;
  readonly sessionId: string;
  readonly role: string;
  /** The match stands between `>>>` and `<<<`. */
  readonly snippet: string;
  readonly title: string | null;
  readonly startedAt: number;
}

export interface SessionStore {
  createSession(row: NewSessionRow): Promise<SessionRow>;
  getSession(id: string): SessionRow | null;
  updateSession(id: string, patch: SessionPatch): Promise<void>;
  /** The first end reason wins. */
  endSession(id: string, reason: string): Promise<void>;
  reopenSession(id: string): Promise<void>;
  /** The whole compression chain and its delegates; false when unknown. */
  deleteSession(id: string): Promise<boolean>;
  listSessions(query: SessionQuery): SessionSummary[];

  /** Rows in order, row ids back in the same order, one transaction. */
  appendMessages(sessionId: string, messages: readonly Message[], usage?: Usage): Promise<number[]>;
  /** Replaces the content of one row (steer text joins the last tool result). */
  updateContent(rowId: number, content: Content): Promise<void>;
  /** Active rows of one session; unanswered calls are left as stored. */
  loadMessages(sessionId: string): Message[];
  /** Active rows over the compression chain, oldest ancestor first. */
  loadLineage(sessionId: string): Message[];
  /** One answered model call; `cost` also counts towards the totals that budgets are held against. */
  addUsage(
    sessionId: string,
    usage: Usage,
    model: { model: string; provider: string },
    cost?: UsageCost,
  ): Promise<void>;
  /** Totals of the conversation (over its compression chain) and of a local day (`2026-01-31`). */
  usageTotals(sessionId: string, day: string): { session: UsageTotals; day: UsageTotals };
  /** `active = 0` for the row and all later ones; the number of rows. */
  deactivateFrom(sessionId: string, rowId: number): Promise<number>;
  /** Keeps rows before `rowId` (0 = none) as new rows in one transaction; new ids by old id. */
  truncateBefore(sessionId: string, rowId: number): Promise<Map<number, number>>;
  clearMessages(sessionId: string): Promise<void>;
  /** Copies the active rows into a new session in one transaction. */
  branch(sourceId: string, row: NewSessionRow, options?: { count?: number }): Promise<SessionRow>;
  /** Ends `id` with `compression`, inserts the child and its messages, moves the title: one transaction. */
  rotate(id: string, child: NewSessionRow, messages: readonly Message[]): Promise<SessionRow>;
  /** Replaces the conversation of `id` in one transaction; the old rows stay, inactive and searchable. */
  compactInPlace(id: string, messages: readonly Message[]): Promise<void>;
  /** Takes or renews the right to compress a session; false while another holder has it. */
  lockCompression(id: string, holder: string, seconds: number): Promise<boolean>;
  unlockCompression(id: string, holder: string): Promise<void>;

  /** `null` clears. Throws `invalid_title`, `title_taken`. Returns the stored title. */
  setTitle(id: string, title: string | null): Promise<string | null>;
  /** The next free `base #N`. */
  nextTitle(base: string): string;
  /** Exact title, followed to its tip. */
  findByTitle(title: string): SessionRow | null;
  findByPrefix(prefix: string): SessionRow[];
  /** The live end of a compression chain (core.md D.6). */
  tipOf(id: string): SessionRow | null;
  ancestors(
    id: string,
  ): { rows: SessionRow[]; status: "ok" | "broken" | "cycle" | "too_deep"; brokenAt?: string };
  search(
    query: string,
    options?: { limit?: number; offset?: number; sources?: readonly string[] },
  ): SearchHit[];

  /** Small key–value facts of the program. */
  getMeta(key: string): string | null;
  setMeta(key: string, value: string): Promise<void>;
  /** Integrity check for `doctor`: `ok` or what is wrong. */
  check(): string;
  close(): void;
}

// ── What the HTTP API keeps beside the conversations ───────────────────────────────────────────────────────

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

// ── What is kept of what happened ───────────────────────────────────────────────────────────────────────────

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
}

/** The whole database. */
export interface Store extends SessionStore {
  readonly delegations: DelegationStore;
  readonly callbacks: RunCallbacks;
  readonly owners: SessionOwners;
  readonly audit: AuditStore;
  readonly snapshots: SnapshotStore;
  readonly runs: RunStore;
  readonly responses: ResponseStore;
}

// ── Asks, re-exported for the rooms that implement the ports ────────────────────────────────────────────────
export type { Ask, AskAnswer, AskOutcome, AskPayload, SmartVerdict };

// ── Configuration ───────────────────────────────────────────────────────────────────────────────────────────

export interface ConfigService {
  /** Data home, absolute (`HERMES_HOME`, else `~/.hermes`). */
  readonly home: string;
  readonly path: string;
  readonly envPath: string;
  /** Effective settings; re-read when the file changed. A broken file gives the last good ones plus a warning. */
  settings(): Settings;
  /** What is wrong with the files, for people. */
  warnings(): readonly string[];
  /** Environment value: process environment, then HOME `.env`; empty counts as unset. */
  env(name: string): string | undefined;
  /** Names set in the process environment or `.env`. */
  envNames(): readonly string[];
  /** Re-reads `.env`; the number of values that changed. */
  reloadEnv(): number;
  /** Values of keys, tokens and passwords that are configured anywhere; for redaction, never for display. */
  knownSecrets(): readonly string[];
  /** Effective value of a dotted key, secrets masked. Throws `config_unknown_key`. */
  get(key: string): unknown;
  /** `config set` of core.md E.3: coercion, secrets to `.env`, comments kept. Throws, and then nothing was written. */
  set(key: string, text: string): Promise<{ key: string; shown: string; file: string }>;
  /** Typed write of one value at a path; comments and order kept. `undefined` removes. */
  write(path: readonly (string | number)[], value: unknown): Promise<void>;
  /** Appends to a list unless it is there. */
  append(path: readonly (string | number)[], value: string): Promise<void>;
  setEnv(name: string, value: string): Promise<void>;
  /** The user's own file, secrets masked. */
  shown(): Record<string, unknown>;
  /** JSON Schema of the file. */
  schema(): Record<string, unknown>;
  /** Writes a commented starter file when there is none; true if it did. */
  init(): Promise<boolean>;
  /** Imports `config.yaml` once when there is no `config.jsonc`; true if it did. Throws `config_invalid`. */
  importLegacy(): Promise<boolean>;
}

// ── Log ─────────────────────────────────────────────────────────────────────────────────────────────────────

export interface Logger {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}
