/**
 * A controller of browser control in a few lines, for tests: registers, connects, remembers every frame, and answers
 * when it is told to.
 */
import { patient } from "../../support/patience.ts";
import type { ApiServer } from "../../support/api_driver.ts";
import { eventually } from "../../support/program.ts";
import { type Answer, ask, type Wire } from "./run_scene.ts";

export const SUBPROTOCOL = "hermes-browser-control-v1";
export const TICKET = "hermes-browser-control-ticket.";
export const WS_PATH = "/v1/browser-control/ws";

/** Configuration that turns it on. */
export function controlOn(more: Record<string, unknown> = {}): Record<string, unknown> {
  return { browser: { extension_control: { enabled: true, ...more } } };
}

export interface Identity {
  readonly session_id?: unknown;
  readonly controller_id?: unknown;
  readonly browser_profile_id?: unknown;
  readonly capabilities?: unknown;
  readonly protocol_version?: unknown;
}

export const ALL = [
  "browser_back",
  "browser_click",
  "browser_navigate",
  "browser_press",
  "browser_screenshot",
  "browser_scroll",
  "browser_snapshot",
  "browser_tab_activate",
  "browser_tabs",
  "browser_type",
  "controller.noop",
];

export function register(
  api: ApiServer,
  identity: Identity = {},
  options: { key?: string | null; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const body = {
    protocol_version: 1,
    session_id: "s",
    controller_id: "c",
    browser_profile_id: "p",
    capabilities: ALL,
    ...identity,
  };
  return ask(api, "/v1/browser-control/register", { body, ...options });
}

export interface Frame {
  readonly method: string;
  readonly params: Wire;
}

export class FakeController implements AsyncDisposable {
  readonly frames: Frame[] = [];
  readonly socket: WebSocket;
  readonly closed = Promise.withResolvers<CloseEvent>();
  /** By method: a command may come before the answer to a heartbeat that was sent first. */
  readonly #read = new Map<string, number>();

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.onmessage = ({ data }) => void this.frames.push(JSON.parse(data));
    socket.onclose = (event) => this.closed.resolve(event);
  }

  /** With a ticket; rejects when the handshake is refused. */
  static async connect(api: ApiServer, ticket: string): Promise<FakeController> {
    const url = api.url.replace("http", "ws") + WS_PATH;
    const socket = new WebSocket(url, [SUBPROTOCOL, TICKET + ticket]);
    const controller = new FakeController(socket);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("the handshake was not answered")), patient(10_000));
      socket.onopen = () => {
        clearTimeout(timer);
        resolve();
      };
      socket.onerror = () => {
        clearTimeout(timer);
        reject(new Error("the handshake was refused"));
      };
    });
    // The server has heard of the opening as well when it answers.
    controller.send("browser.controller.heartbeat", { nonce: "hello" });
    await controller.next("browser.controller.heartbeat");
    return controller;
  }

  /** Registers and connects. */
  static async open(api: ApiServer, identity: Identity = {}): Promise<FakeController> {
    const { body } = await register(api, identity);
    return await FakeController.connect(api, body.ticket);
  }

  send(method: string, params: unknown): void {
    this.socket.send(JSON.stringify({ method, params }));
  }

  /** The next frame of this method that was not read yet. */
  next(method: string): Promise<Wire> {
    return eventually(
      () => {
        const from = this.#read.get(method) ?? 0;
        const at = this.frames.findIndex((frame, i) => i >= from && frame.method === method);
        if (at === -1) return undefined;
        this.#read.set(method, at + 1);
        return this.frames[at]!.params ?? null;
      },
      10_000,
      `a frame ${method}`,
    );
  }

  command(): Promise<Wire> {
    return this.next("browser.controller.command");
  }

  /** Answers a command. */
  result(command: Wire, result: unknown): void {
    this.send("browser.controller.result", { command_id: command.command_id, ok: true, result });
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed.promise;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

/** What a tool told the model, from the last request. */
export function toolText(request: { readonly body: Wire }): string {
  const { content } = request.body.messages.findLast((message: Wire) => message.role === "tool");
  return typeof content === "string" ? content : JSON.stringify(content);
}

export function toolNames(request: { readonly body: Wire }): string[] {
  return (request.body.tools as Wire[]).map((tool) => tool.function.name);
}
