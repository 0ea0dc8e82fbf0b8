/**
 * Which key may go to which host (core.md F.2, row 62). A provider's variable is used for that provider's own host
 * only, so that a base URL pointed elsewhere never receives it.
 */
import { hostOf, isHostOf, isLocalEndpoint, vendorKeyName } from "./endpoints.ts";
import type { ProviderRow } from "./provider_table.ts";

export const NO_KEY = "no-key-required";

const PLACEHOLDERS = new Set([
  "changeme",
  "change-me",
  "example",
  "placeholder",
  "none",
  "null",
  "undefined",
  "todo",
  "xxxx",
  "test-key-here",
  "api-key",
  "apikey",
  "your-key",
  "your_key",
  "dummy",
]);

/** Text of four characters or more that is not an obvious stand-in. */
export function isUsableKey(value: string | undefined): value is string {
  if (value === undefined) return false;
  const key = value.trim();
  if (key.length < 4 || /[\s\r\n]/.test(key)) return false;
  const lower = key.toLowerCase();
  if (PLACEHOLDERS.has(lower) || /^(.)\1*$/.test(key) || /^<.*>$/.test(key)) return false;
  return !/^(sk-)?(your|my|insert|enter|paste)[-_ ]/.test(lower) && !/\.\.\.$|\*{3}/.test(key);
}

/** Names that are bound to hosts other than their own vendor's second-level label. */
const BOUND: Readonly<Record<string, readonly string[]>> = {
  OPENAI_API_KEY: ["openai.com", "openai.azure.com", "azure.com"],
  OPENROUTER_API_KEY: ["openrouter.ai"],
  OLLAMA_API_KEY: ["ollama.com"],
};

function isBoundTo(name: string, host: string): boolean {
  return (BOUND[name] ?? []).some((domain) => isHostOf(host, domain));
}

type Env = (name: string) => string | undefined;

export interface FoundKey {
  readonly key: string;
  /** The variable, or `config`. */
  readonly from: string;
}

function firstSet(names: readonly string[], env: Env): FoundKey | null {
  for (const name of names) {
    const value = env(name);
    if (isUsableKey(value)) return { key: value.trim(), from: name };
  }
  return null;
}

/** Key of a built-in row: its variables count on its own host, elsewhere only what belongs to that host. */
export function keyForRow(row: ProviderRow, baseUrl: string, env: Env): FoundKey | null {
  return isOwnHost(row, baseUrl) ? firstSet(ownNames(row, baseUrl), env) : keyForHost(baseUrl, env);
}

/** Rows without an address of their own (Azure) and servers of the user's own have no other host to be bound to. */
export function isOwnHost(row: ProviderRow, baseUrl: string): boolean {
  const own = row.baseUrl ? registrable(hostOf(row.baseUrl)) : "";
  return own === "" || isHostOf(hostOf(baseUrl), own) || (row.keyOptional && isLocalEndpoint(baseUrl));
}

/** Variables of a row that may go to this address, which is its own. */
export function ownNames(row: ProviderRow, baseUrl: string): readonly string[] {
  return row.keyEnv.filter((name) => !(name in BOUND) || isBoundTo(name, hostOf(baseUrl)));
}

function registrable(host: string): string {
  return host.split(".").slice(-2).join(".");
}

/** Key of any endpoint, by its host; `null` for addresses and local names. */
export function keyForHost(baseUrl: string, env: Env): FoundKey | null {
  const host = hostOf(baseUrl);
  const bound = Object.keys(BOUND).filter((name) => isBoundTo(name, host));
  if (bound.length > 0) return firstSet(bound, env);
  const name = vendorKeyName(host);
  return name === null || name in BOUND ? null : firstSet([name], env);
}
