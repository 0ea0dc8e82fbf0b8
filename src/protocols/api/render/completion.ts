/**
 * A finished turn as the plain Chat Completions answer (api-server.md B1.3): body, headers, and the refusal for a
 * turn that has nothing to show.
 */
import type { TurnResult } from "@/core/contract.ts";
import { ApiError, headerText } from "../errors.ts";
import type { StoredAnswer } from "../idempotency.ts";
import { clientCallsOf, finishOf, type HermesBlock, usageOf } from "./finish.ts";

export interface CompletionOptions {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly showReasoning: boolean;
  /** Of the answer, whatever becomes of it. */
  readonly headers: Readonly<Record<string, string>>;
  readonly runtime: Record<string, unknown> | null;
  redact(text: string): string;
}

/** Throws 502 `agent_incomplete` for a turn that failed without a usable text. */
export function renderCompletion(result: TurnResult, options: CompletionOptions): StoredAnswer {
  const { id, created, model, redact, runtime } = options;
  const { text, reason, hermes } = finishOf(result, redact);
  const headers = { ...options.headers, ...(hermes ? hermesHeaders(hermes, redact) : {}) };
  if (reason === "error" && text === "") throw incomplete(hermes, headers);
  const calls = clientCallsOf(result);
  const showReasoning = options.showReasoning && result.reasoning !== "";
  const message = {
    role: "assistant",
    content: calls.length > 0 && text === "" ? null : text,
    refusal: null,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(showReasoning ? { reasoning_content: result.reasoning } : {}),
  };
  const body = {
    id,
    object: "chat.completion",
    created,
    model,
    choices: [{ index: 0, message, logprobs: null, finish_reason: reason }],
    usage: usageOf(result.usage),
    ...(hermes ? { hermes } : {}),
    ...(runtime ? { runtime } : {}),
  };
  return { status: 200, headers, body: JSON.stringify(body), keep: result.outcome === "completed" };
}

function hermesHeaders(hermes: HermesBlock, redact: (text: string) => string): Record<string, string> {
  return {
    "X-Hermes-Completed": "false",
    "X-Hermes-Partial": String(hermes.partial),
    "X-Hermes-Error": headerText(hermes.error, redact),
  };
}

function incomplete(hermes: HermesBlock | null, headers: Record<string, string>): ApiError {
  const { completed, partial, failed, error } = hermes ??
    { completed: false, partial: false, failed: true, error: "The turn did not complete" };
  return new ApiError(502, "agent_incomplete", error, { headers, hermes: { completed, partial, failed } });
}
