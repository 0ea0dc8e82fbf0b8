/**
 * What the core needs of the database: the rows of conversations (core.md D). `store/` implements it; what the HTTP
 * API and the audit trail keep there is apart.
 */
import type { DelegationStore } from "./delegation_api.ts";
import type { Content, Message, Usage } from "./messages.ts";
import type { ModelCost } from "./ports_models.ts";
import type { ResponseStore, RunCallbacks, RunStore, SessionOwners } from "./ports_api_store.ts";
import type { ImportedSession, SessionPruning } from "./ports_pruning.ts";
import type { AuditStore, SnapshotStore } from "./ports_records.ts";

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
  /** Unix seconds until which the conversation is not compressed by itself after a failure (core.md A.16). */
  readonly compressionRestsUntil?: number;
  /** What that failure was, for people; without secrets. */
  readonly compressionError?: string;
  /** Compressions in a row without a model's summary. */
  readonly compressionFallbacks?: number;
  /** API: hash of the system text and the like that opened a derived chat session. */
  readonly fingerprint?: string;
}

/** What git says about a session's directory; both are null outside a repository. */
export interface GitPlace {
  /** Name of the branch, or twelve digits of a detached commit. */
  readonly branch: string | null;
  /** The directory with `.git`. */
  readonly root: string | null;
}

/** Who is paid for the calls of a session, as of its first accounted one (core.md D.3). */
export interface Billing {
  readonly provider: string | null;
  readonly baseUrl: string | null;
  /** `included`: nothing is charged per call; `metered`: by known prices; `unknown`: by prices that are not known. */
  readonly mode: "included" | "metered" | "unknown" | null;
}

/**
 * Where the rows of one write stand in their turn: its first, which need the conversation to be nobody else's and take
 * it, ones between, its last, which give it back, or all of it at once.
 */
export type TurnStep = "begin" | "go_on" | "end" | "alone";

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
  /** Of `cwd`, when the session's prompt was made. */
  readonly git: GitPlace;
  readonly messageCount: number;
  readonly toolCallCount: number;
  readonly apiCallCount: number;
  readonly usage: Usage;
  /** Of its own calls; `null` when there were none that were counted. `usd` is null when a price is unknown. */
  readonly cost: ModelCost | null;
  readonly billing: Billing;
  readonly lastActivityAt: number;
  readonly sessionKey: string | null;
}

export interface NewSessionRow {
  readonly id: string;
  readonly source: string;
  readonly parentId?: string | null;
  readonly cwd: string | null;
  readonly git?: GitPlace;
  readonly config: SessionConfig;
  readonly title?: string | null;
  readonly systemPrompt?: string | null;
  readonly sessionKey?: string | null;
  readonly startedAt?: number;
}

export interface SessionPatch {
  /** Without `git`, what was known of the last directory's repository is forgotten. */
  readonly cwd?: string;
  readonly git?: GitPlace;
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
  /** The same, at most 80 characters (acp.md C3). */
  readonly firstText: string;
  readonly cwd: string | null;
  readonly startedAt: number;
  readonly lastActivityAt: number;
  readonly messageCount: number;
  readonly model: string | null;
  readonly pinned: boolean;
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
  /** Absent: estimated where there is a sum, else unknown. */
  readonly status?: ModelCost["status"];
  readonly source?: ModelCost["source"];
  readonly version?: string;
}

/** The model of a counted call. */
export interface CountedModel {
  readonly model: string;
  readonly provider: string;
  readonly baseUrl?: string;
}

/** One answered model call, as it is counted. */
export interface CountedCall {
  readonly usage: Usage;
  readonly model: CountedModel;
  /** Absent: it counts for no budget. */
  readonly cost?: UsageCost;
}

export interface SearchHit {
  readonly messageId: number;
  readonly sessionId: string;
  readonly role: string;
  /** The match stands between `>>>` and `<<<`. */
  readonly snippet: string;
  readonly title: string | null;
  readonly startedAt: number;
  /** With `around`: its neighbours in its session, cut to 200 characters; `null` where there is none. */
  readonly before?: SearchNeighbour | null;
  readonly after?: SearchNeighbour | null;
}

export interface SearchNeighbour {
  readonly role: string;
  readonly text: string;
}

export interface SessionStore {
  /**
   * The title as it is stored. Throws `session_exists`; when the database stays locked `store_locked`, after half a
   * second where it is urgent.
   */
  createSession(row: NewSessionRow, isUrgent?: boolean): Promise<string | null>;
  getSession(id: string): SessionRow | null;
  updateSession(id: string, patch: SessionPatch): Promise<void>;
  /** The first end reason wins. */
  endSession(id: string, reason: string): Promise<void>;
  reopenSession(id: string): Promise<void>;
  /** The whole compression chain and its delegates; false when unknown. */
  deleteSession(id: string): Promise<boolean>;
  listSessions(query: SessionQuery): SessionSummary[];

  /**
   * Rows in order and the calls that they came from, row ids back in the same order, one transaction. With a step of a
   * turn it throws `session_busy`, and has written nothing, where another program runs one in the conversation, and
   * (`data.moved`) where the newest row is not `after` or the conversation goes on in another session.
   */
  appendMessages(
    sessionId: string,
    messages: readonly Message[],
    calls?: readonly CountedCall[],
    step?: TurnStep,
    after?: number,
  ): Promise<number[]>;
  /** Throws `session_busy` while another program runs a turn in the conversation; a look, nothing is taken. */
  requireFree(sessionId: string): void;
  /** Replaces the content of one row (steer text joins the last tool result). */
  updateContent(rowId: number, content: Content): Promise<void>;
  /** Active rows of one session; unanswered calls are left as stored. */
  loadMessages(sessionId: string): Message[];
  /** Active rows over the compression chain, oldest ancestor first. */
  loadLineage(sessionId: string): Message[];
  /** As `loadMessages`, a slice at a time: others are served while a long conversation is read. */
  fetchMessages(sessionId: string): Promise<Message[]>;
  /** As `loadLineage`, likewise. */
  fetchLineage(sessionId: string): Promise<Message[]>;
  /**
   * One answered model call; `cost` also counts towards the totals that budgets are held against. `null`: a call of no
   * session, which counts for the day alone.
   */
  addUsage(
    sessionId: string | null,
    usage: Usage,
    model: CountedModel,
    cost?: UsageCost,
  ): Promise<void>;
  /** Totals of the conversation (over its compression chain) and of a local day (`2026-01-31`). */
  usageTotals(sessionId: string, day: string): { session: UsageTotals; day: UsageTotals };
  /** Of the conversation, over its compressions; false when it was so before. Throws `session_not_found`. */
  setPinned(id: string, pinned: boolean): Promise<boolean>;
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

  /** `null` clears; `by` is who chose it. Throws `invalid_title`, `title_taken`. Returns the stored title. */
  setTitle(id: string, title: string | null, by?: "user" | "llm"): Promise<string | null>;
  /** The next free `base #N`. */
  nextTitle(base: string): string;
  /** Exact title, followed to its tip. */
  findByTitle(title: string): SessionRow | null;
  findByPrefix(prefix: string): SessionRow[];
  /** The live end of a compression chain (core.md D.6), also of one whose row `id` somebody has deleted. */
  tipOf(id: string): SessionRow | null;
  /** Where a resume of `id` goes on: its tip, or the deepest descendant with messages of one that has none. */
  resumedFrom(id: string): SessionRow | null;
  ancestors(
    id: string,
  ): { rows: SessionRow[]; status: "ok" | "broken" | "cycle" | "too_deep"; brokenAt?: string };
  search(
    query: string,
    options?: {
      limit?: number;
      offset?: number;
      sources?: readonly string[];
      roles?: readonly string[];
      sort?: "newest" | "oldest";
      /** With the messages before and after each match. */
      around?: boolean;
    },
  ): SearchHit[];

  /** Small key–value facts of the program. */
  getMeta(key: string): string | null;
  setMeta(key: string, value: string): Promise<void>;
  /** Removes what is old. */
  pruning(): Promise<SessionPruning>;
  /** False when a session of that id is here already. Throws `invalid_title`. */
  importSession(session: ImportedSession): Promise<boolean>;
  /** Integrity check for `doctor`: `ok` or what is wrong. */
  check(): string;
  close(): void;
}

/** The whole database. */
export interface Store extends SessionStore {
  /** Resolves when no process of ours has the database open: what is closed then is one whole file. */
  settled(): Promise<void>;
  readonly delegations: DelegationStore;
  readonly callbacks: RunCallbacks;
  readonly owners: SessionOwners;
  readonly audit: AuditStore;
  readonly snapshots: SnapshotStore;
  readonly runs: RunStore;
  readonly responses: ResponseStore;
}
