/**
 * Drives `hermes gateway` on stdio as a host would, for black-box tests: sends frames, sorts what comes back into
 * responses and events, and keeps every raw line so that a test can judge the bytes too. Waits never sleep: they
 * look at what has arrived and go on when the next line does.
 *
 *   await using host = await startGateway({ rig });
 *   const { session_id } = await host.request("session.create");
 *   await host.event("message.complete", session_id);
 */
import { patient } from "./patience.ts";
import { type Rig, startProgram } from "./program.ts";

// deno-lint-ignore no-explicit-any
export type Json = any;

export interface GatewayEvent {
  readonly type: string;
  readonly session_id?: string;
  readonly payload?: Json;
  readonly seq?: number;
}

export interface RpcFailure {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

export interface StartGatewayOptions {
  readonly rig: Rig;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

export interface GatewayExit {
  readonly code: number;
  readonly signal: string | null;
  readonly stderr: string;
}

const WAIT_MS = 10_000;

/** Starts the program; returns when `gateway.ready` has come. */
export async function startGateway(options: StartGatewayOptions): Promise<GatewayHost> {
  const host = new GatewayHost(startProgram(["gateway", ...options.args ?? []], options));
  await host.until(() => host.lines.length > 0 || undefined, "the first frame");
  return host;
}

export class GatewayHost implements AsyncDisposable {
  readonly child: Deno.ChildProcess;
  /** Every line of stdout, in order, without its LF. */
  readonly lines: string[] = [];
  /** The same, parsed. */
  readonly frames: Json[] = [];
  readonly events: GatewayEvent[] = [];
  readonly #responses = new Map<string, Json>();
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #exit: Promise<GatewayExit>;
  #waiters: (() => void)[] = [];
  #nextId = 1;
  #ended = false;
  #stderr = "";

  constructor(child: Deno.ChildProcess) {
    this.child = child;
    this.#writer = child.stdin.getWriter();
    this.#exit = this.#run();
  }

  get stderr(): string {
    return this.#stderr;
  }

  async #run(): Promise<GatewayExit> {
    const [status] = await Promise.all([this.child.status, this.#readOut(), this.#readErr()]);
    this.#ended = true;
    this.#wake();
    await this.#writer.close().catch(() => {/* the program was faster */});
    return { code: status.code, signal: status.signal, stderr: this.#stderr };
  }

  async #readOut(): Promise<void> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let rest = "";
    for await (const chunk of this.child.stdout) {
      const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = parts.pop()!;
      for (const line of parts) this.#take(line);
      this.#wake();
    }
    if (rest !== "") this.#take(rest);
  }

  async #readErr(): Promise<void> {
    for await (const text of this.child.stderr.pipeThrough(new TextDecoderStream())) this.#stderr += text;
  }

  #take(line: string): void {
    this.lines.push(line);
    const frame = JSON.parse(line);
    this.frames.push(frame);
    if (frame.method === "event") this.events.push(frame.params);
    else this.#responses.set(JSON.stringify(frame.id), frame);
  }

  #wake(): void {
    for (const wake of this.#waiters.splice(0)) wake();
  }

  // ── Sending ───────────────────────────────────────────────────────────────────────────────────────────────

  /** Bytes as they are. */
  async sendBytes(bytes: Uint8Array): Promise<void> {
    await this.#writer.write(bytes);
  }

  /** One line; the LF is added. */
  async sendLine(line: string): Promise<void> {
    await this.sendBytes(new TextEncoder().encode(line + "\n"));
  }

  /** Sends without waiting for the response; the id to wait for. */
  async post(method: string, params: Json = {}): Promise<number> {
    const id = this.#nextId++;
    await this.sendLine(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return id;
  }

  /** The whole response frame of an id. */
  async response(id: unknown, timeoutMs = WAIT_MS): Promise<Json> {
    const key = JSON.stringify(id);
    return await this.until(() => this.#responses.get(key), `the response to ${key}`, timeoutMs);
  }

  /** The result; an error response is thrown. */
  async request(method: string, params: Json = {}): Promise<Json> {
    const frame = await this.response(await this.post(method, params));
    if (frame.error) throw new Error(`${method}: ${frame.error.code} ${frame.error.message}`);
    return frame.result;
  }

  /** The error; a success is thrown. */
  async refused(method: string, params: Json = {}): Promise<RpcFailure> {
    const frame = await this.response(await this.post(method, params));
    if (!frame.error) throw new Error(`${method} succeeded: ${JSON.stringify(frame.result)}`);
    return frame.error;
  }

  // ── Waiting ───────────────────────────────────────────────────────────────────────────────────────────────

  /** Looks again after everything that arrives; fails when the program ends or the time is up. */
  async until<T>(look: () => T | undefined, what: string, timeoutMs = WAIT_MS): Promise<T> {
    const end = performance.now() + patient(timeoutMs);
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (this.#ended) throw new Error(`The gateway ended before ${what} came\n${this.#stderr}`);
      const left = end - performance.now();
      if (left <= 0) {
        throw new Error(`Timed out waiting for ${what}\n${this.lines.slice(-8).join("\n")}\n${this.#stderr}`);
      }
      await this.#nextArrival(left);
    }
  }

  async #nextArrival(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, ms);
    this.#waiters.push(resolve);
    await promise;
    clearTimeout(timer);
  }

  /** Events of a type (and session) so far. */
  eventsOf(type: string, sid?: string): GatewayEvent[] {
    return this.events.filter((event) =>
      event.type === type && (sid === undefined || event.session_id === sid)
    );
  }

  /** The payload of the `nth` (from 0) such event, waiting for it. */
  async event(type: string, sid?: string, nth = 0, timeoutMs = WAIT_MS): Promise<Json> {
    const event = await this.until(
      () => this.eventsOf(type, sid)[nth],
      `event ${type} #${nth} of ${sid ?? "any session"}`,
      timeoutMs,
    );
    return event.payload;
  }

  /** Position among all frames of the first that matches from `start` on; -1 when there is none. */
  indexOf(match: (frame: Json) => boolean, start = 0): number {
    return this.frames.findIndex((frame, at) => at >= start && match(frame));
  }

  indexOfEvent(type: string, sid?: string, start = 0): number {
    return this.indexOf(
      (frame) => frame.params?.type === type && (sid === undefined || frame.params.session_id === sid),
      start,
    );
  }

  indexOfResponse(id: unknown): number {
    return this.indexOf((frame) => frame.method === undefined && frame.id === id);
  }

  // ── Turns ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** A session that has told about itself. */
  async session(params: Json = {}): Promise<{ sid: string; stored: string }> {
    const created = await this.request("session.create", params);
    await this.until(
      () =>
        this.eventsOf("session.info", created.session_id)[0] ?? this.eventsOf("error", created.session_id)[0],
      "the first session.info",
    );
    return { sid: created.session_id, stored: created.stored_session_id };
  }

  /** Submits and waits for the end of that turn; its `message.complete`. */
  async turn(sid: string, text: string, timeoutMs = WAIT_MS): Promise<Json> {
    const before = this.eventsOf("message.complete", sid).length;
    const { status } = await this.request("prompt.submit", { session_id: sid, text });
    if (status !== "streaming") throw new Error(`prompt.submit answered ${status}`);
    const complete = await this.event("message.complete", sid, before, timeoutMs);
    await this.idle(sid);
    return complete;
  }

  /** Waits for the `session.info` that follows the last `message.complete`. */
  async idle(sid: string): Promise<void> {
    await this.until(() => {
      const mine = this.events.filter((event) => event.session_id === sid);
      const complete = mine.findLastIndex((event) => event.type === "message.complete");
      const info = mine.findLastIndex((event) =>
        event.type === "session.info" && event.payload.running === false
      );
      return (complete !== -1 && info > complete) || undefined;
    }, "session.info running:false");
  }

  /** Streamed answer text of a session from the event at `start` on. */
  streamed(sid: string): string {
    return this.eventsOf("message.delta", sid).map((event) => event.payload.text).join("");
  }

  // ── Ending ────────────────────────────────────────────────────────────────────────────────────────────────

  /** Closes stdin, without waiting. */
  async closeInput(): Promise<void> {
    await this.#writer.close().catch(() => {/* it has ended already */});
  }

  /** Closes stdin and waits for the end. */
  async end(timeoutMs = WAIT_MS): Promise<GatewayExit> {
    await this.closeInput();
    return await this.exited(timeoutMs);
  }

  /** Waits for the end; kills it and fails when that takes too long. */
  async exited(timeoutMs = WAIT_MS): Promise<GatewayExit> {
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      this.kill("SIGKILL");
    }, patient(timeoutMs));
    const exit = await this.#exit;
    clearTimeout(timer);
    if (late) throw new Error(`The gateway did not end within ${patient(timeoutMs)} ms\n${exit.stderr}`);
    return exit;
  }

  kill(signal: Deno.Signal): void {
    try {
      this.child.kill(signal);
    } catch {
      // It has ended already.
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closeInput();
    const timer = setTimeout(() => this.kill("SIGKILL"), patient(5_000));
    await this.#exit;
    clearTimeout(timer);
  }
}
