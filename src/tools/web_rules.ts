/**
 * Which addresses web tools refuse beside those of `lib/url_safety.ts` (core.md B.9, C.11): URLs that carry a secret
 * out, and the sites of `security.website_blocklist`.
 */
import type { ToolContext } from "@/core/contract.ts";
import { createRedactor } from "@/lib/redact.ts";
import { ToolError } from "./args.ts";
import { absolutePath } from "./paths.ts";

/** Names of query parameters that carry credentials. */
const CREDENTIALS = new RegExp(
  "^(?:x[-_]amz[-_](?:signature|credential|security[-_]token)|x[-_]goog[-_](?:signature|credential)|sig|signature|" +
    "(?:[a-z0-9]+[-_])*(?:api[-_]?key|access[-_]?key|secret[-_]?key|private[-_]?key|token|secret|password|passwd|" +
    "pwd|passphrase|credentials?|authorization|auth[-_]?code|jwt|session[-_]?id)|apikey|accesstoken|authtoken|auth)$",
  "i",
);

/** Tokens that are told by their form, also where masking in outputs is off. */
const forms = createRedactor({ knownSecrets: () => [], enabled: true });

/** Why a URL would give a secret away, or `null`. Looks through percent-encoding. */
export function secretInUrl(url: URL, context: Pick<ToolContext, "redact">): string | null {
  if (url.username !== "" || url.password !== "") return "it has a user name or a password in it";
  for (const name of url.searchParams.keys()) {
    if (CREDENTIALS.test(name)) return `its parameter "${name.slice(0, 40)}" carries a credential`;
  }
  for (const text of [url.href, decoded(url.href), decoded(decoded(url.href))]) {
    if (forms(text, "terminal") !== text || context.redact(text, "terminal") !== text) {
      return "there is a key or a token in it";
    }
  }
  return null;
}

function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (part) => {
    try {
      return decodeURIComponent(part);
    } catch {
      return part; // not the code of a text
    }
  });
}

/** Says whether a site is blocked. */
export type Blocklist = (url: URL) => string | null;

/**
 * The blocklist of the settings: domains with all below them, from the list and from files with one per line (`#`
 * begins a remark; relative paths are below the data home). A file that cannot be read refuses everything.
 */
export async function readBlocklist(
  context: Pick<ToolContext, "settings" | "platform" | "home">,
): Promise<Blocklist> {
  const list: unknown = context.settings.security.website_blocklist;
  const { enabled, domains, shared_files: files } = (list ?? {}) as Record<string, unknown>;
  if (enabled !== true) return () => null;
  const blocked = new Set(texts(domains).map(plain).filter(Boolean));
  for (const file of texts(files)) {
    const path = absolutePath(file, context.home, context.platform.homeDir());
    let content: string;
    try {
      content = new TextDecoder().decode(await context.platform.files.read(path));
    } catch {
      throw new ToolError(`The website blocklist ${path} cannot be read, so no site is opened`);
    }
    for (const line of content.split("\n")) {
      const domain = plain(line.replace(/#.*$/, ""));
      if (domain) blocked.add(domain);
    }
  }
  return (url) => {
    const host = plain(url.hostname);
    for (let at = 0; at !== -1; at = host.indexOf(".", at + 1)) {
      const domain = host.slice(at === 0 ? 0 : at + 1);
      if (blocked.has(domain)) return `the site ${domain} is blocked by security.website_blocklist`;
    }
    return null;
  };
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** `https://www.Example.com/x`, `*.example.com` and `example.com.` are all `example.com`. */
function plain(domain: string): string {
  return domain.trim().toLowerCase().replace(/^[a-z][a-z0-9+.-]*:\/\//, "").replace(/[/?].*$/, "")
    .replace(/^(?:\*\.|\.)/, "").replace(/^www\./, "").replace(/\.+$/, "");
}
