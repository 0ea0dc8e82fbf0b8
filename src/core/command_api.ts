/**
 * Slash commands as the doors see them: one registry in `commands/`, from which catalogue, completion, help and
 * the ACP list derive (core.md H).
 */
import type { Session } from "./session_api.ts";

export type Surface = "acp" | "gateway" | "cli";

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
  readonly surfaces: readonly Surface[];
  /** Refused while a turn runs. */
  readonly needsIdle: boolean;
}

export interface Commands {
  /** In catalogue order, those of one surface. */
  list(surface: Surface): readonly CommandInfo[];
  /** By name or alias, any case, slash optional; null when the surface does not know it. */
  find(name: string, surface: Surface): CommandInfo | null;
  /** Throws `HermesError` (`session_busy`, `invalid_argument`, …) and then nothing has changed. */
  run(
    name: string,
    args: string,
    context: { session: Session; surface: Surface; signal?: AbortSignal },
  ): Promise<CommandResult>;
}
