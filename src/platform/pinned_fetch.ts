/**
 * One HTTP request to addresses that were chosen before, so that a name cannot lead elsewhere between its check and
 * the connection, over TLS too. Redirects are not followed. Where the environment names a proxy, the proxy connects.
 */

import { clientThrough } from "./pinned_client.ts";

/** Settles with the head of the answer; rejects when there is none. `init.signal` ends it at any time. */
export async function fetchAt(
  url: string,
  init: RequestInit,
  addresses: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Response> {
  const target = new URL(url);
  const plain: RequestInit = { ...init, redirect: "manual" };
  if (usesProxy(target, env)) return await fetch(url, plain);
  const isPlain = target.protocol === "http:";
  // An address is not looked up: nothing can lead elsewhere.
  if (!isPlain && addresses.length === 1 && addresses[0] === hostOf(target)) return await fetch(url, plain);
  // IPv4 first: a network without IPv6 must not cost the whole time.
  const inOrder = addresses.toSorted((a, b) => Number(a.includes(":")) - Number(b.includes(":")));
  for (const [at, address] of inOrder.entries()) {
    try {
      if (isPlain) return await fetchFrom(address, target, plain);
      return await (await import("./pinned_tunnel.ts")).fetchThrough(address, target, plain);
    } catch (error) {
      // What was sent already is not sent to another machine.
      const isUnreachable = error instanceof TypeError && /connect/i.test(error.message);
      if (!isUnreachable || at === inOrder.length - 1) throw error;
    }
  }
  throw new TypeError("There is no address to connect to");
}

async function fetchFrom(address: string, target: URL, init: RequestInit): Promise<Response> {
  const port = Number(target.port || 80);
  const client = clientThrough({ transport: "tcp", hostname: address, port });
  try {
    return await fetch(target, { ...init, client });
  } finally {
    // The answer keeps its own connection.
    client.close();
  }
}

function usesProxy(url: URL, env: Readonly<Record<string, string>>): boolean {
  const get = (name: string) => env[name] ?? env[name.toUpperCase()] ?? "";
  if ((get(url.protocol === "http:" ? "http_proxy" : "https_proxy") || get("all_proxy")) === "") return false;
  const host = hostOf(url);
  const without = get("no_proxy").toLowerCase().split(",").map((entry) => entry.trim().replace(/^\*?\./, ""));
  return !without.some((entry) =>
    entry === "*" || (entry !== "" && (host === entry || host.endsWith(`.${entry}`)))
  );
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}
