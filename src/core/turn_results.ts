/** Results of turns that never ran; apart from the engine, because a queue needs them before it is loaded. */
import { HermesError, type ModelFailure } from "./errors.ts";
import type { TurnResult } from "./events.ts";
import { NO_USAGE } from "./messages.ts";

/** The end of a turn that was cancelled before it began. */
export function cancelledResult(): TurnResult {
  return {
    outcome: "cancelled",
    text: "",
    reasoning: "",
    exitReason: "interrupted_by_user",
    partial: false,
    failure: null,
    usage: NO_USAGE,
    apiCalls: 0,
    model: "",
    provider: "",
    pendingSteer: null,
    userRowId: null,
  };
}

/** What a turn that could not begin ends with. */
export function failureOf(error: HermesError): ModelFailure {
  return { kind: "config", message: error.message, provider: "", model: "", retryable: false };
}

/**
 * For a turn that was refused because another program runs one in the conversation (`session_busy`), or has deleted it
 * (`session_not_found`); `null` for any other end.
 */
export function refusedElsewhere({ outcome, exitReason, failure }: TurnResult): HermesError | null {
  if (outcome !== "failed" || (exitReason !== "session_busy" && exitReason !== "session_not_found")) {
    return null;
  }
  return new HermesError(exitReason, failure?.message ?? exitReason);
}
