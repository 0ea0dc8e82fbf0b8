/**
 * Whether anybody answers where a request would connect to: `fetch` does not tell a connection that is being made from
 * an answer that is being waited for. The host is asked, or the proxy that the environment names; every address of a
 * name at once; nothing is sent.
 */
import { abortable } from "@/lib/abort.ts";
import type { Reach } from "./mod.ts";
import { proxyFor } from "./pinned_fetch.ts";

const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };
/** Of proxies that speak neither. */
const SOCKS_PORT = 1080;

type Resolve = (host: string) => Promise<readonly string[]>;

/** Settles at the first answer, or soon after `signal`, which the caller must fire. Rejects for what is no URL. */
export async function reach(
  url: string,
  signal: AbortSignal,
  env: Readonly<Record<string, string>>,
  resolve: Resolve,
): Promise<Reach> {
  const target = new URL(url);
  const proxy = proxyFor(target, env);
  const place = proxy === null ? target : new URL(proxy);
  const host = place.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(place.port || (PORTS[place.protocol] ?? SOCKS_PORT));
  const isSilent = await isSilentAt(host, port, signal, resolve);
  return { address: `${place.hostname}:${port}`, isProxy: proxy !== null, isSilent };
}

async function isSilentAt(
  host: string,
  port: number,
  signal: AbortSignal,
  resolve: Resolve,
): Promise<boolean> {
  const answered = new AbortController();
  const until = AbortSignal.any([signal, answered.signal]);
  try {
    const addresses = await abortable(resolve(host), until);
    const tries = addresses.map((hostname) =>
      isSilentAddress({ hostname, port, signal: until }).then((isSilent) => {
        if (isSilent === false) answered.abort();
        return isSilent;
      })
    );
    const all = await Promise.all(tries);
    return !all.includes(false) && all.includes(true);
  } catch {
    // A name that nobody knows ends the request by itself; one that is still being looked up is silence.
    return signal.aborted;
  } finally {
    answered.abort();
  }
}

/** `null`: refused, or no way there. That alone would have ended the request, so somebody else is being waited for. */
async function isSilentAddress(options: Deno.ConnectOptions): Promise<boolean | null> {
  try {
    (await Deno.connect(options)).close();
    return false;
  } catch (error) {
    return options.signal?.aborted || error instanceof Deno.errors.TimedOut ? true : null;
  }
}
