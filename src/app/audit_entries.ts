/**
 * From an event of a session to what the audit trail keeps of it: bounded, secrets out. Streamed text, thoughts and
 * progress are left out; contents of files are left out, their hashes are kept. Pure.
 */
import type { AskOutcome, AskPayload, AuditEntry, CoreEvent } from "@/core/contract.ts";

export type Clean = (text: string, limit?: number) => string;

type Noted = Pick<AuditEntry, "kind" | "tool" | "callId" | "detail">;

const MAX_TEXT = 2_000;
/** Beyond the limit, so that a secret at the cut is still seen whole. */
const MARGIN = 500;
const MAX_PATHS = 50;
const MAX_NAME = 200;

/** Cuts and redacts a text; `redact` never sees more than a little over the limit. */
export function createClean(redact: (text: string) => string): Clean {
  return (text, limit = MAX_TEXT) => {
    const clean = redact(text.slice(0, limit + MARGIN));
    return text.length <= limit && clean.length <= limit
      ? clean
      : `${clean.slice(0, limit).toWellFormed()} […]`;
  };
}

function askedOf(payload: AskPayload, clean: Clean): Record<string, unknown> {
  switch (payload.kind) {
    case "approval":
      return {
        command: clean(payload.command),
        reason: clean(payload.description),
        choices: payload.choices,
        ...(payload.smartDenied ? { smart_denied: true } : {}),
        ...(payload.smart ? { smart: payload.smart } : {}),
      };
    case "edit":
      return {
        paths: payload.proposal.paths.slice(0, MAX_PATHS).map((path) => clean(path)),
        reason: clean(payload.description),
        choices: payload.choices,
      };
    case "clarify":
      return { question: clean(payload.question) };
    case "sudo":
      return { command: clean(payload.command) };
    case "secret":
      return { env_var: payload.envVar };
  }
}

/** What was answered; the words of a password or a secret are nobody's business. */
function answerOf(payload: AskPayload, outcome: AskOutcome, clean: Clean): Record<string, unknown> {
  if (outcome.type !== "answered") return { outcome: outcome.type };
  const { answer } = outcome;
  const by = outcome.by === undefined ? {} : { answered_by: clean(outcome.by, MAX_NAME) };
  if (answer.type === "choice") {
    const reason = answer.reason === undefined ? {} : { reason: clean(answer.reason) };
    return { outcome: "answered", choice: answer.choice, ...reason, ...by };
  }
  if (answer.type !== "text") return { outcome: answer.type };
  if (payload.kind === "clarify") return { outcome: "answered", text: clean(answer.text), ...by };
  return { outcome: "answered", given: answer.text !== "", ...by };
}

/** What let the call run, where the guard left a note in its result. */
function approvalOf(result: string): string | undefined {
  const found = /,"approval":("(?:[^"\\]|\\.){0,600}")\}$/.exec(result.slice(-700));
  return found ? JSON.parse(found[1] as string) as string : undefined;
}

/** `null` for what is not kept. */
export function auditOf(event: CoreEvent, clean: Clean): Noted | null {
  switch (event.type) {
    case "turn.start":
      return {
        kind: "turn.start",
        tool: null,
        callId: null,
        detail: { text: clean(event.text), user_row_id: event.userRowId },
      };
    case "ask.open":
    case "ask.close": {
      const { id, callId, toolName, payload, openedAt } = event.ask;
      const facts = { ask_id: id, about: payload.kind };
      const detail = event.type === "ask.open"
        ? { ...facts, ...askedOf(payload, clean) }
        : { ...facts, ...answerOf(payload, event.outcome, clean), asked_at: openedAt / 1000 };
      return { kind: event.type === "ask.open" ? "ask" : "answer", tool: toolName, callId, detail };
    }
    case "tool.end": {
      const approval = event.refused === null ? approvalOf(event.result) : undefined;
      return {
        kind: "tool",
        tool: event.call.name,
        callId: event.call.id,
        detail: {
          title: clean(event.call.description.title),
          is_error: event.isError,
          refused: event.refused,
          duration_ms: Math.round(event.durationMs),
          ...(approval === undefined ? {} : { approval: clean(approval) }),
          ...(event.refused === "policy" ? { reason: clean(event.result) } : {}),
        },
      };
    }
    case "turn.end": {
      const { outcome, exitReason, model, provider, apiCalls, usage, failure } = event.result;
      const detail = { outcome, exit_reason: exitReason, model, provider, api_calls: apiCalls, usage };
      return {
        kind: "turn.end",
        tool: null,
        callId: null,
        detail: failure === null ? detail : { ...detail, error: clean(failure.message) },
      };
    }
    default:
      return null;
  }
}
