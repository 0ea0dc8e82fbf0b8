/**
 * Runs on the wire (api-server.md B4.3, B4.4): core events as run events, and how a turn's result reads as the end
 * of a run. Pure: ids, times and states come from whoever owns the run.
 */
import {
  type AskOutcome,
  assertNever,
  type CoreEvent,
  promptTokens,
  type TurnResult,
} from "@/core/contract.ts";
import { approvalPayload } from "./approval.ts";
import { clarifyAnswer, clarifyPayload } from "./clarify.ts";
import { limitField } from "./finish.ts";
import { subagentEvents } from "./subagents.ts";

export type EventFields = Readonly<Record<string, unknown>> & { readonly event: string };

const MAX_PREVIEW = 500;

export interface RunRenderOptions {
  readonly runId: string;
  readonly showReasoning: boolean;
  /** What the model says between tool calls, once more as a whole. */
  readonly showInterim: boolean;
  redact(text: string): string;
}

/** The events that one core event is shown as; state changes and the end of the run are not among them. */
export function runEvents(event: CoreEvent, options: RunRenderOptions): EventFields[] {
  const { redact } = options;
  switch (event.type) {
    case "text.delta":
      return event.text === "" ? [] : [{ event: "message.delta", delta: event.text }];
    case "reasoning.delta":
      if (!options.showReasoning || event.text === "") return [];
      return [{ event: "reasoning.delta", delta: event.text }];
    case "text.end":
      if (event.final || !options.showInterim) return [];
      return [{ event: "message.interim", text: event.text, already_streamed: true }];
    case "tool.start":
      return [startOf(event.call.name, event.call.description.label, event.call.id, redact)];
    case "tool.end": {
      const { call, refused } = event;
      const end = {
        event: "tool.completed",
        tool: call.name,
        duration: Math.round(event.durationMs) / 1000,
        error: event.isError,
        tool_call_id: call.id,
        preview: redact(event.result).slice(0, MAX_PREVIEW).toWellFormed(),
      };
      // What policy refuses is never announced by the core; a reader here would miss its beginning.
      if (refused !== "policy") return [end];
      return [startOf(call.name, call.description.label, call.id, redact), end];
    }
    case "ask.open": {
      const { ask } = event;
      const payload = approvalPayload(ask, options.runId, redact) ??
        clarifyPayload(ask, options.runId, redact);
      return payload ? [payload as EventFields] : [];
    }
    case "ask.close":
      return [{
        ...(event.ask.payload.kind === "clarify"
          ? { event: "clarify.responded", ...clarifyAnswer(event.outcome, redact) }
          : { event: "approval.responded", ...answerOf(event.outcome) }),
        request_id: event.ask.id,
      }];
    case "steer.queued":
      return [{ event: "run.steered", accepted: true }];
    case "subagent":
      return subagentEvents(event.agent, event.step, redact);
    case "turn.start":
    case "step.start":
    case "reasoning.end":
    case "tool.generating":
    case "tool.run":
    case "tool.progress":
    case "usage":
    case "status":
    case "steer.delivered":
    case "session.change":
    case "session.rotated":
    case "turn.end":
      return [];
    default:
      return assertNever(event);
  }
}

function startOf(tool: string, label: string, id: string, redact: (text: string) => string): EventFields {
  return { event: "tool.started", tool, preview: redact(label) || tool, tool_call_id: id };
}

/** Silence and a stop block the call like a refusal, and say so. */
function answerOf(outcome: AskOutcome): Record<string, unknown> {
  if (outcome.type === "answered" && outcome.answer.type === "choice") {
    return { choice: outcome.answer.choice, resolved: 1 };
  }
  const reason = outcome.type === "timeout" ? "timeout" : "stopped";
  return { choice: "deny", resolved: 1, reason };
}

export interface RunEnd {
  readonly status: "completed" | "failed" | "cancelled" | "interrupted";
  /** Fields of both the terminal event and the status. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** `stopped`: somebody asked for it; `closing`: the server went away under it. */
export function runEnd(
  result: TurnResult,
  why: { readonly stopped: boolean; readonly closing: boolean },
  redact: (text: string) => string,
): RunEnd {
  const usage = runUsage(result);
  const output = result.text;
  const steer = result.pendingSteer === null ? {} : { pending_steer: result.pendingSteer };
  const text = output === "" ? {} : { output };
  if (result.outcome === "failed") {
    const error = redact(result.failure?.message ?? result.exitReason);
    const said = output === result.failure?.message ? {} : text;
    return { status: "failed", fields: { error, ...said, usage, ...steer } };
  }
  if (why.stopped) return { status: "cancelled", fields: { ...text, usage, ...steer } };
  if (result.outcome === "cancelled") {
    if (why.closing) {
      const error = "The server was shut down before the run ended";
      return { status: "interrupted", fields: { error, ...text, usage, ...steer } };
    }
    return { status: "cancelled", fields: { ...text, usage, ...steer } };
  }
  const cut = result.outcome === "completed"
    ? {}
    : { partial: true, turn_exit_reason: result.exitReason, ...limitField(result) };
  return { status: "completed", fields: { output, usage, ...cut, ...steer } };
}

function runUsage(result: TurnResult): Record<string, number> {
  const input = promptTokens(result.usage);
  const { output } = result.usage;
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}
