/**
 * Run as a child with `DENO_CERT`, so that the authority of a test is trusted as a company's is: each argument is a
 * request as JSON, each line on stdout what became of it.
 */
import { connect } from "node:net";
import { guardedFetch } from "@/lib/guarded_fetch.ts";
import { createDenoPlatform } from "@/platform/deno.ts";

interface Asked {
  readonly url: string;
  readonly addresses: readonly string[];
  readonly init?: RequestInit;
  /** Through `guardedFetch`, on a network where every name leads to `addresses`. */
  readonly guarded?: { maxBytes?: number; timeoutMs?: number; overflow?: "cut" };
  /** Somebody without the password knocks at the door of the tunnel first. */
  readonly stranger?: boolean;
}

const platform = createDenoPlatform();

async function direct({ url, addresses, init = {} }: Asked): Promise<unknown> {
  const response = await platform.fetchAt(url, init, addresses);
  return { status: response.status, location: response.headers.get("location"), text: await response.text() };
}

async function guarded({ url, addresses, guarded: limits }: Asked): Promise<unknown> {
  const net = {
    resolve: () => Promise.resolve(addresses),
    fetchAt: platform.fetchAt,
  };
  const answer = await guardedFetch(url, { net, allowPrivate: true, ...limits });
  return answer.ok
    ? { ...answer, headers: undefined, body: new TextDecoder().decode(answer.body) }
    : { ...answer };
}

/** What the stranger gets to read, once. */
function knockFirst(): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const create = Deno.createHttpClient;
  Deno.createHttpClient = ((options: { proxy: { url: string } }) => {
    Deno.createHttpClient = create;
    let heard = "";
    const socket = connect(Number(new URL(options.proxy.url).port), "127.0.0.1", () => {
      socket.write("CONNECT a.test:443 HTTP/1.1\r\nProxy-Authorization: Basic aGVybWVzOng=\r\n\r\n");
    });
    socket.on("data", (chunk) => heard += chunk);
    socket.on("error", () => {/* `close` follows */});
    socket.on("close", () => resolve(heard));
    return create(options as unknown as Deno.CreateHttpClientOptions);
  }) as typeof create;
  return promise;
}

for (const text of Deno.args) {
  const asked = JSON.parse(text) as Asked;
  const heard = asked.stranger ? knockFirst() : null;
  const result = await (asked.guarded ? guarded(asked) : direct(asked))
    .catch((error: Error) => ({ error: `${error.name}: ${error.message}` }));
  const line = JSON.stringify({ ...result as object, ...(heard ? { heard: await heard } : {}) });
  await Deno.stdout.write(new TextEncoder().encode(line + "\n"));
}
