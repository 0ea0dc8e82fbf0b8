/**
 * `fetch` for the SDK's HTTP transports. What one message may hold is bounded, as it is on a pipe. The runtime forgets
 * to cancel a body once its `Response` was collected, so bodies are read through a reader of our own that is cancelled
 * by our own listener.
 */
import type { HttpClient } from "@/platform/mod.ts";
import { McpFailure } from "./failure.ts";

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

type Bytes = Uint8Array<ArrayBuffer>;

/** Bytes of a message: those of a line on a pipe (`stdio_transport.ts`). */
const MAX_MESSAGE = 64 << 20;
const LF = 10;
const CR = 13;

export function trackedFetch(client: Pick<HttpClient, "fetch">, most: number = MAX_MESSAGE): Fetch {
  return async (url, init) => {
    const response = await client.fetch(String(url), init);
    if (!response.body) return response;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
    const { status, statusText, headers } = response;
    const bounded = boundedBody(response.body, init?.signal ?? null, { meter: new Meter(isStream), most });
    return new Response(bounded, { status, statusText, headers });
  };
}

/** How much of one message has come. In an event stream an empty line ends it. */
class Meter {
  #size = 0;
  #isEmpty = true;
  readonly #isStream: boolean;

  constructor(isStream: boolean) {
    this.#isStream = isStream;
  }

  add(chunk: Bytes): number {
    this.#size += chunk.length;
    if (!this.#isStream) return this.#size;
    let from = 0;
    for (let at = chunk.indexOf(LF); at >= 0; at = chunk.indexOf(LF, from)) {
      this.#see(chunk.subarray(from, at));
      from = at + 1;
      if (this.#isEmpty) this.#size = chunk.length - from;
      this.#isEmpty = true;
    }
    this.#see(chunk.subarray(from));
    return this.#size;
  }

  #see(part: Bytes): void {
    if (part.length > 1 || (part.length === 1 && part[0] !== CR)) this.#isEmpty = false;
  }
}

function boundedBody(
  body: ReadableStream<Bytes>,
  signal: AbortSignal | null,
  { meter, most }: { readonly meter: Meter; readonly most: number },
): ReadableStream<Bytes> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => {/* it has ended */});
  signal?.addEventListener("abort", stop, { once: true });
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done && meter.add(value) <= most) return controller.enqueue(value);
      signal?.removeEventListener("abort", stop);
      if (done) return controller.close();
      stop();
      controller.error(new McpFailure("connection", `a message of the server has more than ${most} bytes`));
    },
    async cancel(reason) {
      signal?.removeEventListener("abort", stop);
      await reader.cancel(reason);
    },
  });
}
