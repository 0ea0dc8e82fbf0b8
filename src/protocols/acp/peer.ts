/**
 * One JSON-RPC connection over two byte streams. It owns ids, open requests in both directions, their cancellation
 * and the order of answers; it knows no method but `$/cancel_request` and `initialize` (hold-back).
 *
 *   input ─► LineSplitter ─► readEnvelope ─┬─ request ──► handlers.request ──► response
 *                                          ├─ notification ─► handlers.notification
 *                                          └─ response ──► the waiting request()
 *
 * Messages are handed over in the order of their lines, so a cancel on the next line finds the turn; a flood of them
 * leaves the thread to running turns after every slice of work. After an `initialize` request no further line is
 * looked at until `release()` (acp.md B2.2). Nothing here waits for a write; who can wait asks `room()`.
 */
import { decodeLine, encodeFrame, LineSplitter } from "@/lib/jsonl.ts";
import { AbortError } from "@/lib/abort.ts";
import type { FrameWriter } from "@/lib/frame_writer.ts";
import { idKey, type Incoming, type Params, readEnvelope, type RpcId } from "./envelope.ts";
import { INVALID_REQUEST, type RpcError } from "./errors.ts";

const MAX_LINE_BYTES = 32 * 1024 * 1024;
/** Milliseconds of work on lines that came together, before the rest of the program gets the thread. */
const SLICE_MS = 2;

/** An open request of the client. Answered exactly once; later answers are dropped. */
export interface RequestContext {
  readonly id: RpcId;
  readonly method: string;
  /** Fires on `$/cancel_request` for this request. */
  readonly signal: AbortSignal;
  readonly answered: boolean;
  respond(result: unknown): void;
  fail(error: unknown): void;
  /** Runs when the answer was handed to the writer; not at all when it was an error. */
  afterResponse(run: () => void): void;
}

export interface PeerHandlers {
  /**
   * Answers by `context.respond`/`fail`, or by what it returns (`undefined` = `{}`) when it has not answered by
   * then. A throw is answered as an error.
   */
  request(method: string, params: Params, context: RequestContext): unknown;
  notification(method: string, params: Params): void;
  toRpcError(error: unknown): RpcError;
}

export interface RequestOptions {
  readonly signal: AbortSignal;
  /** The client has answered although the request was withdrawn. */
  readonly onLate?: (result: unknown) => void;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** The client answered our request with an error object. */
export class PeerError extends Error {
  readonly error: unknown;
  constructor(error: unknown) {
    super("The client answered with an error");
    this.name = "PeerError";
    this.error = error;
  }
}

export class Peer {
  readonly #writer: FrameWriter;
  readonly #handlers: PeerHandlers;
  readonly #splitter = new LineSplitter(MAX_LINE_BYTES);
  /** Open requests of the client by id; they die with their answer. */
  readonly #inbound = new Map<ReturnType<typeof idKey>, AbortController>();
  /** Our own open requests by id. */
  readonly #outbound = new Map<number, Waiting>();
  readonly #inputEnded = new AbortController();
  readonly #open = new Set<RequestContext>();
  #nextId = 0;
  /** Set between an `initialize` request and its `release()`. */
  #holding: PromiseWithResolvers<void> | null = null;
  #sliceStart = 0;
  #finished = false;
  #quietWaiters: (() => void)[] = [];

  constructor(writer: FrameWriter, handlers: PeerHandlers) {
    this.#writer = writer;
    this.#handlers = handlers;
  }

  /** Fires at the end of input, at once. */
  get inputEnded(): AbortSignal {
    return this.#inputEnded.signal;
  }

  /** Reads until the end of input; never throws. Chunks may share one buffer: each is used up before the next. */
  async read(input: AsyncIterable<Uint8Array>): Promise<void> {
    try {
      for await (const chunk of input) {
        this.#sliceStart = performance.now();
        await this.#take(this.#splitter.push(chunk));
      }
    } catch {
      // A broken input is the end of input: nothing more can come.
    }
    await this.#take(this.#splitter.end());
    this.endInput();
  }

  /** No answer can come any more: our open requests fail. */
  endInput(): void {
    if (this.#inputEnded.signal.aborted) return;
    this.#inputEnded.abort();
    for (const [id, waiting] of [...this.#outbound]) {
      this.#outbound.delete(id);
      waiting.reject(new AbortError("The client has closed its side"));
    }
  }

  /** Resolves when no request of the client is open. */
  quiet(): Promise<void> {
    if (this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#quietWaiters.push(resolve));
  }

  /** Ends the hold-back: the lines behind the `initialize` request are looked at. */
  release(): void {
    this.#holding?.resolve();
    this.#holding = null;
  }

  notify(method: string, params: unknown): void {
    this.#write(encodeFrame({ jsonrpc: "2.0", method, params }));
  }

  /** A whole frame built by the caller, line end included: the hot path of text deltas. */
  writeRaw(frame: string): void {
    this.#write(frame);
  }

  /** `null` when there is room for more, else a promise for it. */
  room(): Promise<void> | null {
    return this.#writer.room();
  }

  /** Resolves when all that was written so far is handed over; a client that does not read holds it up. */
  flushed(): Promise<void> {
    return this.#writer.idle();
  }

  /**
   * Asks the client. Rejects with `PeerError` (it answered with an error), or with `AbortError` when the signal
   * fires (the client is told by `$/cancel_request`, a late answer is dropped, or is `onLate`'s) or the input has ended.
   */
  request(method: string, params: unknown, options: RequestOptions): Promise<unknown> {
    const { signal, onLate } = options;
    if (signal.aborted || this.#inputEnded.signal.aborted) return Promise.reject(new AbortError());
    const id = this.#nextId++;
    this.#write(encodeFrame({ jsonrpc: "2.0", id, method, params }));
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (!this.#outbound.delete(id)) return;
        if (onLate) this.#outbound.set(id, { resolve: onLate, reject: () => {} });
        this.notify("$/cancel_request", { requestId: id });
        reject(new AbortError());
      };
      const settled = () => signal.removeEventListener("abort", onAbort);
      signal.addEventListener("abort", onAbort, { once: true });
      this.#outbound.set(id, {
        resolve: (result) => (settled(), resolve(result)),
        reject: (error) => (settled(), reject(error)),
      });
    });
  }

  /** Never rejects. */
  async #take(lines: ReturnType<LineSplitter["push"]>): Promise<void> {
    for (const line of lines) {
      if (this.#holding) await this.#holding.promise;
      if (performance.now() - this.#sliceStart > SLICE_MS) await this.#pause();
      if (line.type === "line") this.#dispatch(readEnvelope(decodeLine(line.bytes)));
      else this.#writeError(null, { code: INVALID_REQUEST, message: "Invalid request: line over 32 MiB" });
    }
  }

  async #pause(): Promise<void> {
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    this.#sliceStart = performance.now();
  }

  #dispatch(message: Incoming): void {
    switch (message.type) {
      case "request":
        return this.#onRequest(message.id, message.method, message.params);
      case "notification":
        if (message.method === "$/cancel_request") return this.#onCancel(message.params);
        return this.#handlers.notification(message.method, message.params);
      case "response":
        return this.#onResponse(message);
      case "invalid":
        return this.#writeError(message.id, { code: message.code, message: message.message });
      case "ignore":
        return;
    }
  }

  #onRequest(id: RpcId, method: string, params: Params): void {
    if (method === "initialize") this.#holding = Promise.withResolvers();
    const controller = new AbortController();
    this.#inbound.set(idKey(id), controller);
    const context = this.#openContext(id, method, controller);
    this.#open.add(context);
    try {
      const result = this.#handlers.request(method, params, context);
      if (result instanceof Promise) result.then(context.respond, context.fail);
      else if (result !== undefined) context.respond(result);
    } catch (error) {
      context.fail(error);
    }
  }

  #openContext(id: RpcId, method: string, controller: AbortController): RequestContext {
    let answered = false;
    let after: (() => void) | null = null;
    const close = (): boolean => {
      if (answered) return false;
      answered = true;
      if (this.#inbound.get(idKey(id)) === controller) this.#inbound.delete(idKey(id));
      return true;
    };
    const done = () => {
      this.#open.delete(context);
      this.#checkQuiet();
    };
    const context: RequestContext = {
      id,
      method,
      signal: controller.signal,
      get answered() {
        return answered;
      },
      respond: (result) => {
        if (!close()) return;
        this.#write(encodeFrame({ jsonrpc: "2.0", id, result: result ?? {} }));
        after?.();
        done();
      },
      fail: (error) => {
        if (!close()) return;
        this.#writeError(id, this.#handlers.toRpcError(error));
        done();
      },
      afterResponse: (run) => {
        after = run;
      },
    };
    return context;
  }

  /** The last that is said: `settle` answers what is still open, and nothing is written behind that. */
  finish(settle: (context: RequestContext) => void): void {
    for (const context of [...this.#open]) settle(context);
    this.#finished = true;
  }

  #write(frame: string): void {
    if (!this.#finished) this.#writer.write(frame);
  }

  #onCancel(params: Params): void {
    const id = params.requestId;
    if (typeof id === "string" || typeof id === "number" || id === null) this.#inbound.get(id)?.abort();
  }

  #onResponse(message: Extract<Incoming, { type: "response" }>): void {
    const waiting = typeof message.id === "number" ? this.#outbound.get(message.id) : undefined;
    if (!waiting) return;
    this.#outbound.delete(message.id as number);
    if (message.error !== undefined && message.error !== null) waiting.reject(new PeerError(message.error));
    else waiting.resolve(message.result);
  }

  #writeError(id: RpcId, error: RpcError): void {
    this.#write(encodeFrame({ jsonrpc: "2.0", id, error }));
  }

  #checkQuiet(): void {
    if (this.#open.size > 0) return;
    for (const resolve of this.#quietWaiters.splice(0)) resolve();
  }
}
