/**
 * A client for `hermes gateway` to copy into a host: typed calls and events, questions in either dialect, and over a
 * WebSocket a line that mends itself without losing or repeating an event. It needs nothing but the types beside it
 * (`hermes gateway --types > gateway_types.d.ts`) and runs in Deno, Node 22.18, Bun and browsers.
 *
 *   const client = new GatewayClient(webSocket("ws://127.0.0.1:9119/api/ws?token=…"), { answer });
 *   await client.open();
 *   const { session_id } = await client.request("session.create", { cwd: "/path/to/project" });
 *   client.on("message.delta", ({ text }) => show(text));
 *   const { text, status } = await client.prompt(session_id, "list the files");
 */
import type { Events, EventType, MethodName, Methods } from "./gateway_types.d.ts";
import type { Connect, Connection } from "./gateway_connections.ts";

/** What the agent asks a human; `params` as docs/gateway.md names them. */
export interface Question {
  readonly kind: "approval" | "clarify" | "sudo" | "secret";
  readonly session_id: string;
  readonly request_id: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Approvals: one of the question's `choices`. All others: a text; empty declines or skips. */
export type Answer = { readonly choice: string } | { readonly text: string };

export interface ClientOptions {
  /** How questions come over the wire; the handler below is the same. Default `events`. */
  readonly dialect?: "events" | "requests";
  /**
   * Asks a human. `signal` fires when the question is over (answered elsewhere, expired, interrupted). `null` leaves
   * it open for somebody else.
   */
  answer?(question: Question, signal: AbortSignal): Promise<Answer | null> | Answer | null;
  /** How often a broken line is tried again, and how long the first pause is; it doubles up to 5 s. */
  readonly retries?: number;
  readonly retryMs?: number;
  /**
   * After the line was mended, once per session. `complete: false`: events were missed, fetch `session.history`; the
   * live id is another one when the gateway was restarted.
   */
  onRestored?(
    session: { readonly session_id: string; readonly was: string; readonly complete: boolean },
  ): void;
  /** The line is gone for good. */
  onClosed?(reason: string): void;
}

/** An error response: branch on `code`, never on the text. */
export class GatewayError extends Error {
  override readonly name = "GatewayError";
  readonly code: number;
  readonly data: unknown;
  constructor(code: number, message: string, data?: unknown) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/** The line broke before the response came: the call may have been carried out, or not. */
export class ConnectionLost extends Error {
  override readonly name = "ConnectionLost";
}

interface Tracked {
  /** Live id; changes when the gateway is restarted. */
  sid: string;
  stored: string;
  /** Number of the last event that was delivered. */
  seq: number;
  /** Events that arrive while missed ones are being fetched. */
  waiting: EventParams[] | null;
}

interface EventParams {
  readonly type: string;
  readonly session_id?: string;
  readonly payload?: Record<string, unknown>;
  readonly seq?: number;
}

interface Pending {
  readonly method: string;
  readonly params: Record<string, unknown>;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

// deno-lint-ignore no-explicit-any
type Frame = Record<string, any>;
type Handler = (payload: unknown, sessionId: string) => void;

const READY_MS = 15_000;
const MAX_PAUSE_MS = 5_000;
/** Their results name a session that this connection hears from now on. */
const OPENING = new Set(["session.create", "session.resume", "session.activate", "session.branch"]);
/** What the answer is called by the method that takes it. */
const ANSWER_FIELD = { clarify: "answer", sudo: "password", secret: "value" } as const;

export class GatewayClient {
  readonly #connect: Connect;
  readonly #options: ClientOptions;
  readonly #handlers = new Map<string, Set<Handler>>();
  readonly #pending = new Map<number, Pending>();
  readonly #sessions = new Set<Tracked>();
  /** Open questions by request id. */
  readonly #questions = new Map<string, AbortController>();
  #connection: Connection | null = null;
  #mending: Promise<void> | null = null;
  #ready: PromiseWithResolvers<Record<string, unknown>> | null = null;
  #opened = false;
  #epoch = "";
  #nextId = 1;
  #closed: string | null = null;

  constructor(connect: Connect, options: ClientOptions = {}) {
    this.#connect = connect;
    this.#options = options;
  }

  /** Connects and waits for `gateway.ready`. Throws when that takes longer than 15 s. */
  async open(): Promise<void> {
    await this.#dial();
    this.#opened = true;
  }

  close(): void {
    this.#end("closed by the host");
    this.#connection?.close();
  }

  /** Waits for a broken line to be mended first. Throws `GatewayError` and `ConnectionLost`. */
  async request<M extends MethodName>(
    method: M,
    params: Methods[M]["params"] | Record<string, unknown> = {},
  ): Promise<Methods[M]["result"]> {
    await this.#mending;
    return await this.#call(method, params as Record<string, unknown>) as Methods[M]["result"];
  }

  /** Returns the function that stops listening. */
  on<T extends EventType>(type: T, handler: (payload: Events[T], sessionId: string) => void): () => void {
    const handlers = this.#handlers.get(type) ?? new Set<Handler>();
    this.#handlers.set(type, handlers.add(handler as Handler));
    return () => void handlers.delete(handler as Handler);
  }

  /** Submits a text to an idle session and waits for the end of its turn, also over a line that breaks meanwhile. */
  async prompt(sessionId: string, text: string): Promise<Events["message.complete"]> {
    const session = this.#find(sessionId);
    let stop = () => {};
    const done = new Promise<Events["message.complete"]>((resolve) => {
      stop = this.on("message.complete", (payload, sid) => {
        if (sid === (session?.sid ?? sessionId)) resolve(payload);
      });
    });
    try {
      await this.request("prompt.submit", { session_id: sessionId, text });
      return await done;
    } finally {
      stop();
    }
  }

  // ── The line ──────────────────────────────────────────────────────────────────────────────────────────────

  /** True when the process behind the line is the one from before. */
  async #dial(): Promise<boolean> {
    const ready = Promise.withResolvers<Record<string, unknown>>();
    ready.promise.catch(() => {/* told below, unless connecting failed first */});
    this.#ready = ready;
    const timer = setTimeout(() => ready.reject(new ConnectionLost("gateway.ready is late")), READY_MS);
    try {
      this.#connection = await this.#connect({
        frame: (text) => this.#onFrame(text),
        closed: (reason) => this.#onClosed(reason),
      });
      const { replay_epoch: epoch } = await ready.promise;
      const same = this.#epoch === epoch;
      this.#epoch = String(epoch);
      if (this.#options.dialect === "requests") {
        await this.#call("client.capabilities", { server_requests: true });
      }
      return same;
    } finally {
      clearTimeout(timer);
      this.#ready = null;
    }
  }

  #onClosed(reason: string): void {
    this.#connection = null;
    for (const { reject } of this.#pending.values()) reject(new ConnectionLost(reason));
    this.#pending.clear();
    this.#ready?.reject(new ConnectionLost(reason));
    if (!this.#opened || this.#closed !== null || this.#mending !== null) return;
    if ((this.#options.retries ?? 10) === 0) return this.#end(reason);
    this.#mending = this.#mend(reason).finally(() => this.#mending = null);
  }

  #end(reason: string): void {
    if (this.#closed !== null) return;
    this.#closed = reason;
    for (const question of this.#questions.values()) question.abort();
    this.#questions.clear();
    this.#options.onClosed?.(reason);
  }

  async #mend(reason: string): Promise<void> {
    for (const session of this.#sessions) session.waiting = [];
    const { retries = 10, retryMs = 100 } = this.#options;
    for (let attempt = 0; attempt < retries && this.#closed === null; attempt++) {
      const pause = Math.min(retryMs * 2 ** attempt, MAX_PAUSE_MS);
      await new Promise((resolve) => setTimeout(resolve, pause));
      try {
        const same = await this.#dial();
        for (const session of [...this.#sessions]) await this.#restore(session, same);
        return;
      } catch (error) {
        if (!(error instanceof ConnectionLost)) reason = String(error);
        this.#connection?.close();
        this.#connection = null;
      }
    }
    this.#end(reason);
  }

  /** The session is bound to the new line first; what it said in between is fetched and comes before what it says now. */
  async #restore(session: Tracked, same: boolean): Promise<void> {
    const was = session.sid;
    let complete = false;
    try {
      await this.#rebind(session, same);
      complete = same && session.sid === was && await this.#catchUp(session);
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.#sessions.delete(session);
    }
    const waiting = session.waiting ?? [];
    session.waiting = null;
    if (session.sid !== was || !same) session.seq = 0;
    for (const event of waiting) this.#deliver(session, event);
    this.#options.onRestored?.({ session_id: session.sid, was, complete });
  }

  async #rebind(session: Tracked, same: boolean): Promise<void> {
    const live = { session_id: session.sid, omit_messages: true };
    const result = same
      ? await this.#call("session.activate", live).catch((error) => {
        if (error instanceof GatewayError && error.code === 4001) return null;
        throw error;
      })
      : null;
    if (result !== null) return;
    await this.#call("session.resume", { session_id: session.stored, omit_messages: true });
  }

  /** False when some events are gone. */
  async #catchUp(session: Tracked): Promise<boolean> {
    const params = { session_id: session.sid, last_seen: session.seq };
    const missed = await this.#call(
      "session.events.since",
      params,
    ) as Methods["session.events.since"]["result"];
    for (const event of missed.events) this.#deliver(session, event as unknown as EventParams);
    return !missed.truncated;
  }

  // ── Frames ────────────────────────────────────────────────────────────────────────────────────────────────

  #call(method: string, params: Record<string, unknown>): Promise<unknown> {
    const connection = this.#connection;
    if (!connection) return Promise.reject(new ConnectionLost(this.#closed ?? "not connected"));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { method, params, resolve, reject });
      connection.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  #onFrame(text: string): void {
    const frame: Frame = JSON.parse(text);
    if (frame["method"] === "event") return this.#onEvent(frame["params"]);
    if (typeof frame["method"] === "string") {
      return this.#ask(frame["method"], frame["params"] ?? {}, frame["id"]);
    }
    const pending = this.#pending.get(frame["id"]);
    if (!pending) return;
    this.#pending.delete(frame["id"]);
    const { error, result } = frame;
    if (error) return pending.reject(new GatewayError(error.code, error.message, error.data));
    // At once: its first events may follow in the same read.
    if (OPENING.has(pending.method)) this.#track(pending, result);
    pending.resolve(result);
  }

  #track({ method, params }: Pending, result: Frame): void {
    const sid: string = result["session_id"];
    const stored: string = result["stored_session_id"] ?? result["session_key"];
    const known = this.#find(sid) ??
      (method === "session.resume" ? this.#stored(params["session_id"]) : undefined);
    if (known) Object.assign(known, { sid, stored });
    else this.#sessions.add({ sid, stored, seq: 0, waiting: null });
    for (const { id, method: kind, params: asked } of result["open_requests"] ?? []) {
      if (this.#options.dialect === "requests") this.#ask(kind, asked, id);
    }
  }

  #find(sid: string | undefined): Tracked | undefined {
    return [...this.#sessions].find((session) => session.sid === sid);
  }

  #stored(id: unknown): Tracked | undefined {
    return [...this.#sessions].find((session) => session.stored === id);
  }

  #onEvent(event: EventParams): void {
    if (event.type === "gateway.ready") return this.#ready?.resolve(event.payload ?? {});
    const session = this.#find(event.session_id);
    if (session?.waiting) session.waiting.push(event);
    else if (session) this.#deliver(session, event);
    else this.#emit(event);
  }

  /** Each number once, in order. */
  #deliver(session: Tracked, event: EventParams): void {
    if (event.seq !== undefined) {
      if (event.seq <= session.seq) return;
      session.seq = event.seq;
    }
    this.#emit(event);
  }

  #emit(event: EventParams): void {
    const { type, payload = {}, session_id: sid = "" } = event;
    const [family = "", what] = type.split(".");
    if (what === "request") this.#ask(family, { session_id: sid, ...payload }, null);
    if (what === "expire") this.#over(String(payload["request_id"]));
    if (type === "request.cancel") this.#over(String(payload["id"]));
    for (const handler of [...this.#handlers.get(type) ?? []]) handler(event.payload, sid);
  }

  // ── Questions ─────────────────────────────────────────────────────────────────────────────────────────────

  /** `frameId`: id of the gateway's own request; `null` in the event dialect. */
  #ask(kind: string, asked: Frame, frameId: string | null): void {
    const { session_id, request_id, ...params } = asked;
    const key = frameId ?? request_id;
    if (this.#questions.has(key)) return; // it was asked again after a break
    const open = new AbortController();
    this.#questions.set(key, open);
    const question = { kind: kind as Question["kind"], session_id, request_id: request_id ?? key, params };
    void (async () => {
      const answer = await this.#options.answer?.(question, open.signal);
      if (!answer || open.signal.aborted) return;
      this.#questions.delete(key);
      await this.#mending;
      await this.#answer(question, answer, frameId);
    })().catch(() => this.#questions.delete(key));
  }

  #over(key: string): void {
    this.#questions.get(key)?.abort();
    this.#questions.delete(key);
  }

  async #answer(question: Question, answer: Answer, frameId: string | null): Promise<void> {
    const { kind, session_id, request_id, params } = question;
    const text = "text" in answer ? answer.text : "";
    const choice = "choice" in answer ? answer.choice : "deny";
    if (frameId === null) {
      const address = kind === "approval"
        ? { session_id, request_id, choice }
        : { request_id, [ANSWER_FIELD[kind]]: text };
      await this.#call(`${kind}.respond`, address);
      return;
    }
    const qid = (params["questions"] as readonly { qid: string }[] | undefined)?.[0]?.qid ?? "";
    const result = kind === "approval"
      ? { choice }
      : kind === "clarify"
      ? { answers: { [qid]: text } }
      : { value: text };
    this.#connection?.send(JSON.stringify({ jsonrpc: "2.0", id: frameId, result }));
  }
}
