/**
 * The events of a turn as the JSON lines of `hermes run --json`: stable snake_case fields, one object per event,
 * `type` as in the core. A pure function per event; what is not shown is an explicit case.
 */
import {
  type Ask,
  type AskOutcome,
  assertNever,
  type CoreEvent,
  type ModelCost,
  type ToolCallView,
  turnLimit,
  type TurnResult,
  type Usage,
} from "@/core/contract.ts";
import { subagentJson } from "./subagent_lines.ts";

type Json = Record<string, unknown>;

export function usageJson(usage: Usage): Json {
  return {
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_read_tokens: usage.cacheRead,
    cache_write_tokens: usage.cacheWrite,
    reasoning_tokens: usage.reasoning,
  };
}

function callJson(call: ToolCallView): Json {
  return {
    tool_call_id: call.id,
    tool: call.name,
    args: call.args,
    title: call.description.title,
    kind: call.description.kind,
    locations: call.description.locations,
  };
}

function askJson(ask: Ask): Json {
  const base = { request_id: ask.id, tool_call_id: ask.callId, tool: ask.toolName, kind: ask.payload.kind };
  switch (ask.payload.kind) {
    case "approval":
      return { ...base, command: ask.payload.command, description: ask.payload.description };
    case "edit":
      return { ...base, paths: ask.payload.proposal.paths, description: ask.payload.description };
    case "clarify":
      return { ...base, question: ask.payload.question, choices: ask.payload.choices };
    case "sudo":
      return { ...base, command: ask.payload.command };
    case "secret":
      return { ...base, env_var: ask.payload.envVar };
  }
}

function outcomeText(outcome: AskOutcome): string {
  if (outcome.type !== "answered") return outcome.type;
  return outcome.answer.type === "choice" ? outcome.answer.choice : "answered";
}

/** As `hermes sessions show --json` has it of a whole conversation; `null` for what is not known. */
function costJson(cost: ModelCost | undefined): Json {
  return {
    estimated_cost_usd: cost?.usd ?? null,
    cost_status: cost?.status ?? "unknown",
    cost_source: cost?.source ?? null,
    pricing_version: cost?.version ?? null,
  };
}

/** The fields of the result that are the turn's own; `run` adds the exit code and what was blocked. */
export function resultJson(result: TurnResult): Json {
  const limit = turnLimit(result);
  return {
    outcome: result.outcome,
    text: result.text,
    exit_reason: result.exitReason,
    partial: result.partial,
    ...(limit ? { "hermes.limit": limit } : {}),
    model: result.model,
    provider: result.provider,
    api_calls: result.apiCalls,
    usage: usageJson(result.usage),
    cost: costJson(result.cost),
    ...(result.pendingSteer === null ? {} : { pending_steer: result.pendingSteer }),
    ...(result.warning === undefined ? {} : { warning: result.warning }),
    error: result.failure && {
      code: result.failure.kind,
      message: result.failure.message,
      ...(result.failure.status === undefined ? {} : { status: result.failure.status }),
    },
  };
}

function bodyJson(event: CoreEvent): Json | null {
  switch (event.type) {
    case "turn.start":
      return { text: event.text };
    case "step.start":
      return { step: event.step };
    case "text.delta":
    case "reasoning.delta":
    case "reasoning.end":
    case "steer.queued":
    case "steer.delivered":
      return { text: event.text };
    case "text.end":
      return { text: event.text, final: event.final };
    case "tool.generating":
      return { tool: event.name };
    case "tool.start":
      return { ...callJson(event.call), waiting: event.waiting };
    case "tool.run":
      return { tool_call_id: event.callId };
    case "tool.progress":
      return { tool_call_id: event.callId, tool: event.name, text: event.text };
    case "tool.end":
      return {
        ...callJson(event.call),
        result: event.result,
        is_error: event.isError,
        duration_ms: Math.round(event.durationMs),
        edits: event.edits.map((edit) => ({
          path: edit.path,
          old_text: edit.oldText,
          new_text: edit.newText,
        })),
        ...(event.todos ? { todos: event.todos } : {}),
        ...(event.refused ? { refused: event.refused } : {}),
      };
    case "ask.open":
      return askJson(event.ask);
    case "ask.close":
      return { ...askJson(event.ask), outcome: outcomeText(event.outcome) };
    case "usage":
      return { usage: usageJson(event.usage), total: usageJson(event.total) };
    case "status":
      return { kind: event.kind, text: event.text };
    case "session.change":
      return { what: event.what };
    case "session.rotated":
      return { old_id: event.oldId, new_id: event.newId, before: event.before, after: event.after };
    case "subagent":
      return subagentJson(event.agent, event.step);
    case "turn.end":
      // Told by the last line, "result", which also has the exit code.
      return null;
    default:
      return assertNever(event);
  }
}

/** One JSON line's object; `null` for events that are not shown. */
export function eventJson(event: CoreEvent): Json | null {
  const body = bodyJson(event);
  if (!body) return null;
  return { type: event.type, session_id: event.sessionId, turn_id: event.turnId, seq: event.seq, ...body };
}
