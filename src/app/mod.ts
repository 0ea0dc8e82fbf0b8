/**
 * The facade is a record, not a class (style §13): each field a service of a room. Doors take a `Hermes` and
 * nothing else. `buildHermes` in `build.ts` is the only constructor.
 */
import type {
  Commands,
  ConfigService,
  Guard,
  Logger,
  Models,
  RedactMode,
  Session,
  Sessions,
  SessionStore,
  Settings,
  Tool,
} from "@/core/mod.ts";
import type { Platform } from "@/platform/mod.ts";

export interface Hermes {
  /** Our own semver, from `deno.json`. */
  readonly version: string;
  readonly platform: Platform;
  /** Data home, absolute. */
  readonly home: string;
  readonly log: Logger;
  readonly config: ConfigService;
  readonly models: Models;
  readonly sessions: Sessions;
  readonly commands: Commands;
  readonly tools: readonly Tool[];
  /** For what a door runs on the user's word (`shell.exec`); turns are guarded by the core. */
  readonly guard: Guard;
  /** Environment of such children: keys of providers and services are taken out (core.md C.12). */
  childEnv(): Record<string, string>;
  /** Ends the background processes of a session; how many ran. */
  stopProcesses(session: Session): Promise<number>;
  settings(): Settings;
  /** Opened at first use. Throws `store_newer`, `store_failed`. */
  store(): SessionStore;
  redact(text: string, mode?: RedactMode): string;
  /** Cancels turns, ends processes, closes the store; at most `deadlineMs` (default 2000). */
  shutdown(reason: string, options?: { deadlineMs?: number }): Promise<void>;
}

/** Choices of the command line that outrank everything (core.md D2). */
export interface HermesOptions {
  readonly model?: string;
  readonly provider?: string;
  /** `--demo`: the same as `--model builtin:demo`. */
  readonly demo?: boolean;
  readonly yolo?: boolean;
  /** `hermes.db`, or `:memory:` for tests. */
  readonly storePath?: string;
  /** Toolsets of the surface: `acp`, `tui`, `api_server`, `cli`. */
  readonly surface: string;
}
