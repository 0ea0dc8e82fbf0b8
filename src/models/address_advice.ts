/**
 * Whether an address is the one that its server answers at, told by its list of models (core.md F.8): a base URL
 * without the `/v1` that its server wants gives lists, since both forms are asked, and answers no turn.
 */
import type { ModelLists } from "./model_lists.ts";
import type { Runtime } from "./runtime.ts";

const ASK_MS = 2_000;

/** What to do about it, for people; `null` when there is nothing to say. Rejects only with `AbortError`. */
export async function addressAdvice(
  runtime: Runtime,
  lists: ModelLists,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const { baseUrl, apiMode } = runtime.model;
  const { apiKey, headers } = runtime;
  const outcome = await lists.ask({ baseUrl, apiKey, apiMode, headers, timeoutMs: ASK_MS, signal });
  return outcome.type === "listed" && outcome.otherUrl ? adviceFor(outcome.otherUrl) : null;
}

export function adviceFor(otherUrl: string): string {
  return `its list of models is at ${otherUrl}: make that the base URL`;
}
