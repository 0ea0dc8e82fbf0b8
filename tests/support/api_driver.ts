/**
 * Drives `hermes serve` as a client would: starts the real program on a free port, reads its ready line, and gives
 * `fetch` with the key, an SSE reader and raw sockets for what `fetch` cannot send.
 *
 *   await using model = await startModelServer({ turns: ["hello"] });
 *   await using api = await startApi({ model });
 *   const answer = await api.chat({ messages: [{ role: "user", content: "hi" }] });
 */
import { eventually, makeRig, modelConfig, type Rig, startProgram } from "./program.ts";
import type { ModelServer } from "./model_server.ts";
import { patient } from "./patience.ts";

export const API_KEY = "test-key-0123456789-0123456789-0";

export interface ApiStartOptions {
  /** The provider; without one nothing is configured. */
  readonly model?: ModelServer;
  /** Merged over the model's config at the top level. */
  readonly config?: Record<string, unknown>;
  /** `gateway.api_server.*`. */
  readonly server?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  readonly args?: readonly string[];
  /** `null`: no key in the environment. */
  readonly key?: string | null;
  /** Leave the config in the home as it is; what is given here is not written. */
  readonly keepConfig?: boolean;
  /** A home that outlives the server, for restarts; disposed by its owner. */
  readonly rig?: Rig;
}

export interface ApiCall {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** Sent as JSON; a string as it is. */
  readonly body?: unknown;
  /** `null`: no Authorization header. */
  readonly key?: string | null;
  readonly signal?: AbortSignal;
}

export interface ApiServer extends AsyncDisposable {
  /** `http://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
  readonly key: string;
  readonly rig: Rig;
  readonly readyLine: string;
  readonly process: Deno.ChildProcess;
  /** What the program has written to stderr so far. */
  stderr(): string;
  /** Everything on stdout, ready line included. */
  stdout(): string;
  call(path: string, options?: ApiCall): Promise<Response>;
  /** `POST /v1/chat/completions`. */
  chat(body: unknown, options?: ApiCall): Promise<Response>;
  /** Sends a signal and waits for the end. */
  stop(signal?: Deno.Signal): Promise<Deno.CommandStatus>;
}

const READY = /^API server listening on (http:\/\/\S+) \(model: (.+)\)$/m;

export async function startApi(options: ApiStartOptions = {}): Promise<ApiServer> {
  const rig = options.rig ?? await makeRig();
  const config = {
    ...(options.model ? modelConfig(options.model.url) : {}),
    ...options.config,
    ...(options.server ? { gateway: { api_server: options.server } } : {}),
  };
  if (options.keepConfig !== true) await rig.writeConfig(config);
  const key = options.key === undefined ? API_KEY : options.key;
  const process = startProgram(["serve", "--port", "0", ...options.args ?? []], {
    rig,
    env: { ...(key === null ? {} : { API_SERVER_KEY: key }), ...options.env },
  });
  const server = new Server(process, rig, key ?? "", options.rig === undefined);
  try {
    await server.ready();
  } catch (error) {
    await server[Symbol.asyncDispose]();
    throw error;
  }
  return server;
}

class Server implements ApiServer {
  readonly process: Deno.ChildProcess;
  readonly rig: Rig;
  readonly key: string;
  url = "";
  port = 0;
  readyLine = "";
  readonly #ownsRig: boolean;
  readonly #reading: Promise<unknown>;
  #out = "";
  #err = "";
  #ended = false;

  constructor(process: Deno.ChildProcess, rig: Rig, key: string, ownsRig: boolean) {
    this.process = process;
    this.rig = rig;
    this.key = key;
    this.#ownsRig = ownsRig;
    this.#reading = Promise.all([
      pump(process.stdout, (text) => this.#out += text),
      pump(process.stderr, (text) => this.#err += text),
    ]);
    void process.status.then(() => this.#ended = true);
  }

  async ready(): Promise<void> {
    const match = await eventually(
      () => {
        if (this.#ended) throw new Error(`hermes serve ended before it was ready:\n${this.#err}`);
        return READY.exec(this.#out) ?? undefined;
      },
      20_000,
      "the ready line",
    );
    this.readyLine = match[0];
    this.url = match[1]!;
    this.port = Number(new URL(this.url).port);
  }

  stderr(): string {
    return this.#err;
  }

  stdout(): string {
    return this.#out;
  }

  call(path: string, options: ApiCall = {}): Promise<Response> {
    const key = options.key === undefined ? this.key : options.key;
    const { body } = options;
    return fetch(this.url + path, {
      method: options.method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        ...(key === null ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...options.headers,
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      ...(options.signal ? { signal: options.signal } : {}),
    });
  }

  chat(body: unknown, options: ApiCall = {}): Promise<Response> {
    return this.call("/v1/chat/completions", { ...options, body });
  }

  async stop(signal: Deno.Signal = "SIGTERM"): Promise<Deno.CommandStatus> {
    if (!this.#ended) this.process.kill(signal);
    const timer = setTimeout(() => this.process.kill("SIGKILL"), patient(10_000));
    const status = await this.process.status;
    clearTimeout(timer);
    await this.process.stdin.close().catch(() => {/* closed with the process */});
    await this.#reading;
    return status;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop(this.#ended ? undefined : "SIGKILL");
    if (this.#ownsRig) await this.rig[Symbol.asyncDispose]();
  }
}

async function pump(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  const decoder = new TextDecoder();
  for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
}

// ── Server-sent events ──────────────────────────────────────────────────────────────────────────────────────

/** One block between blank lines. */
export interface SseFrame {
  readonly event?: string;
  readonly id?: string;
  /** Text of the data lines; `undefined` for a comment. */
  readonly data?: string;
  readonly comment?: string;
  /** Parsed `data`; `undefined` for comments and `[DONE]`. */
  // deno-lint-ignore no-explicit-any
  readonly json?: any;
}

/** Frames as they arrive. Leaving the loop closes the connection. */
export async function* readSse(response: Response): AsyncGenerator<SseFrame> {
  const decoder = new TextDecoder();
  let buffer = "";
  for await (const chunk of response.body!) {
    buffer += decoder.decode(chunk, { stream: true });
    for (let end = buffer.indexOf("\n\n"); end !== -1; end = buffer.indexOf("\n\n")) {
      yield parseFrame(buffer.slice(0, end));
      buffer = buffer.slice(end + 2);
    }
  }
  if (buffer !== "") throw new Error(`The stream ended inside a frame: ${buffer}`);
}

/** All frames up to the clean end. */
export async function collectSse(response: Response): Promise<SseFrame[]> {
  const frames: SseFrame[] = [];
  for await (const frame of readSse(response)) frames.push(frame);
  return frames;
}

function parseFrame(text: string): SseFrame {
  const frame: { event?: string; id?: string; data?: string; comment?: string; json?: unknown } = {};
  for (const line of text.split("\n")) {
    if (line.startsWith(":")) frame.comment = line.slice(1).trim();
    else if (line.startsWith("event: ")) frame.event = line.slice(7);
    else if (line.startsWith("id: ")) frame.id = line.slice(4);
    else if (line.startsWith("data: ") && frame.data === undefined) frame.data = line.slice(6);
    else throw new Error(`Unexpected line in an SSE frame: ${JSON.stringify(line)}`);
  }
  if (frame.data !== undefined && frame.data !== "[DONE]") frame.json = JSON.parse(frame.data);
  return frame;
}

/** The joined `delta.content` of a chat stream. */
export function contentOf(frames: readonly SseFrame[]): string {
  return frames.map((frame) => frame.json?.choices?.[0]?.delta?.content ?? "").join("");
}

// ── Raw sockets ─────────────────────────────────────────────────────────────────────────────────────────────

/** Sends `text` as it is and reads one answer with a Content-Length, or until the server closes. */
export async function rawRequest(port: number, text: string | Uint8Array): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const writing = writeAll(connection, bytes);
  const answer = await readAll(connection);
  await writing;
  return answer;
}

async function writeAll(connection: Deno.Conn, bytes: Uint8Array): Promise<void> {
  try {
    for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
  } catch {
    // The server has answered and closed already.
  }
}

async function readAll(connection: Deno.Conn): Promise<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(65536);
  let text = "";
  try {
    for (let n = await connection.read(buffer); n !== null; n = await connection.read(buffer)) {
      text += decoder.decode(buffer.subarray(0, n), { stream: true });
      if (isWhole(text)) break;
    }
  } catch {
    // Reset after the answer: what was read counts.
  }
  return text;
}

function isWhole(text: string): boolean {
  const end = text.indexOf("\r\n\r\n");
  const length = /^content-length: (\d+)/im.exec(text.slice(0, end))?.[1];
  return end !== -1 && length !== undefined && text.length - end - 4 >= Number(length);
}

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}
