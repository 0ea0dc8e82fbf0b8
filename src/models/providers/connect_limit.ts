/**
 * The time that making a connection may take (core.md A.5). `fetch` cannot be told one: it waits for a connection and
 * for an answer alike. So whoever waits long without an answer asks, late and beside the request, whether the address
 * takes a connection at all. A server that does and is slow is left alone: other limits are for that.
 */
import type { Platform, Reach } from "@/platform/mod.ts";
import { addressOf } from "../endpoints.ts";

/** The end of the limit that the question has: three attempts of the network. */
const ASK_MS = 10_000;

/**
 * Watches one request until the returned function is called, which leaves nothing behind. `onSilent` is called at most
 * once, with what to tell people.
 */
export function watchConnect(
  platform: Platform,
  url: string,
  limitMs: number,
  onSilent: (message: string) => void,
): () => void {
  const askMs = Math.min(ASK_MS, limitMs / 2);
  let asking: AbortController | null = null;
  let isOver = false;
  const ask = async () => {
    const { signal } = asking = new AbortController();
    // In two steps: a program that was held up sees the answer that has come meanwhile before the end of the time.
    timer = setTimeout(() => timer = setTimeout(() => asking?.abort(), 0), askMs);
    // A proxy's address that is none leads to no question: the request says so itself, or does without.
    const found = await platform.reach(url, { signal }).catch(() => null);
    if (isOver) return;
    clearTimeout(timer);
    if (found?.isSilent) onSilent(messageOf(found, url, limitMs));
  };
  let timer = setTimeout(ask, limitMs - askMs);
  return () => {
    isOver = true;
    clearTimeout(timer);
    asking?.abort();
  };
}

function messageOf({ address, isProxy }: Reach, url: string, limitMs: number): string {
  const within = `within ${Math.ceil(limitMs / 1000)} s`;
  return isProxy
    ? `Cannot connect to ${addressOf(url)} ${within}: the proxy ${address} does not answer ` +
      "(check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and the network)"
    : `Cannot connect to ${address} ${within}: nothing answers there ` +
      "(check the base URL, the network and the firewall)";
}
