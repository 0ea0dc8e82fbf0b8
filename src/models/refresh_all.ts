/** `hermes model refresh`: the catalogue and the lists of all configured providers, all at the same time, 10 s each. */
import type { CatalogRefresh, Settings } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { fetchCatalog, type FetchOutcome } from "./catalog_refresh.ts";
import type { ListOutcome, ModelLists } from "./model_lists.ts";
import { type ProviderRow, PROVIDERS } from "./provider_table.ts";
import { userProviders } from "./user_providers.ts";

const LIST_MS = 10_000;

export interface RefreshContext {
  readonly platform: Platform;
  readonly home: string;
  readonly settings: Settings;
  readonly lists: ModelLists;
  readonly signal: AbortSignal | undefined;
  rowKey(row: ProviderRow): { readonly key: string; readonly baseUrl: string } | null;
  keyOfEndpoint(slug: string, baseUrl: string): string;
}

interface Source {
  readonly provider: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Rejects only with `AbortError`. */
export async function refreshAll(context: RefreshContext): Promise<CatalogRefresh> {
  const { lists, signal } = context;
  const [catalog, ...outcomes] = await Promise.all([
    refreshCatalog(context),
    ...sourcesOf(context).map(async (source) => {
      const { baseUrl, apiKey, headers } = source;
      const outcome = await lists.ask({ baseUrl, apiKey, headers, timeoutMs: LIST_MS, signal });
      return { provider: source.provider, outcome };
    }),
  ]);
  return {
    models: catalog?.type === "fetched" ? catalog.models : null,
    lists: outcomes.flatMap(({ provider, outcome }) =>
      outcome.type === "listed" ? [{ provider, models: outcome.models.length }] : []
    ),
    warnings: [
      ...(catalog === null
        ? []
        : catalog.type === "fetched"
        ? catalog.warnings
        : [`The catalogue was not refreshed: ${catalog.reason}`]),
      ...outcomes.flatMap(({ provider, outcome }) => warningOf(provider, outcome)),
    ],
  };
}

/** `null` where the config wants no catalogue. */
async function refreshCatalog(context: RefreshContext): Promise<FetchOutcome | null> {
  const { platform, home, settings, signal } = context;
  if (settings.model_catalog?.enabled === false) return null;
  return await fetchCatalog(platform, home, settings, signal);
}

function sourcesOf(context: RefreshContext): Source[] {
  const rows = PROVIDERS.flatMap((row) => {
    const found = row.flavour === "unsupported" || row.keyOptional ? null : context.rowKey(row);
    return found ? [{ provider: row.id, baseUrl: found.baseUrl, apiKey: found.key, headers: {} }] : [];
  });
  const own = userProviders(context.settings).filter(({ entry }) => entry.discover_models !== false).map((
    { slug, baseUrl, entry },
  ) => ({
    provider: slug,
    baseUrl,
    apiKey: context.keyOfEndpoint(slug, baseUrl),
    headers: entry.extra_headers ?? {},
  }));
  return [...rows, ...own];
}

function warningOf(provider: string, outcome: ListOutcome): string[] {
  return outcome.type === "listed"
    ? []
    : [`The models of ${provider} could not be listed: ${outcome.reason}`];
}
