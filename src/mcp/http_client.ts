/** How requests to one HTTP server are made: by the system's way, or over TLS as its entry wants it (core.md G.1). */
import type { HttpClient, Platform, TlsSettings } from "@/platform/mod.ts";
import type { TlsFiles } from "./entry_types.ts";
import { McpFailure } from "./failure.ts";

/** Throws `McpFailure` when a file cannot be read or holds nothing of use. */
export async function openHttpClient(tls: TlsFiles | null, platform: Platform): Promise<HttpClient> {
  if (tls === null) return { fetch: (url, init) => platform.fetch(url, init), close: () => {} };
  const settings = await readTlsFiles(tls, platform);
  try {
    return platform.httpClient(settings);
  } catch (error) {
    const names = [tls.ca, tls.cert, tls.key].filter((name) => name !== null).join(", ");
    const reason = error instanceof Error ? error.message : String(error);
    throw new McpFailure("hopeless", `the certificates in ${names} cannot be used: ${reason}`);
  }
}

async function readTlsFiles({ verify, ca, cert, key }: TlsFiles, platform: Platform): Promise<TlsSettings> {
  const caCerts = ca === null ? [] : [await readPem(ca, "ssl_verify", platform)];
  const identity = cert === null ? null : {
    cert: await readPem(cert, "client_cert", platform),
    key: await readPem(key ?? cert, key === cert ? "client_cert" : "client_key", platform),
  };
  return { verify, caCerts, identity };
}

async function readPem(name: string, member: string, platform: Platform): Promise<string> {
  const path = name.startsWith("~/")
    ? platform.homeDir() + name.slice(1)
    : /^(\/|[A-Za-z]:[\\/])/.test(name)
    ? name
    : `${platform.cwd()}/${name}`;
  let text: string;
  try {
    text = new TextDecoder().decode(await platform.files.read(path));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new McpFailure("hopeless", `${member}: ${path} cannot be read: ${reason}`);
  }
  if (!text.includes("-----BEGIN ")) throw new McpFailure("hopeless", `${member}: ${path} holds no PEM`);
  return text;
}
