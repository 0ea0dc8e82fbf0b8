/**
 * Skills that lie on the web (core.md B.11): what an address answers, through the guard of C.11, and an index of
 * several. Only `https`, and `http` where private addresses are allowed. Loaded when an address is first named.
 */
import { guardedFetch } from "@/lib/guarded_fetch.ts";
import type { Settings } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { ToolError } from "./args.ts";
import { SKILL_FILE } from "./skills_registry.ts";
import { USER_AGENT } from "./web_call.ts";
import { readBlocklist } from "./web_rules.ts";

const MAX_BYTES = 1_048_576;
const MAX_SKILLS = 1_000;
const TIMEOUT_MS = 30_000;
/** A plain path below the skill's folder: no way up, nothing hidden. */
const PATH = /^[A-Za-z0-9_][\w .-]*(?:\/[A-Za-z0-9_][\w .-]*){0,4}$/;

export interface SourceContext {
  readonly platform: Platform;
  readonly home: string;
  readonly settings: Settings;
  readonly signal: AbortSignal;
}

export interface IndexEntry {
  readonly name: string;
  readonly description: string;
  /** From the skill's folder, `SKILL.md` first. */
  readonly paths: readonly string[];
  address(path: string): string;
  /** Throws `ToolError` when this is not the `SKILL.md` that the index means. */
  check(data: Uint8Array): Promise<void>;
}

/** What an address answers, at most 1 MiB. Throws `ToolError` with the reason, without the address's query. */
export async function fetchText(
  address: string,
  context: SourceContext,
): Promise<{ url: string; text: string; data: Uint8Array }> {
  const url = URL.parse(address);
  if (!url) throw new ToolError("The address is not valid");
  const shown = url.origin + url.pathname;
  const { settings: { security }, signal, platform } = context;
  if (url.username || url.password) throw new ToolError(`${shown}: no user name or password in an address`);
  const isBlocked = await readBlocklist(context);
  const answer = await guardedFetch(url, {
    net: platform,
    signal,
    headers: {
      accept: "text/markdown,application/json,text/plain;q=0.9,*/*;q=0.5",
      "user-agent": USER_AGENT,
    },
    allowPrivate: security.allow_private_urls,
    check: (hop) =>
      hop.protocol === "https:" || security.allow_private_urls
        ? isBlocked(hop)
        : "skills are only fetched over https",
    maxBytes: MAX_BYTES,
    timeoutMs: TIMEOUT_MS,
  });
  if (!answer.ok) throw new ToolError(`${shown} cannot be fetched: ${answer.reason}`);
  if (answer.status >= 300) throw new ToolError(`${shown} cannot be fetched: status ${answer.status}`);
  return { url: answer.url, text: new TextDecoder().decode(answer.body), data: answer.body };
}

/** The skills of an index at `base`. Throws `ToolError` when it is none. */
export function readIndex(text: string, base: string): readonly IndexEntry[] {
  let index: unknown;
  try {
    index = JSON.parse(text);
  } catch {
    throw new ToolError("The index is not valid JSON");
  }
  const list = Array.isArray(index) ? index : isRecord(index) ? index["skills"] : null;
  if (!Array.isArray(list)) throw new ToolError('The index has no list "skills"');
  return list.slice(0, MAX_SKILLS).filter(isRecord).map((entry) => entryOf(entry, base));
}

function entryOf(entry: Record<string, unknown>, base: string): IndexEntry {
  const name = String(entry["name"] ?? "");
  const listed = Array.isArray(entry["files"]) ? entry["files"].map(String) : [];
  const paths = [SKILL_FILE, ...new Set(listed.filter((path) => path !== SKILL_FILE))];
  const own = typeof entry["url"] === "string" ? entry["url"] : null;
  const digest = typeof entry["digest"] === "string" ? entry["digest"].toLowerCase() : null;
  return {
    name,
    description: String(entry["description"] ?? ""),
    paths,
    address: (path) => {
      if (!PATH.test(path)) throw new ToolError(`The index names "${path}", which is no path inside a skill`);
      if (own !== null && /\.(?:zip|tgz|tar|tar\.\w+)(?:[?#]|$)/i.test(own)) {
        throw new ToolError(
          `"${name}" comes as an archive, which is not opened: unpack it and install the folder`,
        );
      }
      const document = URL.parse(own ?? `${encodeURIComponent(name)}/${SKILL_FILE}`, base);
      if (!document) throw new ToolError(`The index names no valid address for "${name}"`);
      return path === SKILL_FILE ? document.href : new URL(path, document).href;
    },
    check: async (data) => {
      if (digest === null) return;
      const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(data)));
      if (digest === `sha256:${hash.toHex()}`) return;
      throw new ToolError(`The ${SKILL_FILE} of "${name}" is not the one that the index means (digest)`);
    },
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
