/** What an endpoint says when it refuses a request; read within bounds, for every wire. */
import { within } from "@/lib/abort.ts";

const MAX_ERROR_BYTES = 256 << 10;
const ERROR_BODY_MS = 10_000;

/** The parsed body, or its text; what does not come in time or size is left out. */
export async function readError(response: Response): Promise<unknown> {
  const reader = response.body?.getReader();
  if (!reader) return "";
  const chunks: Uint8Array[] = [];
  const reading = (async () => {
    for (let size = 0; size < MAX_ERROR_BYTES;) {
      const { done, value } = await reader.read();
      if (done) return;
      chunks.push(value);
      size += value.length;
    }
  })().catch(() => {/* broken off: what has come is used */});
  await within(reading, ERROR_BODY_MS);
  reader.cancel().catch(() => {/* the connection is gone already */});
  const text = new TextDecoder().decode(await new Blob(chunks as BlobPart[]).arrayBuffer());
  try {
    return JSON.parse(text) ?? text;
  } catch {
    return text;
  }
}

/** The refusal with its reason where OpenAI's own servers have it; others say `{"detail": …}` or `{"message": …}`. */
export async function withReason(response: Response): Promise<Response> {
  const { status, headers } = response;
  // Such a one has no body, and cannot be given one.
  if (status === 304) return response;
  const told = await readError(response);
  const isUsual = typeof told === "object" && told !== null && "error" in told;
  const kept = new Headers(headers);
  // They spoke of the body as it came.
  for (const name of ["content-length", "content-encoding"]) kept.delete(name);
  kept.set("content-type", "application/json");
  return new Response(JSON.stringify(isUsual ? told : { error: told }), { status, headers: kept });
}
