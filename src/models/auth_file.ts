/**
 * Changes of `auth.json` (core.md F.3), which other programs of the same home may change too: read, changed and replaced
 * as a whole under a lock, for the user alone. A broken file is copied to `auth.json.corrupt` first.
 */
import { createHash } from "node:crypto";
import { replaceFile, withFileLock } from "@/lib/file_lock.ts";
import type { Platform } from "@/platform/mod.ts";
import { type AuthEntry, type AuthFile, parseAuth } from "./auth_key.ts";
import { isUsableKey } from "./keys.ts";
import { findProvider } from "./provider_table.ts";

/** What tells two secrets apart and is none: the first sixteen digits of its SHA-256. */
export function fingerprintOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex").slice(0, 16);
}

export function authPath(home: string): string {
  return `${home}/auth.json`;
}

/** Copies a broken file aside and reads it as one without keys. */
export async function readAuth(
  platform: Platform,
  path: string,
): Promise<{ file: AuthFile; wasBroken: boolean }> {
  const text = platform.files.readTextSync(path);
  const file = parseAuth(text);
  if (file !== null) return { file, wasBroken: false };
  await replaceFile(platform, `${path}.corrupt`, text ?? "");
  return { file: parseAuth(null)!, wasBroken: true };
}

/** `change` gives the new list of one provider; `null` leaves the file alone. */
export async function changePool(
  platform: Platform,
  home: string,
  provider: string,
  change: (entries: readonly AuthEntry[]) => readonly AuthEntry[] | null,
): Promise<void> {
  await platform.files.mkdir(home, { mode: 0o700 });
  const path = authPath(home);
  await withFileLock(platform, path, async () => {
    const { file } = await readAuth(platform, path);
    const entries = change(file.credential_pool[provider] ?? []);
    if (entries === null) return;
    const { [provider]: _, ...others } = file.credential_pool;
    const credential_pool = entries.length === 0 ? others : { ...file.credential_pool, [provider]: entries };
    await replaceFile(platform, path, `${JSON.stringify({ ...file, credential_pool }, null, 2)}\n`);
  });
}

/** A key of a pool for people: what there is to know of it but the key. */
export interface PooledKey {
  readonly provider: string;
  readonly id: string;
  readonly label: string;
  /** `manual`, `env:NAME`, `config`. */
  readonly source: string;
  readonly fingerprint: string | null;
  readonly requests: number;
  readonly status: "ok" | "resting";
  /** Unix seconds until which it is not used; `null` when it is. */
  readonly restsUntil: number | null;
  /** HTTP status that made it rest. */
  readonly errorCode: number | null;
}

/** Seconds that a key is not used after an answer of that status. */
export const RESTS: Readonly<Record<number, number>> = { 401: 3_600, 402: 86_400, 429: 3_600 };

/** Unix seconds; `null` where it does not rest. */
export function restsUntil(entry: AuthEntry, now: number): number | null {
  const { last_status, last_status_at, last_error_code } = entry;
  if (last_status !== "exhausted" || typeof last_status_at !== "number") return null;
  const until = last_status_at + (RESTS[Number(last_error_code)] ?? 3_600);
  return until > now ? until : null;
}

/** Every key of every pool; `isBroken`: the file could not be read, and nothing was changed. */
export function listPooled(platform: Platform, home: string): { keys: PooledKey[]; isBroken: boolean } {
  const file = parseAuth(platform.files.readTextSync(authPath(home)));
  const now = platform.clock.now() / 1000;
  const pools = Object.entries(file?.credential_pool ?? {});
  return {
    isBroken: file === null,
    keys: pools.flatMap(([provider, entries]) => entries.map((entry) => toPooled(provider, entry, now))),
  };
}

function toPooled(provider: string, entry: AuthEntry, now: number): PooledKey {
  const until = restsUntil(entry, now);
  const text = (value: unknown) => typeof value === "string" ? value : "";
  const token = text(entry["access_token"]);
  return {
    provider,
    id: text(entry["id"]),
    label: text(entry["label"]),
    source: text(entry["source"]) || "manual",
    fingerprint: token !== "" ? fingerprintOf(token) : text(entry["secret_fingerprint"]) || null,
    requests: countOf(entry),
    status: until === null ? "ok" : "resting",
    restsUntil: until,
    errorCode: until === null ? null : Number(entry["last_error_code"]),
  };
}

export function countOf({ request_count }: AuthEntry): number {
  return typeof request_count === "number" && request_count >= 0 ? request_count : 0;
}

/** Its id; `null` where the pool has it already. Throws `RangeError` for what can be no key. */
export async function addPooled(
  platform: Platform,
  home: string,
  { provider, key, label }: { provider: string; key: string; label: string | null },
): Promise<string | null> {
  if (!isUsableKey(key)) throw new RangeError("this can be no key");
  const id = platform.ids.hex(6);
  let isNew = false;
  await changePool(platform, home, provider, (entries) => {
    if (entries.some((entry) => entry["access_token"] === key.trim())) return null;
    isNew = true;
    const priority = Math.max(-1, ...entries.map((entry) => Number(entry["priority"]) || 0)) + 1;
    return [...entries, {
      id,
      label: label ?? `key ${entries.length + 1}`,
      auth_type: "api_key",
      priority,
      source: "manual",
      access_token: key.trim(),
      last_status: null,
      request_count: 0,
    }];
  });
  return isNew ? id : null;
}

/** Those whose id or label it is; how many. */
export async function removePooled(
  platform: Platform,
  home: string,
  provider: string,
  name: string,
): Promise<number> {
  let removed = 0;
  await changePool(platform, home, provider, (entries) => {
    const kept = entries.filter((entry) => entry["id"] !== name && entry["label"] !== name);
    removed = entries.length - kept.length;
    return removed === 0 ? null : kept;
  });
  return removed;
}

/** All keys of a provider are used again; how many rested. */
export async function wakePooled(platform: Platform, home: string, provider: string): Promise<number> {
  let woken = 0;
  await changePool(platform, home, provider, (entries) =>
    entries.map((entry) => {
      if (entry["last_status"] !== "exhausted") return entry;
      woken++;
      return { ...entry, last_status: null };
    }));
  return woken;
}

/** The id under which the keys of a provider stand: a known one's own, or `custom:<name>`; `null` for neither. */
export function poolName(name: string): string | null {
  const id = name.trim().toLowerCase();
  if (/^custom:[\w.-]+$/.test(id)) return id;
  const row = findProvider(id);
  return row && row.flavour !== "unsupported" ? row.id : null;
}
