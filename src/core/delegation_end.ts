/** How a child's turn reads as the result of its task (core.md I.1 "Result entry"). Only an answer is a success. Pure. */
import type { ChildResult } from "./delegation_api.ts";
import type { TurnResult } from "./events.ts";
import { NO_USAGE } from "./messages.ts";

/** Why it was ended from outside. */
export type StopReason = "interrupted" | "timeout";

type End = Pick<
  ChildResult,
  "status" | "exitReason" | "summary" | "error" | "apiCalls" | "usage" | "missedSteer"
>;

/** `outcome` is an error where no turn came about, or none that ended. */
export function childEnd(
  outcome: TurnResult | Error,
  stopped: StopReason | null,
  redact: (text: string) => string,
): End {
  if (outcome instanceof Error) {
    const nothing = { summary: "", apiCalls: 0, usage: NO_USAGE, missedSteer: null };
    if (stopped !== null) return { ...nothing, ...stopEnd(stopped) };
    return { ...nothing, status: "error", exitReason: "error", error: redact(outcome.message) };
  }
  const { text, apiCalls, usage, pendingSteer } = outcome;
  return { summary: text, apiCalls, usage, missedSteer: pendingSteer, ...endOf(outcome, stopped, redact) };
}

type How = Pick<End, "status" | "exitReason" | "error">;

function endOf(result: TurnResult, stopped: StopReason | null, redact: (text: string) => string): How {
  switch (result.outcome) {
    case "completed":
      return { status: "completed", exitReason: "completed", error: null };
    case "cancelled":
      return stopEnd(stopped ?? "interrupted");
    case "max_turns":
      return result.exitReason.startsWith("max_iterations_reached")
        ? { status: "completed", exitReason: "max_iterations", error: null }
        : { status: "failed", exitReason: "error", error: result.exitReason };
    case "max_tokens":
      return { status: "failed", exitReason: "error", error: "The output limit cut the answer off" };
    case "failed":
    case "refused": {
      const message = redact(result.failure?.message ?? result.exitReason);
      const isConfig = result.failure?.kind === "config";
      return { status: isConfig ? "error" : "failed", exitReason: "error", error: message };
    }
  }
}

function stopEnd(stopped: StopReason): How {
  return stopped === "timeout"
    ? { status: "timeout", exitReason: "timeout", error: "The time limit for subagents has ended it" }
    : { status: "interrupted", exitReason: "interrupted", error: null };
}
