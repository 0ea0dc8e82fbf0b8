/**
 * One JSON-RPC connection over two byte streams. It owns ids, open requests in both directions, their cancellation
 * and the order of answers; it knows no method but `$/cancel_request` and `initialize` (hold-back).
 *
 *   input ─► LineSplitter ─► readEnvelope ─┬─ request ──► handlers.request ──► response
 *                                          ├─ notification ─► handlers.notification
 *                                          └─ response ──► the waiting request()
 *
 * Messages are handed over in the order of their lines, synchronously, so a cancel on the next line finds the turn.
 * After an `initialize` request nothing is handed over until `release()` (acp.md B2.2). Nothing here waits for a
 * write; who can wait asks `room()`.
 */
import { decodeLine, encodeFrame, LineSplitter } from "@/lib/jsonl.ts";
import { AbortError } from "@/lib/abort.ts";
import type { FrameWriter } from "@/lib/frame_writer.ts";
import { type Incoming, type Params, readEnvelope, type RpcId } from "./envelope.ts";
import { INVALID_REQUEST, type RpcError } from "./errors.ts";

const MAX_LINE_BYTES = 32 * 1024 * 1024;

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

/** What may go on while a part of the program is still being loaded. */
export interface Gate {
  passes(method: string): boolean;
  /** Something waits now. */
  onHeld(): void;
}

export class Peer {
  readonly #writer: FrameWriter;
  readonly #handlers: PeerHandlers;
  readonly #splitter = new LineSplitter(MAX_LINE_BYTES);
  /** Open requests of the client by id; they die with their answer. */
  readonly #inbound = new Map<RpcId, AbortController>();
  /** Our own open requests by id. */
  readonly #outbound = new Map<number, Waiting>();
  readonly #inputEnded = new AbortController();
  #openRequests = 0;
  #nextId = 0;
  #held: Incoming[] | null = null;
  /** While set, messages that pass are handed over although others are held back. */
  #gate: Gate | null = null;
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
      for await (const chunk of input) this.#take(this.#splitter.push(chunk));
    } catch {
      // A broken input is the end of input: nothing more can come.
    }
    this.#take(this.#splitter.end());
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

  /** Resolves when no request of the client is open or held back. */
  quiet(): Promise<void> {
    if (this.#openRequests === 0 && !this.#held?.length) return Promise.resolve();
    return new Promise((resolve) => this.#quietWaiters.push(resolve));
  }

  /** Hands over what passes, up to the first message that does not; the rest waits for `release()`. */
  releaseSome(gate: Gate): void {
    this.#gate = gate;
    const held = this.#held ?? [];
    this.#held = [];
    for (const message of held) this.#receive(message);
  }

  /** Ends the hold-back and hands over what has come meanwhile. */
  release(): void {
    this.#gate = null;
    const held = this.#held ?? [];
    this.#held = null;
    for (let i = 0; i < held.length; i++) {
      this.#dispatch(held[i]!);
      // Another `initialize` among them holds the rest back again.
      if (this.#held !== null) {
        (this.#held as Incoming[]).push(...held.slice(i + 1));
        break;
      }
    }
    this.#checkQuiet();
  }

  notify(method: string, params: unknown): void {
    this.#writer.write(encodeFrame({ jsonrpc: "2.0", method, params }));
  }

  /** A whole frame built by the caller, line end included: the hot path of text deltas. */
  writeRaw(frame: string): void {
    this.#writer.write(frame);
  }

  /** `null` when there is room for more, else a promise for it. */
  room(): Promise<void> | null {
    return this.#writer.room();
  }

  /**
   * Asks the client. Rejects with `PeerError` (it answered with an error), or with `AbortError` when the signal
   * fires (the client is told by `$/cancel_request`, a late answer is dropped) or the input has ended.
   */
  request(method: string, params: unknown, options: { signal: AbortSignal }): Promise<unknown> {
    const { signal } = options;
    if (signal.aborted || this.#inputEnded.signal.aborted) return Promise.reject(new AbortError());
    const id = this.#nextId++;
    this.#writer.write(encodeFrame({ jsonrpc: "2.0", id, method, params }));
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        if (!this.#outbound.delete(id)) return;
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

  #take(lines: ReturnType<LineSplitter["push"]>): void {
    for (const line of lines) {
      if (line.type === "line") this.#receive(readEnvelope(decodeLine(line.bytes)));
      else this.#writeError(null, { code: INVALID_REQUEST, message: "Invalid request: line over 32 MiB" });
    }
  }

  #receive(message: Incoming): void {
    if (message.type === "ignore") return;
    if (!this.#held || this.#passes(message)) return this.#dispatch(message);
    this.#held.push(message);
    this.#gate?.onHeld();
  }

  /** Order is kept: nothing passes what is held back already. */
  #passes(message: Incoming): boolean {
    if (!this.#gate || this.#held!.length > 0) return false;
    if (message.type === "request") return this.#gate.passes(message.method);
    return message.type !== "notification";
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
    if (method === "initialize") this.#held = [];
    const controller = new AbortController();
    this.#inbound.set(id, controller);
    this.#openRequests++;
    const context = this.#openContext(id, method, controller);
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
      if (this.#inbound.get(id) === controller) this.#inbound.delete(id);
      return true;
    };
    const done = () => {
      this.#openRequests--;
      this.#checkQuiet();
    };
    return {
      id,
      method,
      signal: controller.signal,
      get answered() {
        return answered;
      },
      respond: (result) => {
        if (!close()) return;
        this.#writer.write(encodeFrame({ jsonrpc: "2.0", id, result: result ?? {} }));
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
    this.#writer.write(encodeFrame({ jsonrpc: "2.0", id, error }));
  }

  #checkQuiet(): void {
    if (this.#openRequests > 0 || this.#held?.length) return;
    for (const resolve of this.#quietWaiters.splice(0)) resolve();
  }
}
