/** One `session/prompt` from its line to its one answer; `PromptQueue` moves it along. */
import {
  type CommandInfo,
  NO_USAGE,
  promptTokens,
  type TurnHandle,
  type TurnLimit,
  type TurnOutcome,
  type Usage,
  type UserInput,
} from "@/core/contract.ts";
import type { RequestContext } from "./peer.ts";
import type { PromptResponse, PromptUsage, StopReason } from "./sdk.ts";

export class Ticket {
  readonly context: RequestContext;
  readonly #abort = new AbortController();
  /** Set while its turn runs in the core. */
  handle: TurnHandle | null = null;
  /** What runs when its time has come. */
  input: UserInput | null = null;
  /** A slash command that needs the session for itself. */
  command: { info: CommandInfo; args: string } | null = null;
  /** Steer text that met no tool boundary: one more user message of this prompt. */
  followUp: string | null = null;
  usage: Usage = NO_USAGE;
  /** Which limit ended its turn. */
  limit: TurnLimit | null = null;
  /** Prompts that were dropped together with it. */
  dropped = 0;

  constructor(context: RequestContext) {
    this.context = context;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get cancelled(): boolean {
    return this.#abort.signal.aborted;
  }

  cancel(): void {
    this.#abort.abort();
    this.handle?.cancel();
  }

  answer(stopReason: StopReason): void {
    const usage = usageOf(this.usage);
    const response: PromptResponse = {
      stopReason,
      ...(usage ? { usage } : {}),
      ...(this.limit ? { _meta: { hermes: { limit: this.limit } } } : {}),
    };
    this.context.respond(response);
  }
}

/** A failed turn has none: it is answered with an error. */
export const STOP_REASONS: Readonly<Record<Exclude<TurnOutcome, "failed">, StopReason>> = {
  completed: "end_turn",
  cancelled: "cancelled",
  max_tokens: "max_tokens",
  max_turns: "max_turn_requests",
  refused: "refusal",
};

function usageOf(usage: Usage): PromptUsage | null {
  const inputTokens = promptTokens(usage);
  if (inputTokens + usage.output === 0) return null;
  return {
    inputTokens,
    outputTokens: usage.output,
    totalTokens: inputTokens + usage.output,
    ...(usage.reasoning ? { thoughtTokens: usage.reasoning } : {}),
    ...(usage.cacheRead ? { cachedReadTokens: usage.cacheRead } : {}),
    ...(usage.cacheWrite ? { cachedWriteTokens: usage.cacheWrite } : {}),
  };
}
