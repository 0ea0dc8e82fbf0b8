/**
 * One connection's requests (tui-gateway.md A.5, A.6). Promises: every frame that asks for it gets exactly one
 * response; inline methods answer in the order of their requests (`lane.ts`); worker methods run beside them, a few at
 * a time, and may overtake; an error of a handler never ends the connection. Knows no session and no transport.
 *
 *   receive ──► lane ──► inline: run, answer, next
 *                  └───► worker: pool of N, the rest waits in a line of its own
 */
import { RpcError } from "./errors.ts";
import type { Incoming } from "./frame.ts";
import { encodeError, encodeResult } from "./frame.ts";
import type { Received } from "./lane.ts";
import { Lane } from "./lane.ts";

export { TOO_LARGE } from "./lane.ts";

/** One connected host. Frames end with LF; a transport that frames by itself takes it off. */
export interface Client {
  send(frame: string): void;
  /** `null` when there is room, else a promise for when there is. */
  room(): Promise<void> | null;
  /** True when the connection has ended: nothing may be bound to it any more. */
  readonly gone?: boolean;
  /** Name of the host program, once it has given one; for the audit trail. */
  name?: string;
}

/** A result with work that must come after its response (events of a turn that the response announces). */
export class Reply {
  constructor(readonly result: unknown, readonly after: () => void) {}
}

export type MethodKind = "inline" | "worker";

/** A method as the peer sees it; parameters are checked inside `run`. */
export interface Method {
  readonly name: string;
  readonly kind: MethodKind | ((params: Readonly<Record<string, unknown>>) => MethodKind);
  /** The result object, a `Reply`, or a promise of either. Throws `RpcError`; anything else is a fault of ours. */
  run(params: Readonly<Record<string, unknown>>, client: Client, signal: AbortSignal): unknown;
}

/** An answer of a host to a request of ours. */
export type Response = Incoming & { type: "response" };

export interface MethodTable {
  get(name: string): Method | undefined;
  /** Takes it, known or not; false where the connection has not agreed to be asked (tui-gateway.md E.1). */
  takeResponse?(response: Response, client: Client): boolean;
  /** The whole table, where this is only the beginning of one; asked for when something is not in it. */
  rest?(): Promise<MethodTable>;
}

export interface PeerOptions {
  readonly client: Client;
  /** The table; requests that arrive before it is loaded wait in order. */
  readonly methods: () => Promise<MethodTable>;
  /** Worker methods at the same time. Default 8. */
  readonly workers?: number;
  /** An inline method that takes longer stops holding up the ones behind it. Milliseconds, default 500. */
  readonly laneWaitMs?: number;
  /** Told about every fault of ours. */
  onFault(where: string, error: unknown): void;
  /** Takes secrets out of a text that is shown. */
  mask?(text: string): string;
}

type Request = Incoming & { type: "request" };

/** Characters. */
const MAX_BACKLOG = 64 << 20;

export class Peer {
  readonly #options: PeerOptions;
  readonly #lane: Lane;
  readonly #stop = new AbortController();
  /** Requests that are being worked on, by what identifies them here; the value is their raw id. */
  readonly #open = new Map<symbol, string>();
  /** Nothing is known before the first frame has asked for it. */
  #table: MethodTable | null = null;
  #working = 0;
  #waiting: (() => void)[] = [];
  #idleWaiters: (() => void)[] = [];

  constructor(options: PeerOptions) {
    this.#options = options;
    this.#lane = new Lane({
      ready: (frame) => this.#ready(frame),
      handle: (frame) => this.#take(frame),
      onQuiet: () => this.#wakeIdle(),
    }, options.laneWaitMs ?? 500);
  }

  /** Characters received and not yet looked at; a transport may stop reading while this is large. */
  get backlog(): number {
    return this.#lane.backlog;
  }

  /** More waits than can be kept; for a transport that cannot stop reading. */
  get isFlooded(): boolean {
    return this.#lane.backlog > MAX_BACKLOG;
  }

  /** `null`: bytes that are not UTF-8; `TOO_LARGE`: a line over the limit, dropped by the transport. */
  receive(received: Received): void {
    this.#lane.receive(received);
  }

  /** Resolves when every request that was received has its response. */
  idle(): Promise<void> {
    if (this.#isIdle()) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  /** Resolves when everything received was looked at; workers may still run. */
  caughtUp(): Promise<void> {
    return this.#lane.quiet();
  }

  /** Answers what is still open with -32000 and tells the handlers to stop. Nothing is answered afterwards. */
  abandon(reason: string): void {
    const open = [...this.#open.values()];
    this.#open.clear();
    for (const id of open) this.#send(encodeError(id, -32000, reason));
    this.#stop.abort();
    this.#waiting = [];
  }

  #isIdle(): boolean {
    return this.#lane.isQuiet && this.#open.size === 0;
  }

  // ── The table ─────────────────────────────────────────────────────────────────────────────────────────────

  #ready(frame: Incoming): Promise<void> | null {
    const table = this.#table;
    const isEnough = table && (!table.rest || isIn(table, frame));
    return isEnough ? null : this.#loadFor(frame);
  }

  async #loadFor(frame: Incoming): Promise<void> {
    this.#table ??= await this.#load(this.#options.methods);
    const { rest } = this.#table;
    if (rest && !isIn(this.#table, frame)) this.#table = await this.#load(rest);
  }

  async #load(load: () => Promise<MethodTable>): Promise<MethodTable> {
    try {
      return await load();
    } catch (error) {
      this.#options.onFault("start", error);
      const text = firstLine(error);
      return { get: (name) => failing(name, text) };
    }
  }

  // ── Frames ────────────────────────────────────────────────────────────────────────────────────────────────

  /** Never throws: the lane must go on whatever one frame does. */
  #take(frame: Incoming): Promise<void> | null {
    try {
      return this.#handle(frame, this.#table!);
    } catch (error) {
      this.#options.onFault("frame", error);
      return null;
    }
  }

  /** A promise when the lane has to wait for it. */
  #handle(frame: Incoming, table: MethodTable): Promise<void> | null {
    if (frame.type === "invalid") {
      this.#send(encodeError(frame.id, frame.code, frame.message));
      return null;
    }
    if (frame.type === "response") {
      if (table.takeResponse?.(frame, this.#options.client)) return null;
      this.#send(encodeError(frame.id, -32600, "invalid request: method must be a non-empty string"));
      return null;
    }
    const method = table.get(frame.method);
    if (!method) {
      this.#send(encodeError(frame.id, -32601, `unknown method: ${frame.method}`));
      return null;
    }
    const key = Symbol();
    this.#open.set(key, frame.id);
    const kind = this.#kindOf(method, frame.params);
    if (kind === "inline") return this.#run(key, method, frame, kind);
    if (this.#working < (this.#options.workers ?? 8)) void this.#work(key, method, frame);
    else this.#waiting.push(() => void this.#work(key, method, frame));
    return null;
  }

  #kindOf(method: Method, params: Readonly<Record<string, unknown>>): MethodKind {
    if (typeof method.kind === "string") return method.kind;
    try {
      return method.kind(params);
    } catch (error) {
      this.#options.onFault(method.name, error);
      return "worker";
    }
  }

  // ── Running ───────────────────────────────────────────────────────────────────────────────────────────────

  async #work(key: symbol, method: Method, frame: Request): Promise<void> {
    this.#working++;
    await this.#run(key, method, frame, "worker");
    this.#working--;
    this.#waiting.shift()?.();
  }

  /** Runs a handler and answers; `null` when that is already done. */
  #run(
    key: symbol,
    method: Method,
    frame: Request,
    kind: MethodKind,
  ): Promise<void> | null {
    try {
      const result = method.run(frame.params, this.#options.client, this.#stop.signal);
      if (!(result instanceof Promise)) {
        this.#succeed(key, method, result);
        return null;
      }
      return result.then(
        (value) => this.#succeed(key, method, value),
        (error) => this.#fail(key, method, kind, error),
      );
    } catch (error) {
      this.#fail(key, method, kind, error);
      return null;
    }
  }

  #succeed(key: symbol, method: Method, value: unknown): void {
    const reply = value instanceof Reply ? value : null;
    let frame: string;
    try {
      frame = encodeResult(this.#open.get(key) ?? "null", reply ? reply.result : value);
    } catch (error) {
      return this.#fail(key, method, "inline", error);
    }
    this.#answer(key, frame);
    try {
      reply?.after();
    } catch (error) {
      this.#options.onFault(method.name, error);
    }
  }

  #fail(key: symbol, method: Method, kind: MethodKind, error: unknown): void {
    const id = this.#open.get(key) ?? "null";
    if (error instanceof RpcError) {
      return this.#answer(key, encodeError(id, error.code, error.message, error.data));
    }
    this.#options.onFault(method.name, error);
    if (kind === "inline") return this.#answer(key, encodeError(id, -32603, "internal error"));
    const told = this.#options.mask?.(firstLine(error)) ?? firstLine(error);
    this.#answer(key, encodeError(id, -32000, `handler error: ${told}`));
  }

  /** The request may have been abandoned meanwhile; then it has its answer already. */
  #answer(key: symbol, frame: string): void {
    if (this.#open.delete(key)) this.#send(frame);
    this.#wakeIdle();
  }

  #send(frame: string): void {
    this.#options.client.send(frame);
  }

  #wakeIdle(): void {
    if (!this.#isIdle()) return;
    for (const resolve of this.#idleWaiters.splice(0)) resolve();
  }
}

/** Whether a table that is only a beginning is enough for this frame. */
function isIn(table: MethodTable, frame: Incoming): boolean {
  return frame.type === "invalid" || frame.type === "request" && table.get(frame.method) !== undefined;
}

function firstLine(error: unknown): string {
  return error instanceof Error ? error.message.split("\n")[0]! : "unknown error";
}

/** Stands for every method when the program could not be set up. */
function failing(name: string, text: string): Method {
  return {
    name,
    kind: "inline",
    run: () => {
      throw new RpcError(-32000, `Cannot start: ${text}`);
    },
  };
}
