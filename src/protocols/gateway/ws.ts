/**
 * The gateway on WebSockets (tui-gateway.md A.2): one connection per host, one process for all of them. Promises:
 * nobody is let in without the token, every connection starts with `gateway.ready`, and a dropped line ends no turn.
 * stdout carries one line, `HERMES_BACKEND_READY port=<n>`.
 */
import { within } from "@/lib/abort.ts";
import { disableNagle } from "@/lib/nodelay.ts";
import { isQuiet } from "@/lib/quiet.ts";
import { createCrashTrail } from "./crash_trail.ts";
import { Parking } from "./parking.ts";
import type { MethodTable } from "./peer.ts";
import { Peer } from "./peer.ts";
import type { GatewayOptions } from "./program.ts";
import { graceMs, loadProgram, onCrash, onStopSignal, poolSize } from "./program.ts";
import { readyFrame } from "./ready.ts";
import type { Gateway } from "./server.ts";
import { SocketClient } from "./ws_client.ts";
import type { Refusal } from "./ws_guard.ts";
import { isLoopback, openWarning, refuseUpgrade } from "./ws_guard.ts";

export interface WsOptions extends GatewayOptions {
  readonly host: string;
  /** 0 = any free one. */
  readonly port: number;
}

const PATH = "/api/ws";
const PING_SECONDS = 20;

/** Serves until a signal; the result is the exit code. */
export async function serveGatewayWs(options: WsOptions): Promise<number> {
  const { platform } = options;
  const epoch = platform.ids.hex(32);
  const trail = createCrashTrail(platform);
  const onFault = (where: string, error: unknown) => trail.report(where, error);
  const stopped = Promise.withResolvers<string>();
  const stopSignals = onStopSignal((signal) => stopped.resolve(signal), { interruptStops: true });
  const stopCrash = onCrash((error) => onFault("process", error));
  const mask = (raw: string) => trail.mask(raw);
  const program = loadProgram(options, { epoch, trail });
  try {
    const methods = await program.methods;
    const gateway = program.gateway()!;
    const token = makeToken(options);
    const server = new WsServer({ options, epoch, gateway, methods, token, onFault, mask });
    if (!server.listen()) return 1;
    const signal = await stopped.promise;
    if (!isQuiet(platform.env())) platform.stderr(`[gateway-signal] ${signal}`);
    await server.close(graceMs(platform));
    return 0;
  } finally {
    stopSignals();
    stopCrash();
    await within(trail.flush(), 200);
  }
}

interface Token {
  readonly value: string;
  /** Made here, so nobody knows it yet. */
  readonly fresh: boolean;
}

function makeToken({ platform }: WsOptions): Token {
  const given = platform.env()["HERMES_DASHBOARD_SESSION_TOKEN"]?.trim();
  if (given) return { value: given, fresh: false };
  const bytes = platform.ids.hex(64).match(/../g)!.map((pair) => parseInt(pair, 16));
  const text = btoa(String.fromCharCode(...bytes));
  return { value: text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""), fresh: true };
}

interface ServerParts {
  readonly options: WsOptions;
  readonly epoch: string;
  readonly gateway: Gateway;
  readonly methods: MethodTable;
  readonly token: Token;
  onFault(where: string, error: unknown): void;
  mask(text: string): string;
}

class WsServer {
  readonly #parts: ServerParts;
  readonly #parking: Parking;
  readonly #sockets = new Set<WebSocket>();
  #server: Deno.HttpServer<Deno.NetAddr> | null = null;

  constructor(parts: ServerParts) {
    this.#parts = parts;
    this.#parking = new Parking(parts.gateway, parts.onFault);
    parts.gateway.live.onAttached = (live) => {
      // Its connection may have gone while it was being opened.
      if (!live.attached) this.#parking.park(live);
      this.#parking.trim();
    };
  }

  /** False when the address cannot be had; the reason is on stderr. */
  listen(): boolean {
    const { host, port, platform } = this.#parts.options;
    try {
      this.#server = Deno.serve(
        { hostname: host, port, onListen: (address) => this.#announce(address.port) },
        (request, info) => this.#handle(request, info.remoteAddr.hostname),
      );
      return true;
    } catch (error) {
      this.#parking.stop();
      platform.stderr(`hermes gateway: cannot listen on ${host}:${port}: ${String(error)}`);
      return false;
    }
  }

  #announce(port: number): void {
    const { options: { platform, host }, token, gateway } = this.#parts;
    const warning = openWarning(host);
    if (warning !== null) platform.stderr(`[gateway-ws] ${warning}`);
    if (token.fresh) platform.stderr(`[gateway-ws] token: ${token.value}`);
    Deno.stdout.writeSync(new TextEncoder().encode(`HERMES_BACKEND_READY port=${port}\n`));
    disableNagle(port, gateway.hermes.log);
  }

  async close(deadlineMs: number): Promise<void> {
    this.#parking.stop();
    await this.#parts.gateway.hermes.shutdown("tui_shutdown", { deadlineMs });
    for (const socket of this.#sockets) socket.close(1001, "the gateway is shutting down");
    if (this.#server) await within(this.#server.shutdown(), 300);
  }

  // ── Requests ──────────────────────────────────────────────────────────────────────────────────────────────

  #handle(request: Request, peer: string): Response {
    const { options, gateway, token } = this.#parts;
    // An empty Host header makes an address that nothing can be read from.
    const url = URL.parse(request.url);
    if (!url) {
      return refuse({ status: 403, code: "host_not_allowed", message: "The request names no usable Host" });
    }
    const refusal = refuseUpgrade({
      bind: options.host,
      peer,
      host: request.headers.get("host"),
      origin: request.headers.get("origin"),
      authorization: request.headers.get("authorization"),
      queryToken: url.searchParams.get("token"),
      token: token.value,
      allowedHosts: gateway.hermes.settings().gateway.allowed_hosts,
    });
    if (refusal?.status === 403) return refuse(refusal);
    if (url.pathname.replace(/\/+/g, "/").replace(/\/$/, "") !== PATH) {
      return refuse({ status: 404, code: "not_found", message: `There is nothing here; connect to ${PATH}` });
    }
    if (refusal) return refuse(refusal);
    if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") {
      return refuse({ status: 426, code: "upgrade_required", message: "Connect with a WebSocket" });
    }
    return this.#upgrade(request);
  }

  #upgrade(request: Request): Response {
    const idleTimeout = isLoopback(this.#parts.options.host) ? 0 : PING_SECONDS;
    try {
      const { socket, response } = Deno.upgradeWebSocket(request, { idleTimeout });
      this.#connect(socket);
      return response;
    } catch (error) {
      // The runtime refuses a handshake that is not one: no key, a wrong version.
      return refuse({ status: 400, code: "bad_handshake", message: String(error) });
    }
  }

  #connect(socket: WebSocket): void {
    const { options, epoch, methods, gateway, onFault, mask } = this.#parts;
    const leave = () => {
      client.close();
      this.#parking.disconnect(client);
      peer.abandon("the connection is closed");
    };
    const client = new SocketClient(socket, { clock: options.platform.clock, onDropped: leave });
    const peer = new Peer({
      client,
      methods: () => Promise.resolve(methods),
      workers: poolSize(options.platform),
      onFault,
      mask,
    });
    const maxBytes = gateway.hermes.settings().gateway.ws_max_message_bytes;
    this.#sockets.add(socket);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => client.send(readyFrame(epoch, !isLoopback(options.host)));
    socket.onmessage = (event) => {
      if (typeof event.data !== "string") return socket.close(1003, "text messages only");
      if (isOver(event.data, maxBytes)) return socket.close(1009, "message too large");
      if (peer.isFlooded) return socket.close(1013, "too many requests are waiting");
      const text = event.data.trim();
      if (text !== "") peer.receive(text);
    };
    socket.onerror = () => {/* a close follows */};
    socket.onclose = () => {
      this.#sockets.delete(socket);
      leave();
    };
  }
}

function refuse(refusal: Refusal | { status: number; code: string; message: string }): Response {
  const { status, code, message } = refusal;
  return Response.json({ error: { message, code } }, { status });
}

/** UTF-8 needs one to three bytes per UTF-16 unit. */
function isOver(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  if (text.length * 3 <= maxBytes) return false;
  return new TextEncoder().encode(text).length > maxBytes;
}
