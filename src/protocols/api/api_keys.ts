/**
 * Keys with scopes: how one looks, how it is kept, and what an entry of the configuration allows. The secret itself is
 * shown once and never kept; of it there is a salted SHA-256, which is enough for 256 random bits. An entry that cannot
 * be read opens nothing.
 *
 *   hk_<id, 12 hex>_<secret, 43 characters>          hash: sha256:<salt>:<digest>
 */
import { isAbsolute } from "node:path";
import type { Ids } from "@/platform/mod.ts";

export const SCOPES = ["chat", "runs", "runs:read", "approve", "sessions", "admin"] as const;
export type Scope = (typeof SCOPES)[number];

export interface ScopedKey {
  readonly name: string;
  /** Random and never used again: what a key made belongs to this id. */
  readonly id: string;
  readonly hash: string;
  readonly scopes: readonly Scope[];
  /** Where tools of its sessions work; absolute. */
  readonly workspace: string | null;
  /** Requests per minute; `null` = no limit. */
  readonly rateLimit: number | null;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const KEY_ID = /^[0-9a-f]{12}$/;
const KEY = /^hk_([0-9a-f]{12})_[A-Za-z0-9_-]{43}$/;
const HASH = /^sha256:([0-9a-f]{32}):([0-9a-f]{64})$/;

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}

/** Why a name cannot be that of a key; `null` when it can. */
export function keyNameProblem(name: string): string | null {
  return NAME.test(name)
    ? null
    : "a name has letters, digits, - and _, at most 64, and begins with one of the first two";
}

/** The id inside a key; `null` for what is no scoped key. */
export function keyIdOf(token: string): string | null {
  return KEY.exec(token)?.[1] ?? null;
}

/** Every readable entry, and a sentence for each of the others. */
export function readKeys(
  entries: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined,
): { readonly keys: readonly ScopedKey[]; readonly problems: readonly string[] } {
  const keys: ScopedKey[] = [];
  const problems: string[] = [];
  for (const [name, entry] of Object.entries(entries ?? {})) {
    const problem = problemOf(name, entry) ??
      (keys.some((key) => key.id === entry.id) ? "its id is taken" : null);
    if (problem === null) keys.push(toKey(name, entry));
    else problems.push(`gateway.api_server.keys.${name.slice(0, 64)} opens nothing: ${problem}`);
  }
  return { keys, problems };
}

function problemOf(name: string, entry: Readonly<Record<string, unknown>>): string | null {
  const { id, hash, scopes, workspace, rate_limit: rate } = entry;
  const isList = Array.isArray(scopes) && scopes.length > 0;
  if (keyNameProblem(name) !== null) return "its name is not usable";
  if (typeof id !== "string" || !KEY_ID.test(id)) return "its id is not usable";
  if (typeof hash !== "string" || !HASH.test(hash)) return "its hash is not usable";
  if (!isList || !scopes.every((scope) => typeof scope === "string" && isScope(scope))) {
    return `its scopes must be some of ${SCOPES.join(", ")}`;
  }
  if (workspace !== undefined && (typeof workspace !== "string" || !isAbsolute(workspace))) {
    return "its workspace must be an absolute path";
  }
  if (rate !== undefined && (typeof rate !== "number" || !Number.isInteger(rate) || rate < 1)) {
    return "its rate_limit must be a whole number of at least 1";
  }
  return null;
}

/** Of an entry that `problemOf` has passed. */
function toKey(name: string, entry: Readonly<Record<string, unknown>>): ScopedKey {
  return {
    name,
    id: entry.id as string,
    hash: entry.hash as string,
    scopes: entry.scopes as readonly Scope[],
    workspace: entry.workspace as string | undefined ?? null,
    rateLimit: entry.rate_limit as number | undefined ?? null,
  };
}

/** A new key and what is to be kept of it. */
export async function makeScopedKey(ids: Ids): Promise<{ key: string; id: string; hash: string }> {
  const id = ids.hex(12);
  const bytes = (ids.hex(64).match(/../g) ?? []).map((pair) => parseInt(pair, 16));
  const secret = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll(
    "=",
    "",
  );
  const key = `hk_${id}_${secret}`;
  const salt = ids.hex(32);
  return { key, id, hash: `sha256:${salt}:${hexOf(await digest(salt, key))}` };
}

/** Compares in a time that does not depend on the digest. */
export async function matches(token: string, hash: string): Promise<boolean> {
  const [, salt, expected] = HASH.exec(hash) ?? [];
  if (salt === undefined || expected === undefined) return false;
  const actual = hexOf(await digest(salt, token));
  let difference = actual.length ^ expected.length;
  for (let i = 0; i < expected.length; i++) difference |= actual.charCodeAt(i) ^ expected.charCodeAt(i);
  return difference === 0;
}

async function digest(salt: string, text: string): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${salt}\0${text}`)));
}

function hexOf(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
