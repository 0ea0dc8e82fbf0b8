/**
 * A model server that does one wrong thing, then is well again. It writes HTTP by hand, so that an answer can be wrong
 * at every level: bytes, headers, stream, content.
 */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

export type Fault = (out: Out) => Promise<void> | void;

/** One answer on its connection. */
export class Out {
  #isGone = false;

  constructor(readonly socket: Socket) {
    socket.on("error", () => this.#isGone = true);
    socket.on("close", () => this.#isGone = true);
  }

  get isGone(): boolean {
    return this.#isGone || this.socket.destroyed || !this.socket.writable;
  }

  write(text: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.isGone) return resolve();
      this.socket.once("close", resolve);
      this.socket.write(text, (error) => {
        this.socket.off("close", resolve);
        // Told here too: who writes without a pause leaves the runtime no moment to tell of the close.
        if (error) this.#isGone = true;
        resolve();
      });
    });
  }

  head(status = 200, type = "text/event-stream", more = ""): Promise<void> {
    return this.write(`HTTP/1.1 ${status} X\r\nContent-Type: ${type}\r\nConnection: close\r\n${more}\r\n`);
  }

  whole(status: number, body: string, type = "application/json", more = ""): Promise<void> {
    const length = new TextEncoder().encode(body).length;
    return this.head(status, type, `Content-Length: ${length}\r\n${more}`).then(() => this.write(body));
  }

  chunk(delta: unknown, finish: string | null = null): Promise<void> {
    const choices = [{ index: 0, delta, finish_reason: finish }];
    return this.event(
      JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices }),
    );
  }

  event(data: string): Promise<void> {
    return this.write(`data: ${data}\n\n`);
  }

  /** A tool call whose arguments are this text. */
  call(id: string, name: string, args: string, index = 0): Promise<void> {
    return this.chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: args } }] });
  }

  async finish(reason = "stop"): Promise<void> {
    await this.chunk({}, reason);
    await this.event("[DONE]");
    this.socket.end();
  }

  /** Until the caller hangs up. */
  stall(): Promise<void> {
    return new Promise((resolve) => this.isGone ? resolve() : this.socket.once("close", () => resolve()));
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }
}

async function answerWell(out: Out): Promise<void> {
  await out.head();
  await out.chunk({ role: "assistant", content: "Fine." });
  await out.finish();
}

export class FaultyModel implements AsyncDisposable {
  /** How often the next calls go wrong; `Infinity` for always. */
  left = 0;
  calls = 0;
  #fault: Fault = answerWell;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => this.#serve(socket));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  break(fault: Fault, times: number): void {
    this.#fault = fault;
    this.left = times;
  }

  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    const out = new Out(socket);
    let head = "";
    let missing = 0;
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("data", (data: Uint8Array) => {
      if (missing === 0) {
        head += new TextDecoder("latin1").decode(data);
        const end = head.indexOf("\r\n\r\n");
        if (end === -1) return;
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        missing = end + 4 + length - head.length;
      } else missing -= data.length;
      if (missing > 0) return;
      const isCall = head.includes("/chat/completions");
      head = "";
      missing = 0;
      void this.#answer(out, isCall);
    });
  }

  async #answer(out: Out, isCall: boolean): Promise<void> {
    if (!isCall) {
      await out.whole(200, '{"object":"list","data":[{"id":"scripted","object":"model"}]}');
      return void out.socket.end();
    }
    this.calls++;
    if (this.left <= 0) return await answerWell(out);
    this.left--;
    await this.#fault(out);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
  }
}

export async function startFaultyModel(): Promise<FaultyModel> {
  const server = createServer({ noDelay: true });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return new FaultyModel(server);
}
