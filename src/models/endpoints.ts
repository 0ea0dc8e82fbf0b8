/** What can be said about an endpoint from its URL alone: local or not, whose it is, which wire (core.md F.1, F.8). */

const GOOGLE = "generativelanguage.googleapis.com";

/** Lower-case host without port; empty when the text is no URL. */
export function hostOf(url: string): string {
  try {
    return new URL(url).hostname.toLowerCase().replace(/^\[|\]$/g, "");
  } catch {
    return "";
  }
}

/** Host and port, for messages. */
export function addressOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

/** An `http(s)` URL without its trailing slashes, query and fragment; `null` when it is none. */
export function normaliseBaseUrl(text: string): string | null {
  const trimmed = text.trim();
  try {
    const url = new URL(trimmed);
    if (url.protocol !== "http:" && url.protocol !== "https:") return null;
    return `${url.protocol}//${url.username ? `${url.username}:${url.password}@` : ""}${url.host}${
      url.pathname.replace(/\/+$/, "")
    }${url.search}`;
  } catch {
    return null;
  }
}

/**
 * The base URL of a known provider's wire. Google's own address ends in `/v1beta`, and the wire that is spoken there
 * is below it (core.md F.1).
 */
export function baseUrlOf(provider: string, text: string): string | null {
  const url = normaliseBaseUrl(text);
  const isBare = url !== null && (provider === "gemini" || hostOf(url) === GOOGLE) && /\/v1beta$/.test(url);
  return isBare ? `${url}/openai` : url;
}

/** Equal but for case of the host, default port and trailing slash. */
export function isSameEndpoint(a: string, b: string): boolean {
  const [left, right] = [normaliseBaseUrl(a), normaliseBaseUrl(b)];
  return left !== null && left === right;
}

export function isIpAddress(host: string): boolean {
  return host.includes(":") || /^\d{1,3}(\.\d{1,3}){3}$/.test(host);
}

function isPrivateV4(host: string): boolean {
  const parts = host.split(".").map(Number);
  if (parts.length !== 4 || parts.some((p) => !Number.isInteger(p) || p < 0 || p > 255)) return false;
  const [a, b] = parts as [number, number, number, number];
  if (a === 127 || a === 10 || (a === 192 && b === 168)) return true;
  if (a === 172 && b >= 16 && b <= 31) return true;
  if (a === 169 && b === 254) return true;
  if (a === 100 && b >= 64 && b <= 127) return true;
  return host === "0.0.0.0";
}

const LOCAL_SUFFIXES = [".docker.internal", ".containers.internal", ".lima.internal", ".localhost", ".local"];

/** Servers of the user's own: long waits are normal there and a key is optional. */
export function isLocalEndpoint(url: string): boolean {
  const host = hostOf(url);
  if (host === "") return false;
  if (isPrivateV4(host)) return true;
  if (host.includes(":")) return host === "::1" || host === "::" || /^(fe[89ab]|f[cd])/.test(host);
  return !host.includes(".") || LOCAL_SUFFIXES.some((suffix) => host.endsWith(suffix));
}

export function isHostOf(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}

/** The wires we know of, by the names of the config (`api_mode`). */
export type ApiMode = "chat_completions" | "codex_responses" | "anthropic_messages" | "bedrock_converse";

/** A wire by name; `null` for what is none. */
export function apiModeByName(name: string): ApiMode | null {
  switch (name.trim().toLowerCase().replace(/-/g, "_")) {
    case "chat_completions":
    case "chat":
    case "openai":
      return "chat_completions";
    case "codex_responses":
    case "openai_responses":
    case "responses":
      return "codex_responses";
    case "anthropic_messages":
    case "messages":
    case "anthropic":
      return "anthropic_messages";
    case "bedrock_converse":
      return "bedrock_converse";
    default:
      return null;
  }
}

/** True where the Responses wire is at home: elsewhere it is not taken for granted (core.md F.1). */
export function speaksResponses(url: string): boolean {
  const host = hostOf(url);
  return host === "api.openai.com" || host === "api.x.ai";
}

/** `api_mode` by URL when nothing else says it. Host parts are compared, never substrings of the whole URL. */
export function apiModeByUrl(url: string): ApiMode {
  const host = hostOf(url);
  let path = "";
  try {
    path = new URL(url).pathname.replace(/\/+$/, "");
  } catch {
    // Not a URL: the plain wire.
  }
  if (host === "api.anthropic.com" || path.endsWith("/anthropic") || path.endsWith("/anthropic/v1")) {
    return "anthropic_messages";
  }
  if (isHostOf(host, "api.kimi.com") && path.startsWith("/coding")) return "anthropic_messages";
  if (speaksResponses(url)) return "codex_responses";
  if (host.startsWith("bedrock-runtime.")) return "bedrock_converse";
  return "chat_completions";
}

const SECOND_LEVEL = new Set(["co", "com", "org", "net", "ac", "gov", "edu"]);

/** `api.groq.com` → `GROQ_API_KEY`; `null` for addresses, local names and hosts without a vendor. */
export function vendorKeyName(host: string): string | null {
  if (host === "" || isIpAddress(host) || !host.includes(".")) return null;
  if (LOCAL_SUFFIXES.some((suffix) => host.endsWith(suffix)) || host.endsWith(".internal")) return null;
  const labels = host.split(".");
  const top = labels.length >= 3 && SECOND_LEVEL.has(labels.at(-2)!) && labels.at(-1)!.length === 2 ? 3 : 2;
  const vendor = labels.at(-top);
  return vendor ? `${vendor.toUpperCase().replace(/[^A-Z0-9]/g, "_")}_API_KEY` : null;
}
