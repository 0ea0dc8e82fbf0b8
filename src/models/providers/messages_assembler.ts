/**
 * Reads the events of an Anthropic Messages answer: blocks that start, grow and stop, each at its index. Thinking
 * blocks are kept with their signatures and, unless they came first, with their place: the provider wants them back
 * unchanged and where they were.
 */
import type { Slot } from "./answer.ts";
import { Assembler, finishOf, type Json, placeOf } from "./assembler.ts";
import { placeAfter } from "./thought_places.ts";
import { withSpeed } from "./speed.ts";
import { messagesUsage } from "./usage.ts";

export class MessagesAssembler extends Assembler {
  readonly #calls = new Map<number, Slot>();
  readonly #thoughts = new Map<number, Record<string, unknown>>();
  #usage: Json = {};
  #sawText = false;

  isAnswer(body: Json): boolean {
    return Array.isArray(body["content"]);
  }

  protected read(event: Json): void {
    const index = placeOf(event["index"]);
    switch (event["type"]) {
      case "message_start":
        return this.#addUsage((event["message"] as Json | undefined)?.["usage"]);
      case "content_block_start":
        return this.#open(index, (event["content_block"] ?? {}) as Json);
      case "content_block_delta":
        return this.#grow(index, (event["delta"] ?? {}) as Json);
      case "message_delta":
        this.#addUsage(event["usage"]);
        return this.#readStop((event["delta"] as Json | undefined)?.["stop_reason"]);
      case "message_stop":
        this.answer.sawEnd = true;
        return;
      case "error":
        return this.failWithEvent(event["error"] ?? event);
      default:
        // Pings, block ends and kinds we do not know say nothing here; an untyped error does.
        if (event["type"] === undefined && event["error"]) this.failWithEvent(event["error"]);
    }
  }

  protected readWhole(message: Json): void {
    this.#addUsage(message["usage"]);
    const blocks = Array.isArray(message["content"]) ? message["content"] as readonly Json[] : [];
    blocks.forEach((block, index) => this.#open(index, block));
    this.#readStop(message["stop_reason"]);
  }

  /** A block may come whole with its start. */
  #open(index: number, block: Json): void {
    const { answer } = this;
    const { type } = block;
    if (type === "text") {
      this.#sawText = true;
      answer.addText(textOf(block["text"]));
    } else if (type === "thinking") {
      const thought = {
        type,
        thinking: textOf(block["thinking"]),
        signature: textOf(block["signature"]),
        ...placeAfter(this.#sawText, this.#calls.size),
      };
      this.#thoughts.set(index, thought);
      answer.details.push(thought);
      answer.noteContent();
      answer.addReasoning(thought.thinking);
    } else if (type === "redacted_thinking") {
      answer.details.push({ type, data: block["data"], ...placeAfter(this.#sawText, this.#calls.size) });
      answer.noteContent();
    } else if (type === "tool_use") {
      const slot = answer.openCall(textOf(block["id"]));
      this.#calls.set(index, slot);
      const { input } = block;
      if (typeof input === "object" && input !== null && Object.keys(input).length > 0) {
        slot.arguments = JSON.stringify(input);
      }
      answer.nameCall(slot, block["name"]);
    }
  }

  #grow(index: number, delta: Json): void {
    switch (delta["type"]) {
      case "text_delta":
        return this.answer.addText(textOf(delta["text"]));
      case "thinking_delta": {
        const text = textOf(delta["thinking"]);
        const thought = this.#thoughts.get(index);
        if (thought) thought["thinking"] += text;
        return this.answer.addReasoning(text);
      }
      case "signature_delta": {
        const thought = this.#thoughts.get(index);
        if (thought) thought["signature"] += textOf(delta["signature"]);
        return;
      }
      case "input_json_delta": {
        const slot = this.#calls.get(index);
        if (slot) slot.arguments += textOf(delta["partial_json"]);
      }
    }
  }

  /** Counts come in two parts; the later ones are totals, and a missing or null one changes nothing. */
  #addUsage(usage: unknown): void {
    if (typeof usage !== "object" || usage === null) return;
    const known = Object.entries(usage).filter(([, value]) => value !== null && value !== undefined);
    this.#usage = { ...this.#usage, ...Object.fromEntries(known) };
    const counted = messagesUsage(this.#usage);
    this.answer.usage = counted && withSpeed(counted, this.#usage["speed"]);
  }

  #readStop(reason: unknown): void {
    if (typeof reason !== "string" || reason === "") return;
    this.answer.noteContent();
    this.answer.finish = finishOf(reason);
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
