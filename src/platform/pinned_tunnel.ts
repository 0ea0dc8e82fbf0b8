/**
 * A `fetch` over TLS to one address. The runtime resolves a name by itself but lets a proxy connect, so for the time
 * of one request there is a proxy on loopback, with a password of its own, which holds a single connection and gives
 * it to the first client that knows the password. TLS runs from `fetch` to the far end: name and certificate are
 * checked as always, and nothing here sees more than ciphertext. Sockets are those of `node:net`: closing one of
 * `Deno.connect` does not reach the network while it is being read (2.8.3).
 */
import type { Buffer } from "node:buffer";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { clientThrough } from "./pinned_client.ts";

const MAX_HEAD = 16_384;
/** Strangers on this machine who may wait at the door at a time. */
const MAX_CLIENTS = 16;
/** What `fetch` says to a proxy comes at once. */
const HEAD_MS = 5_000;

/** As `fetch`, without a lookup. Rejects with a `TypeError` that says "connect" when nobody answers at `address`. */
export async function fetchThrough(address: string, target: URL, init: RequestInit): Promise<Response> {
  const { signal } = init;
  const far = await reach(address, Number(target.port || 443), signal ?? undefined);
  const stop = () => void far.destroy();
  signal?.addEventListener("abort", stop, { once: true });
  far.once("close", () => signal?.removeEventListener("abort", stop));
  const password = crypto.randomUUID();
  let server: Server | null = null;
  let client: Deno.HttpClient | null = null;
  try {
    server = await openDoor(far, `Basic ${btoa(`hermes:${password}`)}`);
    const { port } = server.address() as AddressInfo;
    client = clientThrough({
      url: `http://127.0.0.1:${port}`,
      basicAuth: { username: "hermes", password },
    });
    return await fetch(target, { ...init, client });
  } catch (error) {
    far.destroy();
    throw error;
  } finally {
    // The answer keeps its own connection.
    client?.close();
    server?.close();
  }
}

function reach(host: string, port: number, signal: AbortSignal | undefined): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  if (signal?.aborted) return Promise.reject(signal.reason);
  const socket = connect({ host, port, noDelay: true });
  const stop = () => {
    socket.destroy();
    reject(signal?.reason);
  };
  signal?.addEventListener("abort", stop, { once: true });
  // Stays: an error of a socket that nobody listens to would end the program. `close` follows it.
  socket.on("error", (error) => reject(new TypeError(`Cannot connect to ${host}: ${error.message}`)));
  socket.once("connect", () => {
    socket.pause();
    resolve(socket);
  });
  return promise.finally(() => signal?.removeEventListener("abort", stop));
}

/** Listens; the first client with the password is joined to `far`, all others are turned away. */
function openDoor(far: Socket, authorization: string): Promise<Server> {
  const { promise, resolve, reject } = Promise.withResolvers<Server>();
  let isTaken = false;
  const server = createServer({ noDelay: true }, (near) => {
    const clock = setTimeout(() => near.destroy(), HEAD_MS);
    near.once("close", () => clearTimeout(clock));
    near.on("error", () => near.destroy());
    let head = "";
    near.on("data", function take(chunk: Buffer) {
      head += chunk.toString("latin1");
      if (!head.includes("\r\n\r\n") && head.length < MAX_HEAD) return;
      near.off("data", take);
      clearTimeout(clock);
      if (isTaken || !head.startsWith("CONNECT ") || !head.includes(`: ${authorization}\r\n`)) {
        return void near.destroy();
      }
      isTaken = true;
      near.write("HTTP/1.1 200 OK\r\n\r\n");
      join(near, far);
    });
  });
  server.maxConnections = MAX_CLIENTS;
  server.once("error", reject);
  server.listen(0, "127.0.0.1", () => resolve(server));
  return promise;
}

/** Both ways; when one side is gone, so is the other. */
function join(near: Socket, far: Socket): void {
  near.once("close", () => far.destroy());
  far.once("close", () => near.destroy());
  near.pipe(far).pipe(near);
}
