/**
 * One HTTP request to addresses that were chosen before, so that a name cannot lead elsewhere between its check and
 * the connection. Redirects are not followed. Two cases are not pinned: over TLS the runtime resolves the name again,
 * and the certificate, which has to bear the name, keeps other machines from getting a request; and where the
 * environment names a proxy, the proxy connects.
 */

/** Settles with the head of the answer; rejects when there is none. `init.signal` ends it at any time. */
export async function fetchAt(
  url: string,
  init: RequestInit,
  addresses: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Response> {
  const target = new URL(url);
  const plain: RequestInit = { ...init, redirect: "manual" };
  if (target.protocol !== "http:" || usesProxy(target, env)) return await fetch(url, plain);
  // IPv4 first: a network without IPv6 must not cost the whole time.
  const inOrder = addresses.toSorted((a, b) => Number(a.includes(":")) - Number(b.includes(":")));
  for (const [at, address] of inOrder.entries()) {
    try {
      return await fetchFrom(address, target, plain);
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
  const client = Deno.createHttpClient({ proxy: { transport: "tcp", hostname: address, port } });
  try {
    return await fetch(target, { ...init, client });
  } finally {
    // The answer keeps its own connection.
    client.close();
  }
}

function usesProxy(url: URL, env: Readonly<Record<string, string>>): boolean {
  const get = (name: string) => env[name] ?? env[name.toUpperCase()] ?? "";
  if ((get("http_proxy") || get("all_proxy")) === "") return false;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  return !get("no_proxy").split(",").map((entry) => entry.trim().replace(/^\*?\./, "")).some((entry) =>
    entry === "*" || (entry !== "" && (host === entry || host.endsWith(`.${entry}`)))
  );
}
