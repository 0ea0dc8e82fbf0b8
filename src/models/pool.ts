/**
 * The keys of one provider (core.md F.3): those of `auth.json`, and those that stand in the environment or the
 * configuration, which the file knows by name and fingerprint only. Which one is next, and what became of it; several
 * programs share the file, so it is looked at before each request and changed under its lock.
 */
import type { Logger, Settings } from "@/core/contract.ts";
import { within } from "@/lib/abort.ts";
import type { Platform } from "@/platform/mod.ts";
import { authPath, changePool, countOf, fingerprintOf, readAuth, RESTS, restsUntil } from "./auth_file.ts";
import { type AuthEntry, keyIn, priorityOf } from "./auth_key.ts";
import { type FoundKey, isUsableKey, ownNames } from "./keys.ts";
import { findProvider } from "./provider_table.ts";
import type { Runtime } from "./runtime.ts";

/** How long an answer waits for what is written of its key. */
const KEEP_MS = 500;

export type Strategy = "fill_first" | "round_robin" | "least_used" | "random";

/** Of `credential_pool_strategies`; what means nothing is `fill_first`. */
export function strategyOf({ credential_pool_strategies = {} }: Settings, provider: string): Strategy {
  const wanted = Object.hasOwn(credential_pool_strategies, provider)
    ? credential_pool_strategies[provider]
    : "";
  return wanted === "round_robin" || wanted === "least_used" || wanted === "random" ? wanted : "fill_first";
}

/** The key that the call would be made with, and the provider's other variables that are set. */
export function borrowedKeys(
  { apiKey, keySource, model }: Runtime,
  env: (name: string) => string | undefined,
): FoundKey[] {
  const found: FoundKey[] = [];
  if (keySource !== "none" && keySource !== "auth.json") found.push({ from: keySource, key: apiKey });
  const row = findProvider(model.provider);
  for (const name of row === null || model.provider.includes(":") ? [] : ownNames(row, model.baseUrl)) {
    const value = env(name);
    if (name !== keySource && isUsableKey(value)) found.push({ from: name, key: value.trim() });
  }
  return found;
}

export interface PoolKey {
  readonly id: string;
  readonly label: string;
  readonly secret: string;
  readonly source: string;
  /** It is used because all of them rest: the caller has its own patience. */
  readonly isResting: boolean;
}

interface Kept extends Omit<PoolKey, "isResting"> {
  readonly priority: number;
  readonly requests: number;
  /** Unix seconds. */
  readonly restsUntil: number | null;
}

export interface PoolDeps {
  readonly platform: Platform;
  readonly log: Logger;
  readonly home: string;
  /** Provider id, or `custom:<name>`. */
  readonly provider: string;
  strategy(): Strategy;
  /** Keys that may go to this provider's host; the first is the one that is used without a pool. */
  borrowed(): readonly FoundKey[];
  keepSecret(value: string): void;
}

export class KeyPool {
  readonly #deps: PoolDeps;
  #keys: readonly Kept[] = [];
  /** Of the file, and of the borrowed keys, as they were last read. */
  #seen = "";
  #lastId = "";

  constructor(deps: PoolDeps) {
    this.#deps = deps;
  }

  /** How many keys there are, read anew when something has changed. */
  async load(): Promise<number> {
    const { platform, home } = this.#deps;
    const path = authPath(home);
    const stat = platform.files.statSync(path);
    const borrowed = this.#deps.borrowed();
    const seen = JSON.stringify([stat?.mtimeMs, stat?.size, borrowed]);
    if (seen === this.#seen) return this.#keys.length;
    this.#keys = this.#join(await this.#read(path), borrowed);
    for (const { secret } of this.#keys) this.#deps.keepSecret(secret);
    this.#seen = seen;
    return this.#keys.length;
  }

  /** None where the file cannot be used: the borrowed keys can. */
  async #read(path: string): Promise<readonly AuthEntry[]> {
    const { platform, log, provider } = this.#deps;
    try {
      const { file, wasBroken } = await readAuth(platform, path);
      if (wasBroken) {
        log.warn(`${path} is broken: it was copied to auth.json.corrupt, and its keys are not used`);
      }
      return file.credential_pool[provider] ?? [];
    } catch (error) {
      log.warn(`${path} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  }

  /** The next one that was not tried; when all rest, and none was tried, the one that rests shortest; else `null`. */
  pick(tried: ReadonlySet<string>): PoolKey | null {
    const now = this.#now();
    const free = this.#keys.filter(({ id, restsUntil }) =>
      !tried.has(id) && !(restsUntil !== null && restsUntil > now)
    );
    if (free.length > 0) return { ...this.#choose(free), isResting: false };
    if (tried.size > 0) return null;
    const [first] = [...this.#keys].sort((a, b) => (a.restsUntil ?? 0) - (b.restsUntil ?? 0));
    return first ? { ...first, isResting: true } : null;
  }

  #choose(free: readonly Kept[]): Kept {
    const { platform } = this.#deps;
    switch (this.#deps.strategy()) {
      case "random":
        return free[Math.min(free.length - 1, Math.floor(platform.random() * free.length))]!;
      case "least_used":
        return leastUsed(free);
      case "round_robin": {
        const last = this.#keys.findIndex(({ id }) => id === this.#lastId);
        // A new program begins with the one that was used least.
        const next = last === -1
          ? leastUsed(free)
          : free.find((key) => this.#keys.indexOf(key) > last) ?? free[0]!;
        this.#lastId = next.id;
        return next;
      }
      case "fill_first":
        return free[0]!;
    }
  }

  /** A request was made with it; `code` is the status of an answer that makes it rest, `null` any other end. Never throws. */
  async note({ id, secret, source, label }: PoolKey, code: number | null): Promise<void> {
    const now = this.#now();
    const change = (before: AuthEntry): AuthEntry => ({
      ...before,
      request_count: countOf(before) + 1,
      ...(code === null ? { last_status: "ok" } : { last_status: "exhausted", last_error_code: code }),
      last_status_at: now,
    });
    this.#keys = this.#keys.map((key) =>
      key.id !== id ? key : {
        ...key,
        requests: key.requests + 1,
        restsUntil: code === null ? null : now + (RESTS[code] ?? 3_600),
      }
    );
    const { platform, home, provider, log } = this.#deps;
    if (code !== null) log.info(`${provider}: the key "${label}" rests after an answer ${code}`);
    const kept = changePool(platform, home, provider, (entries) => {
      const at = entries.findIndex((entry) => entry["id"] === id);
      if (at !== -1) {
        return entries.with(at, { ...change(entries[at]!), ...fingerprint(entries[at]!, secret) });
      }
      // One of the file that is gone was removed meanwhile.
      if (source !== "config" && !source.startsWith("env:")) return null;
      const { priority } = this.#keys.find((key) => key.id === id) ?? { priority: 0 };
      const entry = {
        id,
        label,
        auth_type: "api_key",
        priority,
        source,
        secret_fingerprint: fingerprintOf(secret),
      };
      return [...entries, change(entry)];
    }).catch((error) => {
      log.debug(
        `What became of a key was not kept: ${error instanceof Error ? error.message : String(error)}`,
      );
    });
    // Whoever holds the lock for long holds up nobody's answer.
    await within(kept, KEEP_MS);
  }

  #join(entries: readonly AuthEntry[], borrowed: readonly FoundKey[]): readonly Kept[] {
    const now = this.#now();
    const found: Kept[] = [];
    const add = (key: Kept) => {
      if (!found.some(({ secret }) => secret === key.secret)) found.push(key);
    };
    const isKnown = new Set<string>();
    for (const entry of entries) {
      const source = String(entry["source"] ?? "manual");
      const lent = borrowed.find(({ from }) => sourceOf(from) === source);
      const secret = keyIn(entry) ?? lent?.key;
      const id = entry["id"];
      if (secret === undefined || typeof id !== "string" || id === "") continue;
      if (lent) isKnown.add(source);
      // What was said of a key that stood there before does not hold for this one.
      const isSame = lent === undefined || entry["secret_fingerprint"] === fingerprintOf(secret);
      add({
        id,
        label: String(entry["label"] ?? id),
        secret,
        source,
        priority: priorityOf(entry),
        requests: countOf(entry),
        restsUntil: isSame ? restsUntil(entry, now) : null,
      });
    }
    borrowed.forEach(({ from, key }, at) => {
      const source = sourceOf(from);
      if (isKnown.has(source)) return;
      // Before the others, as without a pool.
      const priority = at - borrowed.length;
      add({ id: source, label: from, secret: key, source, priority, requests: 0, restsUntil: null });
    });
    return found.sort((a, b) => a.priority - b.priority);
  }

  #now(): number {
    return this.#deps.platform.clock.now() / 1000;
  }
}

function leastUsed(keys: readonly Kept[]): Kept {
  return keys.reduce((least, key) => key.requests < least.requests ? key : least);
}

function fingerprint(entry: AuthEntry, secret: string): { secret_fingerprint?: string } {
  return keyIn(entry) === null ? { secret_fingerprint: fingerprintOf(secret) } : {};
}

/** A variable, or the place in the configuration. */
function sourceOf(from: string): string {
  return from === "config" ? "config" : `env:${from}`;
}
