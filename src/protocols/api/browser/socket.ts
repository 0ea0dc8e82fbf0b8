/**
 * One WebSocket of a controller (api-server.md B6.2): frames in and out, the size limit, and the heartbeat that keeps
 * the worker of an extension awake. What is no frame is ignored. Knows no upgrade.
 */
import type { Controller, Transport } from "./controller.ts";
import { type Frame, MAX_MESSAGE_BYTES, METHODS, readFrame } from "./protocol.ts";

/** Workers of extensions do not count pings. */
const HEARTBEAT_MS = 20_000;

export interface SocketHost {
  /** The connection is there. */
  attach(transport: Transport): Controller;
  /** A controller has left of its own accord. */
  detached(controller: Controller): void;
  /** The connection is gone. */
  closed(): void;
}

/**
 * Serves a socket from its upgrade to its end. It counts as connected at once: the client may know of the opening
 * before we do, and what it is sent until then is kept.
 */
export function serveSocket(socket: WebSocket, host: SocketHost, heartbeatMs = HEARTBEAT_MS): void {
  let early: Frame[] = [];
  const transport: Transport = {
    send: (frame) => {
      if (socket.readyState === WebSocket.CONNECTING) return early.push(frame) > 0;
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(frame));
      return true;
    },
  };
  const controller = host.attach(transport);
  let beats = 0;
  const heart = setInterval(() => {
    if (controller.owns(transport)) transport.send(heartbeat(++beats));
  }, heartbeatMs);
  socket.binaryType = "arraybuffer";
  socket.onopen = () => {
    for (const frame of early) transport.send(frame);
    early = [];
  };
  socket.onmessage = ({ data }) => {
    if (sizeOf(data) > MAX_MESSAGE_BYTES) return socket.close(1009, "message too large");
    const frame = typeof data === "string" ? readFrame(data) : null;
    if (!frame || !controller.owns(transport)) return;
    controller.take(transport, frame);
    if (frame.method === METHODS.detach) host.detached(controller);
  };
  socket.onerror = () => {/* a close follows */};
  socket.onclose = () => {
    clearInterval(heart);
    controller.lost(transport);
    host.closed();
  };
}

function heartbeat(count: number): Frame {
  return { method: METHODS.heartbeat, params: { nonce: `server-keepalive-${count}`, ok: true } };
}

/** Bytes of a message; a text is only encoded where its length leaves it open. */
function sizeOf(data: unknown): number {
  if (data instanceof ArrayBuffer) return data.byteLength;
  if (typeof data !== "string") return 0;
  if (data.length > MAX_MESSAGE_BYTES || data.length * 3 <= MAX_MESSAGE_BYTES) return data.length;
  return new TextEncoder().encode(data).length;
}
