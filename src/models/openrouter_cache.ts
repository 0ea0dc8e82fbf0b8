/**
 * The cache of answers at OpenRouter (core.md E.4 `openrouter.response_cache`): who asks there again what was asked
 * within its time gets the same answer for nothing. It is for the same work done again, by another session or the next
 * run of a job. Within one session the same request means that its last answer did not serve (a retry, an empty
 * answer, `/retry`), so that is asked anew.
 */
import type { Settings } from "@/core/contract.ts";
import { jsonBody } from "@/lib/json_slices.ts";

const NAME = "X-OpenRouter-Cache";
const TTL_NAME = "X-OpenRouter-Cache-TTL";
/** Seconds that OpenRouter keeps one at most. */
const LONGEST = 86_400;
const MAX_ASKED = 200;

type Headers = Readonly<Record<string, string>>;

/** What is sent with every request; nothing where the user's own headers say something about it. */
export function cacheHeaders({ openrouter }: Settings, own: Headers): Record<string, string> {
  if (openrouter?.response_cache === false || hasCache(own)) return {};
  return { [NAME]: "true", [TTL_NAME]: String(Math.min(openrouter?.response_cache_ttl ?? 300, LONGEST)) };
}

/** The same headers for a request that no cache may answer. */
export function anewHeaders(headers: Headers): Record<string, string> {
  const { [NAME]: _on, [TTL_NAME]: _seconds, ...others } = headers;
  return { ...others, [NAME]: "false" };
}

/** A cache may answer requests with these headers. */
export function mayBeCached(headers: Headers): boolean {
  return headers[NAME] === "true";
}

/** True for a body that is among those `asked`; it is one of them afterwards. */
export async function isAskedAgain(body: Record<string, unknown>, asked: Set<string>): Promise<boolean> {
  const text = await jsonBody(body);
  const bytes = typeof text === "string" ? new TextEncoder().encode(text) : text;
  const digest = String.fromCharCode(...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
  if (asked.has(digest)) return true;
  asked.add(digest);
  if (asked.size > MAX_ASKED) asked.delete(asked.values().next().value!);
  return false;
}

function hasCache(headers: Headers): boolean {
  return Object.keys(headers).some((name) => name.toLowerCase() === NAME.toLowerCase());
}
