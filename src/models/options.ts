/**
 * The `model.options` payload (core.md F.5), one builder for the REST route and the RPC. A normal call asks at most
 * the endpoint in force, for 2 s; a refresh asks all at the same time, 10 s each. What does not answer is marked and
 * keeps the models it is known to have.
 */
import type { ModelOptionsQuery, ProviderEntry, ResolvedModel, Settings } from "@/core/contract.ts";
import { adviceFor } from "./address_advice.ts";
import { type Catalog, offeredModels } from "./catalog.ts";
import { dollars } from "./cost.ts";
import { apiModeByName, hostOf, isHostOf, isSameEndpoint } from "./endpoints.ts";
import { fastFactor } from "./fast_mode.ts";
import type { ModelLists } from "./model_lists.ts";
import { type ProviderRow, PROVIDERS } from "./provider_table.ts";
import { declaredModels, type UserProvider, userProviders } from "./user_providers.ts";

const CURRENT_MS = 2_000;
const REFRESH_MS = 10_000;

export interface OptionsContext {
  readonly settings: Settings;
  readonly lists: Pick<ModelLists, "ask" | "kept" | "otherUrl">;
  readonly catalog: Catalog;
  /** The model in force; `null` when none can be used. */
  readonly current: ResolvedModel | null;
  /** The key a built-in provider would be called with; `null` when there is none. */
  rowKey(row: ProviderRow): { readonly key: string; readonly baseUrl: string } | null;
  keyOfEndpoint(slug: string, baseUrl: string): string;
}

interface OptionRow {
  readonly slug: string;
  readonly name: string;
  readonly is_current: boolean;
  readonly is_user_defined: boolean;
  readonly models: readonly string[];
  readonly total_models: number;
  readonly source: string;
  readonly authenticated: boolean;
  readonly auth_type?: string;
  readonly key_env?: string;
  readonly warning?: string;
  readonly api_url?: string;
  readonly pricing?: Readonly<Record<string, OptionPrice>>;
  readonly capabilities?: Readonly<Record<string, { fast: boolean; reasoning: boolean }>>;
}

/** Dollars per million tokens, as text; `cache` is the price of reading, `null` when unknown. */
interface OptionPrice {
  readonly input: string;
  readonly output: string;
  readonly cache: string | null;
  readonly free: boolean;
}

export async function buildOptions(
  query: ModelOptionsQuery,
  context: OptionsContext,
): Promise<Record<string, unknown>> {
  const { current } = context;
  const slug = current ? currentSlug(current, context.settings) : "";
  const [builtIn, own] = await Promise.all([
    Promise.all(PROVIDERS.map((row) => builtInRow(row, slug, query, context))),
    Promise.all(ownEndpoints(context).map((endpoint) => ownRow(endpoint, slug, query, context))),
  ]);
  const served = new Set(own.flatMap((row) => row.models));
  const rows = [
    ...builtIn.filter((row) => row !== null).filter((row) => isWanted(row, context.settings))
      .map((row) => withoutServed(row, served, current?.model)),
    builtinRow(slug, context),
    ...own,
  ];
  return { providers: rows, model: current?.model ?? "", provider: slug };
}

/** The user may leave providers out of pickers, but not the one in force. */
function isWanted(row: OptionRow, settings: Settings): boolean {
  return row.is_current || !settings.model_catalog?.excluded_providers.includes(row.slug);
}

/** A live custom endpoint is reported under the name it was saved as. */
function currentSlug(current: ResolvedModel, settings: Settings): string {
  if (current.provider !== "custom") return current.provider;
  return userProviders(settings).find((p) => isSameEndpoint(p.baseUrl, current.baseUrl))?.slug ?? "custom";
}

function withCurrent(models: readonly string[], isCurrent: boolean, current: ResolvedModel | null): string[] {
  if (!isCurrent || !current || models.includes(current.model)) return [...models];
  return [current.model, ...models];
}

/** What is not known to think is offered as if it did: a wish for it is harmless. */
function capabilitiesOf(
  provider: string,
  baseUrl: string,
  models: readonly string[],
  catalog: Catalog,
): Record<string, { fast: boolean; reasoning: boolean }> {
  return Object.fromEntries(models.map((id) => {
    const known = catalog.traits(provider, id);
    const fast = fastFactor(provider, baseUrl, id) !== null;
    return [id, { fast, reasoning: known?.thinks ?? true }];
  }));
}

/** Prices that are known, and only those: of the endpoint itself, else of the catalogue on the provider's own host. */
function pricingOf(
  row: ProviderRow | null,
  baseUrl: string,
  models: readonly string[],
  { lists, catalog }: OptionsContext,
): { pricing?: Record<string, OptionPrice> } {
  const listed = new Map(lists.kept(baseUrl)?.map((m) => [m.id, m.price]));
  const isOwn = row !== null && row.baseUrl !== "" && isHostOf(hostOf(baseUrl), hostOf(row.baseUrl));
  const entries = models.flatMap((id) => {
    const price = listed.get(id) ?? (isOwn ? catalog.find(row.id, id)?.price : null);
    if (!price) return [];
    const cache = price.cacheRead === null ? null : dollars(price.cacheRead);
    const free = price.input === 0 && price.output === 0;
    return [[id, { input: dollars(price.input), output: dollars(price.output), cache, free }] as const];
  });
  return entries.length === 0 ? {} : { pricing: Object.fromEntries(entries) };
}

async function builtInRow(
  row: ProviderRow,
  slug: string,
  query: ModelOptionsQuery,
  context: OptionsContext,
): Promise<OptionRow | null> {
  const { current, lists } = context;
  const isCurrent = row.id === slug;
  // What cannot be called is not offered.
  if (row.flavour === "unsupported") return null;
  const key = context.rowKey(row);
  if (!key && !isCurrent) return query.includeUnconfigured ? skeleton(row) : null;
  if (row.notAutomatic && query.explicitOnly && !isCurrent) return null;
  let failed = "";
  const baseUrl = isCurrent && current ? current.baseUrl : key?.baseUrl ?? row.baseUrl;
  if (query.refresh && key) {
    const outcome = await lists.ask({
      baseUrl,
      apiKey: key.key,
      ...(row.flavour === "anthropic_messages" ? { apiMode: row.flavour } : {}),
      timeoutMs: REFRESH_MS,
    });
    if (outcome.type !== "listed") failed = `the live list could not be read (${outcome.reason})`;
  }
  const listed = lists.kept(baseUrl)?.map((m) => m.id) ?? [];
  const offered = listed.length > 0 ? listed : offeredModels(row, context.catalog);
  const models = withCurrent(offered, isCurrent, current);
  const otherUrl = row.keyOptional ? lists.otherUrl(baseUrl) : null;
  if (otherUrl !== null && failed === "") failed = adviceFor(otherUrl);
  const warning = key || row.keyOptional ? failed : keyHint(row);
  return {
    slug: row.id,
    name: row.label,
    is_current: isCurrent,
    is_user_defined: false,
    models,
    total_models: models.length,
    source: listed.length > 0 ? "hermes" : "built-in",
    authenticated: key !== null || row.keyOptional,
    auth_type: "api_key",
    ...(row.keyEnv[0] ? { key_env: row.keyEnv[0] } : {}),
    ...(warning ? { warning } : {}),
    ...pricingOf(row, baseUrl, models, context),
    capabilities: capabilitiesOf(row.id, baseUrl, models, context.catalog),
  };
}

function keyHint(row: ProviderRow): string {
  return row.keyEnv[0] ? `paste \`${row.keyEnv[0]}\` to activate` : "run `hermes setup`";
}

function skeleton(row: ProviderRow): OptionRow {
  return {
    slug: row.id,
    name: row.label,
    is_current: false,
    is_user_defined: false,
    models: [],
    total_models: 0,
    source: "canonical",
    authenticated: false,
    auth_type: "api_key",
    ...(row.keyEnv[0] ? { key_env: row.keyEnv[0] } : {}),
    warning: keyHint(row),
  };
}

function builtinRow(slug: string, { current, catalog }: OptionsContext): OptionRow {
  const isCurrent = slug === "builtin";
  const models = withCurrent(["demo"], isCurrent, current);
  return {
    slug: "builtin",
    name: "Built in (demo)",
    is_current: isCurrent,
    is_user_defined: false,
    models,
    total_models: models.length,
    source: "built-in",
    authenticated: true,
    auth_type: "none",
    capabilities: capabilitiesOf("builtin", "", models, catalog),
  };
}

interface OwnEndpoint {
  readonly slug: string;
  readonly label: string;
  readonly baseUrl: string;
  readonly entry: ProviderEntry | null;
  readonly source: string;
}

function ownEndpoints({ settings, current }: OptionsContext): OwnEndpoint[] {
  const saved = userProviders(settings).map((p: UserProvider) => ({ ...p, source: "user-config" }));
  const isSaved = !current || current.provider !== "custom" || currentSlug(current, settings) !== "custom";
  if (isSaved) return saved;
  const { baseUrl, label } = current;
  const isConfigured = isSameEndpoint(settings.model.base_url, baseUrl);
  const source = isConfigured ? "model-config" : "configured-current";
  return [...saved, { slug: "custom", label, baseUrl, entry: null, source }];
}

function modeOf(entry: ProviderEntry | null): { apiMode?: string } {
  const mode = apiModeByName(entry?.api_mode ?? "");
  return mode === null ? {} : { apiMode: mode };
}

async function ownRow(
  endpoint: OwnEndpoint,
  slug: string,
  query: ModelOptionsQuery,
  context: OptionsContext,
): Promise<OptionRow> {
  const { baseUrl, entry } = endpoint;
  const isCurrent = endpoint.slug === slug;
  const mayAsk = entry?.discover_models !== false && (query.refresh === true || isCurrent);
  let warning = "";
  if (mayAsk && (query.refresh || !context.lists.kept(baseUrl))) {
    const outcome = await context.lists.ask({
      baseUrl,
      apiKey: context.keyOfEndpoint(endpoint.slug, baseUrl),
      ...modeOf(entry),
      headers: entry?.extra_headers ?? {},
      timeoutMs: query.refresh ? REFRESH_MS : CURRENT_MS,
    });
    if (outcome.type === "unreachable") warning = `does not answer (${outcome.reason}); shown as configured`;
  }
  const otherUrl = context.lists.otherUrl(baseUrl);
  if (otherUrl !== null && warning === "") warning = adviceFor(otherUrl);
  const listed = context.lists.kept(baseUrl)?.map((m) => m.id) ?? [];
  const declared = declaredModels(entry);
  const models = withCurrent([...new Set([...declared, ...listed])], isCurrent, context.current);
  return {
    slug: endpoint.slug,
    name: endpoint.label,
    is_current: isCurrent,
    is_user_defined: true,
    models,
    total_models: models.length,
    source: endpoint.source,
    authenticated: true,
    api_url: baseUrl,
    ...(entry?.key_env ? { key_env: entry.key_env } : {}),
    ...(warning ? { warning } : {}),
    ...pricingOf(null, baseUrl, models, context),
    capabilities: capabilitiesOf(endpoint.slug, baseUrl, models, context.catalog),
  };
}

/** Aggregators do not repeat what an endpoint of the user's own serves, but for the model in force. */
function withoutServed(row: OptionRow, served: ReadonlySet<string>, current: string | undefined): OptionRow {
  const isAggregator = PROVIDERS.find((p) => p.id === row.slug)?.isAggregator;
  if (!isAggregator || !row.models.some((id) => served.has(id))) return row;
  const models = row.models.filter((id) => !served.has(id) || (row.is_current && id === current));
  return { ...row, models, total_models: models.length };
}
