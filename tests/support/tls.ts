/**
 * Certificates as files, and a TLS front for a server that speaks plain HTTP: what a company's network looks like, on
 * loopback.
 */
import { createServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { TLSSocket } from "node:tls";
import { CA, CLIENT_CERT, CLIENT_KEY, SERVER_CERT, SERVER_KEY } from "./tls_certificates.ts";

export interface Certificates {
  /** Paths of PEM files. */
  readonly ca: string;
  readonly server: { readonly cert: string; readonly key: string };
  readonly client: { readonly cert: string; readonly key: string };
}

/** Written to `dir`, which is the test's own. */
export async function writeCertificates(dir: string): Promise<Certificates> {
  const write = async (name: string, text: string) => {
    await Deno.writeTextFile(`${dir}/${name}`, text, { mode: 0o600 });
    return `${dir}/${name}`;
  };
  return {
    ca: await write("ca.pem", CA),
    server: { cert: await write("server.pem", SERVER_CERT), key: await write("server.key", SERVER_KEY) },
    client: { cert: await write("client.pem", CLIENT_CERT), key: await write("client.key", CLIENT_KEY) },
  };
}

export interface TlsFront extends AsyncDisposable {
  /** `https://127.0.0.1:<port>`. */
  readonly origin: string;
  /** Names in the certificates that clients have shown, in order; empty for none. */
  readonly shown: string[];
}

/** `mutual`: a client without a certificate of the authority is turned away. */
export async function startTlsFront(
  plainOrigin: string,
  certificates: Certificates,
  { mutual = false }: { mutual?: boolean } = {},
): Promise<TlsFront> {
  const { ca, server: { cert, key } } = certificates;
  const shown: string[] = [];
  const read = (path: string) => Deno.readTextFileSync(path);
  const server = createServer({
    cert: read(cert),
    key: read(key),
    ca: read(ca),
    requestCert: true,
    rejectUnauthorized: mutual,
  }, (request, response) => void relay(plainOrigin, request, response, shown));
  const sockets = new Set<TLSSocket>();
  server.on("secureConnection", (socket: TLSSocket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {/* the client has left */});
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  return {
    origin: `https://127.0.0.1:${port}`,
    shown,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

async function relay(
  origin: string,
  request: IncomingMessage,
  response: ServerResponse,
  shown: string[],
): Promise<void> {
  const { subject } = (request.socket as TLSSocket).getPeerCertificate() ?? {};
  shown.push(String(subject?.CN ?? ""));
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const headers = new Headers(request.headers as Record<string, string>);
  for (const hop of ["host", "connection", "content-length", "transfer-encoding", "accept-encoding"]) {
    headers.delete(hop);
  }
  const left = new AbortController();
  response.on("close", () => left.abort());
  try {
    const answer = await fetch(origin + request.url, {
      method: request.method!,
      headers,
      body: chunks.length > 0 ? new Blob(chunks as BlobPart[]) : null,
      signal: left.signal,
    });
    // One request per connection: kept ones hang in the runtime's own HTTPS server after an answer without a body.
    response.writeHead(answer.status, { ...Object.fromEntries(answer.headers), connection: "close" });
    response.flushHeaders();
    for await (const chunk of answer.body ?? []) response.write(chunk);
  } catch {
    // One of the two sides has left.
  }
  response.end();
}
