/** What an entry says of a server behind a URL: address, certificates, login (core.md G.1). Pure. */
import { isSafePlace } from "@/lib/safe_place.ts";
import { BadEntry, flag, isTree, text, textMap, type Tree, whole } from "./entry_fields.ts";
import type { HttpConfig, OAuthConfig, TlsFiles } from "./entry_types.ts";

const YES_OR_NO = /^(true|yes|on|1|false|no|off|0)$/i;
export function readHttp(tree: Tree, url: string): HttpConfig {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.hostname === "") {
    throw new BadEntry("url must start with http:// or https:// and name a host");
  }
  const oauth = readOAuth(tree);
  if (oauth !== null && !isSafePlace(parsed)) {
    throw new BadEntry(
      `auth "oauth" needs an https:// url: over ${parsed.origin} the login could be read on its way; plain http is for ` +
        "this machine alone (127.0.0.1, localhost, [::1])",
    );
  }
  const transport = text(tree, "transport") ?? text(tree, "type");
  return {
    type: transport === "sse" ? "sse" : "http",
    url,
    headers: textMap(tree, "headers"),
    tls: readTls(tree),
    preflight: !flag(tree, "skip_preflight", false),
    oauth,
  };
}

function readTls(tree: Tree): TlsFiles | null {
  const given = tree["ssl_verify"] ?? true;
  if (typeof given !== "boolean" && typeof given !== "string") {
    throw new BadEntry("ssl_verify must be true, false or the file of a CA");
  }
  // `true` and `false` come as texts from the environment.
  const said = given === "" ? true : typeof given === "string" && !YES_OR_NO.test(given) ? given : null;
  const verify = said === null ? flag(tree, "ssl_verify", true) : true;
  const ca = typeof said === "string" ? said : null;
  const [cert, key] = [text(tree, "client_cert"), text(tree, "client_key")];
  if (key !== null && cert === null) throw new BadEntry("client_key needs client_cert");
  return verify && ca === null && cert === null ? null : { verify, ca, cert, key: key ?? cert };
}

function readOAuth(tree: Tree): OAuthConfig | null {
  const auth = text(tree, "auth");
  if (auth === null) return null;
  if (auth !== "oauth") throw new BadEntry(`auth "${auth}" is unknown; there is: oauth`);
  const given = tree["oauth"] ?? {};
  if (!isTree(given)) throw new BadEntry("oauth must be an object");
  return {
    clientId: text(given, "client_id"),
    clientSecret: text(given, "client_secret"),
    scope: text(given, "scope"),
    redirectPort: whole(given, "redirect_port", 0, { least: 0, most: 65_535 }),
  };
}
