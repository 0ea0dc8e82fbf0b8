/** Where a call goes: a provider by name, or the one that is found when nobody names any (core.md F.1, F.2). */
import { HermesError, type Settings } from "@/core/contract.ts";
import { findKey } from "./credentials.ts";
import { baseUrlOf, hostOf, normaliseBaseUrl } from "./endpoints.ts";
import { isUsableKey } from "./keys.ts";
import { closest } from "./name_similarity.ts";
import {
  CUSTOM_ALIASES,
  findProvider,
  LOCAL_DEFAULTS,
  type ProviderRow,
  PROVIDERS,
} from "./provider_table.ts";
import { type ResolveContext, SETUP_ADVICE, type Target, type Wanted } from "./resolve_types.ts";
import { findUserProvider, overrideOf, type UserProvider, userProviders } from "./user_providers.ts";

function rowTarget(
  row: ProviderRow,
  context: ResolveContext,
  baseUrl: string | null,
  isAuto: boolean,
): Target {
  const { env, settings } = context;
  const entry = overrideOf(settings, row.id);
  const fromEnv = row.urlEnv.map((name) => env(name)).find((url) => url !== undefined);
  const configured = isConfiguredRow(row, settings) && !isForeign(row, settings.model.base_url)
    ? settings.model.base_url
    : "";
  const url = baseUrlOf(row.id, baseUrl ?? (configured || fromEnv || row.baseUrl));
  if (url === null) {
    const names = row.urlEnv.join(" or ");
    throw new HermesError(
      "invalid_provider",
      `Provider "${row.id}" has no usable base URL: set ${names || "model.base_url"}`,
      { provider: row.id },
    );
  }
  return { provider: row.id, label: row.label, baseUrl: url, row, user: null, entry, isAuto };
}

function isConfiguredRow(row: ProviderRow, settings: Settings): boolean {
  return settings.model.base_url !== "" && findProvider(settings.model.provider)?.id === row.id;
}

/** An address of another provider that is left over in the config beside a provider of the Messages wire. */
function isForeign(row: ProviderRow, url: string): boolean {
  if (row.flavour !== "anthropic_messages") return false;
  const owner = rowOfHost(url);
  return owner !== null && owner.id !== row.id && owner.flavour !== "anthropic_messages";
}

function userTarget(user: UserProvider, baseUrl: string | null): Target {
  const { slug, label, entry } = user;
  return { provider: slug, label, baseUrl: baseUrl ?? user.baseUrl, row: null, user, entry, isAuto: false };
}

function customTarget(baseUrl: string): Target {
  const label = `Custom endpoint (${hostOf(baseUrl)})`;
  return { provider: "custom", label, baseUrl, row: null, user: null, entry: null, isAuto: false };
}

export function namedTarget(name: string, wanted: Wanted, context: ResolveContext): Target {
  const { settings, env } = context;
  const id = name.trim().toLowerCase();
  const user = id === "custom" ? null : findUserProvider(settings, id);
  if (user && (id.startsWith("custom:") || !findProvider(id))) return userTarget(user, wanted.baseUrl);
  if (CUSTOM_ALIASES.includes(id)) {
    const url = wanted.baseUrl ?? normaliseBaseUrl(settings.model.base_url) ??
      normaliseBaseUrl(env("CUSTOM_BASE_URL") ?? "") ?? LOCAL_DEFAULTS[id] ?? null;
    if (url) return customTarget(url);
    throw new HermesError(
      "invalid_provider",
      `Provider "${name}" needs an address: set model.base_url in the config, or CUSTOM_BASE_URL`,
      { provider: name },
    );
  }
  if (id === "openai") return rowTarget(openaiRow(context), context, wanted.baseUrl, false);
  const row = findProvider(id);
  if (row) return rowTarget(row, context, wanted.baseUrl, false);
  const names = providerNames(settings);
  const [near] = closest(id.slice(0, 100), names, 1);
  throw new HermesError(
    "invalid_provider",
    `Unknown provider "${name.slice(0, 100)}": ${near ? `did you mean "${near}"? There are` : "use one of"} ${
      names.join(", ")
    }`,
    { provider: name },
  );
}

function openaiRow({ env }: ResolveContext): ProviderRow {
  const hasOwn = isUsableKey(env("OPENAI_API_KEY"));
  return findProvider(!hasOwn && isUsableKey(env("OPENROUTER_API_KEY")) ? "openrouter" : "openai-api")!;
}

/** Every name `--provider` takes. */
export function providerNames(settings: Settings): string[] {
  const own = userProviders(settings).map((p) => p.slug);
  return [
    ...PROVIDERS.filter((p) => p.flavour !== "unsupported").map((p) => p.id),
    "custom",
    "builtin",
    ...own,
  ];
}

export function automaticTarget(wanted: Wanted, context: ResolveContext): Target {
  const { settings, env } = context;
  const url = wanted.baseUrl ?? normaliseBaseUrl(settings.model.base_url) ??
    normaliseBaseUrl(env("CUSTOM_BASE_URL") ?? "");
  if (url) {
    const row = rowOfHost(url);
    return row ? rowTarget(row, context, url, false) : customTarget(url);
  }
  if (isUsableKey(settings.model.api_key)) return rowTarget(findProvider("openrouter")!, context, null, true);
  const row = vendorRow(wanted.model, context) ?? firstRowWithKey(context);
  if (row) return rowTarget(row, context, null, true);
  const own = userProviders(settings)[0];
  if (own) return userTarget(own, null);
  throw new HermesError(
    "no_provider_configured",
    `${unknownPrefix(wanted.model)}No model provider is configured. ${SETUP_ADVICE}`,
  );
}

/** `foo:bar` may be a model of that name or a provider misspelled; who has no provider at all is told of the second. */
function unknownPrefix(model: string): string {
  const prefix = /^([\w.-]+):./.exec(model)?.[1];
  return prefix === undefined ? "" : `"${prefix}" is not a provider that hermes knows (hermes model list). `;
}

function rowOfHost(url: string): ProviderRow | null {
  const host = hostOf(url);
  return PROVIDERS.find((p) =>
    p.flavour !== "unsupported" && !p.keyOptional && p.baseUrl !== "" && hostOf(p.baseUrl) === host
  ) ?? null;
}

/** `anthropic/claude-…` goes to Anthropic when its key is there and no aggregator's is. */
function vendorRow(model: string, context: ResolveContext): ProviderRow | null {
  const slash = model.indexOf("/");
  if (slash <= 0 || isUsableKey(context.env("OPENROUTER_API_KEY"))) return null;
  const vendor = model.slice(0, slash).toLowerCase();
  const row = vendor === "openai" ? findProvider("openai-api") : findProvider(vendor);
  return row && row.flavour !== "unsupported" && rowRuntime(row, context) ? row : null;
}

function firstRowWithKey(context: ResolveContext): ProviderRow | null {
  const first = ["openrouter", "openai-api"].map((id) => findProvider(id)!);
  const others = PROVIDERS.filter((p) => !p.notAutomatic && p.flavour !== "unsupported");
  const withKey = (rows: readonly ProviderRow[]) =>
    rows.find((row) => mayHaveKey(row, context) && rowRuntime(row, context));
  // What has keys in auth.json alone: OpenRouter before the others (core.md F.2), the others after all variables.
  const pooled = (rows: readonly ProviderRow[]) =>
    rows.find((row) => context.pooledKey(row.id) !== null && rowRuntime(row, context));
  return withKey(first) ?? pooled(first.slice(0, 1)) ?? withKey(others) ?? pooled([...first, ...others]) ??
    null;
}

/** Most providers have nothing that could be a key; seeing that first spares the reading of their addresses. */
function mayHaveKey(row: ProviderRow, { settings, env }: ResolveContext): boolean {
  return settings.model.api_key !== "" || overrideOf(settings, row.id) !== null ||
    isConfiguredRow(row, settings) ||
    [...row.keyEnv, ...row.urlEnv].some((name) => env(name) !== undefined);
}

/** Where a row would be called; `null` when it has no address. */
export function rowAddress(row: ProviderRow, context: ResolveContext): string | null {
  try {
    return rowTarget(row, context, null, false).baseUrl;
  } catch (error) {
    if (error instanceof HermesError) return null;
    throw error;
  }
}

/** Where and with which key a row would be called; `null` when it has no key or no address. */
export function rowRuntime(
  row: ProviderRow,
  context: ResolveContext,
): { key: string; baseUrl: string } | null {
  if (!mayHaveKey(row, context) && context.pooledKey(row.id) === null) return null;
  try {
    const target = rowTarget(row, context, null, false);
    const found = findKey(target, context);
    return found && { key: found.key, baseUrl: target.baseUrl };
  } catch (error) {
    if (error instanceof HermesError) return null;
    throw error;
  }
}
