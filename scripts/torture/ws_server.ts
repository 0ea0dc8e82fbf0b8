/** `hermes gateway --ws` as a process of its own, for attacks on its sockets; ends it and judges how it ended. */
import { patient } from "../../tests/support/patience.ts";
import { eventually, type Rig, startProgram } from "../../tests/support/program.ts";
import type { Judge } from "./judge.ts";
import type { Json } from "./stdio_program.ts";

const CLOSE_MS = patient(5_000);
export const TOKEN = "a-token-of-the-torture";

export class WsServer implements AsyncDisposable {
  readonly child: Deno.ChildProcess;
  stderr = "";
  #stdout = "";
  readonly #judge: Judge;
  readonly #reading: Promise<unknown>;
  port = 0;

  constructor(rig: Rig, judge: Judge) {
    this.#judge = judge;
    this.child = startProgram(["gateway", "--ws", "--port", "0"], {
      rig,
      env: { HERMES_DASHBOARD_SESSION_TOKEN: TOKEN },
    });
    this.#reading = Promise.all([
      pump(this.child.stdout, (text) => this.#stdout += text),
      pump(this.child.stderr, (text) => this.stderr += text),
    ]);
  }

  async ready(): Promise<this> {
    const line = () => /^HERMES_BACKEND_READY port=(\d+)$/m.exec(this.#stdout)?.[1];
    this.port = Number(await eventually(line, 20_000, "the ready line"));
    return this;
  }

  connect(): Promise<WsClient> {
    return connectTo(this.port, this.#judge);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const timer = setTimeout(() => this.child.kill("SIGKILL"), patient(10_000));
    this.child.kill("SIGTERM");
    await this.child.stdin.close().catch(() => {/* it is gone */});
    const { code, signal } = await this.child.status;
    clearTimeout(timer);
    await this.#reading;
    if (code !== 0) this.#judge.report(`ended with ${signal ?? code}: ${this.stderr.slice(-800)}`);
    if (this.#stdout.trim().split("\n").length !== 1) {
      this.#judge.report(`more than the ready line on stdout: ${this.#stdout.slice(0, 600)}`);
    }
    this.#judge.text("stderr", this.stderr);
  }
}

/** A client that has been greeted. */
export async function connectTo(port: number, judge: Judge): Promise<WsClient> {
  const client = new WsClient(`ws://127.0.0.1:${port}/api/ws?token=${TOKEN}`, judge);
  await eventually(() => client.frames.length > 0, 10_000, "gateway.ready");
  return client;
}

async function pump(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
  for await (const text of stream.pipeThrough(new TextDecoderStream())) take(text);
}

/** One socket; what comes in is counted by id and handed to `onFrame`. */
export class WsClient {
  readonly socket: WebSocket;
  readonly frames: Json[] = [];
  readonly closed: Promise<CloseEvent>;
  onFrame: (frame: Json) => void = () => {};
  readonly #answers = new Map<string, Json[]>();
  readonly #judge: Judge;

  constructor(url: string, judge: Judge) {
    this.#judge = judge;
    this.socket = new WebSocket(url);
    this.closed = new Promise((resolve) => this.socket.addEventListener("close", resolve));
    this.socket.addEventListener("error", () => {/* a close follows */});
    this.socket.addEventListener("message", ({ data }) => {
      let frame: Json;
      try {
        frame = JSON.parse(data);
      } catch {
        return judge.report(`not a frame on the socket: ${String(data).slice(0, 300)}`);
      }
      this.frames.push(frame);
      if (frame?.error) judge.text("an error answer", JSON.stringify(frame.error));
      const key = JSON.stringify(frame?.id ?? null);
      if (frame?.method === undefined) this.#answers.set(key, [...this.#answers.get(key) ?? [], frame]);
      this.onFrame(frame);
    });
  }

  get isOpen(): boolean {
    return this.socket.readyState === WebSocket.OPEN;
  }

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.isOpen) this.socket.send(data);
  }

  answersTo(id: unknown): readonly Json[] {
    return this.#answers.get(JSON.stringify(id)) ?? [];
  }

  /** Lets go of all frames and answers so far. */
  forget(): void {
    this.frames.length = 0;
    this.#answers.clear();
  }

  /** The answer; `null` when none comes in time or the socket is closed. */
  async ask(id: string, method: string, params: unknown, timeoutMs = 15_000): Promise<Json | null> {
    this.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    const answer = () => this.answersTo(id)[0] ?? (this.isOpen ? undefined : null);
    return await eventually(answer, timeoutMs).catch(() => null);
  }

  /** Runs a turn; its completion, or `null` when it does not come in time. */
  async turn(session: string, text: string, timeoutMs = 20_000): Promise<Json | null> {
    const isEnd = ({ params }: Json) => params?.type === "message.complete" && params.session_id === session;
    const before = this.frames.filter(isEnd).length;
    const answer = await this.ask(`t${this.frames.length}-${before}-${text}`, "prompt.submit", {
      session_id: session,
      text,
    });
    if (answer?.error) return answer.error;
    const end = () => this.frames.filter(isEnd)[before] ?? (this.isOpen ? undefined : null);
    return (await eventually(end, timeoutMs).catch(() => null))?.params.payload ?? null;
  }

  /** The server has to answer the close; one that does not is reported. */
  async close(): Promise<void> {
    if (this.socket.readyState < WebSocket.CLOSING) this.socket.close();
    const { promise, resolve } = Promise.withResolvers<null>();
    const timer = setTimeout(() => resolve(null), CLOSE_MS);
    if ((await Promise.race([this.closed, promise])) === null) {
      this.#judge.report(`a socket is not closed within ${CLOSE_MS} ms`);
    }
    clearTimeout(timer);
  }
}
