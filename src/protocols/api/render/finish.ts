/**
 * How a turn's result reads on Chat Completions (api-server.md B1.3): finish reason, the `hermes` block of a turn
 * that is not whole, its headers, usage. Shared by the plain answer and the stream, so the two cannot disagree.
 */
import {
  assertNever,
  promptTokens,
  type TurnLimit,
  turnLimit,
  type TurnResult,
  type Usage,
} from "@/core/contract.ts";

export interface Finish {
  /** The assistant's words; empty when there are none. */
  readonly text: string;
  readonly reason: "stop" | "tool_calls" | "length" | "content_filter" | "error";
  /** `null` for a completed turn. */
  readonly hermes: HermesBlock | null;
}

export interface HermesBlock {
  readonly completed: false;
  readonly partial: boolean;
  readonly failed: boolean;
  readonly error: string;
  readonly error_code: "output_truncated" | LimitCode | "content_filter" | "agent_error";
  readonly limit?: TurnLimit;
}

/** The contract's word for the steps; the other limits go by their exit reason. */
export type LimitCode = "max_iterations" | "budget_exhausted" | "guardrail_halt";

export function limitCode(limit: TurnLimit | null): LimitCode {
  if (limit === null || limit.kind === "iterations") return "max_iterations";
  return limit.kind === "guardrail" ? "guardrail_halt" : "budget_exhausted";
}

/** `hermes.limit` for objects that have no other `hermes` block; nothing where no limit ended the turn. */
export function limitField(result: TurnResult): { readonly hermes?: { readonly limit: TurnLimit } } {
  const limit = turnLimit(result);
  return limit ? { hermes: { limit } } : {};
}

export function finishOf(result: TurnResult, redact: (text: string) => string): Finish {
  const text = wordsOf(result);
  // A limit that left nothing to read is a failure.
  const cut = text === "" ? "error" : "length";
  const block = (
    error_code: HermesBlock["error_code"],
    flags: { partial: boolean; failed: boolean },
  ): HermesBlock => ({ completed: false, ...flags, error: redact(errorText(result)), error_code });
  switch (result.outcome) {
    case "completed":
      return { text, reason: result.clientCalls ? "tool_calls" : "stop", hermes: null };
    case "max_tokens":
      return { text, reason: cut, hermes: block("output_truncated", { partial: true, failed: false }) };
    case "max_turns": {
      const limit = turnLimit(result);
      const hermes = block(limitCode(limit), { partial: true, failed: false });
      return { text, reason: cut, hermes: limit ? { ...hermes, limit } : hermes };
    }
    case "refused":
      return {
        text,
        reason: "content_filter",
        hermes: block("content_filter", { partial: false, failed: true }),
      };
    case "failed":
    case "cancelled":
      return { text, reason: "error", hermes: block("agent_error", { partial: text !== "", failed: true }) };
    default:
      return assertNever(result.outcome);
  }
}

/** A failure text that stands in for an answer is not the assistant's own words (FC-04). */
function wordsOf(result: TurnResult): string {
  return result.failure && result.text === result.failure.message ? "" : result.text;
}

function errorText(result: TurnResult): string {
  if (result.failure) return result.failure.message;
  switch (result.outcome) {
    case "max_tokens":
      return "The answer was truncated at the output limit";
    case "max_turns":
      return turnLimit(result)!.text;
    case "cancelled":
      return "The turn was interrupted before it was complete";
    default:
      return result.exitReason || "The turn did not complete";
  }
}

/** Calls of the caller's tools in the words of the wire; empty when the turn asked for none. */
export function clientCallsOf(result: TurnResult): Record<string, unknown>[] {
  return (result.clientCalls ?? []).map(({ id, name, arguments: args }) => ({
    id,
    type: "function",
    function: { name, arguments: args },
  }));
}

export function usageOf(usage: Usage): Record<string, unknown> {
  const prompt = promptTokens(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    ...(usage.cacheRead > 0 ? { prompt_tokens_details: { cached_tokens: usage.cacheRead } } : {}),
    ...(usage.reasoning > 0 ? { completion_tokens_details: { reasoning_tokens: usage.reasoning } } : {}),
  };
}
