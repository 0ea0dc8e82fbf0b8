/** The gateway on WebSockets for tests: the server process, and hosts that connect to it. */
import { assertEquals } from "../../support/assert.ts";
import type { GatewayEvent, Json } from "../../support/gateway_driver.ts";
import { type ModelServer, type ModelServerOptions, startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig, type Rig, startProgram } from "../../support/program.ts";

export const TOKEN = "a-token-of-the-test";

export interface WsScene {
  readonly rig: Rig;
  readonly model: ModelServer;
  readonly port: number;
  /** Text of the server's stderr so far. */
  stderr(): string;
  connect(): Promise<WsHost>;
}

export interface WsSceneOptions {
  readonly model?: ModelServerOptions;
  readonly config?: Record<string, unknown>;
  readonly env?: Record<string, string>;
  /** Before the start; what it returns is added to the environment. */
  prepare?(rig: Rig): Promise<Record<string, string>>;
}

export async function withWsGateway(
  options: WsSceneOptions,
  test: (scene: WsScene) => Promise<void>,
): Promise<void> {
  await using model = await startModelServer(options.model ?? {});
  await using rig = await makeRig({ config: modelConfig(model.url, options.config) });
  const child = startProgram(["gateway", "--ws", "--port", "0"], {
    rig,
    env: { HERMES_DASHBOARD_SESSION_TOKEN: TOKEN, ...options.env, ...await options.prepare?.(rig) },
  });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  const hosts: WsHost[] = [];
  async function stop(): Promise<Deno.CommandStatus> {
    await Promise.all(hosts.map((host) => host.close()));
    child.kill("SIGTERM");
    await child.stdin.close();
    const status = await child.status;
    await Promise.all([out.done, err.done]);
    return status;
  }
  try {
    const port = await eventually(
      () => /^HERMES_BACKEND_READY port=(\d+)$/m.exec(out.text)?.[1],
      10_000,
      "the ready line",
    );
    const connect = async () => {
      const host = new WsHost(new WebSocket(`ws://127.0.0.1:${port}/api/ws?token=${TOKEN}`));
      hosts.push(host);
      await host.until(() => host.frames.length > 0 || undefined, "gateway.ready");
      return host;
    };
    await test({ rig, model, port: Number(port), stderr: () => err.text, connect });
  } catch (error) {
    await stop();
    throw error;
  }
  const status = await stop();
  assertEquals([status.code, out.text.trim().split("\n").length], [0, 1], err.text);
}

interface Collected {
  readonly text: string;
  readonly done: Promise<void>;
}

function collect(stream: ReadableStream<Uint8Array>): Collected {
  const collected = { text: "", done: Promise.resolve() };
  collected.done = (async () => {
    for await (const part of stream.pipeThrough(new TextDecoderStream())) collected.text += part;
  })();
  return collected;
}

export class WsHost {
  readonly socket: WebSocket;
  readonly frames: Json[] = [];
  readonly events: GatewayEvent[] = [];
  readonly closed: Promise<CloseEvent>;
  #nextId = 1;

  constructor(socket: WebSocket) {
    this.socket = socket;
    this.closed = new Promise((resolve) => socket.addEventListener("close", resolve));
    socket.addEventListener("error", () => {/* a close follows */});
    socket.addEventListener("message", ({ data }) => {
      const frame = JSON.parse(data);
      this.frames.push(frame);
      if (frame.method === "event") this.events.push(frame.params);
    });
  }

  async until<T>(
    look: () => T | undefined | Promise<T | undefined>,
    what: string,
    timeoutMs = 10_000,
  ): Promise<T> {
    return await eventually(look, timeoutMs, what);
  }

  async call(method: string, params: Json = {}): Promise<Json> {
    const id = `w${this.#nextId++}`;
    this.socket.send(JSON.stringify({ id, method, params }));
    return await this.until(() => this.frames.find((frame) => frame.id === id), `the response of ${method}`);
  }

  async request(method: string, params: Json = {}): Promise<Json> {
    const frame = await this.call(method, params);
    if (frame.error) throw new Error(`${method}: ${frame.error.code} ${frame.error.message}`);
    return frame.result;
  }

  async event(type: string, sid: string, nth = 0): Promise<Json> {
    const of = () => this.events.filter((event) => event.type === type && event.session_id === sid)[nth];
    return (await this.until(of, `event ${type}`)).payload;
  }

  streamed(sid: string): string {
    return this.events.filter((event) => event.type === "message.delta" && event.session_id === sid)
      .map((event) => event.payload.text).join("");
  }

  async close(): Promise<void> {
    if (this.socket.readyState !== WebSocket.CLOSED) this.socket.close();
    await this.closed;
  }
}

export interface Handshake {
  readonly status: number;
  readonly body: string;
}

/** An upgrade request by hand, with whatever headers; the status, and what came after the head. */
export async function handshake(
  port: number,
  options: { path?: string; host?: string; headers?: Record<string, string> },
): Promise<Handshake> {
  using conn = await Deno.connect({ hostname: "127.0.0.1", port });
  const headers = {
    Host: options.host ?? `127.0.0.1:${port}`,
    Connection: "Upgrade",
    Upgrade: "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    ...options.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const path = options.path ?? `/api/ws?token=${TOKEN}`;
  await conn.write(new TextEncoder().encode(`GET ${path} HTTP/1.1\r\n${lines.join("")}\r\n`));
  let text = "";
  const buffer = new Uint8Array(4096);
  const decoder = new TextDecoder();
  while (!isWhole(text)) {
    const n = await conn.read(buffer);
    if (n === null) break;
    text += decoder.decode(buffer.subarray(0, n), { stream: true });
  }
  const [head = "", body = ""] = text.split("\r\n\r\n");
  return { status: Number(head.split(" ")[1]), body };
}

/** A refusal has a JSON body; an accepted upgrade is followed by the first frame. */
function isWhole(text: string): boolean {
  const body = text.split("\r\n\r\n")[1];
  return body !== undefined &&
    (text.includes(" 101 ") ? body.includes("gateway.ready") : body.trim().endsWith("}"));
}
