/**
 * A turn of a session as named events (api-server.md B10 `chat/stream`), each with `session_id`, `run_id`, `ts` and
 * `seq` from 1: run.started, message.started, deltas and tools, assistant.completed, run.completed or error, done.
 */
import { assertNever, type CoreEvent, type Message, promptTokens, type TurnResult } from "@/core/contract.ts";
import { approvalPayload } from "./approval.ts";
import { limitField } from "./finish.ts";
import { messageView } from "./sessions.ts";
import { sseJson } from "./sse_json.ts";

export interface SessionStreamOptions {
  readonly sessionId: string;
  readonly runId: string;
  readonly showReasoning: boolean;
  /** Unix seconds. */
  now(): number;
  redact(text: string): string;
}

export class SessionStreamRenderer {
  readonly #options: SessionStreamOptions;
  #seq = 0;

  constructor(options: SessionStreamOptions) {
    this.#options = options;
  }

  event(event: CoreEvent): string {
    const { redact, runId } = this.#options;
    switch (event.type) {
      case "turn.start":
        return this.#frame("run.started", {}) + this.#frame("message.started", { role: "assistant" });
      case "text.delta":
        return this.#frame("assistant.delta", { delta: event.text });
      case "reasoning.delta":
        return this.#options.showReasoning ? this.#frame("reasoning.delta", { delta: event.text }) : "";
      case "tool.start": {
        const { id, name, description } = event.call;
        return this.#frame("tool.started", {
          tool: name,
          preview: redact(description.label) || name,
          tool_call_id: id,
        });
      }
      case "tool.end": {
        const { id, name } = event.call;
        const duration = Math.round(event.durationMs) / 1000;
        const preview = redact(event.result).slice(0, 500).toWellFormed();
        const fields = { tool: name, tool_call_id: id, duration, preview };
        return this.#frame(event.isError ? "tool.failed" : "tool.completed", fields);
      }
      case "ask.open": {
        const payload = approvalPayload(event.ask, runId, redact);
        return payload ? this.#frame("approval.request", payload) : "";
      }
      case "ask.close":
        return this.#frame("approval.responded", { request_id: event.ask.id, outcome: event.outcome.type });
      case "step.start":
      case "reasoning.end":
      case "text.end":
      case "tool.generating":
      case "tool.run":
      case "tool.progress":
      case "usage":
      case "status":
      case "steer.queued":
      case "steer.delivered":
      case "session.change":
      case "session.rotated":
      case "subagent":
      case "turn.end":
        return "";
      default:
        return assertNever(event);
    }
  }

  /** `messages`: those of this turn. */
  end(result: TurnResult, messages: readonly Message[]): string {
    const { sessionId, redact } = this.#options;
    if (result.outcome === "failed" || result.outcome === "cancelled") {
      const message = redact(result.failure?.message ?? "The turn was interrupted before it was complete");
      return this.#frame("error", { message }) + this.#frame("done", {});
    }
    const isWhole = result.outcome === "completed";
    const cut = isWhole ? {} : { partial: true, turn_exit_reason: result.exitReason, ...limitField(result) };
    return this.#frame("assistant.completed", { content: result.text, ...cut }) +
      this.#frame("run.completed", {
        messages: messages.map((message) => messageView(sessionId, message)),
        usage: sessionUsage(result),
        ...cut,
        ...(result.pendingSteer === null ? {} : { pending_steer: result.pendingSteer }),
      }) +
      this.#frame("done", {});
  }

  #frame(name: string, fields: Readonly<Record<string, unknown>>): string {
    const { sessionId, runId, now } = this.#options;
    const data = { ...fields, session_id: sessionId, run_id: runId, ts: now(), seq: ++this.#seq };
    return `event: ${name}\ndata: ${sseJson(data)}\n\n`;
  }
}

export function sessionUsage(result: TurnResult): Record<string, number> {
  const input = promptTokens(result.usage);
  const { output } = result.usage;
  return { input_tokens: input, output_tokens: output, total_tokens: input + output };
}
