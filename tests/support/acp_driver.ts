/**
 * A scripted ACP client for black-box tests: starts `hermes acp`, sends lines, records every frame with its time,
 * answers permission requests as the test says. When it closes, every line of stdout has been checked against the
 * SDK's schema and the order rules that hold in every case.
 */
import { checkFrame } from "./acp_schema.ts";
import {
  type ModelServer,
  type ModelServerOptions,
  type ScriptTurn,
  startModelServer,
} from "./model_server.ts";
import { patient } from "./patience.ts";
import { eventually, makeRig, modelConfig, type Rig, startProgram } from "./program.ts";

// deno-lint-ignore no-explicit-any
export type Json = any;

export interface Frame {
  /** Milliseconds since the start of the driver. */
  readonly at: number;
  readonly frame: Json;
}

export interface Answer {
  readonly result?: Json;
  readonly error?: { code: number; message: string; data?: Json };
  readonly at: number;
}

export interface Sent {
  readonly id: number;
  readonly at: number;
  readonly answer: Promise<Answer>;
}

/** Answers a request of the agent: a result, `{ error }`, or `undefined` to stay silent. */
export type AgentRequestHandler = (params: Json, id: number) => unknown | Promise<unknown>;

export interface AcpOptions {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** Leave stdout unread until `startReading()`. */
  readonly deaf?: boolean;
}

export const ALLOW = { outcome: { outcome: "selected", optionId: "allow_once" } };
export const DENY = { outcome: { outcome: "selected", optionId: "deny" } };

export class AcpDriver implements AsyncDisposable {
  readonly child: Deno.ChildProcess;
  /** Everything that came on stdout, in order. */
  readonly frames: Frame[] = [];
  /** Raw lines of stdout. */
  readonly lines: string[] = [];
  stderr = "";
  onPermission: AgentRequestHandler = () => ALLOW;
  onElicitation: AgentRequestHandler = () => ({ action: "cancel" });
  onReadFile: AgentRequestHandler = () => ({ error: { code: -32601, message: "no files here" } });
  onWriteFile: AgentRequestHandler = () => ({ error: { code: -32601, message: "no files here" } });
  /** Requests `terminal/*`, with the method's last word. */
  onTerminal: (verb: string, params: Json, id: number) => unknown | Promise<unknown> = () => ({
    error: { code: -32601, message: "no terminals here" },
  });
  readonly #started = performance.now();
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #methods = new Map<unknown, string>();
  readonly #waiting = new Map<unknown, (answer: Answer) => void>();
  readonly #knownSessions = new Set<string>();
  readonly #announced = new Set<string>();
  readonly #problems: string[] = [];
  #nextId = 1;
  #stdinOpen = true;
  #reading: Promise<void>;
  #logging: Promise<void>;

  constructor(child: Deno.ChildProcess, deaf: boolean) {
    this.child = child;
    this.#writer = child.stdin.getWriter();
    this.#reading = deaf ? Promise.resolve() : this.#read();
    this.#logging = this.#log();
  }

  get now(): number {
    return performance.now() - this.#started;
  }

  startReading(): void {
    this.#reading = this.#read();
  }

  async #log(): Promise<void> {
    for await (const chunk of this.child.stderr.pipeThrough(new TextDecoderStream())) this.stderr += chunk;
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder("utf-8", { fatal: true });
    let rest = "";
    for await (const chunk of this.child.stdout) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = lines.pop()!;
      for (const line of lines) this.#receive(line);
    }
    if (rest) this.#problems.push(`stdout ended inside a frame: ${rest.slice(0, 200)}`);
    for (const [id, resolve] of this.#waiting) {
      resolve({
        error: { code: 0, message: `The program has ended without an answer to ${id}` },
        at: this.now,
      });
    }
    this.#waiting.clear();
  }

  #receive(line: string): void {
    this.lines.push(line);
    let frame: Json;
    try {
      frame = checkFrame(line, (id) => this.#methods.get(id) ?? null);
    } catch (error) {
      this.#problems.push(error instanceof Error ? error.message : String(error));
      return;
    }
    this.frames.push({ at: this.now, frame });
    this.#checkOrder(frame);
    if (typeof frame.method !== "string") return this.#onAnswer(frame);
    if ("id" in frame) void this.#onRequest(frame);
  }

  /** What holds in every case: sessions are named after they are known, calls are updated after they are announced. */
  #checkOrder(frame: Json): void {
    if (frame.result?.sessionId) this.#knownSessions.add(frame.result.sessionId);
    const sessionId = frame.params?.sessionId;
    if (sessionId !== undefined && !this.#knownSessions.has(sessionId)) {
      this.#problems.push(`A frame names session ${sessionId} before it is known`);
    }
    const update = frame.params?.update;
    if (update?.sessionUpdate === "tool_call") this.#announced.add(`${sessionId} ${update.toolCallId}`);
    const named = update?.sessionUpdate === "tool_call_update"
      ? update.toolCallId
      : frame.params?.toolCall?.toolCallId;
    if (named !== undefined && !this.#announced.has(`${sessionId} ${named}`)) {
      this.#problems.push(`Call ${named} was not announced`);
    }
  }

  #onAnswer(frame: Json): void {
    const waiting = this.#waiting.get(frame.id);
    this.#waiting.delete(frame.id);
    waiting?.({ result: frame.result, error: frame.error, at: this.now });
  }

  async #onRequest(frame: Json): Promise<void> {
    const answer = await this.#handlerOf(frame.method)(frame.params, frame.id) as Json;
    if (answer === undefined) return;
    await this.respond(frame.id, answer);
  }

  #handlerOf(method: string): AgentRequestHandler {
    switch (method) {
      case "elicitation/create":
        return this.onElicitation;
      case "fs/read_text_file":
        return this.onReadFile;
      case "fs/write_text_file":
        return this.onWriteFile;
      default:
        if (!method.startsWith("terminal/")) return this.onPermission;
        return (params, id) => this.onTerminal(method.slice("terminal/".length), params, id);
    }
  }

  async respond(id: number, answer: Json): Promise<void> {
    const body = answer && typeof answer === "object" && "error" in answer ? answer : { result: answer };
    await this.raw(JSON.stringify({ jsonrpc: "2.0", id, ...body }) + "\n");
  }

  /** Writes bytes as they are. */
  async raw(data: string | Uint8Array): Promise<void> {
    await this.#writer.write(typeof data === "string" ? new TextEncoder().encode(data) : data);
  }

  /** Registers an id that a test writes by hand. */
  expect(id: unknown, method: string): Promise<Answer> {
    this.#methods.set(id, method);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  send(method: string, params?: unknown): Sent {
    const id = this.#nextId++;
    const session = (params as Json)?.sessionId;
    if (typeof session === "string") this.#knownSessions.add(session);
    const answer = this.expect(id, method);
    const frame = { jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) };
    void this.raw(JSON.stringify(frame) + "\n").catch(() => {/* the program has ended */});
    return { id, at: this.now, answer };
  }

  /** Waits for the answer, whatever it is. */
  async ask(method: string, params?: unknown, timeoutMs = 15_000): Promise<Answer> {
    return await this.inTime(this.send(method, params).answer, timeoutMs, `the answer to ${method}`);
  }

  /** The result; throws on an error answer. */
  async request(method: string, params?: unknown, timeoutMs?: number): Promise<Json> {
    const answer = await this.ask(method, params, timeoutMs);
    if (answer.error) throw new Error(`${method} failed: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  async inTime<T>(promise: Promise<T>, timeoutMs: number, what: string): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () =>
          reject(new Error(`Timed out after ${patient(timeoutMs)} ms waiting for ${what}\n${this.tail()}`)),
        patient(timeoutMs),
      );
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  tail(): string {
    const frames = this.lines.slice(-12).map((line) => line.slice(0, 400)).join("\n");
    return `problems: ${this.#problems.join("\n")}\nlast frames:\n${frames}\nstderr:\n${
      this.stderr.slice(-2_000)
    }`;
  }

  notify(method: string, params: unknown): Promise<void> {
    return this.raw(JSON.stringify({ jsonrpc: "2.0", method, params }) + "\n");
  }

  // ── Shorthands of the acceptance table ──────────────────────────────────────────────────────────────────────

  initialize(clientCapabilities: unknown = {}): Promise<Json> {
    return this.request("initialize", {
      protocolVersion: 1,
      clientCapabilities,
      clientInfo: { name: "driver", version: "1" },
    });
  }

  async newSession(cwd: string, extra: Record<string, unknown> = {}): Promise<string> {
    const result = await this.request("session/new", { cwd, mcpServers: [], ...extra });
    return result.sessionId;
  }

  startPrompt(sessionId: string, prompt: string | unknown[]): Sent {
    const blocks = typeof prompt === "string" ? [{ type: "text", text: prompt }] : prompt;
    return this.send("session/prompt", { sessionId, prompt: blocks });
  }

  /** The result of a whole turn; throws on an error answer. */
  async prompt(sessionId: string, prompt: string | unknown[], timeoutMs = 20_000): Promise<Json> {
    const answer = await this.inTime(
      this.startPrompt(sessionId, prompt).answer,
      timeoutMs,
      "the end of the turn",
    );
    if (answer.error) throw new Error(`session/prompt failed: ${JSON.stringify(answer.error)}`);
    return answer.result;
  }

  cancel(sessionId: string): Promise<void> {
    return this.notify("session/cancel", { sessionId });
  }

  /** Updates in order, of one session, from frame index `from`. */
  updates(sessionId?: string, from = 0): Json[] {
    return this.frames.slice(from)
      .filter(({ frame }) =>
        frame.method === "session/update" && (sessionId === undefined || frame.params.sessionId === sessionId)
      )
      .map(({ frame }) => frame.params.update);
  }

  /** Requests of the agent. */
  requests(method: string, from = 0): Json[] {
    return this.frames.slice(from).filter(({ frame }) => frame.method === method && "id" in frame)
      .map(({ frame }) => frame);
  }

  notifications(method: string, from = 0): Json[] {
    return this.frames.slice(from).filter(({ frame }) => frame.method === method && !("id" in frame))
      .map(({ frame }) => frame.params);
  }

  /** Joined text of the agent's messages. */
  text(sessionId?: string, from = 0): string {
    return this.updates(sessionId, from).filter((u) => u.sessionUpdate === "agent_message_chunk")
      .map((u) => u.content.text).join("");
  }

  /** Index of the frame that answers `id`. */
  indexOfAnswer(id: unknown): number {
    return this.frames.findIndex(({ frame }) => frame.id === id && typeof frame.method !== "string");
  }

  /** Waits until an update satisfies `test`. */
  async update(test: (update: Json) => boolean, timeoutMs = 10_000, from = 0): Promise<Json> {
    try {
      return await eventually(() => this.updates(undefined, from).find(test), timeoutMs, "an update");
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n${this.tail()}`);
    }
  }

  async permission(count = 1, timeoutMs = 10_000): Promise<Json> {
    try {
      return await eventually(
        () => this.requests("session/request_permission")[count - 1],
        timeoutMs,
        `permission request ${count}`,
      );
    } catch (error) {
      throw new Error(`${error instanceof Error ? error.message : error}\n${this.tail()}`);
    }
  }

  // ── The end ─────────────────────────────────────────────────────────────────────────────────────────────────

  async closeInput(): Promise<void> {
    if (!this.#stdinOpen) return;
    this.#stdinOpen = false;
    await this.#writer.close().catch(() => {/* the program has ended */});
  }

  /** Ends the input, waits for the exit, and throws if any frame was wrong. */
  async close(timeoutMs = 10_000): Promise<Deno.CommandStatus> {
    await this.closeInput();
    return await this.exit(timeoutMs);
  }

  async exit(timeoutMs = 10_000): Promise<Deno.CommandStatus> {
    const status = await this.inTime(this.child.status, timeoutMs, "the exit of the program");
    await this.#reading;
    await this.#logging;
    if (this.#problems.length) throw new Error(`Wrong frames:\n${this.#problems.join("\n")}`);
    return status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.closeInput();
    const timer = setTimeout(() => {
      try {
        this.child.kill("SIGKILL");
      } catch {
        // It has ended already.
      }
    }, patient(8_000));
    await this.child.status;
    clearTimeout(timer);
    await this.#reading.catch(() => {});
    if (this.child.stdout.locked === false) await this.child.stdout.cancel().catch(() => {});
    await this.#logging.catch(() => {});
    if (this.#problems.length) throw new Error(`Wrong frames:\n${this.#problems.join("\n")}\n${this.tail()}`);
  }
}

/** Starts `hermes acp`; dispose closes its input, waits for its end and judges its frames. */
export function startAcp(rig: Rig, options: AcpOptions = {}): AcpDriver {
  const child = startProgram(["acp", ...options.args ?? []], {
    rig,
    ...(options.env ? { env: options.env } : {}),
    ...(options.cwd ? { cwd: options.cwd } : {}),
  });
  return new AcpDriver(child, options.deaf ?? false);
}

export interface CaseOptions {
  readonly turns?: readonly ScriptTurn[];
  readonly respond?: ModelServerOptions["respond"];
  /** Ids the model server lists. */
  readonly models?: readonly string[];
  /** Merged into the config that names the model server. */
  readonly config?: Record<string, unknown>;
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
  readonly capabilities?: unknown;
}

export interface Case {
  readonly rig: Rig;
  readonly model: ModelServer;
  readonly acp: AcpDriver;
  /** An open session in `rig.workspace`. */
  readonly sessionId: string;
  /** Another process on the same home, initialized. */
  again(options?: AcpOptions): Promise<AcpDriver>;
}

/** A model server, a home that names it, an initialized program and one new session; all judged at the end. */
export async function withAcp(options: CaseOptions, run: (one: Case) => Promise<void>): Promise<void> {
  const { turns, respond, models, config, capabilities, ...start } = options;
  await using model = await startModelServer({
    ...(turns ? { turns } : {}),
    ...(respond ? { respond } : {}),
    ...(models ? { models } : {}),
  });
  await using rig = await makeRig({ config: modelConfig(model.url, config) });
  await using acp = startAcp(rig, start);
  await acp.initialize(capabilities);
  const sessionId = await acp.newSession(rig.workspace);
  const again = async (more: AcpOptions = {}) => {
    const driver = startAcp(rig, { ...start, ...more });
    await driver.initialize(capabilities);
    return driver;
  };
  await run({ rig, model, acp, sessionId, again });
}

/** A model answer that calls tools, in order. */
export function calls(
  ...tools: readonly (readonly [string, Record<string, unknown>, string?])[]
): ScriptTurn {
  return { steps: tools.map(([tool, args, id]) => ({ tool, args, ...(id === undefined ? {} : { id }) })) };
}
