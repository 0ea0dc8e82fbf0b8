/** One tiny real call, to say whether a model can be used. */
import type { ModelClient } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";

const TIMEOUT_MS = 30_000;

/** Never throws; `message` is for people. */
export async function probeModel(
  client: ModelClient,
  platform: Platform,
  signal: AbortSignal | undefined,
): Promise<{ ok: boolean; message: string }> {
  const controller = new AbortController();
  const stop = () => controller.abort();
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop, { once: true });
  const timer = setTimeout(stop, TIMEOUT_MS);
  const start = platform.clock.monotonic();
  const request = {
    system: "",
    messages: [{ role: "user" as const, content: "Answer with the word OK." }],
    tools: [],
    // Enough for a model that thinks a little first.
    maxTokens: 256,
    sessionId: "probe",
  };
  try {
    for await (const batch of client.stream(request, { signal: controller.signal })) {
      const last = batch.at(-1);
      if (last?.type === "error") return { ok: false, message: last.failure.message };
      if (last?.type === "done") {
        return { ok: true, message: `answered in ${Math.round(platform.clock.monotonic() - start)} ms` };
      }
    }
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
  return { ok: false, message: signal?.aborted ? "cancelled" : `no answer within ${TIMEOUT_MS / 1000} s` };
}
