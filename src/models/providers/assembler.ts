/**
 * From the events of a wire to chunks: what all wires share. A subclass reads one parsed event of its wire into the
 * `Answer`; nothing here waits, and nothing is thrown.
 */
import { isTooDeep, MAX_JSON_DEPTH } from "@/lib/json_depth.ts";
import type { FinishReason, ModelChunk, ModelFailure } from "@/core/contract.ts";
import { Answer } from "./answer.ts";
import { type FailureContext, failureOfEvent } from "./failures.ts";

export type Json = Readonly<Record<string, unknown>>;

export abstract class Assembler {
  protected readonly answer: Answer;

  constructor(context: FailureContext) {
    this.answer = new Answer(context);
  }

  /** Reads one parsed event. */
  protected abstract read(event: Json): void;
  /** Reads an answer that came as one object instead of a stream. */
  protected abstract readWhole(answer: Json): void;
  /** True for an object that is an answer of this wire, and not an error or something else. */
  abstract isAnswer(body: Json): boolean;

  get isOver(): boolean {
    return this.answer.isOver;
  }

  get toolInFlight(): boolean {
    return this.answer.toolInFlight;
  }

  accept(event: Json): void {
    if (!this.answer.hasFailed) this.read(event);
  }

  /** Takes the data of one event: JSON, or the end mark. */
  acceptEvent(data: string): void {
    if (this.isOver || data === "") return;
    if (data === "[DONE]") {
      this.answer.sawEnd = true;
      return;
    }
    let event: unknown;
    try {
      event = JSON.parse(data);
    } catch {
      this.answer.fail("invalid_response", "The answer holds an event that is not JSON");
      return;
    }
    if (isTooDeep(data)) {
      this.answer.fail("invalid_response", `The answer is nested deeper than ${MAX_JSON_DEPTH} levels`);
      return;
    }
    if (typeof event === "object" && event !== null) this.accept(event as Json);
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

  acceptWhole(answer: Json): void {
    if (answer["error"] && !this.isAnswer(answer)) this.failWithEvent(answer["error"]);
    else this.readWhole(answer);
    this.answer.sawEnd = true;
  }

  fail(kind: "invalid_response" | "connection" | "timeout", message: string): void {
    this.answer.fail(kind, message);
  }

  failWith(failure: ModelFailure): void {
    this.answer.failWith(failure);
  }

  takeBatch(): readonly ModelChunk[] {
    return this.answer.takeBatch();
  }

  finish(): readonly ModelChunk[] {
    return this.answer.end();
  }

  /** An error object inside an answer that had begun. */
  protected failWithEvent(error: unknown): void {
    this.answer.failWith(failureOfEvent(error, this.answer.context));
  }
}

/** The reason an answer ended, in the words of any provider. */
export function finishOf(reason: string): FinishReason {
  switch (reason.toLowerCase()) {
    case "length":
    case "max_tokens":
    case "max_output_tokens":
    case "model_length":
    case "model_context_window_exceeded":
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

/** The place that an event names for its item; what is no number is the first one. */
export function placeOf(value: unknown): number {
  return typeof value === "number"
    ? value
    : typeof value === "string" && /^\d{1,9}$/.test(value)
    ? Number(value)
    : 0;
}

export function textOfParts(parts: unknown): string {
  if (typeof parts === "string") return parts;
  if (!Array.isArray(parts)) return "";
  return (parts as readonly Json[]).map((part) => {
    const text = part?.["text"] ?? part?.["summary"];
    return typeof text === "string" ? text : "";
  }).join("");
}
