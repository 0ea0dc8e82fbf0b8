/**
 * `fetch` for the SDK's HTTP transports. The runtime forgets to cancel a body once its `Response` was collected, so
 * the bodies of event streams are read through a reader of our own that is cancelled by our own listener.
 */
import type { HttpClient } from "@/platform/mod.ts";

export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export function trackedFetch(client: Pick<HttpClient, "fetch">): Fetch {
  return async (url, init) => {
    const response = await client.fetch(String(url), init);
    const isStream = response.headers.get("content-type")?.includes("text/event-stream");
    if (!isStream || !response.body) return response;
    const { status, statusText, headers } = response;
    return new Response(cancellable(response.body, init?.signal ?? null), { status, statusText, headers });
  };
}

function cancellable(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal: AbortSignal | null,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  const stop = () => void reader.cancel().catch(() => {/* it has ended */});
  signal?.addEventListener("abort", stop, { once: true });
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await reader.read();
      if (!done) return controller.enqueue(value);
      signal?.removeEventListener("abort", stop);
      controller.close();
    },
    async cancel(reason) {
      signal?.removeEventListener("abort", stop);
      await reader.cancel(reason);
    },
  });
}
