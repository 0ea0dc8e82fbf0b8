/**
 * Puts a Chat Completions answer together from its chunks (core.md A.5): text and thought go out as they come, tool
 * calls are collected, the end is judged once. One `accept` per chunk; nothing here waits.
 */
import type { FinishReason, ModelChunk, ModelFailure, RawToolCall, Usage } from "@/core/mod.ts";
import { type FailureContext, failureOf, failureOfEvent } from "./failures.ts";
import { ThinkSplitter } from "./think_tags.ts";
import { normaliseUsage } from "./usage.ts";

type Json = Readonly<Record<string, unknown>>;

interface Slot {
  id: string;
  name: string;
  arguments: string;
  announced: boolean;
}

/** Text of one network read, joined so that the work downstream is per read and not per token. */
class Batch {
  readonly chunks: ModelChunk[] = [];
  #type: "text" | "reasoning" = "text";
  #held = "";

  add(type: "text" | "reasoning", text: string): void {
    if (text === "") return;
    if (this.#type !== type) this.#flush();
    this.#type = type;
    this.#held += text;
  }

  push(chunk: ModelChunk): void {
    this.#flush();
    this.chunks.push(chunk);
  }

  end(): readonly ModelChunk[] {
    this.#flush();
    return this.chunks;
  }

  #flush(): void {
    if (this.#held === "") return;
    this.chunks.push({ type: this.#type, text: this.#held });
    this.#held = "";
  }
}

export class ChatAssembler {
  readonly #context: FailureContext;
  readonly #splitter = new ThinkSplitter();
  readonly #slots: Slot[] = [];
  readonly #byIndex = new Map<number, Slot>();
  #batch = new Batch();
  #finish: FinishReason | null = null;
  #usage: Usage | null = null;
  #sawAnything = false;
  #sawEnd = false;
  #reasoningContent: string | null = null;
  readonly #details: Record<string, unknown>[] = [];
  #failure: ModelFailure | null = null;

  constructor(context: FailureContext) {
    this.#context = context;
  }

  /** Call deltas have begun. */
  get toolInFlight(): boolean {
    return this.#slots.length > 0;
  }

  /** The answer is complete or has failed: nothing more needs to be read. */
  get isOver(): boolean {
    return this.#sawEnd || this.#failure !== null;
  }

  /** Takes the data of one event: JSON, or the end mark. */
  acceptEvent(data: string): void {
    if (this.isOver || data === "") return;
    if (data === "[DONE]") {
      this.#sawEnd = true;
      return;
    }
    let chunk: unknown;
    try {
      chunk = JSON.parse(data);
    } catch {
      this.fail("invalid_response", "The answer holds an event that is not JSON");
      return;
    }
    if (typeof chunk === "object" && chunk !== null) this.accept(chunk as Json);
  }

  /** Takes what was left when the stream ended: half an event says nothing, the missing end is judged later. */
  acceptTail(data: string): void {
    try {
      JSON.parse(data);
    } catch {
      if (data !== "[DONE]") return;
    }
    this.acceptEvent(data);
  }

  /** Takes one parsed chunk. */
  accept(chunk: Json): void {
    if (this.#failure) return;
    if (chunk["error"] || chunk["object"] === "error") {
      this.#failure = failureOfEvent(chunk["error"] ?? chunk, this.#context);
      return;
    }
    this.#usage = normaliseUsage(chunk["usage"]) ?? this.#usage;
    const choice = (chunk["choices"] as readonly Json[] | undefined)?.[0];
    if (!choice) return;
    const delta = (choice["delta"] ?? choice["message"]) as Json | undefined;
    if (delta) this.#acceptDelta(delta);
    this.#acceptFinish(choice["finish_reason"]);
  }

  /** Takes an answer that came as one object instead of a stream. */
  acceptWhole(answer: Json): void {
    this.accept(answer);
    this.#sawEnd = true;
  }

  fail(kind: "invalid_response" | "connection" | "timeout", message: string): void {
    this.#failure ??= failureOf(kind, message, this.#context);
  }

  failWith(failure: ModelFailure): void {
    this.#failure ??= failure;
  }

  /** What the chunks since the last call gave. */
  takeBatch(): readonly ModelChunk[] {
    const chunks = this.#batch.end();
    this.#batch = new Batch();
    return chunks;
  }

  /** The last batch: the rest of the text, then `done` or `error`. */
  finish(): readonly ModelChunk[] {
    this.#releaseHeld();
    const failure = this.#failure ?? this.#judge();
    if (failure) this.#batch.push({ type: "error", failure, toolInFlight: this.toolInFlight });
    else this.#batch.push(this.#done());
    return this.takeBatch();
  }

  #releaseHeld(): void {
    const { text, reasoning } = this.#splitter.end();
    this.#batch.add("reasoning", reasoning);
    this.#batch.add("text", text);
  }

  #acceptDelta(delta: Json): void {
    this.#acceptReasoning(delta);
    const content = delta["content"];
    if (typeof content === "string") this.#acceptText(content);
    else if (Array.isArray(content)) this.#acceptParts(content);
    if (typeof delta["refusal"] === "string") this.#acceptText(delta["refusal"]);
    const calls = delta["tool_calls"];
    if (Array.isArray(calls)) { for (const call of calls) this.#acceptCall(call as Json); }
    if (delta["function_call"]) this.#acceptCall({ index: 0, function: delta["function_call"] });
  }

  #acceptText(text: string): void {
    if (text === "") return;
    this.#sawAnything = true;
    if (this.toolInFlight) return;
    const { text: shown, reasoning } = this.#splitter.push(text);
    this.#batch.add("reasoning", reasoning);
    this.#batch.add("text", shown);
  }

  #acceptParts(parts: readonly unknown[]): void {
    for (const part of parts as readonly Json[]) {
      if (part?.["type"] === "text" && typeof part["text"] === "string") this.#acceptText(part["text"]);
      if (part?.["type"] === "thinking") this.#addReasoning(textOfParts(part["thinking"]));
    }
  }

  /** Providers name the same thing differently; only one of the fields is shown. */
  #acceptReasoning(delta: Json): void {
    const echoed = delta["reasoning_content"];
    if (typeof echoed === "string") this.#reasoningContent = (this.#reasoningContent ?? "") + echoed;
    const details = delta["reasoning_details"];
    if (Array.isArray(details)) this.#mergeDetails(details);
    const plain = delta["reasoning"];
    if (typeof echoed === "string" && echoed !== "") this.#addReasoning(echoed);
    else if (typeof plain === "string") this.#addReasoning(plain);
    else if (Array.isArray(details)) this.#addReasoning(textOfParts(details));
  }

  #addReasoning(text: string): void {
    if (text === "") return;
    this.#sawAnything = true;
    this.#batch.add("reasoning", text);
  }

  /** Pieces of one item share index and type; their texts are joined, everything else is kept as given. */
  #mergeDetails(details: readonly unknown[]): void {
    for (const detail of details) {
      if (typeof detail !== "object" || detail === null) continue;
      const item = detail as Json;
      const last = this.#details.at(-1);
      const continues = last && last["type"] === item["type"] && last["index"] === item["index"] &&
        item["index"] !== undefined;
      if (!continues) this.#details.push({ ...item });
      else {
        for (const [key, value] of Object.entries(item)) {
          const joins = ["text", "summary", "data"].includes(key) && typeof value === "string" &&
            typeof last[key] === "string";
          if (joins) last[key] = `${last[key]}${value}`;
          else if (value !== null) last[key] = value;
        }
      }
    }
  }

  #acceptCall(call: Json): void {
    if (typeof call !== "object" || call === null) return;
    this.#sawAnything = true;
    // What the splitter still holds was written before the call, so it is still shown.
    if (!this.toolInFlight) this.#releaseHeld();
    const id = typeof call["id"] === "string" ? call["id"] : "";
    const slot = this.#slotOf(call["index"], id);
    if (id !== "") slot.id = id;
    const fn = (call["function"] ?? {}) as Json;
    const { name, arguments: args } = fn;
    if (typeof name === "string" && name !== "") slot.name = name;
    if (typeof args === "string") slot.arguments += args;
    else if (typeof args === "object" && args !== null) slot.arguments += JSON.stringify(args);
    if (!slot.announced && slot.name !== "") {
      slot.announced = true;
      this.#batch.push({ type: "tool_name", name: slot.name });
    }
  }

  #slotOf(rawIndex: unknown, id: string): Slot {
    const last = this.#slots.at(-1);
    const index = typeof rawIndex === "number"
      ? rawIndex
      : last && (id === "" || id === last.id)
      ? this.#slots.length - 1
      : this.#slots.length;
    const known = this.#byIndex.get(index);
    const isNew = known !== undefined && id !== "" && known.id !== "" && known.id !== id;
    if (known && !isNew) return known;
    const slot = { id, name: "", arguments: "", announced: false };
    this.#slots.push(slot);
    this.#byIndex.set(index, slot);
    return slot;
  }

  #acceptFinish(reason: unknown): void {
    if (typeof reason !== "string" || reason === "") return;
    this.#sawAnything = true;
    this.#finish = finishOf(reason);
    if (reason === "error") {
      this.fail("invalid_response", `${this.#context.provider} ended its answer with an error`);
    }
  }

  /** What is wrong with the answer as a whole; `null` when it is complete. */
  #judge(): ModelFailure | null {
    if (!this.#sawAnything) {
      return failureOf("empty_stream", `${this.#context.provider} sent an empty answer`, this.#context);
    }
    const ended = this.#finish !== null || this.#sawEnd || this.#usage !== null;
    if (ended || this.toolInFlight) return null;
    // Closed without any sign of an end: it may be a part only, and must not look whole (FC-04).
    return failureOf(
      "connection",
      `The answer of ${this.#context.provider} broke off before its end`,
      this.#context,
    );
  }

  #done(): ModelChunk {
    const toolCalls: RawToolCall[] = this.#slots.map(({ id, name, arguments: args }) => ({
      id,
      name,
      arguments: args,
    }));
    return {
      type: "done",
      finish: this.#finishReason(toolCalls),
      toolCalls,
      usage: this.#usage,
      ...(this.#reasoningContent === null ? {} : { reasoningContent: this.#reasoningContent }),
      ...(this.#details.length === 0 ? {} : { reasoningDetails: this.#details }),
    };
  }

  #finishReason(calls: readonly RawToolCall[]): FinishReason {
    if (this.#finish === null) {
      if (calls.length === 0) return "stop";
      return calls.every((call) => isWhole(call.arguments)) ? "tool_calls" : "length";
    }
    return this.#finish === "stop" && calls.length > 0 ? "tool_calls" : this.#finish;
  }
}

function isWhole(args: string): boolean {
  if (args.trim() === "") return true;
  try {
    JSON.parse(args);
    return true;
  } catch {
    return false;
  }
}

function finishOf(reason: string): FinishReason {
  switch (reason.toLowerCase()) {
    case "length":
    case "max_tokens":
    case "model_length":
      return "length";
    case "tool_calls":
    case "function_call":
    case "tool_use":
      return "tool_calls";
    case "content_filter":
    case "safety":
    case "refusal":
    case "sensitive":
      return "content_filter";
    default:
      return "stop";
  }
}

function textOfParts(parts: unknown): string {
  if (typeof parts === "string") return parts;
  if (!Array.isArray(parts)) return "";
  return (parts as readonly Json[]).map((part) => {
    const text = part?.["text"] ?? part?.["summary"];
    return typeof text === "string" ? text : "";
  }).join("");
}
