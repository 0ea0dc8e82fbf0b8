/**
 * An answer while it is put together, whatever its wire (core.md A.5): text and thought go out as they come, tool
 * calls are collected, the end is judged once. It knows no wire: the assemblers read events and call it.
 */
import type { FinishReason, ModelChunk, ModelFailure, RawToolCall, Usage } from "@/core/contract.ts";
import { Batch } from "./batch.ts";
import { type FailureContext, failureOf } from "./failures.ts";
import { ThinkSplitter } from "./think_tags.ts";

/** A tool call while its pieces come. */
export interface Slot {
  id: string;
  name: string;
  arguments: string;
  announced: boolean;
}

export class Answer {
  readonly context: FailureContext;
  readonly #splitter = new ThinkSplitter();
  readonly #slots: Slot[] = [];
  #batch = new Batch();
  #failure: ModelFailure | null = null;
  #sawAnything = false;
  finish: FinishReason | null = null;
  usage: Usage | null = null;
  /** The wire's own end mark has come. */
  sawEnd = false;
  /** Something came that stands at the end only. */
  looksEnded = false;
  /** What providers want back with the history; `null` and empty are left out. */
  reasoningContent: string | null = null;
  readonly details: Record<string, unknown>[] = [];

  constructor(context: FailureContext) {
    this.context = context;
  }

  /** Call deltas have begun. */
  get toolInFlight(): boolean {
    return this.#slots.length > 0;
  }

  /** The answer is complete or has failed: nothing more needs to be read. */
  get isOver(): boolean {
    return this.sawEnd || this.#failure !== null;
  }

  get hasFailed(): boolean {
    return this.#failure !== null;
  }

  get slots(): readonly Slot[] {
    return this.#slots;
  }

  /** Visible text; think tags are taken out, and text after the first call is not shown (A.5 rule 3). */
  addText(text: string): void {
    if (text === "") return;
    this.#sawAnything = true;
    if (this.toolInFlight) return;
    const { text: shown, reasoning } = this.#splitter.push(text);
    this.#batch.add("reasoning", reasoning);
    this.#batch.add("text", shown);
  }

  addReasoning(text: string): void {
    if (text === "") return;
    this.#sawAnything = true;
    this.#batch.add("reasoning", text);
  }

  /** Something came that shows nothing but is part of an answer (a finish reason, a thought without text). */
  noteContent(): void {
    this.#sawAnything = true;
  }

  openCall(id: string): Slot {
    this.#sawAnything = true;
    // What the splitter still holds was written before the call, so it is still shown.
    if (!this.toolInFlight) this.#releaseHeld();
    const slot = { id, name: "", arguments: "", announced: false };
    this.#slots.push(slot);
    return slot;
  }

  /** Assigns the name (some servers send it again whole) and says once that the call is being written. */
  nameCall(slot: Slot, name: unknown): void {
    if (typeof name === "string" && name !== "") slot.name = name;
    if (slot.announced || slot.name === "") return;
    slot.announced = true;
    this.#batch.push({ type: "tool_name", name: slot.name });
  }

  fail(kind: "invalid_response" | "connection" | "timeout", message: string): void {
    this.#failure ??= failureOf(kind, message, this.context);
  }

  failWith(failure: ModelFailure): void {
    this.#failure ??= failure;
  }

  /** What the events since the last call gave. */
  takeBatch(): readonly ModelChunk[] {
    const chunks = this.#batch.end();
    this.#batch = new Batch();
    return chunks;
  }

  /** The last batch: the rest of the text, then `done` or `error`. */
  end(): readonly ModelChunk[] {
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

  /** What is wrong with the answer as a whole; `null` when it is complete. */
  #judge(): ModelFailure | null {
    const { provider } = this.context;
    if (!this.#sawAnything) {
      return failureOf("empty_stream", `${provider} sent an empty answer`, this.context);
    }
    const ended = this.finish !== null || this.sawEnd || this.looksEnded;
    if (ended || this.toolInFlight) return null;
    // Closed without any sign of an end: it may be a part only, and must not look whole (FC-04).
    return failureOf("connection", `The answer of ${provider} broke off before its end`, this.context);
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
      usage: this.usage,
      ...(this.reasoningContent === null ? {} : { reasoningContent: this.reasoningContent }),
      ...(this.details.length === 0 ? {} : { reasoningDetails: this.details }),
    };
  }

  #finishReason(calls: readonly RawToolCall[]): FinishReason {
    if (this.finish === null) {
      if (calls.length === 0) return "stop";
      return calls.every((call) => this.#isWhole(call)) ? "tool_calls" : "length";
    }
    return this.finish === "stop" && calls.length > 0 ? "tool_calls" : this.finish;
  }

  /** A call without arguments is whole only in an answer that was ended: theirs may not have come yet. */
  #isWhole({ arguments: args }: RawToolCall): boolean {
    return args.trim() === "" ? this.sawEnd || this.looksEnded : isWhole(args);
  }
}

function isWhole(args: string): boolean {
  try {
    JSON.parse(args);
    return true;
  } catch {
    return false;
  }
}
