/**
 * One answer of the model: stream, publish, retry (core.md A.5, A.11). Never throws; a failure and an abort are
 * answers of their own. Retries happen here and nowhere else.
 *
 *   attempt ─► batches ─► events          error, nothing shown, retryable ─► wait ─► attempt
 *                      └► done            error after shown text           ─► failed, text kept
 */
import { abortable, isAbort } from "@/lib/abort.ts";
import { OPEN_STREAM, type StreamRedactor } from "@/lib/stream_redact.ts";
import { WholeCharacters } from "@/lib/whole_characters.ts";
import type { Platform } from "@/platform/mod.ts";
import type { ModelFailure } from "./errors.ts";
import type { CoreEventBody } from "./events.ts";
import type { Usage } from "./messages.ts";
import type { FinishReason, ModelClient, ModelRequest, RawToolCall } from "./ports.ts";

export interface ModelAnswer {
  readonly type: "done" | "failed" | "cancelled";
  readonly text: string;
  readonly reasoning: string;
  readonly elapsedMs: number;
  readonly finish: FinishReason;
  readonly toolCalls: readonly RawToolCall[];
  readonly usage: Usage | null;
  readonly reasoningContent?: string;
  readonly reasoningDetails?: readonly unknown[];
  /** Set when `type` is `failed`. */
  readonly failure: ModelFailure | null;
  /** Requests that were sent. */
  readonly attempts: number;
}

export interface ModelCallContext {
  readonly platform: Platform;
  readonly signal: AbortSignal;
  /** Requests that may be sent in all, told by what went wrong, and whether a tool call was under way. */
  maxAttempts(failure: ModelFailure, isMidStream: boolean): number;
  /** Text of an earlier call that is repeated: what comes again is not shown again. */
  readonly alreadyShown: string;
  publish(body: CoreEventBody): void;
  /** Takes credentials out of what is shown; absent: nothing is. */
  redactStream?(): StreamRedactor;
  /** A promise while readers are full. */
  backpressure(): Promise<void> | null;
  /** Text and thought so far, for clients that join late. */
  onShown(text: string, reasoning: string): void;
}

/** What one attempt has gathered: as it came, and as it was shown. */
class Attempt {
  text = "";
  reasoning = "";
  shownText = "";
  shownReasoning = "";
  toolInFlight = false;
  #reasoningOpen = false;
  /** Text an earlier attempt has shown already. */
  #skip: string;
  readonly #context: ModelCallContext;
  readonly #textOut: StreamRedactor;
  readonly #reasoningOut: StreamRedactor;
  readonly #wholeText = new WholeCharacters();
  readonly #wholeReasoning = new WholeCharacters();

  constructor(context: ModelCallContext, shown: string) {
    this.#context = context;
    this.#skip = shown;
    this.#textOut = context.redactStream?.() ?? OPEN_STREAM;
    this.#reasoningOut = context.redactStream?.() ?? OPEN_STREAM;
  }

  addText(text: string): void {
    this.endReasoning();
    this.text += text;
    this.#showText(this.#textOut.push(text));
  }

  addReasoning(text: string): void {
    this.#reasoningOpen = true;
    this.reasoning += text;
    this.#showReasoning(this.#reasoningOut.push(text));
  }

  /** What was held back comes out, before anything else does. */
  endText(): void {
    this.#showText(this.#textOut.end());
  }

  endReasoning(): void {
    if (!this.#reasoningOpen) return;
    this.#reasoningOpen = false;
    this.#showReasoning(this.#reasoningOut.end());
    this.#context.publish({ type: "reasoning.end", text: this.shownReasoning });
  }

  #showText(piece: string): void {
    const text = this.#wholeText.push(piece);
    if (text === "") return;
    this.shownText += text;
    const fresh = this.#unseen(text);
    if (fresh) this.#context.publish({ type: "text.delta", text: fresh });
  }

  #showReasoning(piece: string): void {
    const text = this.#wholeReasoning.push(piece);
    if (text === "") return;
    this.shownReasoning += text;
    this.#context.publish({ type: "reasoning.delta", text });
  }

  #unseen(text: string): string {
    if (!this.#skip) return text;
    if (this.#skip.startsWith(text)) {
      this.#skip = this.#skip.slice(text.length);
      return "";
    }
    const fresh = text.startsWith(this.#skip) ? text.slice(this.#skip.length) : text;
    this.#skip = "";
    return fresh;
  }
}

/** Milliseconds before the next attempt, with 0–50 % jitter; `n` counts failures from 1. */
export function retryDelay(failure: ModelFailure, n: number, random: number): number {
  if (failure.retryAfterMs !== undefined) return Math.min(failure.retryAfterMs, 600_000);
  // Its makers ask for long pauses, and it comes back after them.
  if (failure.kind === "overloaded" && failure.provider === "zai" && /glm-5\.2/i.test(failure.model)) {
    return Math.min(120_000, 30_000 * n);
  }
  const invalid = failure.kind === "invalid_response" || failure.kind === "empty_stream";
  const [base, cap] = invalid ? [5_000, 120_000] : [2_000, 60_000];
  return Math.min(cap, base * 2 ** (n - 1)) * (1 + random / 2);
}

export async function callModel(
  client: ModelClient,
  request: ModelRequest,
  context: ModelCallContext,
): Promise<ModelAnswer> {
  const start = context.platform.clock.monotonic();
  let kept = "";
  let shown = "";
  for (let n = 1;; n++) {
    const attempt = new Attempt(context, shown || context.alreadyShown);
    const base = () => ({
      text: attempt.text,
      reasoning: attempt.reasoning,
      elapsedMs: context.platform.clock.monotonic() - start,
      finish: "stop" as FinishReason,
      toolCalls: [],
      usage: null,
      failure: null,
      attempts: n,
    });
    const end = await runAttempt(client, request, context, attempt);
    attempt.endReasoning();
    attempt.endText();
    if (end === "cancelled") return { ...base(), type: "cancelled" };
    if (end.type === "done") return { ...base(), ...end, type: "done" };
    if (attempt.text.length > kept.length) kept = attempt.text;
    if (attempt.shownText.length > shown.length) shown = attempt.shownText;
    const keepText = kept !== "" && !end.toolInFlight;
    const most = context.maxAttempts(end.failure, end.toolInFlight);
    if (keepText || !end.failure.retryable || n >= most) {
      return { ...base(), type: "failed", text: kept, failure: end.failure };
    }
    const wait = retryDelay(end.failure, n, context.platform.random());
    context.publish({
      type: "status",
      kind: "retry",
      text: `${end.failure.message} — trying again in ${(wait / 1000).toFixed(1)} s (${n}/${most - 1})`,
    });
    try {
      await context.platform.clock.delay(wait, { signal: context.signal });
    } catch {
      return { ...base(), type: "cancelled", text: kept };
    }
  }
}

type AttemptEnd = Extract<import("./ports.ts").ModelChunk, { type: "done" | "error" }> | "cancelled";

async function runAttempt(
  client: ModelClient,
  request: ModelRequest,
  context: ModelCallContext,
  attempt: Attempt,
): Promise<AttemptEnd> {
  const { signal } = context;
  let end: AttemptEnd | null = null;
  try {
    for await (const batch of client.stream(request, { signal })) {
      if (signal.aborted) return "cancelled";
      for (const chunk of batch) {
        if (chunk.type === "text") attempt.addText(chunk.text);
        else if (chunk.type === "reasoning") attempt.addReasoning(chunk.text);
        else if (chunk.type === "tool_name") {
          attempt.endReasoning();
          attempt.endText();
          context.publish({ type: "tool.generating", name: chunk.name });
        } else end = chunk;
      }
      context.onShown(attempt.shownText, attempt.shownReasoning);
      const full = context.backpressure();
      if (full) await abortable(full, signal);
    }
  } catch (error) {
    if (signal.aborted || isAbort(error)) return "cancelled";
    const message = error instanceof Error ? error.message : String(error);
    return { type: "error", failure: broken(client, message), toolInFlight: false };
  }
  if (signal.aborted && end === null) return "cancelled";
  return end ?? {
    type: "error",
    failure: broken(client, "The model's stream ended without an end"),
    toolInFlight: false,
  };
}

function broken(client: ModelClient, message: string): ModelFailure {
  const { provider, model } = client.info;
  return { kind: "unknown", message: message.slice(0, 500), provider, model, retryable: false };
}
