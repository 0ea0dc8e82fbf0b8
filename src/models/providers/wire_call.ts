/**
 * One model call in any wire, from the request to its last chunk. Work is done per network read: all events of one
 * read become one batch. Never throws; an abort ends it without a last chunk.
 *
 * The cancel does not rest on the runtime: `fetch` forgets its signal once the Response has been collected
 * (spec/README.md §5), so the Response is held here, its reader is cancelled from a listener of our own, and the
 * signal is looked at after every read.
 */
import type { ModelChunk, ModelRequest } from "@/core/contract.ts";
import { AbortError, within } from "@/lib/abort.ts";
import { Slices } from "@/lib/slices.ts";
import type { Platform } from "@/platform/mod.ts";
import { addressOf } from "../endpoints.ts";
import { isAskedAgain, mayBeCached } from "../openrouter_cache.ts";
import type { Runtime } from "../runtime.ts";
import { adaptRequest, contentsOf, hasOldLargeImage } from "./adapt.ts";
import type { Assembler } from "./assembler.ts";
import { readWholeBody, type WholeBody } from "./body.ts";
import { ByteReader } from "./byte_reader.ts";
import { watchConnect } from "./connect_limit.ts";
import {
  describeThrown,
  type FailureContext,
  failureOf,
  failureOfResponse,
  failureOfThrown,
  isOutputCap,
  readErrorBody,
} from "./failures.ts";
import { PATIENCE_MS, type RightOfWay } from "./right_of_way.ts";
import { fittingCap, isLongContextTier, lessonOf, ORDINARY_TIER, statedWindow } from "./refusals.ts";
import type { ServerMemory } from "./server_memory.ts";
import { SseParser } from "./sse.ts";
import type { TimeLimits } from "./time_limits.ts";
import { namesLongContext } from "./long_context.ts";
import { Watchdog } from "./watchdog.ts";
import type { Send, Wire } from "./wire.ts";

export interface CallContext {
  readonly runtime: Runtime;
  readonly platform: Platform;
  readonly failures: FailureContext;
  readonly limits: TimeLimits;
  readonly memory: ServerMemory;
  readonly rightOfWay: RightOfWay;
  readonly wire: Wire;
  readonly send: Send;
  /** Fields that the server of this model wants beside those of the settings. */
  readonly extraBody: Readonly<Record<string, unknown>>;
  /** What to change about the address; `null` for nothing. */
  addressAdvice(signal: AbortSignal): Promise<string | null>;
  /** An overflow has stated the window. */
  onWindow(tokens: number): Promise<void>;
}

/** How long the end of the connection is waited for after the end mark, so that it can be used again. */
const DRAIN_MS = 100;
/** Requests of one call at most, each after something was learned. */
const MAX_SENDS = 5;
/** Nobody looks at it; making one anew takes longer than the rest of the end. */
const OVER = new AbortError("The call is over");

export class WireCall {
  readonly #context: CallContext;
  readonly #request: ModelRequest;
  readonly #signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #assembler: Assembler;
  readonly #streams: boolean;
  /** Kept reachable for as long as the call runs. */
  #response: Response | null = null;
  #reader: ByteReader | null = null;
  /** To be called at the first bytes or the end. */
  #begun = () => {};
  #waiting: PromiseWithResolvers<void> | null = null;
  /** Milliseconds for which calls that begin may still go first. */
  #patience = PATIENCE_MS;
  /** Which limit was reached, for people. */
  #expired: string | null = null;
  /** An output cap that fits this request, told by a refusal. */
  #cap: number | null = null;

  constructor(context: CallContext, request: ModelRequest, signal: AbortSignal) {
    this.#context = context;
    this.#request = request;
    this.#signal = signal;
    this.#assembler = context.wire.createAssembler(context.failures);
    this.#streams = !context.memory.answersWhole;
  }

  async *run(): AsyncGenerator<readonly ModelChunk[]> {
    if (this.#signal.aborted) return;
    this.#begun = this.#context.rightOfWay.begin();
    const onAbort = () => this.#stop();
    this.#signal.addEventListener("abort", onAbort, { once: true });
    const { platform, limits, runtime } = this.#context;
    const watchdog = new Watchdog(
      platform.clock,
      limits,
      this.#streams,
      (reason) => this.#expire(`${runtime.model.provider} timed out: ${reason}`),
    );
    try {
      const response = await this.#open();
      if (response) yield* this.#read(response, watchdog);
      if (!this.#signal.aborted) yield this.#finish();
    } finally {
      this.#begun();
      watchdog.stop();
      this.#signal.removeEventListener("abort", onAbort);
      this.#stop();
    }
  }

  #expire(message: string): void {
    this.#expired ??= message;
    this.#stop();
  }

  /** Ends the request in whichever phase it is; harmless afterwards. */
  #stop(): void {
    this.#controller.abort(OVER);
    this.#waiting?.resolve();
    this.#reader?.cancel().catch(() => {/* the connection is gone already */});
    this.#reader = null;
  }

  #finish(): readonly ModelChunk[] {
    if (this.#expired !== null) {
      this.#assembler.failWith(failureOf("timeout", this.#expired, this.#context.failures));
    }
    return this.#assembler.finish();
  }

  /** `null` when there is no answer to read: it failed, which is noted, or it was aborted. */
  async #open(): Promise<Response | null> {
    // Every round but the last learned something new, so this ends; the bound is for servers that refuse anything.
    for (let sent = 1;; sent++) {
      try {
        return await this.#send();
      } catch (error) {
        if (this.#isOver()) return null;
        if (sent >= MAX_SENDS || !this.#learn(error)) return await this.#fail(error);
      }
    }
  }

  /** True when the refusal says what to change and it has not been changed yet. */
  #learn(error: unknown): boolean {
    const { memory } = this.#context;
    const { status, error: body } = error as { status?: number; error?: unknown };
    if (typeof status !== "number") return false;
    const { text } = readErrorBody(body);
    if ((status === 400 || status === 422) && isOutputCap(text)) return this.#learnCap(text);
    const lesson = lessonOf(status, text, {
      ...contentsOf(this.#request, !memory.lessons.has("no_summaries")),
      asksForLongContext: namesLongContext(this.#context.runtime),
    });
    if (lesson === null || memory.lessons.has(lesson)) return false;
    // The user's newest image is not left out behind their back: that is a failure which says so.
    if (lesson === "image_too_large" && (this.#request.shrinks || !hasOldLargeImage(this.#request))) {
      return false;
    }
    memory.lessons.add(lesson);
    return true;
  }

  /** Our own cap is left out; one that was asked for is lowered to what fits, once. */
  #learnCap(text: string): boolean {
    if (this.#ownCap()) return this.#context.memory.refusesCap = true;
    if (this.#cap !== null) return false;
    this.#cap = fittingCap(text);
    return this.#cap !== null;
  }

  #ownCap(): boolean {
    const { memory, wire, runtime } = this.#context;
    return !memory.refusesCap && wire.hasOwnCap(this.#request, runtime.model);
  }

  #isOver(): boolean {
    return this.#signal.aborted || this.#expired !== null;
  }

  async #send(): Promise<Response> {
    const { runtime, platform, limits, send, wire, memory } = this.#context;
    const slices = new Slices();
    const request = adaptRequest(this.#request, memory.lessons, this.#cap);
    const body = wire.buildBody(request, runtime.model, {
      stream: this.#streams,
      ownCap: this.#ownCap(),
      summaries: !memory.lessons.has("no_summaries"),
      extraBody: { ...this.#context.extraBody, ...runtime.extraBody },
      cacheTtl: runtime.cacheTtl,
      maxOutput: runtime.maxOutput,
    });
    if (slices.isOver) await slices.next();
    const { signal } = this.#controller;
    const { baseUrl } = runtime.model;
    const isAgain = mayBeCached(runtime.headers) && await isAskedAgain(body, memory.asked);
    const unwatch = watchConnect(platform, baseUrl, limits.connect, (message) => this.#expire(message));
    try {
      const response = await unlessAborted(
        send({
          body,
          timeoutMs: limits.whole,
          signal,
          ...(memory.lessons.has("no_long_context") ? { ordinaryContext: true } : {}),
          ...(isAgain ? { anew: true } : {}),
        }),
        signal,
      );
      this.#response = response;
      return response;
    } finally {
      unwatch();
    }
  }

  async #fail(error: unknown): Promise<null> {
    const { failures, runtime } = this.#context;
    const { status, headers, error: body } = error as { status?: number; headers?: Headers; error?: unknown };
    const advice = status === 404 ? await this.#addressAdvice() : null;
    const failure = typeof status === "number"
      ? failureOfResponse(
        status,
        body ?? describeThrown(error),
        (name) => headers?.get(name),
        failures,
        advice,
      )
      : failureOfThrown(error, addressOf(runtime.model.baseUrl), failures);
    if (failure.kind === "context_overflow") {
      const { text } = readErrorBody(body);
      const window = statedWindow(text) ?? (isLongContextTier(text) ? ORDINARY_TIER : null);
      if (window !== null) await this.#context.onWindow(window);
    }
    this.#assembler.failWith(failure);
    return null;
  }

  /** Cancelled meanwhile, there is nobody to tell it. */
  async #addressAdvice(): Promise<string | null> {
    try {
      return await this.#context.addressAdvice(this.#signal);
    } catch (error) {
      if (error instanceof AbortError) return null;
      throw error;
    }
  }

  async *#read(response: Response, watchdog: Watchdog): AsyncGenerator<readonly ModelChunk[]> {
    if (!response.body) return;
    const reader = new ByteReader(response.body);
    this.#reader = reader;
    if (this.#isOver()) return this.#stop();
    const parser = new SseParser();
    let whole: WholeBody | null = null;
    let first = true;
    try {
      while (!this.#assembler.isOver) {
        if (!first && this.#context.rightOfWay.isWanted) await this.#giveWay();
        const value = await reader.read();
        if (first) this.#begun();
        if (this.#isOver()) return;
        if (!value) break;
        if (first) whole = readWholeBody(response.headers.get("content-type"), value, this.#streams);
        first = false;
        if (whole) {
          watchdog.touch(true);
          whole.push(value);
          continue;
        }
        const events = parser.push(value);
        watchdog.touch(events.length > 0);
        for (const data of events) this.#assembler.acceptEvent(data);
        const batch = this.#assembler.takeBatch();
        if (batch.length > 0) yield batch;
        if (this.#isOver()) return;
      }
      if (whole) this.#acceptWhole(whole, response);
      else for (const data of parser.end()) this.#assembler.acceptTail(data);
      await this.#drain(reader);
    } catch (error) {
      if (this.#isOver()) return;
      const where = addressOf(this.#context.runtime.model.baseUrl);
      this.#assembler.failWith(
        error instanceof RangeError
          ? failureOf("invalid_response", error.message, this.#context.failures)
          : failureOf(
            "connection",
            `The connection to ${where} broke during the answer: ${describeThrown(error)}`,
            this.#context.failures,
          ),
      );
    }
  }

  async #giveWay(): Promise<void> {
    const { platform: { clock }, rightOfWay } = this.#context;
    while (this.#patience > 0 && rightOfWay.isWanted && !this.#isOver()) {
      const since = clock.monotonic();
      this.#waiting = rightOfWay.wait();
      await this.#waiting.promise;
      this.#patience -= clock.monotonic() - since;
    }
  }

  #acceptWhole(whole: WholeBody, response: Response): void {
    const { provider } = this.#context.runtime.model;
    const answer = whole.json();
    if (answer !== null) {
      if (this.#streams && this.#assembler.isAnswer(answer)) this.#context.memory.answersWhole = true;
      this.#assembler.acceptWhole(answer);
      return;
    }
    if (whole.isEmpty) return;
    const type = response.headers.get("content-type") ?? "no content type";
    this.#assembler.fail(
      "invalid_response",
      `${provider} answered with ${type} instead of a model's answer: check the base URL`,
    );
  }

  /** After the end mark the server closes the answer: waiting for that keeps the connection for the next call. */
  async #drain(reader: ByteReader): Promise<void> {
    if (!this.#assembler.isOver) return;
    const rest = (async () => {
      while (await reader.read()) {
        // Nothing of interest follows the end mark.
      }
    })().catch(() => {/* broken off after the end: the answer is complete */});
    await within(rest, DRAIN_MS);
  }
}

/** Settles with the response, or rejects at the abort; a response that comes too late is closed. */
async function unlessAborted(sent: Promise<Response>, signal: AbortSignal): Promise<Response> {
  const stop = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true, signal: stop.signal });
  });
  try {
    return await Promise.race([sent, aborted]);
  } catch (error) {
    sent.then((late) => late.body?.cancel()).catch(() => {/* refused or closed: nothing to close */});
    throw error;
  } finally {
    stop.abort();
  }
}
