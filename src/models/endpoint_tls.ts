/**
 * Connections to endpoints whose entry says how their certificates are to be judged (core.md E.4): `ssl_ca_cert` is
 * trusted beside the system's, `ssl_verify: false` believes whoever answers. Loaded with the first such request.
 */
import { readPem } from "@/lib/pem.ts";
import type { HttpClient, Platform } from "@/platform/mod.ts";

/** What an entry says. Never both: who believes everybody needs no authority. */
export interface EndpointTls {
  readonly verify: boolean;
  /** File as written. */
  readonly ca: string | null;
}

/** Clients are kept, one for each way: each holds connections of its own. */
export class TlsClients {
  readonly #platform: Platform;
  readonly #made = new Map<string, Promise<HttpClient>>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** Rejects, naming the file, when that cannot be read or holds no certificate; it is read again the next time. */
  async fetch(tls: EndpointTls, url: string, init?: RequestInit): Promise<Response> {
    const name = JSON.stringify([tls.verify, tls.ca]);
    let client = this.#made.get(name);
    if (!client) {
      client = openClient(tls, this.#platform);
      this.#made.set(name, client);
      client.catch(() => this.#made.delete(name));
    }
    return await (await client).fetch(url, init);
  }
}

async function openClient({ verify, ca }: EndpointTls, platform: Platform): Promise<HttpClient> {
  const caCerts = ca === null ? [] : [await readPem(ca, "ssl_ca_cert", platform)];
  try {
    return platform.httpClient({ caCerts, identity: null, verify });
  } catch (error) {
    throw new TypeError(`ssl_ca_cert: ${ca} cannot be used: ${messageOf(error)}`);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
