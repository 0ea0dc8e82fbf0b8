/** Reads the chunks of a Chat Completions answer (core.md A.5). */
import type { Slot } from "./answer.ts";
import { Assembler, finishOf, type Json, textOfParts } from "./assembler.ts";
import { withSpeed } from "./speed.ts";
import { normaliseUsage } from "./usage.ts";

export class ChatAssembler extends Assembler {
  readonly #byIndex = new Map<number, Slot>();

  isAnswer(body: Json): boolean {
    return "choices" in body;
  }

  protected read(chunk: Json): void {
    const { answer } = this;
    if (chunk["error"] || chunk["object"] === "error") return this.failWithEvent(chunk["error"] ?? chunk);
    const usage = normaliseUsage(chunk["usage"]);
    if (usage) {
      answer.usage = withSpeed(usage, chunk["service_tier"]);
      answer.looksEnded = true;
    }
    const choice = (chunk["choices"] as readonly Json[] | undefined)?.[0];
    if (!choice) return;
    const delta = (choice["delta"] ?? choice["message"]) as Json | undefined;
    if (delta) this.#readDelta(delta);
    this.#readFinish(choice["finish_reason"]);
  }

  protected readWhole(answer: Json): void {
    this.read(answer);
  }

  #readDelta(delta: Json): void {
    this.#readReasoning(delta);
    const content = delta["content"];
    if (typeof content === "string") this.answer.addText(content);
    else if (Array.isArray(content)) this.#readParts(content);
    if (typeof delta["refusal"] === "string") this.answer.addText(delta["refusal"]);
    const calls = delta["tool_calls"];
    if (Array.isArray(calls)) { for (const call of calls) this.#readCall(call as Json); }
    if (delta["function_call"]) this.#readCall({ index: 0, function: delta["function_call"] });
  }

  #readParts(parts: readonly unknown[]): void {
    for (const part of parts as readonly Json[]) {
      if (part?.["type"] === "text" && typeof part["text"] === "string") this.answer.addText(part["text"]);
      if (part?.["type"] === "thinking") this.answer.addReasoning(textOfParts(part["thinking"]));
    }
  }

  /** Providers name the same thing differently; only one of the fields is shown. */
  #readReasoning(delta: Json): void {
    const { answer } = this;
    const echoed = delta["reasoning_content"];
    if (typeof echoed === "string") answer.reasoningContent = (answer.reasoningContent ?? "") + echoed;
    const details = delta["reasoning_details"];
    if (Array.isArray(details)) mergeDetails(details, answer.details);
    const plain = delta["reasoning"];
    if (typeof echoed === "string" && echoed !== "") answer.addReasoning(echoed);
    else if (typeof plain === "string") answer.addReasoning(plain);
    else if (Array.isArray(details)) answer.addReasoning(textOfParts(details));
  }

  #readCall(call: Json): void {
    if (typeof call !== "object" || call === null) return;
    const id = typeof call["id"] === "string" ? call["id"] : "";
    const slot = this.#slotOf(call["index"], id);
    if (id !== "") slot.id = id;
    const { name, arguments: args } = (call["function"] ?? {}) as Json;
    if (typeof args === "string") slot.arguments += args;
    else if (typeof args === "object" && args !== null) slot.arguments += JSON.stringify(args);
    this.answer.nameCall(slot, name);
  }

  /** A new id on a used index opens a new slot; some servers give no index at all. */
  #slotOf(rawIndex: unknown, id: string): Slot {
    const { slots } = this.answer;
    const last = slots.at(-1);
    const index = typeof rawIndex === "number"
      ? rawIndex
      : last && (id === "" || id === last.id)
      ? slots.length - 1
      : slots.length;
    const known = this.#byIndex.get(index);
    const isNew = known !== undefined && id !== "" && known.id !== "" && known.id !== id;
    if (known && !isNew) return known;
    const slot = this.answer.openCall(id);
    this.#byIndex.set(index, slot);
    return slot;
  }

  #readFinish(reason: unknown): void {
    if (typeof reason !== "string" || reason === "") return;
    this.answer.noteContent();
    this.answer.finish = finishOf(reason);
    if (reason === "error") {
      this.fail("invalid_response", `${this.answer.context.provider} ended its answer with an error`);
    }
  }
}

/** Pieces of one item share index and type; their texts are joined, everything else is kept as given. */
function mergeDetails(details: readonly unknown[], into: Record<string, unknown>[]): void {
  for (const detail of details) {
    if (typeof detail !== "object" || detail === null) continue;
    const item = detail as Json;
    const last = into.at(-1);
    const continues = last && last["type"] === item["type"] && last["index"] === item["index"] &&
      item["index"] !== undefined;
    if (!continues) {
      into.push({ ...item });
      continue;
    }
    for (const [key, value] of Object.entries(item)) {
      const joins = ["text", "summary", "data"].includes(key) && typeof value === "string" &&
        typeof last[key] === "string";
      if (joins) last[key] = `${last[key]}${value}`;
      else if (value !== null) last[key] = value;
    }
  }
}
