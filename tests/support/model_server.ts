/**
 * A scripted Chat Completions server on loopback, for black-box tests: it plays one script turn per call, in order
 * (docs/scripted-model.md). It speaks HTTP by hand over TCP, so that every delta can be a network write of its own,
 * a connection can be torn for real, and a client that leaves is seen at once.
 *
 *   await using server = await startModelServer({ turns: ["hello", { steps: [{ tool: "read_file", args: {…} }] }] });
 *   … point the program at server.url …; server.requests[0].body.messages; server.requests[0].aborted
 */
import { type AddressInfo, createServer, type Server as NetServer, type Socket } from "node:net";
import {
  argumentsText,
  SCRIPT_EXHAUSTED,
  type ScriptError,
  type ScriptStep,
  type ScriptTurn,
  type ScriptUsage,
  stepsOf,
} from "../../src/models/builtin/script_format.ts";

export type { ScriptStep, ScriptTurn } from "../../src/models/builtin/script_format.ts";

export interface ModelServerRequest {
  readonly method: string;
  readonly path: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON; `null` when there was none. */
  // deno-lint-ignore no-explicit-any
  readonly body: any;
  /** The client closed the connection before the answer was complete. */
  aborted: boolean;
  /** The whole answer was written. */
  done: boolean;
}

export interface ModelServerOptions {
  readonly turns?: readonly ScriptTurn[];
  /** Start again from the first turn when all are played; else a used-up script answers "(script exhausted)". */
  readonly loop?: boolean;
  /** Makes the turn from the request instead; `n` counts the calls from 0. Pushed turns come first. */
  readonly respond?: (request: ModelServerRequest, n: number) => ScriptTurn | Promise<ScriptTurn>;
  /** `GET /v1/models`: ids, or whole entries. Default `["scripted"]`. */
  readonly models?: readonly (string | Record<string, unknown>)[];
  /** When set, any other bearer token is answered with 401. */
  readonly key?: string;
  /** Default a free port. */
  readonly port?: number;
}

export interface ModelServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT/v1` */
  readonly url: string;
  readonly port: number;
  /** Every request, oldest first. */
  readonly requests: ModelServerRequest[];
  /** Only the `POST …/chat/completions` ones. */
  calls(): ModelServerRequest[];
  push(...turns: ScriptTurn[]): void;
  /** Forgets the turns, the position and the requests. */
  reset(): void;
  close(): Promise<void>;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export async function startModelServer(options: ModelServerOptions = {}): Promise<ModelServer> {
  const listener = createServer({ noDelay: true });
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen(options.port ?? 0, "127.0.0.1", () => resolve());
  });
  return new Server(listener, options);
}

class Server implements ModelServer {
  readonly url: string;
  readonly port: number;
  readonly requests: ModelServerRequest[] = [];
  readonly #listener: NetServer;
  readonly #options: ModelServerOptions;
  readonly #connections = new Set<Connection>();
  readonly #serving = new Set<Promise<void>>();
  #turns: ScriptTurn[];
  #next = 0;
  #calls = 0;

  constructor(listener: NetServer, options: ModelServerOptions) {
    this.#listener = listener;
    this.#options = options;
    this.#turns = [...options.turns ?? []];
    this.port = (listener.address() as AddressInfo).port;
    this.url = `http://127.0.0.1:${this.port}/v1`;
    listener.on("connection", (socket) => this.#accept(new Connection(socket)));
  }

  calls(): ModelServerRequest[] {
    return this.requests.filter((r) => r.method === "POST" && r.path.endsWith("/chat/completions"));
  }

  push(...turns: ScriptTurn[]): void {
    this.#turns.push(...turns);
  }

  reset(): void {
    this.#turns = [];
    this.#next = 0;
    this.#calls = 0;
    this.requests.length = 0;
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()));
    for (const connection of this.#connections) connection.close();
    await Promise.all(this.#serving);
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #accept(connection: Connection): void {
    this.#connections.add(connection);
    const served = this.#serve(connection).finally(() => {
      this.#connections.delete(connection);
      this.#serving.delete(served);
    });
    this.#serving.add(served);
  }

  async #serve(connection: Connection): Promise<void> {
    try {
      for (;;) {
        const head = await connection.readRequest();
        if (!head) break;
        const request: ModelServerRequest = { ...head, aborted: false, done: false };
        this.requests.push(request);
        const onClosed = () => {
          if (!request.done) request.aborted = true;
        };
        connection.onClosed = onClosed;
        await this.#answer(request, connection);
        connection.onClosed = () => {};
        if (connection.closed || head.headers["connection"] === "close") break;
      }
    } catch (error) {
      if (!connection.closed) throw error;
    } finally {
      connection.close();
      await connection.gone;
    }
  }

  async #answer(request: ModelServerRequest, connection: Connection): Promise<void> {
    const { key, models = ["scripted"] } = this.#options;
    const out = new Answer(request, connection);
    if (key !== undefined && request.headers["authorization"] !== `Bearer ${key}`) {
      return await out.json(401, errorBody(401, { message: "Incorrect API key provided" }));
    }
    if (request.method === "GET" && request.path.endsWith("/models")) {
      const data = models.map((m) =>
        typeof m === "string" ? { id: m, object: "model", owned_by: "test" } : m
      );
      return await out.json(200, { object: "list", data });
    }
    if (request.method === "POST" && request.path.endsWith("/chat/completions")) {
      const turn = await this.#turn(request);
      if (request.body?.stream) await playStream(turn, request, out);
      else await playWhole(turn, request, out);
      return;
    }
    await out.json(404, errorBody(404, { message: `No route ${request.method} ${request.path}` }));
  }

  async #turn(request: ModelServerRequest): Promise<ScriptTurn> {
    const n = this.#calls++;
    if (this.#options.loop && this.#next >= this.#turns.length) this.#next = 0;
    const turn = this.#turns[this.#next];
    if (turn !== undefined) {
      this.#next++;
      return turn;
    }
    if (this.#options.respond) return await this.#options.respond(request, n);
    return SCRIPT_EXHAUSTED;
  }
}

interface Head {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/**
 * One keep-alive connection. It is always being read, so a client that leaves is noticed while we write or wait.
 * Over node:net, because closing a `Deno.TcpConn` does not end its pending read.
 */
class Connection {
  onClosed: () => void = () => {};
  readonly #socket: Socket;
  readonly #gone = Promise.withResolvers<void>();
  #buffer: Uint8Array = new Uint8Array(0);
  #wake = Promise.withResolvers<void>();
  #closed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("data", (chunk: Uint8Array) => this.#add(chunk));
    socket.on("end", () => this.close());
    socket.on("error", () => this.close());
    socket.on("close", () => {
      this.close();
      this.#gone.resolve();
    });
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Resolves when the connection is closed by either side and nothing of it is left. */
  get gone(): Promise<void> {
    return this.#gone.promise;
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.onClosed();
    this.#wake.resolve();
    this.#socket.destroy();
  }

  /** Waits at most `ms`, less when the client leaves. */
  async wait(ms: number): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await Promise.race([this.gone, new Promise<void>((resolve) => timer = setTimeout(resolve, ms))]);
    clearTimeout(timer);
  }

  /** One network write; resolves when it was handed over or the connection is closed. */
  write(bytes: Uint8Array): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#socket.write(bytes, () => resolve());
    });
  }

  async readRequest(): Promise<Head | null> {
    for (;;) {
      const head = this.#takeRequest();
      if (head) return head;
      if (this.#closed) return null;
      this.#wake = Promise.withResolvers<void>();
      await this.#wake.promise;
    }
  }

  #add(chunk: Uint8Array): void {
    this.#buffer = this.#buffer.length === 0 ? chunk.slice() : concat(this.#buffer, chunk);
    this.#wake.resolve();
  }

  #takeRequest(): Head | null {
    const end = indexOfHeadEnd(this.#buffer);
    if (end === -1) return null;
    const [first = "", ...lines] = decoder.decode(this.#buffer.subarray(0, end)).split("\r\n");
    const headers: Record<string, string> = {};
    for (const line of lines) {
      const colon = line.indexOf(":");
      headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim();
    }
    const length = Number(headers["content-length"] ?? 0);
    const start = end + 4;
    if (this.#buffer.length < start + length) return null;
    const text = decoder.decode(this.#buffer.subarray(start, start + length));
    this.#buffer = this.#buffer.slice(start + length);
    const [method = "", path = ""] = first.split(" ");
    return { method, path, headers, body: parseOrNull(text) };
  }
}

function indexOfHeadEnd(bytes: Uint8Array): number {
  for (let at = bytes.indexOf(13); at !== -1; at = bytes.indexOf(13, at + 1)) {
    if (bytes[at + 1] === 10 && bytes[at + 2] === 13 && bytes[at + 3] === 10) return at;
  }
  return -1;
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Writes one HTTP answer: a whole JSON body, or a chunked event stream whose head goes out with its first bytes. */
class Answer {
  readonly connection: Connection;
  readonly #request: ModelServerRequest;
  #started = false;
  #held: string[] = [];
  /** Deltas per write. */
  pack = 1;
  /** Bytes per write; 0 = as they come. */
  split = 0;

  constructor(request: ModelServerRequest, connection: Connection) {
    this.#request = request;
    this.connection = connection;
  }

  get started(): boolean {
    return this.#started || this.#held.length > 0;
  }

  async json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<void> {
    const bytes = encoder.encode(JSON.stringify(body));
    const lines = Object.entries({
      "content-type": "application/json",
      "content-length": String(bytes.length),
      ...headers,
    });
    const head = `HTTP/1.1 ${status} X\r\n${lines.map(([k, v]) => `${k}: ${v}\r\n`).join("")}\r\n`;
    await this.connection.write(concat(encoder.encode(head), bytes));
    this.#finish();
  }

  /** One SSE event; held back until `pack` of them are there. */
  async event(data: string): Promise<void> {
    this.#held.push(data);
    if (this.#held.length >= this.pack) await this.flush();
  }

  async flush(): Promise<void> {
    if (this.#held.length === 0) return;
    const text = this.#held.join("");
    this.#held = [];
    const bytes = encoder.encode(text);
    if (this.split <= 0) return await this.#chunk(bytes);
    for (let at = 0; at < bytes.length && !this.connection.closed; at += this.split) {
      await this.#chunk(bytes.subarray(at, at + this.split));
    }
  }

  async end(): Promise<void> {
    await this.flush();
    await this.head();
    await this.connection.write(encoder.encode("0\r\n\r\n"));
    this.#finish();
  }

  #finish(): void {
    if (!this.connection.closed) this.#request.done = true;
  }

  /** The head of an event stream, once. */
  async head(): Promise<void> {
    if (this.#started) return;
    this.#started = true;
    await this.connection.write(
      encoder.encode(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncache-control: no-cache\r\n" +
          "transfer-encoding: chunked\r\n\r\n",
      ),
    );
  }

  async #chunk(bytes: Uint8Array): Promise<void> {
    await this.head();
    const size = encoder.encode(bytes.length.toString(16) + "\r\n");
    await this.connection.write(concat(size, bytes, encoder.encode("\r\n")));
  }
}

function concat(...parts: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, p) => sum + p.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function errorBody(status: number, error: ScriptError): Record<string, unknown> {
  return {
    error: {
      message: error.message ?? `Scripted error ${status}`,
      type: status >= 500 ? "server_error" : "invalid_request_error",
      code: error.code ?? null,
    },
  };
}

function usageBody(usage: ScriptUsage | null, request: ModelServerRequest, text: string): unknown {
  const prompt = usage?.prompt_tokens ?? Math.ceil(JSON.stringify(request.body?.messages ?? "").length / 4);
  const completion = usage?.completion_tokens ?? Math.ceil(text.length / 4);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: usage?.cached_tokens ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage?.reasoning_tokens ?? 0 },
  };
}

/** What every chunk of one answer shares. */
function envelope(request: ModelServerRequest, object: string): Record<string, unknown> {
  return {
    id: "chatcmpl-scripted",
    object,
    created: 1_700_000_000,
    model: request.body?.model ?? "scripted",
  };
}

function sse(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

async function playStream(turn: ScriptTurn, request: ModelServerRequest, out: Answer): Promise<void> {
  const base = envelope(request, "chat.completion.chunk");
  const chunk = (delta: unknown, finish: string | null = null) =>
    sse({ ...base, choices: [{ index: 0, delta, finish_reason: finish }] });
  if (typeof turn !== "string") {
    out.pack = turn.pack ?? 1;
    out.split = turn.split ?? 0;
  }
  let usage: ScriptUsage | null = null;
  let finish: string | null | undefined;
  let tools = 0;
  let text = "";
  for (const step of stepsOf(turn)) {
    const times = "repeat" in step ? step.repeat ?? 1 : 1;
    const delta = "text" in step
      ? chunk({ content: step.text })
      : "reasoning" in step
      ? chunk({ reasoning_content: step.reasoning })
      : null;
    for (let n = 0; n < times; n++) {
      if (step.delay_ms) {
        await out.flush();
        await out.connection.wait(step.delay_ms);
      }
      if (out.connection.closed) return;
      if (delta) await out.event(delta);
    }
    if ("text" in step && times === 1) text += step.text;
    else if ("text" in step) text += step.text.repeat(times);
    else if ("tool" in step) await playTool(step, tools++, chunk, out);
    else if ("usage" in step) usage = step.usage;
    else if ("finish" in step) finish = step.finish;
    else if ("raw" in step) await out.event(step.raw + "\n\n");
    else if ("json" in step) return await out.json(200, step.json);
    else if ("error" in step) return await playError(step.error, out);
    else if ("stall" in step) return await stall(out);
    else if ("reset" in step) return await tear(out);
  }
  if (finish !== null) {
    await out.event(chunk({}, finish ?? (tools > 0 ? "tool_calls" : "stop")));
    if (request.body?.stream_options?.include_usage) {
      await out.event(sse({ ...base, choices: [], usage: usageBody(usage, request, text) }));
    }
    await out.event("data: [DONE]\n\n");
  }
  await out.end();
}

async function playTool(
  step: Extract<ScriptStep, { tool: string }>,
  position: number,
  chunk: (delta: unknown) => string,
  out: Answer,
): Promise<void> {
  const index = step.index ?? position;
  const id = step.id ?? `call_${position + 1}`;
  const call = (fields: unknown) => chunk({ tool_calls: [fields] });
  await out.event(call({ index, id, type: "function", function: { name: step.tool, arguments: "" } }));
  const text = argumentsText(step.args);
  const size = Math.max(12, Math.ceil(text.length / 20));
  for (let at = 0; at < text.length; at += size) {
    await out.event(call({ index, function: { arguments: text.slice(at, at + size) } }));
  }
}

async function playError(error: ScriptError, out: Answer): Promise<void> {
  const status = error.status ?? 500;
  if (!out.started) return await out.json(status, errorBody(status, error), error.headers);
  await out.event(sse(errorBody(status, error)));
  await out.end();
}

async function stall(out: Answer): Promise<void> {
  await out.flush();
  await out.connection.gone;
}

/** The head goes out in any case: Deno's `fetch` quietly repeats a request that got no byte at all. */
async function tear(out: Answer): Promise<void> {
  await out.flush();
  await out.head();
  out.connection.onClosed = () => {};
  out.connection.close();
}

/** The same script folded into one JSON answer, for requests without `stream`. */
async function playWhole(turn: ScriptTurn, request: ModelServerRequest, out: Answer): Promise<void> {
  let [text, reasoning] = ["", ""];
  let usage: ScriptUsage | null = null;
  let finish: string | null | undefined;
  const calls: unknown[] = [];
  for (const step of stepsOf(turn)) {
    const times = "repeat" in step ? step.repeat ?? 1 : 1;
    if (step.delay_ms) await out.connection.wait(step.delay_ms * times);
    if (out.connection.closed) return;
    if ("text" in step) text += step.text.repeat(times);
    else if ("reasoning" in step) reasoning += step.reasoning.repeat(times);
    else if ("tool" in step) {
      calls.push({
        id: step.id ?? `call_${calls.length + 1}`,
        type: "function",
        function: { name: step.tool, arguments: argumentsText(step.args) },
      });
    } else if ("usage" in step) usage = step.usage;
    else if ("finish" in step) finish = step.finish;
    else if ("json" in step) return await out.json(200, step.json);
    else if ("error" in step) return await playError(step.error, out);
    else if ("stall" in step) return await stall(out);
    else if ("reset" in step) return await tear(out);
  }
  const message: Record<string, unknown> = {
    role: "assistant",
    content: text === "" && calls.length ? null : text,
  };
  if (reasoning) message.reasoning_content = reasoning;
  if (calls.length) message.tool_calls = calls;
  await out.json(200, {
    ...envelope(request, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: finish ?? (calls.length ? "tool_calls" : "stop") }],
    usage: usageBody(usage, request, text),
  });
}
