/**
 * The HTTP of the scripted model server, by hand over node:net: a connection that is always being read, and an answer
 * whose every delta can be a network write of its own. Knows no wire.
 */
import type { Socket } from "node:net";

const encoder = new TextEncoder();
const decoder = new TextDecoder();

export interface Head {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: unknown;
}

/**
 * One keep-alive connection. It is always being read, so a client that leaves is noticed while we write or wait.
 * Over node:net, because closing a `Deno.TcpConn` does not end its pending read.
 */
export class Connection {
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
export class Answer {
  readonly connection: Connection;
  readonly #request: { done: boolean };
  #started = false;
  #held: string[] = [];
  /** Deltas per write. */
  pack = 1;
  /** Bytes per write; 0 = as they come. */
  split = 0;

  constructor(request: { done: boolean }, connection: Connection) {
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
