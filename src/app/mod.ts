/**
 * The facade is a record, not a class (style §13): each field a service of a room. Doors take a `Hermes` and
 * nothing else. `buildHermes` in `build.ts` is the only constructor.
 */
import type {
  ConfigService,
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

/** What a slash command answers; each door shows it in its own way. */
export type CommandResult =
  | { readonly type: "text"; readonly text: string; readonly isError?: boolean }
  /** To be submitted as the user's next prompt. */
  | { readonly type: "send"; readonly message: string; readonly notice?: string }
  /** To be put into the composer. */
  | { readonly type: "prefill"; readonly message: string; readonly notice?: string };

export interface CommandInfo {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  /** `[name]`, `<text>`; empty when it takes nothing. */
  readonly argsHint: string;
  readonly category: string;
  readonly surfaces: readonly ("acp" | "gateway" | "cli")[];
  /** Refused while a turn runs. */
  readonly needsIdle: boolean;
}

export interface Commands {
  /** In catalogue order, those of one surface. */
  list(surface: "acp" | "gateway" | "cli"): readonly CommandInfo[];
  /** By name or alias, any case, slash optional; null when the surface does not know it. */
  find(name: string, surface: "acp" | "gateway" | "cli"): CommandInfo | null;
  /** Throws `HermesError` (`session_busy`, `invalid_argument`, …) and then nothing has changed. */
  run(
    name: string,
    args: string,
    context: { session: Session; surface: "acp" | "gateway" | "cli"; signal?: AbortSignal },
  ): Promise<CommandResult>;
}

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
