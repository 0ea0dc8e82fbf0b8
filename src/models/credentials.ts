/** The key a target is called with (core.md F.2, row 62): each key stays with the host it was given for. */
import { auxiliaryEntry, fallbackEntries, HermesError, type ModelChoice } from "@/core/contract.ts";
import { baseUrlOf, hostOf, isHostOf, isLocalEndpoint, isSameEndpoint } from "./endpoints.ts";
import { type FoundKey, isOwnHost, isUsableKey, keyForHost, keyForRow, NO_KEY } from "./keys.ts";
import { CUSTOM_ALIASES, findProvider, type ProviderRow } from "./provider_table.ts";
import type { ResolveContext, Target } from "./resolve_types.ts";
import { findUserProvider } from "./user_providers.ts";

/** True when the endpoint is the one that the `model` section of the config describes. */
export function isConfigured(target: Target, { settings, env }: ResolveContext): boolean {
  const { provider, base_url } = settings.model;
  const address = baseUrlOf(target.row?.id ?? "", base_url) ?? base_url;
  if (base_url !== "" && !isSameEndpoint(address, target.baseUrl)) return false;
  if (provider === "" || provider.toLowerCase() === "auto") return base_url !== "" || target.isAuto;
  if (target.provider === "custom") {
    const isNamed = base_url !== "" || isSameEndpoint(env("CUSTOM_BASE_URL") ?? "", target.baseUrl);
    return isNamed && CUSTOM_ALIASES.includes(provider.toLowerCase());
  }
  if (target.user) return findUserProvider(settings, provider)?.slug === target.provider;
  return findProvider(provider)?.id === target.provider ||
    (provider.toLowerCase() === "openai" &&
      (target.provider === "openai-api" || target.provider === "openrouter"));
}

/** The key for a target; `null` when there is none. */
export function findKey(target: Target, context: ResolveContext): FoundKey | null {
  const { settings, env } = context;
  const entryKey = keyOfEntry(target, context);
  if (entryKey) return entryKey;
  const byHost = target.row ? keyForRow(target.row, target.baseUrl, env) : keyForHost(target.baseUrl, env);
  const stated = isUsableKey(settings.model.api_key) && isConfigured(target, context)
    ? { key: settings.model.api_key.trim(), from: "config" }
    : null;
  // A known provider's own variable is surer than a key that an earlier choice may have left in the config.
  const found = target.row ? byHost ?? stated : stated ?? byHost;
  return found ?? keyOfPool(target, context);
}

/** Whose keys in `auth.json` may go to the address of a target (core.md F.2, F.3); `null`: nobody's. */
export function poolOf({ row, user, baseUrl }: Target): string | null {
  if (user) return isSameEndpoint(user.baseUrl, baseUrl) ? user.slug : null;
  return row && isOwnHost(row, baseUrl) ? row.id : null;
}

function keyOfPool(target: Target, { pooledKey }: ResolveContext): FoundKey | null {
  const pool = poolOf(target);
  const key = pool === null ? null : pooledKey(pool);
  return key === null ? null : { key, from: "auth.json" };
}

/** Key of a `providers` entry, for the address of that entry only. */
function keyOfEntry({ entry, user, baseUrl }: Target, { env }: ResolveContext): FoundKey | null {
  if (!entry || (user && !isSameEndpoint(user.baseUrl, baseUrl))) return null;
  if (isUsableKey(entry.api_key)) return { key: entry.api_key.trim(), from: "config" };
  const fromEnv = entry.key_env ? env(entry.key_env) : undefined;
  return entry.key_env && isUsableKey(fromEnv) ? { key: fromEnv.trim(), from: entry.key_env } : null;
}

/** The key of the alias of `hermes serve` that a choice comes from; the address is that alias's own, too. */
export function keyOfRoute({ route }: ModelChoice, { settings }: ResolveContext): FoundKey | null {
  const routes = settings.gateway.api_server.model_routes;
  const key = route !== undefined && Object.hasOwn(routes, route) ? routes[route]?.api_key : undefined;
  return isUsableKey(key) ? { key: key.trim(), from: "config" } : null;
}

/** The key for subagents; only for the address that is written beside it. */
export function keyOfDelegation(choice: ModelChoice, { settings }: ResolveContext): FoundKey | null {
  const { base_url, api_key } = settings.delegation;
  if (!choice.delegation || base_url === "" || choice.baseUrl !== base_url) return null;
  return isUsableKey(api_key) ? { key: api_key.trim(), from: "config" } : null;
}

/** The key of the entry of the failover chain that a choice comes from; it was written beside its own address. */
export function keyOfFallback({ fallback }: ModelChoice, { settings, env }: ResolveContext): FoundKey | null {
  if (fallback === undefined) return null;
  const entry = fallbackEntries(settings).find(({ choice }) => choice.fallback === fallback);
  if (!entry) return null;
  if (isUsableKey(entry.apiKey ?? undefined)) return { key: entry.apiKey as string, from: "config" };
  const fromEnv = entry.keyEnv === null ? undefined : env(entry.keyEnv);
  return isUsableKey(fromEnv) ? { key: fromEnv.trim(), from: entry.keyEnv as string } : null;
}

/** The key of the place in `auxiliary.<task>` that a choice comes from; it was written beside its own address. */
export function keyOfAuxiliary(choice: ModelChoice, { settings, env }: ResolveContext): FoundKey | null {
  const { apiKey = null, keyEnv = null } = auxiliaryEntry(settings, choice) ?? {};
  if (isUsableKey(apiKey ?? undefined)) return { key: apiKey as string, from: "config" };
  const fromEnv = keyEnv === null ? undefined : env(keyEnv);
  return isUsableKey(fromEnv) ? { key: fromEnv.trim(), from: keyEnv as string } : null;
}

/** Throws `missing_api_key` where a key is needed and none may be used. */
export function requireKey(target: Target, context: ResolveContext): FoundKey {
  const found = findKey(target, context);
  if (found) return found;
  if (!target.row || target.row.keyOptional || isLocalEndpoint(target.baseUrl)) {
    return { key: NO_KEY, from: "none" };
  }
  throw missingKey(target, target.row);
}

function missingKey(target: Target, row: ProviderRow): HermesError {
  const names = row.keyEnv.join(" or ");
  const elsewhere = !isHostOf(hostOf(target.baseUrl), hostOf(row.baseUrl));
  const hint = elsewhere
    ? `no key belongs to ${
      hostOf(target.baseUrl)
    } (a provider's key is only sent to its own host); set model.api_key`
    : `set ${names || "its key"}`;
  return new HermesError(
    "missing_api_key",
    `Provider "${target.provider}" has no API key: ${hint}, run \`hermes setup\`, or try the demo with \`--demo\`.`,
    { provider: target.provider, variables: row.keyEnv },
  );
}
