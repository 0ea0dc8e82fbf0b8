/** One slash command: its catalogue facts and what it does (core.md H). Knows no wire: it answers plain text. */
import type {
  CommandHost,
  CommandInfo,
  CommandResult,
  ConfigService,
  FileHistory,
  Models,
  PendingWrites,
  Session,
  Skills,
  Surface,
  Tool,
} from "@/core/contract.ts";
import { HermesError } from "@/core/contract.ts";

export interface CommandDeps {
  readonly version: string;
  readonly models: Models;
  readonly config: ConfigService;
  readonly tools: readonly Tool[];
  /** Files as they were before turns; absent where nothing is recorded. */
  readonly files?: FileHistory;
  /** Absent where there are none. */
  readonly skills?: Skills;
  /** Changes that wait for the user's word. */
  readonly pending?: PendingWrites;
  /** Catalogue of a surface, for `/help`. */
  list(surface: Surface): readonly CommandInfo[];
}

export interface CommandContext {
  readonly session: Session;
  readonly surface: Surface;
  readonly signal?: AbortSignal;
  /** Present on the surfaces whose commands need it. */
  readonly host?: CommandHost;
}

export interface Command extends CommandInfo {
  /** Surfaces that run it but whose lists are fixed without it. */
  readonly unlisted?: readonly Surface[];
  run(args: string, context: CommandContext, deps: CommandDeps): CommandResult | Promise<CommandResult>;
}

export function text(message: string, isError = false): CommandResult {
  return isError ? { type: "text", text: message, isError } : { type: "text", text: message };
}

/** For commands of surfaces that have a host. */
export function hostOf(context: CommandContext): CommandHost {
  if (context.host) return context.host;
  throw new HermesError("internal", "This command is not available here");
}

/** 1234567 → "1,234,567". */
export function grouped(n: number): string {
  return String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");
}
