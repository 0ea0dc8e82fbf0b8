/**
 * One HTTPS request to whoever answers, whatever certificate is shown: for servers that the user has named as such
 * (`ssl_verify: false`). The runtime's own clients cannot be told so in all versions that this program runs on, so
 * HTTP/1.1 is spoken here by hand on a TLS socket: one request per connection. Redirects are not followed, and no
 * proxy is used: what is believed is one address.
 */
import type { TLSSocket } from "node:tls";
import { HttpReader } from "./http_reader.ts";

type Identity = { readonly cert: string; readonly key: string } | null;

/** Statuses whose answers have no body. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304]);

/** Heads that only say that the answer will come. */
const MAX_INTERIM = 16;

/** Settles with the head of the answer; rejects when there is none. `init.signal` ends it at any time. */
export async function fetchUnverified(url: string, init: RequestInit, identity: Identity): Promise<Response> {
  const { signal, ...rest } = init;
  signal?.throwIfAborted();
  const asked = new Request(url, { ...rest, redirect: "manual" });
  const request = await encodeRequest(asked);
  const { connect } = await import("node:tls");
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[(.*)\]$/, "$1");
  const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false, ...identity });
  const onAbort = () => void socket.destroy(abortReason(signal));
  signal?.addEventListener("abort", onAbort, { once: true });
  socket.on("close", () => signal?.removeEventListener("abort", onAbort));
  try {
    await connected(socket);
    socket.write(request);
    return await readResponse(new HttpReader(socket), asked.method === "HEAD", () => socket.destroy());
  } catch (error) {
    socket.destroy();
    throw signal?.aborted ? abortReason(signal) : error;
  }
}

function abortReason(signal: AbortSignal | null | undefined): Error {
  const reason: unknown = signal?.reason;
  return reason instanceof Error ? reason : new DOMException("The request was ended", "AbortError");
}

function connected(socket: TLSSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("secureConnect", () => resolve());
    socket.once("close", () => reject(new TypeError("the connection was closed before it was ready")));
    // Stays: an error that comes later is told by what is being read.
    socket.on("error", reject);
  });
}

async function encodeRequest(asked: Request): Promise<Uint8Array> {
  const { host, pathname, search } = new URL(asked.url);
  const body = asked.body === null ? new Uint8Array() : new Uint8Array(await asked.arrayBuffer());
  const headers = new Headers(asked.headers);
  headers.set("host", host);
  headers.set("connection", "close");
  headers.set("accept-encoding", "identity");
  if (body.length > 0 || asked.method !== "GET") headers.set("content-length", String(body.length));
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  const head = [`${asked.method} ${pathname}${search} HTTP/1.1`, ...lines, "", ""].join("\r\n");
  const first = new TextEncoder().encode(head);
  const whole = new Uint8Array(first.length + body.length);
  whole.set(first);
  whole.set(body, first.length);
  return whole;
}

async function readResponse(reader: HttpReader, isHead: boolean, close: () => void): Promise<Response> {
  for (let heads = 0; heads <= MAX_INTERIM; heads++) {
    const { status, statusText, headers } = await reader.head();
    if (status >= 100 && status < 200) continue;
    if (isHead || BODILESS.has(status)) {
      close();
      return new Response(null, { status, statusText, headers });
    }
    const chunks = reader.body(headers)[Symbol.asyncIterator]();
    // Read on only when it is read.
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        try {
          const { done, value } = await chunks.next();
          if (!done) return controller.enqueue(value);
          controller.close();
        } catch (error) {
          controller.error(error);
        }
        close();
      },
      cancel: () => close(),
    });
    return new Response(body, { status, statusText, headers });
  }
  throw new TypeError("the server says again and again that it will answer");
}
