/** Results of turns that never ran; apart from the engine, because a queue needs them before it is loaded. */
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
