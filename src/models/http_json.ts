/** JSON over HTTP, always bounded: by time, by size, by the caller's signal. */
import { abortable, AbortError } from "@/lib/abort.ts";
import type { Platform } from "@/platform/mod.ts";

const MAX_BYTES = 16 << 20;

export type JsonAnswer =
  | { readonly type: "answered"; readonly status: number; readonly body: unknown }
  | { readonly type: "failed"; readonly reason: string };

/** GET, or POST when there is a body, with a bound on time and size. Rejects only with `AbortError`; `body` is null when it is not JSON. */
export async function fetchJson(
  platform: Platform,
  url: string,
  options: {
    headers?: Record<string, string>;
    timeoutMs: number;
    signal?: AbortSignal | undefined;
    /** Sent as JSON. */
    body?: unknown;
  },
): Promise<JsonAnswer> {
  const { signal, timeoutMs, headers = {} } = options;
  if (signal?.aborted) throw new AbortError();
  const controller = new AbortController();
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const stop = () => {
    controller.abort();
    reader?.cancel().catch(() => {/* gone already */});
  };
  const timer = setTimeout(stop, timeoutMs);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const init = {
      headers: {
        accept: "application/json",
        ...(options.body === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      signal: controller.signal,
      ...(options.body === undefined ? {} : { method: "POST", body: JSON.stringify(options.body) }),
    };
    const response = await abortable(platform.fetch(url, init), controller.signal);
    reader = response.body?.getReader();
    const text = reader ? await readText(reader) : "";
    if (controller.signal.aborted) throw new AbortError();
    return { type: "answered", status: response.status, body: parseOrNull(text) };
  } catch (error) {
    if (signal?.aborted) throw new AbortError();
    if (controller.signal.aborted) {
      return { type: "failed", reason: `no answer within ${(timeoutMs / 1000).toFixed(1)} s` };
    }
    return { type: "failed", reason: error instanceof Error ? shortReason(error) : String(error) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    stop();
  }
}

async function readText(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > MAX_BYTES) throw new RangeError("the answer is too long");
    text += decoder.decode(value, { stream: true });
  }
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function shortReason(error: Error): string {
  const text = error.message.replace(/^error sending request for url \([^)]*\):?\s*/i, "");
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
