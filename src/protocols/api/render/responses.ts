/**
 * Core events as a response object and its event stream (api-server.md B2.2, B2.3). One fold for both: the plain
 * answer collects the same items and throws the frames away.
 *
 *   created ─► in_progress ─► { item added ─► its parts and deltas ─► item done }* ─► completed|incomplete|failed ─► [DONE]
 */
import {
  assertNever,
  type CoreEvent,
  promptTokens,
  type ToolCallView,
  type TurnLimit,
  turnLimit,
  type TurnResult,
  type Usage,
} from "@/core/contract.ts";
import { limitCode } from "./finish.ts";
import {
  type Call,
  callItem,
  messageItem,
  type OutputItem,
  reasoningItem,
  resultItem,
  shortened,
  summaryPart,
  textPart,
} from "./response_items.ts";
import { deltaFrames, sseJson } from "./sse_json.ts";

export interface ResponseOptions {
  readonly id: string;
  /** Unix seconds. */
  readonly createdAt: number;
  readonly model: string;
  readonly instructions: string | null;
  readonly previousResponseId: string | null;
  readonly store: boolean;
  /** The slots that repeat the request. */
  readonly echo: Readonly<Record<string, unknown>>;
  readonly showReasoning: boolean;
  /** False hides the calls of server tools. */
  readonly showTools: boolean;
  /** The plain answer tells only the final text; a stream has shown all of it. */
  readonly stream: boolean;
  /** `hexN` of the given prefix. */
  itemId(prefix: string): string;
  redact(text: string): string;
}

export interface ResponseEnd {
  readonly status: "completed" | "incomplete" | "failed";
  readonly reason: string | null;
  readonly error: string | null;
  /** `hermes.limit` of the object. */
  readonly limit?: TurnLimit | null;
}

interface OpenItem {
  readonly id: string;
  readonly index: number;
  text: string;
}

const DONE = "data: [DONE]\n\n";

export class ResponseRenderer {
  readonly #options: ResponseOptions;
  /** By output index; holes are items still open. */
  readonly #output: (OutputItem | undefined)[] = [];
  readonly #calls = new Map<string, { item: OpenItem; call: Call }>();
  /** The whole response, once it has ended. */
  #final: Record<string, unknown> | null = null;
  #seq = 0;
  #message: OpenItem | null = null;
  #reasoning: OpenItem | null = null;
  /** Text since the last tool batch was streamed. */
  #hasBlock = false;
  #lastBlock = "";

  constructor(options: ResponseOptions) {
    this.#options = options;
  }

  /** The object as it is before anything has happened. */
  start(): string {
    const response = this.#object("in_progress", null, null);
    return this.#event("response.created", { response }) + this.#event("response.in_progress", { response });
  }

  event(event: CoreEvent): string {
    switch (event.type) {
      case "text.delta":
        return this.#options.stream ? this.#text(event.text) : "";
      case "reasoning.delta":
        return this.#think(event.text);
      case "reasoning.end":
        return this.#closeReasoning();
      case "text.end":
        this.#lastBlock = event.text;
        return "";
      case "tool.start":
        this.#hasBlock = false;
        return this.#closeReasoning() + this.#callStart(event.call);
      case "tool.end":
        return this.#callEnd(event.call.id, event.result);
      case "turn.start":
      case "step.start":
      case "tool.generating":
      case "tool.run":
      case "tool.progress":
      case "ask.open":
      case "ask.close":
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

  /** What is left to say; the object is then what `object()` gives. */
  end(result: TurnResult, end: ResponseEnd, extra: Readonly<Record<string, unknown>>): string {
    let frames = this.#closeReasoning();
    for (const id of [...this.#calls.keys()]) frames += this.#callEnd(id, "");
    frames += this.#lastText(result, end);
    frames += this.#closeMessage(end.status === "incomplete" ? "incomplete" : "completed");
    for (const call of result.clientCalls ?? []) {
      frames += this.#openCall({ callId: call.id, name: call.name, args: call.arguments });
      frames += this.#closeCall(call.id);
    }
    this.#final = { ...this.#object(end.status, end, result.usage), ...extra };
    const short = { ...this.#final, output: this.#items().map(shortened) };
    return frames + this.#event(`response.${end.status}`, { response: short }) + DONE;
  }

  /** The finished response; before the end the one in progress. */
  object(): Record<string, unknown> {
    return this.#final ?? this.#object("in_progress", null, null);
  }

  #lastText(result: TurnResult, end: ResponseEnd): string {
    const isUnsent = !this.#hasBlock && (result.text !== this.#lastBlock || !this.#options.stream);
    const frames = isUnsent ? this.#text(result.text) : "";
    if (this.#message || (result.clientCalls?.length ?? 0) > 0) return frames;
    return frames + this.#text(end.error ?? "(No response generated)");
  }

  // ── Message ───────────────────────────────────────────────────────────────────────────────────────────────

  #text(text: string): string {
    if (text === "") return "";
    let frames = this.#closeReasoning();
    if (!this.#message) {
      this.#message = this.#open("msg");
      const { id, index } = this.#message;
      frames += this.#added(index, messageItem(id, "", "in_progress"));
      frames += this.#event("response.content_part.added", {
        ...place(this.#message),
        content_index: 0,
        part: textPart(""),
      });
    } else if (!this.#hasBlock) frames += this.#textDelta("\n\n");
    this.#hasBlock = true;
    return frames + this.#textDelta(text);
  }

  #textDelta(text: string): string {
    const message = this.#message!;
    message.text += text;
    const head = `event: response.output_text.delta\ndata: {"type":"response.output_text.delta",` +
      `"item_id":"${message.id}","output_index":${message.index},"content_index":0,"delta":`;
    let frames = "";
    for (const frame of deltaFrames("", text, "\n").split("\n")) {
      if (frame !== "") frames += `${head}${frame},"logprobs":[],"sequence_number":${this.#seq++}}\n\n`;
    }
    return frames;
  }

  #closeMessage(status: "completed" | "incomplete"): string {
    const message = this.#message;
    if (!message) return "";
    this.#message = null;
    const at = { ...place(message), content_index: 0 };
    const item = messageItem(message.id, message.text, status);
    return this.#event("response.output_text.done", { ...at, text: message.text, logprobs: [] }) +
      this.#event("response.content_part.done", { ...at, part: textPart(message.text) }) +
      this.#done(message.index, item);
  }

  // ── Reasoning ─────────────────────────────────────────────────────────────────────────────────────────────

  #think(text: string): string {
    if (!this.#options.showReasoning || text === "") return "";
    let frames = "";
    if (!this.#reasoning) {
      this.#reasoning = this.#open("rs");
      const { id, index } = this.#reasoning;
      frames += this.#added(index, reasoningItem(id, "", "in_progress"));
      frames += this.#event("response.reasoning_summary_part.added", {
        ...place(this.#reasoning),
        summary_index: 0,
        part: summaryPart(""),
      });
    }
    this.#reasoning.text += text;
    const at = { ...place(this.#reasoning), summary_index: 0 };
    return frames + this.#event("response.reasoning_summary_text.delta", { ...at, delta: text });
  }

  #closeReasoning(): string {
    const reasoning = this.#reasoning;
    if (!reasoning) return "";
    this.#reasoning = null;
    const { id, index, text } = reasoning;
    const at = { ...place(reasoning), summary_index: 0 };
    return this.#event("response.reasoning_summary_text.done", { ...at, text }) +
      this.#event("response.reasoning_summary_part.done", { ...at, part: summaryPart(text) }) +
      this.#done(index, reasoningItem(id, text, "completed"));
  }

  // ── Tool calls ────────────────────────────────────────────────────────────────────────────────────────────

  #callStart({ id, name, args }: ToolCallView): string {
    if (!this.#options.showTools) return "";
    return this.#openCall({ callId: id, name, args: JSON.stringify(args) });
  }

  #callEnd(id: string, result: string): string {
    const open = this.#calls.get(id);
    if (!open) return "";
    const frames = this.#closeCall(id);
    const item = this.#open("fco");
    const output = resultItem(item.id, id, this.#options.redact(result));
    return frames + this.#added(item.index, output) + this.#done(item.index, output);
  }

  #openCall(call: Call): string {
    const item = this.#open("fc");
    this.#calls.set(call.callId, { item, call });
    const { args, name } = call;
    return this.#added(item.index, callItem(item.id, call, "in_progress")) +
      this.#event("response.function_call_arguments.delta", { ...place(item), delta: args }) +
      this.#event("response.function_call_arguments.done", { ...place(item), arguments: args, name });
  }

  #closeCall(id: string): string {
    const { item, call } = this.#calls.get(id)!;
    this.#calls.delete(id);
    return this.#done(item.index, callItem(item.id, call, "completed"));
  }

  // ── Frames ────────────────────────────────────────────────────────────────────────────────────────────────

  #open(prefix: string): OpenItem {
    const index = this.#output.push(undefined) - 1;
    return { id: this.#options.itemId(prefix), index, text: "" };
  }

  #added(index: number, item: OutputItem): string {
    return this.#event("response.output_item.added", { output_index: index, item });
  }

  #done(index: number, item: OutputItem): string {
    this.#output[index] = item;
    return this.#event("response.output_item.done", { output_index: index, item });
  }

  #event(type: string, fields: Readonly<Record<string, unknown>>): string {
    const data = { type, ...fields, sequence_number: this.#seq++ };
    return this.#options.stream ? `event: ${type}\ndata: ${sseJson(data)}\n\n` : "";
  }

  /** What has been finished, and the text of an open message as far as it goes. */
  #items(): OutputItem[] {
    const message = this.#message;
    return this.#output.flatMap((item, i) => {
      if (item) return [item];
      return message?.index === i ? [messageItem(message.id, message.text, "in_progress")] : [];
    });
  }

  #object(
    status: "in_progress" | ResponseEnd["status"],
    end: ResponseEnd | null,
    usage: Usage | null,
  ): Record<string, unknown> {
    const { id, createdAt, model, instructions, previousResponseId, store, echo } = this.#options;
    return {
      id,
      object: "response",
      created_at: createdAt,
      completed_at: null,
      status,
      model,
      error: status === "failed" ? { code: "server_error", message: end?.error ?? "" } : null,
      incomplete_details: end?.reason ? { reason: end.reason } : null,
      instructions,
      previous_response_id: previousResponseId,
      output: this.#items(),
      usage: usage && usageOf(usage),
      ...echo,
      store,
      background: false,
      ...(end?.limit ? { hermes: { limit: end.limit } } : {}),
    };
  }
}

function place({ id, index }: OpenItem): Record<string, unknown> {
  return { item_id: id, output_index: index };
}

function usageOf(usage: Usage): Record<string, unknown> {
  const input = promptTokens(usage);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + usage.output,
  };
}

/** How a turn's result reads as the end of a response (B2.2). `gone`: the client left. */
export function responseEnd(
  result: TurnResult,
  gone: boolean,
  redact: (text: string) => string,
): ResponseEnd {
  const error = redact(result.failure?.message ?? result.exitReason);
  const limit = turnLimit(result);
  switch (result.outcome) {
    case "completed":
      return { status: "completed", reason: null, error: null };
    case "cancelled":
      return { status: "incomplete", reason: gone ? "client_disconnected" : "cancelled", error: null };
    case "max_tokens":
      return { status: "incomplete", reason: "max_output_tokens", error: null };
    case "max_turns":
      return { status: "incomplete", reason: limitCode(limit), error: null, limit };
    case "refused":
      return { status: "incomplete", reason: "content_filter", error };
    case "failed":
      return { status: "failed", reason: null, error };
    default:
      return assertNever(result.outcome);
  }
}
