/** How requests to one HTTP server are made: by the system's way, or over TLS as its entry wants it (core.md G.1). */
import { readPem } from "@/lib/pem.ts";
import type { HttpClient, Platform, TlsSettings } from "@/platform/mod.ts";
import type { TlsFiles } from "./entry_types.ts";
import { McpFailure } from "./failure.ts";

/**
 * For requests to the server at `server`, and to those that it sends its clients to for a login. Where certificates
 * are not checked that counts for the host that the entry names; any other is checked as always. Throws `McpFailure`
 * when a file cannot be read or holds nothing of use.
 */
export async function openHttpClient(
  server: string,
  tls: TlsFiles | null,
  platform: Platform,
): Promise<HttpClient> {
  const usual: HttpClient["fetch"] = (url, init) => platform.fetch(url, init);
  if (tls === null) return { fetch: usual, close: () => {} };
  const settings = await readTlsFiles(tls, platform);
  try {
    const client = platform.httpClient(settings);
    if (settings.verify) return client;
    const { hostname } = new URL(server);
    return {
      fetch: (url, init) => new URL(url).hostname === hostname ? client.fetch(url, init) : usual(url, init),
      close: () => client.close(),
    };
  } catch (error) {
    const names = [tls.ca, tls.cert, tls.key].filter((name) => name !== null).join(", ");
    const reason = error instanceof Error ? error.message : String(error);
    throw new McpFailure("hopeless", `the certificates in ${names} cannot be used: ${reason}`);
  }
}

async function readTlsFiles({ verify, ca, cert, key }: TlsFiles, platform: Platform): Promise<TlsSettings> {
  const caCerts = ca === null ? [] : [await pemOf(ca, "ssl_verify", platform)];
  const identity = cert === null ? null : {
    cert: await pemOf(cert, "client_cert", platform),
    key: await pemOf(key ?? cert, key === cert ? "client_cert" : "client_key", platform),
  };
  return { verify, caCerts, identity };
}

async function pemOf(name: string, member: string, platform: Platform): Promise<string> {
  return await readPem(name, member, platform).catch((error: Error) => {
    throw new McpFailure("hopeless", error.message);
  });
}
