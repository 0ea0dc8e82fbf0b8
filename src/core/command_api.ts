/**
 * Slash commands as the doors see them: one registry in `commands/`, from which catalogue, completion, help and
 * the ACP list derive (core.md H).
 */
import type { Message } from "./messages.ts";
import type { Session } from "./session_api.ts";

export type Surface = "acp" | "gateway" | "cli";

/** What a slash command answers; each door shows it in its own way. */
export type CommandResult =
  | {
    readonly type: "text";
    readonly text: string;
    readonly isError?: boolean;
    /** A session the command has opened beside the present one; the host may switch to it. */
    readonly opened?: OpenedSession;
  }
  /** To be submitted as the user's next prompt. */
  | { readonly type: "send"; readonly message: string; readonly notice?: string }
  /** To be put into the composer. */
  | { readonly type: "prefill"; readonly message: string; readonly notice?: string };

export interface OpenedSession {
  /** As the surface addresses live sessions. */
  readonly sessionId: string;
  readonly storedId: string;
  readonly title: string | null;
}

export interface StoredSession {
  readonly id: string;
  readonly title: string | null;
  readonly preview: string;
  readonly lastActivityAt: number;
}

/** A change that waits for the user's word (`memory.write_approval`, `skills.write_approval`). */
export interface PendingWrite {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  /** One line. */
  readonly summary: string;
}

export interface PendingWrites {
  /** Oldest first. */
  list(kind: "memory" | "skill"): Promise<readonly PendingWrite[]>;
  /** Makes the change; what was done. Throws `HermesError`, and then it still waits. */
  approve(id: string): Promise<string>;
  /** False when there is none of that id. */
  reject(id: string): Promise<boolean>;
}

/** What the user asks of a compression. */
export interface CompressionWish {
  readonly focus?: string;
  /** So many last turns stay as they are, and no more. */
  readonly keepTurns?: number;
  /** Only told, not done. */
  readonly preview: boolean;
}

/** What a surface can do around the session a command was typed in. Every call throws like `Commands.run`. */
export interface CommandHost {
  create(title: string): Promise<OpenedSession>;
  branch(title: string): Promise<OpenedSession>;
  /** By stored id or exact title. */
  resume(name: string): Promise<OpenedSession>;
  /** The latest first, at most `limit`. */
  stored(limit: number): readonly StoredSession[];
  /** Summarises now and shows it, or tells what that would do; the text for the user. */
  compress(wish: CompressionWish): Promise<string>;
  /** The whole conversation, what was compressed away with it. */
  transcript(): Promise<readonly Message[]>;
  /** Starts a detached agent; its id. */
  background(prompt: string): Promise<string>;
  /** Writes the conversation to a file; its path. */
  save(): Promise<string>;
  /** Ends the background processes of the session; how many ran. */
  stopProcesses(): Promise<number>;
  /** Ends and starts the MCP servers; the text for the user, which may be a question. */
  reloadMcp(wish: { readonly confirmed: boolean; readonly always: boolean }): Promise<string>;
  skills(): Promise<readonly { readonly name: string; readonly description: string }[]>;
  /** Finds, shows or installs skills; the text for the user. */
  manageSkills(action: "search" | "browse" | "inspect" | "install", query: string): Promise<string>;
  /** Looks for them again and tells everybody; what is new and what is gone. */
  reloadSkills(): Promise<string>;
  /** What works beside the conversation: subagents and background processes, one line each. */
  atWork(): readonly string[];
  /** Takes toolsets away from the next turn on, or gives them back; the text for the user. */
  configureTools(action: "enable" | "disable", names: readonly string[]): Promise<string>;
  /** Changes a setting as the surface's own setting call does; the value in force. */
  setting(key: string, value: string): Promise<string>;
}

export interface CommandInfo {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly description: string;
  /** `[name]`, `<text>`; empty when it takes nothing. */
  readonly argsHint: string;
  /** For completion, where the hint does not list the words an argument may begin with. */
  readonly firstWords?: readonly string[];
  readonly category: string;
  readonly surfaces: readonly Surface[];
  /** Refused while a turn runs. */
  readonly needsIdle: boolean;
  /** Takes back what was said, or leaves it: front ends ask first (`approvals.destructive_slash_confirm`). */
  readonly destructive?: boolean;
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
    context: { session: Session; surface: Surface; signal?: AbortSignal; host?: CommandHost },
  ): Promise<CommandResult>;
}
