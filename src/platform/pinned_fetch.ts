/**
 * One HTTP request to addresses that were chosen before, so that a name cannot lead elsewhere between its check and
 * the connection, over TLS too. Redirects are not followed. Where the environment names a proxy, the proxy connects.
 */
import { clientThrough } from "./pinned_client.ts";

/** As `pinned_tunnel.ts` and the runtime say it. */
const UNREACHABLE = /^Cannot connect to |\bclient error \(Connect\)/;

/** Settles with the head of the answer; rejects when there is none. `init.signal` ends it at any time. */
export async function fetchAt(
  url: string,
  init: RequestInit,
  addresses: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Response> {
  const target = new URL(url);
  const plain: RequestInit = { ...init, redirect: "manual" };
  const proxy = proxyFor(target, env);
  // Named once more: the runtime reads the environment in its own way, and what it leaves out it would look up itself.
  if (proxy !== null) return await fetchBy({ url: proxy }, target, plain);
  const isPlain = target.protocol === "http:";
  // An address is not looked up: nothing can lead elsewhere.
  if (!isPlain && addresses.length === 1 && addresses[0] === hostOf(target)) return await fetch(url, plain);
  // IPv4 first: a network without IPv6 must not cost the whole time.
  const inOrder = addresses.toSorted((a, b) => Number(a.includes(":")) - Number(b.includes(":")));
  for (const [at, address] of inOrder.entries()) {
    try {
      if (isPlain) return await fetchPlain(address, target, plain, env);
      return await (await import("./pinned_tunnel.ts")).fetchThrough(address, target, plain);
    } catch (error) {
      // What was sent already is not sent to another machine; "connection closed" says that it may have been.
      const isUnreachable = error instanceof TypeError && UNREACHABLE.test(error.message);
      if (!isUnreachable || at === inOrder.length - 1) throw error;
    }
  }
  throw new TypeError("There is no address to connect to");
}

async function fetchBy(proxy: Deno.Proxy, target: URL, init: RequestInit): Promise<Response> {
  const client = clientThrough(proxy);
  try {
    return await fetch(target, { ...init, client });
  } finally {
    // The answer keeps its own connection.
    client.close();
  }
}

/** The address stands in the URL and the name in `Host`: what goes out looks like any other request. */
async function fetchPlain(
  address: string,
  target: URL,
  init: RequestInit,
  env: Readonly<Record<string, string>>,
): Promise<Response> {
  // The runtime would ask the proxy of the environment about the address, though not about the name.
  if (Object.keys(env).some((name) => /^(?:http|all)_proxy$/i.test(name))) {
    const port = Number(target.port || 80);
    return await fetchBy({ transport: "tcp", hostname: address, port }, target, init);
  }
  const there = new URL(target);
  there.hostname = address.includes(":") ? `[${address}]` : address;
  const headers = new Headers(init.headers);
  headers.set("Host", target.host);
  const client = Deno.createHttpClient({ allowHost: true });
  try {
    return await fetch(there, { ...init, headers, client });
  } finally {
    client.close();
  }
}

/** `null`: none is named, or not for this host. */
export function proxyFor(url: URL, env: Readonly<Record<string, string>>): string | null {
  const get = (name: string) => env[name] ?? env[name.toUpperCase()] ?? "";
  const proxy = get(url.protocol === "http:" ? "http_proxy" : "https_proxy") || get("all_proxy");
  if (proxy === "") return null;
  const host = hostOf(url);
  const without = get("no_proxy").toLowerCase().split(",").map((entry) => entry.trim().replace(/^\*?\./, ""));
  const isDirect = without.some((entry) =>
    entry === "*" || (entry !== "" && (host === entry || host.endsWith(`.${entry}`)))
  );
  if (isDirect) return null;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, "$1");
}
