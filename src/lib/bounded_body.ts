/** Reading the body of a response up to a limit, so that an abort always reaches the connection. */
import { AbortError } from "./abort.ts";

export interface BoundedBody {
  readonly body: Uint8Array;
  /** There was more than `max`; the rest was not read. */
  readonly truncated: boolean;
}

/**
 * At most `max` bytes. Rejects with `AbortError` when the signal fires, with the stream's own error when it breaks.
 * The reader is cancelled by a listener of its own: the runtime forgets to do it once the `Response` was collected.
 */
export async function readBounded(
  response: Response,
  max: number,
  signal: AbortSignal,
): Promise<BoundedBody> {
  const reader = response.body?.getReader();
  if (!reader) return { body: new Uint8Array(), truncated: false };
  const stop = () => void reader.cancel().catch(() => {/* it has ended */});
  signal.addEventListener("abort", stop, { once: true });
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    if (signal.aborted) stop();
    while (size <= max) {
      const { done, value } = await reader.read();
      if (signal.aborted) throw new AbortError();
      if (done) return { body: joined(chunks, size), truncated: false };
      chunks.push(value);
      size += value.length;
    }
    stop();
    return { body: joined(chunks, size).subarray(0, max), truncated: true };
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}
