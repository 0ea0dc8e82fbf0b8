/**
 * The facade is a record, not a class (style §13): each field a service of a room. Doors take a `Hermes` and
 * nothing else. `buildHermes` in `build.ts` is the only constructor.
 */
import type {
  BrowserDriver,
  Commands,
  ConfigService,
  FileAccess,
  FileHistory,
  Guard,
  Logger,
  McpServerStatus,
  Models,
  RedactMode,
  Session,
  Sessions,
  Settings,
  Skills,
  Store,
  Tool,
} from "@/core/contract.ts";
import type { StreamRedactor } from "@/lib/stream_redact.ts";
import type { LoginOptions, LoginResult } from "@/mcp/mod.ts";
import type { Platform } from "@/platform/mod.ts";

export type { FileHistory, FileRestore } from "@/core/contract.ts";

/** What can be had at once: settings, credentials, log. Enough for the first answer of a door. */
export interface HermesBase {
  /** Our own semver, from `deno.json`. */
  readonly version: string;
  readonly platform: Platform;
  /** Data home, absolute. */
  readonly home: string;
  readonly log: Logger;
  readonly config: ConfigService;
  readonly models: Models;
  settings(): Settings;
  redact(text: string, mode?: RedactMode): string;
  /** The same for a text that is shown while it comes; one for each text. */
  redactStream(): StreamRedactor;
  /** From now on this value is taken out of every text; the function that comes back ends that. */
  keepSecret(value: string): () => void;
  /** Resolves when the log lines of so far are in their files; `shutdown` waits for it. */
  logWritten?(): Promise<void>;
  /** `--record`: ends the file in good order; `shutdown` does it. */
  closeRecording?(): Promise<void>;
}

/** The base and the way to the rest, which is loaded while the client reads the first answer. */
export interface HermesStart extends HermesBase {
  /** Loads sessions and store: enough for a new session. The rooms behind `ready()` may still be missing. */
  open(): Promise<Hermes>;
  /** The whole program; later calls get the same record. */
  load(): Promise<Hermes>;
}

/**
 * The program. `commands`, `tools`, `skills`, `guard`, `fileHistory` and the processes may be used once `isReady`; whoever
 * has it from `load()` need not ask.
 */
export interface Hermes extends HermesBase {
  readonly isReady: boolean;
  /** Loads what is missing; turns wait for it by themselves. */
  ready(): Promise<void>;
  readonly sessions: Sessions;
  readonly commands: Commands;
  readonly tools: readonly Tool[];
  /** How calls of a built-in tool look (acp.md C11); `undefined` for any other name. There from the start. */
  cardOf(name: string): Tool["describe"] | undefined;
  readonly skills: Skills;
  /** Makes the tools of a browser that a door reaches, without those that the settings take from this surface. */
  browserTools(): Promise<(driver: BrowserDriver) => readonly Tool[]>;
  /** Files of this machine, as sessions write them. */
  readonly disk: FileAccess;
  /** For what a door runs on the user's word (`shell.exec`); turns are guarded by the core. */
  readonly guard: Guard;
  /** MCP servers of the configuration; a session's own hang on the session. */
  readonly mcp: McpControl;
  /** Contents of files before turns changed them. */
  readonly fileHistory: FileHistory;
  /** Why a file must not be shown to a model (core.md C.8), or `null`; `path` is absolute. */
  refuseRead(path: string): Promise<string | null>;
  /** Environment of such children: keys of providers and services are taken out (core.md C.12). */
  childEnv(): Record<string, string>;
  /** Ends the background processes of a session; how many ran. */
  stopProcesses(session: Session): Promise<number>;
  processes(session: Session): ProcessControl;
  /** Opened at first use. Throws `store_newer`, `store_failed`. */
  store(): Store;
  /** Cancels turns, ends processes, closes the store; at most `deadlineMs` (default 2000). */
  shutdown(reason: string, options?: { deadlineMs?: number }): Promise<void>;
}

/** The background processes of one session (core.md B.4). */
export interface ProcessControl {
  /** As the `process` tool lists them, commands redacted. */
  list(): readonly Record<string, unknown>[];
  /** False when there is none of that id. */
  kill(id: string): Promise<boolean>;
  /** The same entry once it has ended, at the latest when the session closes; `null` when there is none of that id. */
  ended(id: string): Promise<Record<string, unknown> | null>;
}

/** The configured MCP servers as a whole (core.md G.4). */
export interface McpControl {
  /** Starts those of a surface now instead of with its first session. */
  start(surface: string): Promise<void>;
  status(): Promise<readonly McpServerStatus[]>;
  /** Ends all connections, also of sessions, reads the configuration again and starts anew; at most about 6 s. */
  reload(): Promise<void>;
  /** Starts one server for this alone and ends it again; `null` when there is none of that name. */
  test(
    name: string,
    timeoutMs: number,
  ): Promise<
    { readonly status: McpServerStatus; readonly tools: readonly Tool[]; readonly ms: number } | null
  >;
  /** A person logs in at a server (core.md G.3); `null` when there is none of that name. Throws why nobody did. */
  login(name: string, options: LoginOptions): Promise<LoginResult | null>;
  /** Forgets a login; false = there was none, `null` = no such server. */
  logout(name: string): Promise<boolean | null>;
}

/** Choices of the command line that outrank everything (core.md D2). */
export interface HermesOptions {
  readonly model?: string;
  readonly provider?: string;
  /** `--demo`: the same as `--model builtin:demo`. */
  readonly demo?: boolean;
  readonly yolo?: boolean;
  /** `--record`: what models answer is written to this file (absolute, there already, ours). */
  readonly record?: string;
  /** `hermes.db`, or `:memory:` for tests. */
  readonly storePath?: string;
  /** How log lines look on stderr; default `text`. */
  readonly logFormat?: "text" | "json";
  /** Toolsets of the surface: `acp`, `tui`, `api_server`, `cli`. */
  readonly surface: string;
}
