/**
 * The OpenAI Responses voice of the scripted model server: items that are added, grow and are done, then the whole
 * response. A thought is a reasoning item with encrypted content, as it is with `store: false`.
 */
import { argumentsText } from "../../src/models/builtin/script_format.ts";
import type { ModelServerRequest } from "./model_server.ts";
import {
  countsOf,
  pieces,
  type ScriptEnd,
  sse,
  type ToolStep,
  type Voice,
  type VoiceOf,
} from "./model_wires.ts";

type Json = Record<string, unknown>;
type Kind = "message" | "reasoning";

export const responsesVoice: VoiceOf = (request): Voice => new ResponsesVoice(request);

class ResponsesVoice implements Voice {
  readonly #request: ModelServerRequest;
  readonly #items: Json[] = [];
  #sequence = 0;
  /** The item that is growing. */
  #open: { kind: Kind; text: string } | null = null;

  constructor(request: ModelServerRequest) {
    this.#request = request;
  }

  text(delta: string): string {
    const opened = this.#grow("message", delta);
    return opened + this.#event("response.output_text.delta", { ...this.#place(), content_index: 0, delta });
  }

  reasoning(delta: string): string {
    const opened = this.#grow("reasoning", delta);
    const fields = { ...this.#place(), summary_index: 0, delta };
    return opened + this.#event("response.reasoning_summary_text.delta", fields);
  }

  tool(step: ToolStep, position: number): readonly string[] {
    const closed = this.#close();
    const args = argumentsText(step.args);
    const item = callItem(step, position, "");
    const place = { item_id: item["id"], output_index: this.#items.length };
    this.#items.push({ ...item, arguments: args, status: "completed" });
    return [
      closed + this.#event("response.output_item.added", { output_index: place.output_index, item }),
      ...pieces(args).map((delta) =>
        this.#event("response.function_call_arguments.delta", { ...place, delta })
      ),
      this.#event("response.function_call_arguments.done", { ...place, arguments: args }),
      this.#event("response.output_item.done", {
        output_index: place.output_index,
        item: this.#items.at(-1),
      }),
    ];
  }

  end(end: ScriptEnd): readonly string[] {
    const closed = this.#close();
    const response = this.#response(end, this.#items);
    const isCut = response["status"] === "incomplete";
    return [closed + this.#event(isCut ? "response.incomplete" : "response.completed", { response })];
  }

  error(body: Json): string {
    const { message, code } = body["error"] as { message: string; code: unknown };
    return this.#event("error", { message, code, param: null });
  }

  whole(end: ScriptEnd): Json {
    const items: Json[] = [];
    if (end.reasoning) items.push(reasoningItem(end.reasoning, items.length));
    if (end.text) items.push(messageItem(end.text, items.length));
    end.tools.forEach((step, n) => items.push(callItem(step, n, argumentsText(step.args))));
    return this.#response(end, items);
  }

  #event(type: string, fields: Json): string {
    const first = this.#sequence === 0 && type !== "response.created"
      ? sse(
        { type: "response.created", sequence_number: this.#sequence++, response: this.#head() },
        "response.created",
      )
      : "";
    return first + sse({ type, sequence_number: this.#sequence++, ...fields }, type);
  }

  #grow(kind: Kind, delta: string): string {
    if (this.#open?.kind === kind) {
      this.#open.text += delta;
      return "";
    }
    const closed = this.#close();
    this.#open = { kind, text: delta };
    const item = kind === "message"
      ? messageItem("", this.#items.length)
      : reasoningItem("", this.#items.length);
    const added = this.#event("response.output_item.added", { output_index: this.#items.length, item });
    if (kind === "message") return closed + added;
    const part = { ...this.#place(), summary_index: 0, part: { type: "summary_text", text: "" } };
    return closed + added + this.#event("response.reasoning_summary_part.added", part);
  }

  #close(): string {
    if (!this.#open) return "";
    const { kind, text } = this.#open;
    const at = this.#items.length;
    const item = kind === "message" ? messageItem(text, at) : reasoningItem(text, at);
    const done = this.#event("response.output_item.done", { output_index: at, item });
    this.#items.push(item);
    this.#open = null;
    return done;
  }

  #place(): Json {
    return { item_id: `item_${this.#items.length}`, output_index: this.#items.length };
  }

  #head(): Json {
    const model = this.#request.body?.model ?? "scripted";
    return {
      id: "resp_scripted",
      object: "response",
      created_at: 1_700_000_000,
      model,
      status: "in_progress",
    };
  }

  #response(end: ScriptEnd, output: readonly Json[]): Json {
    const { prompt, completion, cached, reasoning } = countsOf(end.usage, this.#request, end.text);
    const reason = end.finish === "length"
      ? "max_output_tokens"
      : end.finish === "content_filter"
      ? "content_filter"
      : null;
    return {
      ...this.#head(),
      status: reason ? "incomplete" : "completed",
      incomplete_details: reason ? { reason } : null,
      error: null,
      output,
      usage: {
        input_tokens: prompt,
        input_tokens_details: { cached_tokens: cached },
        output_tokens: completion,
        output_tokens_details: { reasoning_tokens: reasoning },
        total_tokens: prompt + completion,
      },
    };
  }
}

function messageItem(text: string, at: number): Json {
  const content = text === "" ? [] : [{ type: "output_text", text, annotations: [] }];
  const status = text === "" ? "in_progress" : "completed";
  return { type: "message", id: `item_${at}`, role: "assistant", status, content };
}

function reasoningItem(text: string, at: number): Json {
  const summary = text === "" ? [] : [{ type: "summary_text", text }];
  return { type: "reasoning", id: `item_${at}`, summary, encrypted_content: `sealed:${text}` };
}

function callItem(step: ToolStep, position: number, args: string): Json {
  const callId = step.id ?? `call_${position + 1}`;
  return { type: "function_call", id: `fc_${callId}`, call_id: callId, name: step.tool, arguments: args };
}
