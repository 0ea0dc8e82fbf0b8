/**
 * Core events as Chat Completions frames (api-server.md B1.4), from event to SSE text. A delta costs one
 * `JSON.stringify` of its text and a concatenation. Every frame is a chunk that strict clients accept; named frames
 * carry their payload beside an empty `choices`.
 */
import {
  assertNever,
  type CoreEvent,
  type ToolCallView,
  type ToolKind,
  type TurnResult,
} from "@/core/contract.ts";
import { approvalPayload } from "./approval.ts";
import { clientCallsOf, finishOf, usageOf } from "./finish.ts";
import { deltaFrames, sseJson } from "./sse_json.ts";

export interface ChatStreamOptions {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
  readonly includeUsage: boolean;
  readonly showReasoning: boolean;
  readonly showTools: boolean;
  redact(text: string): string;
}

const DONE = "data: [DONE]\n\n";

const EMOJI: Record<ToolKind, string> = {
  read: "📖",
  edit: "✏️",
  delete: "🗑️",
  move: "📦",
  search: "🔎",
  execute: "💻",
  think: "💭",
  fetch: "🌐",
  other: "🔧",
};

/** Renders one turn; holds what the frames so far have said. */
export class ChatRenderer {
  readonly #options: ChatStreamOptions;
  /** Up to the value of `choices`. */
  readonly #head: string;
  /** With `include_usage` every chunk but the last has an empty usage. */
  readonly #noUsage: string;
  readonly #textOpen: string;
  readonly #reasoningOpen: string;
  readonly #deltaClose: string;
  /** Announced calls that have not ended. */
  readonly #running = new Set<string>();
  #hasText = false;
  /** Text since the last tool batch was streamed. */
  #hasBlock = false;
  /** Text of the last finished block, to recognise it in the result. */
  #lastBlock = "";

  constructor(options: ChatStreamOptions) {
    this.#options = options;
    const [id, model] = [sseJson(options.id), sseJson(options.model)];
    this.#head =
      `data: {"id":${id},"object":"chat.completion.chunk","created":${options.created},"model":${model},` +
      `"choices":`;
    this.#noUsage = options.includeUsage ? `,"usage":null` : "";
    this.#textOpen = `${this.#head}[{"index":0,"delta":{"content":`;
    this.#reasoningOpen = `${this.#head}[{"index":0,"delta":{"reasoning_content":`;
    this.#deltaClose = `},"finish_reason":null}]${this.#noUsage}}\n\n`;
  }

  /** The role chunk, sent before anything has happened. */
  start(): string {
    return `${this.#head}[{"index":0,"delta":{"role":"assistant","content":""${this.#deltaClose}`;
  }

  /** Frames of one event; empty when it is not shown. */
  event(event: CoreEvent): string {
    switch (event.type) {
      case "text.delta":
        return this.#text(event.text);
      case "reasoning.delta":
        return this.#reasoning(event.text);
      case "text.end":
        this.#lastBlock = event.text;
        return "";
      case "tool.start":
        return this.#toolStart(event.call);
      case "tool.end":
        return this.#toolEnd(event.call);
      case "ask.open": {
        const approval = approvalPayload(event.ask, this.#options.id, this.#options.redact);
        return approval ? this.#named("approval.request", `"hermes":${sseJson({ approval })}`) : "";
      }
      case "status": {
        const status = { kind: event.kind, text: this.#options.redact(event.text) };
        return this.#named("hermes.status", `"hermes":${sseJson({ status })}`);
      }
      case "turn.start":
      case "step.start":
      case "reasoning.end":
      case "tool.generating":
      case "tool.run":
      case "tool.progress":
      case "ask.close":
      case "usage":
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

  /** What is left to say when the turn has ended, `[DONE]` included. */
  end(result: TurnResult, runtime: Record<string, unknown> | null): string {
    const { includeUsage, redact } = this.#options;
    const { text, reason, hermes } = finishOf(result, redact);
    const isUnsent = !this.#hasBlock && text !== this.#lastBlock;
    const usage = sseJson(usageOf(result.usage));
    const error = reason === "error"
      ? { message: hermes?.error ?? "", type: "server_error", code: "agent_error" }
      : null;
    return (isUnsent ? this.#text(text) : "") + this.#clientCalls(result) +
      `${this.#head}[{"index":0,"delta":{},"finish_reason":"${reason}"}]` +
      (includeUsage ? this.#noUsage : `,"usage":${usage}`) +
      (error ? `,"error":${sseJson(error)}` : "") +
      (hermes ? `,"hermes":${sseJson(hermes)}` : "") +
      (runtime ? `,"runtime":${sseJson(runtime)}` : "") +
      "}\n\n" +
      (includeUsage ? `${this.#head}[],"usage":${usage}}\n\n` : "") +
      DONE;
  }

  /** All calls in one chunk: their arguments are whole by now. */
  #clientCalls(result: TurnResult): string {
    const calls = clientCallsOf(result);
    if (calls.length === 0) return "";
    const delta = sseJson({ tool_calls: calls.map((call, index) => ({ index, ...call })) });
    return `${this.#head}[{"index":0,"delta":${delta},"finish_reason":null}]${this.#noUsage}}\n\n`;
  }

  #text(text: string): string {
    if (text === "") return "";
    // Where a tool ran, a blank line keeps the texts apart.
    const apart = this.#hasText && !this.#hasBlock ? `${this.#textOpen}"\\n\\n"${this.#deltaClose}` : "";
    this.#hasBlock = true;
    this.#hasText = true;
    return apart + deltaFrames(this.#textOpen, text, this.#deltaClose);
  }

  #reasoning(text: string): string {
    if (!this.#options.showReasoning || text === "") return "";
    return deltaFrames(this.#reasoningOpen, text, this.#deltaClose);
  }

  #toolStart({ id, name, description }: ToolCallView): string {
    this.#hasBlock = false;
    if (!this.#options.showTools || id === "" || name.startsWith("_")) return "";
    this.#running.add(id);
    const emoji = EMOJI[description.kind];
    const label = this.#options.redact(description.label) || name;
    return this.#progress({ tool: name, emoji, label, toolCallId: id, status: "running" });
  }

  #toolEnd({ id, name }: ToolCallView): string {
    if (!this.#running.delete(id)) return "";
    return this.#progress({ tool: name, toolCallId: id, status: "completed" });
  }

  /** The five fields stand at the top level, where older consumers read them. */
  #progress(fields: Record<string, string>): string {
    return this.#named("hermes.tool.progress", sseJson(fields).slice(1, -1));
  }

  #named(name: string, fields: string): string {
    return `event: ${name}\n${this.#head}[]${this.#noUsage},${fields}}\n\n`;
  }
}
