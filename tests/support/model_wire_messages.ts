/**
 * The Anthropic Messages voice of the scripted model server: blocks that start, grow and stop. A thought is a thinking
 * block that ends with its signature.
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
type Kind = "text" | "thinking";

const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
};

export const messagesVoice: VoiceOf = (request): Voice => new MessagesVoice(request);

class MessagesVoice implements Voice {
  readonly #request: ModelServerRequest;
  #index = -1;
  #open: Kind | null = null;
  #hasStarted = false;

  constructor(request: ModelServerRequest) {
    this.#request = request;
  }

  text(delta: string): string {
    return this.#switchTo("text") + this.#delta({ type: "text_delta", text: delta });
  }

  reasoning(delta: string): string {
    return this.#switchTo("thinking") + this.#delta({ type: "thinking_delta", thinking: delta });
  }

  tool(step: ToolStep, position: number): readonly string[] {
    const before = this.#start() + this.#close();
    this.#index++;
    const block = { type: "tool_use", id: step.id ?? `call_${position + 1}`, name: step.tool, input: {} };
    return [
      before + event("content_block_start", { index: this.#index, content_block: block }),
      ...pieces(argumentsText(step.args)).map((part) =>
        this.#delta({ type: "input_json_delta", partial_json: part })
      ),
      event("content_block_stop", { index: this.#index }),
    ];
  }

  end(end: ScriptEnd): readonly string[] {
    const { completion } = countsOf(end.usage, this.#request, end.text);
    // The counts of the request are known to the script at its end only, so they come once more.
    const usage = { ...this.#usage(end), output_tokens: completion };
    return [
      this.#start() + this.#close() +
      event("message_delta", { delta: { stop_reason: stopReason(end), stop_sequence: null }, usage }),
      event("message_stop", {}),
    ];
  }

  error(body: Json): string {
    const { message, type } = body["error"] as { message: string; type: string };
    return event("error", { error: { type: type === "server_error" ? "api_error" : type, message } });
  }

  whole(end: ScriptEnd): Json {
    const content: Json[] = [];
    if (end.reasoning) content.push({ type: "thinking", thinking: end.reasoning, signature: "signed" });
    if (end.text) content.push({ type: "text", text: end.text });
    end.tools.forEach((step, n) => {
      const input: unknown = JSON.parse(argumentsText(step.args));
      content.push({ type: "tool_use", id: step.id ?? `call_${n + 1}`, name: step.tool, input });
    });
    return { ...this.#head(end), content, stop_reason: stopReason(end) };
  }

  #start(): string {
    if (this.#hasStarted) return "";
    this.#hasStarted = true;
    const none = { text: "", reasoning: "", tools: [], usage: { prompt_tokens: 1, completion_tokens: 1 } };
    return event("message_start", { message: this.#head({ ...none, finish: undefined }) }) +
      event("ping", {});
  }

  #switchTo(kind: Kind): string {
    if (this.#open === kind) return "";
    const before = this.#start() + this.#close();
    this.#index++;
    this.#open = kind;
    const block = kind === "text" ? { type: kind, text: "" } : { type: kind, thinking: "", signature: "" };
    return before + event("content_block_start", { index: this.#index, content_block: block });
  }

  #close(): string {
    if (this.#open === null) return "";
    const signature = this.#open === "thinking"
      ? this.#delta({ type: "signature_delta", signature: "signed" })
      : "";
    this.#open = null;
    return signature + event("content_block_stop", { index: this.#index });
  }

  #delta(delta: Json): string {
    return event("content_block_delta", { index: this.#index, delta });
  }

  #usage(end: ScriptEnd): Json {
    const { prompt, completion, cached, reasoning } = countsOf(end.usage, this.#request, end.text);
    return {
      input_tokens: prompt - cached,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: 0,
      output_tokens: completion,
      output_tokens_details: { thinking_tokens: reasoning },
    };
  }

  #head(end: ScriptEnd): Json {
    const model = this.#request.body?.model ?? "scripted";
    return {
      id: "msg_scripted",
      type: "message",
      role: "assistant",
      model,
      content: [],
      stop_reason: null,
      usage: this.#usage(end),
    };
  }
}

function stopReason({ finish, tools }: ScriptEnd): string {
  const reason = finish ?? (tools.length > 0 ? "tool_calls" : "stop");
  return STOP_REASONS[reason] ?? reason;
}

function event(type: string, fields: Json): string {
  return sse({ type, ...fields }, type);
}
