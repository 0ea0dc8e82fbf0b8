/**
 * Where the browser comes back to after a login (RFC 8252): one loopback port for one login. Only the answer with the
 * state that was sent out counts; everything else is refused and changes nothing. What it shows is fixed text.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { McpFailure } from "./failure.ts";

const HOST = "127.0.0.1";
const PATH = "/callback";

export interface RedirectListener {
  readonly url: string;
  /** The parameters of the answer; pending until there is one. */
  readonly answer: Promise<URLSearchParams>;
  close(): Promise<void>;
}

/** `port` 0 = any free one. Throws `McpFailure` when the port is taken. */
export async function listenForRedirect(port: number, state: string): Promise<RedirectListener> {
  const answer = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const params = paramsOf(request);
    if (params === null) return refuse(response, 404);
    if (params.get("state") !== state || !(params.has("code") || params.has("error"))) {
      return refuse(response, 400);
    }
    say(response, 200, params.has("code") ? "Logged in" : "Not logged in");
    answer.resolve(params);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", (error: Error) => {
      reject(new McpFailure("hopeless", `cannot listen for the browser on port ${port}: ${error.message}`));
    });
    server.listen(port, HOST, resolve);
  });
  const address = server.address();
  const bound = typeof address === "object" && address ? address.port : port;
  return {
    url: `http://${HOST}:${bound}${PATH}`,
    answer: answer.promise,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function paramsOf({ method, url }: IncomingMessage): URLSearchParams | null {
  const base = `http://${HOST}`;
  if (method !== "GET" || url === undefined || !URL.canParse(url, base)) return null;
  const { pathname, searchParams } = new URL(url, base);
  return pathname === PATH ? searchParams : null;
}

function refuse(response: ServerResponse, status: number): void {
  say(response, status, "This page belongs to a login of hermes that is not going on");
}

function say(response: ServerResponse, status: number, title: string): void {
  response.writeHead(status, {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'",
    "cache-control": "no-store",
    "connection": "close",
  });
  response.end(`<!doctype html><title>hermes</title><h1>${title}</h1><p>This window can be closed.</p>\n`);
}
