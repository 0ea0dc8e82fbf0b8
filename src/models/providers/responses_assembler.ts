/**
 * Reads the events of an OpenAI Responses answer. Items are told apart by their place in the output; a finished item
 * is the truth about itself, so what its deltas did not bring is taken from it. Reasoning items are kept whole: with
 * `store: false` the provider wants them back with the history.
 */
import type { Slot } from "./answer.ts";
import { Assembler, finishOf, type Json, placeOf } from "./assembler.ts";
import { placeAfter } from "./thought_places.ts";
import { withSpeed } from "./speed.ts";
import { normaliseUsage } from "./usage.ts";

type Reader = (this: ResponsesAssembler, event: Json) => void;

export class ResponsesAssembler extends Assembler {
  readonly #calls = new Map<number, Slot>();
  /** Items whose text came as deltas. */
  readonly #told = new Set<string>();
  #thoughtParts = 0;
  #sawText = false;

  isAnswer(body: Json): boolean {
    return Array.isArray(body["output"]);
  }

  protected read(event: Json): void {
    const type = event["type"];
    if (typeof type !== "string") {
      if (event["error"]) this.failWithEvent(event["error"]);
      return;
    }
    if (Object.hasOwn(READERS, type)) READERS[type]!.call(this, event);
  }

  protected readWhole(response: Json): void {
    this.readEnd(response);
  }

  readText(event: Json): void {
    this.#told.add(place(event));
    this.#sawText = true;
    this.answer.addText(textOf(event["delta"]));
  }

  readThought(event: Json): void {
    this.#told.add(place(event));
    this.answer.addReasoning(textOf(event["delta"]));
  }

  /** Parts of a summary are paragraphs. */
  readThoughtPart(_event: Json): void {
    if (this.#thoughtParts++ > 0) this.answer.addReasoning("\n\n");
  }

  readItem(event: Json): void {
    const item = event["item"] as Json | undefined;
    if (item?.["type"] === "function_call") this.#callOf(event, item);
  }

  readArguments(event: Json): void {
    this.#callOf(event, {}).arguments += textOf(event["delta"]);
  }

  readWholeArguments(event: Json): void {
    const { arguments: args } = event;
    if (typeof args === "string") this.#callOf(event, {}).arguments = args;
  }

  readItemDone(event: Json): void {
    const item = event["item"] as Json | undefined;
    if (!item) return;
    if (item["type"] === "function_call") {
      const slot = this.#callOf(event, item);
      if (typeof item["arguments"] === "string") slot.arguments = item["arguments"];
    } else if (item["type"] === "reasoning") this.#keepReasoning(item, place(event));
    else if (item["type"] === "message") this.#readMessage(item, place(event));
  }

  readEnd(event: Json): void {
    const { answer } = this;
    const response = (event["response"] ?? event) as Json;
    const usage = normaliseUsage(response["usage"]);
    if (usage) answer.usage = withSpeed(usage, response["service_tier"]);
    if (response["status"] === "failed" || response["error"]) return this.failWithEvent(response["error"]);
    const output = Array.isArray(response["output"]) ? response["output"] as readonly Json[] : [];
    output.forEach((item, at) => this.#takeMissing(item, at));
    const reason = (response["incomplete_details"] as Json | undefined)?.["reason"];
    answer.finish = typeof reason === "string" ? finishOf(reason) : "stop";
    if (output.length > 0 || answer.slots.length > 0) answer.noteContent();
    answer.sawEnd = true;
  }

  readError(event: Json): void {
    this.failWithEvent(event["error"] ?? event);
  }

  /** The last event repeats the whole output; a stream that skipped the events of an item has it here only. */
  #takeMissing(item: Json, at: number): void {
    const event = { output_index: at, item };
    const isKnown = item["type"] === "function_call" ? this.#calls.has(at) : this.#told.has(place(event));
    if (!isKnown) this.readItemDone(event);
  }

  #keepReasoning(item: Json, where: string): void {
    const { answer } = this;
    const isTold = this.#told.has(where);
    this.#told.add(where);
    answer.noteContent();
    if (!isTold) {
      const parts = (item["summary"] ?? []) as readonly Json[];
      answer.addReasoning(parts.map((part) => textOf(part["text"])).join("\n\n"));
    }
    if (typeof item["encrypted_content"] === "string" && item["encrypted_content"] !== "") {
      const { id, summary, encrypted_content } = item;
      const place = placeAfter(this.#sawText, answer.slots.length);
      answer.details.push({ type: "reasoning", id, summary: summary ?? [], encrypted_content, ...place });
    }
  }

  #readMessage(item: Json, where: string): void {
    const { answer } = this;
    if (typeof item["phase"] === "string") answer.details.push({ type: "message", phase: item["phase"] });
    if (this.#told.has(where)) return;
    this.#told.add(where);
    this.#sawText = true;
    const parts = (item["content"] ?? []) as readonly Json[];
    for (const part of parts) answer.addText(textOf(part["text"] ?? part["refusal"]));
  }

  #callOf(event: Json, item: Json): Slot {
    const at = placeOf(event["output_index"]);
    const id = textOf(item["call_id"] ?? item["id"]);
    const slot = this.#calls.get(at) ?? this.answer.openCall(id);
    this.#calls.set(at, slot);
    if (id !== "") slot.id = id;
    this.answer.nameCall(slot, item["name"]);
    return slot;
  }
}

const READERS: Readonly<Record<string, Reader>> = {
  "response.output_text.delta": ResponsesAssembler.prototype.readText,
  "response.refusal.delta": ResponsesAssembler.prototype.readText,
  "response.reasoning_summary_part.added": ResponsesAssembler.prototype.readThoughtPart,
  "response.reasoning_summary_text.delta": ResponsesAssembler.prototype.readThought,
  "response.reasoning_text.delta": ResponsesAssembler.prototype.readThought,
  "response.output_item.added": ResponsesAssembler.prototype.readItem,
  "response.function_call_arguments.delta": ResponsesAssembler.prototype.readArguments,
  "response.function_call_arguments.done": ResponsesAssembler.prototype.readWholeArguments,
  "response.output_item.done": ResponsesAssembler.prototype.readItemDone,
  "response.completed": ResponsesAssembler.prototype.readEnd,
  "response.incomplete": ResponsesAssembler.prototype.readEnd,
  "response.failed": ResponsesAssembler.prototype.readEnd,
  "error": ResponsesAssembler.prototype.readError,
};

function place(event: Json): string {
  return String(placeOf(event["output_index"]));
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
