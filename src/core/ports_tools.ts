/**
 * What a tool is to the core: its schema, how a call of it is shown, what it is given and what it answers (core.md B.1).
 * `tools/` and `mcp/` implement it.
 */
import type { Platform } from "@/platform/mod.ts";
import type { AskOutcome, AskPayload } from "./asks.ts";
import type { Delegator } from "./delegation_api.ts";
import type { Eyes } from "./eyes.ts";
import type { FitImage } from "./image_fitting.ts";
import type { Content, FileEdit } from "./messages.ts";
import type { FileAccess } from "./ports_files.ts";
import type { RedactMode } from "./ports_guard.ts";
import type { SampleAnswer, SampleRequest } from "./sampler.ts";
import type { Settings } from "./settings.ts";

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
  /** What it has done when it ends well, in a few words: `Extracted 3 pages`; absent: nothing worth saying. */
  readonly done?: string;
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
  /** Where the paths of `edits` led when this was proposed, links followed, in their order. */
  readonly reals?: readonly string[];
}

/**
 * What lives as long as a session and belongs to a room below (files seen, background processes, todo list).
 * A value with a `dispose()` is disposed when the session closes.
 */
export interface SessionScope {
  readonly sessionId: string;
  state<T extends object>(key: string, create: () => T): T;
  /** The model is to hear of this: in the turn that runs, else with the next one. Absent: nobody listens. */
  tell?(notice: SessionNotice): void;
}

/** Something that happened beside the calls of the model (a background process has ended). */
export interface SessionNotice {
  /** `displayKind` of its row. */
  readonly kind: string;
  /** For the model; secrets out. */
  readonly text: string;
  /** Comes along with a turn, but is no reason to start one (a person has done it). */
  readonly quiet?: boolean;
  /** True once the model has learned of it in another way: then it is not told. */
  isKnown?(): boolean;
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
  /** What the guard has judged, asked about or not: a path that leads elsewhere by now is not written. */
  readonly reviewed?: EditProposal;
  /** True when the user allowed the exact edit, so sensitive targets are written (decision 18). */
  readonly sensitiveAllowed: boolean;
  /** Children of this turn; absent where none may be started. */
  readonly delegator?: Delegator;
  /** How images are looked at in this turn; absent: not at all. */
  readonly eyes?: Eyes;
  /** Makes an image smaller that is larger than models take; absent: such images are refused. */
  readonly fitImage?: FitImage;
  /** False where nothing that happens after the turn is told to the model; absent: it is. */
  readonly hearsLater?: boolean;
  /** Intermediate output; rate-limited by the core. */
  progress(text: string): void;
  /** Asks the human and waits; `null` outcome text rules in core.md C.5. */
  ask(payload: AskPayload): Promise<AskOutcome>;
  /** The model, for a server that wants it (core.md G.1 `sampling`); rejects with an `Error` that says why not. */
  sample?(request: SampleRequest): Promise<SampleAnswer>;
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
  /** Where that command would run by now, absolute; absent: in the session's directory. */
  place?(
    args: Readonly<Record<string, unknown>>,
    context: { readonly cwd: string; readonly scope: SessionScope; readonly platform: Platform },
  ): string;
  /**
   * Seconds that this call may take by a limit of its own, which holds also where nothing is heard of it for longer
   * than `agent.gateway_timeout`; absent or 0: it has none.
   */
  limitSeconds?(args: Readonly<Record<string, unknown>>, settings: Settings): number;
  /** The edit it would make now; throws `Error` when it cannot be worked out (text for the model). */
  propose?(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<EditProposal>;
  /** May throw: the core turns it into an error result (core.md A.7). */
  execute(args: Readonly<Record<string, unknown>>, context: ToolContext): Promise<ToolOutcome>;
}

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

/** A skill that a place has: a folder, or the address of a `SKILL.md` or of an index of skills. */
export interface SkillOffer extends SkillSummary {
  /** What names it alone. */
  readonly source: string;
}

/** One of them, looked at before it is installed. */
export interface SeenOffer extends SkillOffer {
  /** Paths from the skill's folder. */
  readonly files: readonly string[];
  /** Its `SKILL.md`, the beginning of a long one. */
  readonly content: string;
}

export interface SkillPlaceQuery {
  readonly settings: Settings;
  readonly signal: AbortSignal;
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
  /** What a place has; `null` when the text names none. Throws `HermesError` `invalid_argument`. */
  offers(place: string, query: SkillPlaceQuery): Promise<readonly SkillOffer[] | null>;
  /** The one skill of a place. Throws as `offers`. */
  look(place: string, query: SkillPlaceQuery): Promise<SeenOffer>;
  /** Puts one into the data home, by its place or by its name in an external folder. Throws as `offers`. */
  install(source: string, query: SkillPlaceQuery): Promise<{ readonly name: string; readonly path: string }>;
}
