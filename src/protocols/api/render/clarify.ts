/**
 * A question of the agent to the person (`clarify`) as runs show it: the request, and what came of it. Only a run
 * whose client has said that it can answer has any. Knows nothing of streams or routes.
 */
import type { Ask, AskOutcome } from "@/core/contract.ts";

/** The `clarify.request` event, also the member `clarify` of a waiting run; `null` for other kinds of questions. */
export function clarifyPayload(
  ask: Ask,
  runId: string,
  redact: (text: string) => string,
): Record<string, unknown> | null {
  const { payload } = ask;
  if (payload.kind !== "clarify") return null;
  return {
    event: "clarify.request",
    run_id: runId,
    timestamp: ask.openedAt / 1000,
    request_id: ask.id,
    tool_call_id: ask.callId,
    question: redact(payload.question),
    choices: payload.choices && payload.choices.map((choice) => redact(choice)),
    ...(payload.multiple ? { multiple: true } : {}),
  };
}

/** Silence and a stop leave the question unanswered, and say so; an empty answer means that it was skipped. */
export function clarifyAnswer(
  outcome: AskOutcome,
  redact: (text: string) => string,
): Record<string, unknown> {
  if (outcome.type === "answered" && outcome.answer.type === "text") {
    return { answer: redact(outcome.answer.text), resolved: 1 };
  }
  return { answer: "", resolved: 1, reason: outcome.type === "timeout" ? "timeout" : "stopped" };
}
