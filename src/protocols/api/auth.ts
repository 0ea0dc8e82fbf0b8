/**
 * The bearer check of api-server.md A4: exact scheme, constant-time comparison on UTF-8 bytes, never a crash. The full
 * key is compared at once; only what looks like a scoped key costs a hash. Keys are read with each request, so that one
 * that was revoked is refused from then on.
 */
import type { Logger, Settings } from "@/core/contract.ts";
import { keyIdOf, matches, readKeys, type ScopedKey } from "./api_keys.ts";
import { type Caller, callerOf, FULL } from "./callers.ts";
import { ApiError } from "./errors.ts";
import type { RateLimits } from "./rate_limits.ts";

const encoder = new TextEncoder();
const SCHEME = "Bearer ";

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  let difference = a.length ^ b.length;
  for (let i = 0; i < b.length; i++) difference |= (a[i] ?? 0) ^ b[i]!;
  return difference === 0;
}

/** A header comes as one character per byte; so does a key that is written in other letters than ASCII. */
function bytesOf(token: string): Uint8Array {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const code = token.charCodeAt(i);
    if (code > 0xff) return encoder.encode(token);
    bytes[i] = code;
  }
  return bytes;
}

export interface AuthOptions {
  /** The full key. */
  readonly key: string;
  readonly log: Logger;
  readonly limits: RateLimits;
  settings(): Settings;
}

/** For the log line of a refusal. */
export interface Asking {
  /** The client's address. */
  readonly peer: string;
  readonly requestId: string;
}

/** Answers who asks; a promise only for scoped keys. Throws 401, or 429 above the key's limit. */
export type Authenticate = (request: Request, asking: Asking) => Caller | Promise<Caller>;

export function createAuth({ key, log, limits, settings }: AuthOptions): Authenticate {
  const expected = encoder.encode(key);
  return (request, asking) => {
    const header = request.headers.get("Authorization");
    const token = header?.startsWith(SCHEME) ? header.slice(SCHEME.length).trim() : "";
    if (isEqual(bytesOf(token), expected)) return FULL;
    const id = keyIdOf(token);
    if (id === null) throw refuse(log, request, asking);
    return findKey(token, id, settings()).then((found) => {
      if (!found) throw refuse(log, request, asking);
      if (found.rateLimit !== null) limits.count(found.id, found.rateLimit);
      return callerOf(found);
    });
  };
}

async function findKey(token: string, id: string, settings: Settings): Promise<ScopedKey | null> {
  const { keys } = readKeys(settings.gateway.api_server.keys);
  const key = keys.find((candidate) => candidate.id === id);
  return key && await matches(token, key.hash) ? key : null;
}

function refuse(log: Logger, request: Request, { peer, requestId }: Asking): ApiError {
  const path = new URL(request.url).pathname;
  const agent = request.headers.get("User-Agent") ?? "";
  log.warn(
    `401 for ${oneLine(peer, 64)} ${oneLine(request.method, 16)} ${oneLine(path, 200)} ${
      oneLine(agent, 200)
    } ${requestId}`,
  );
  return new ApiError(401, "invalid_api_key", "Invalid API key", {
    headers: { "WWW-Authenticate": "Bearer" },
  });
}

function oneLine(text: string, limit: number): string {
  return text.replace(/[\r\n]+/g, " ").slice(0, limit);
}
