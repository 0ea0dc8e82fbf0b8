/**
 * `/model` (core.md F.4): from what was typed to a model that can be called, checked against the endpoint's own list
 * where it has one. Changes nothing itself; throws `HermesError` and then the old model stays.
 */
import {
  HermesError,
  type ModelChoice,
  type ResolvedModel,
  type Settings,
  type SwitchResult,
} from "@/core/contract.ts";
import { type Catalog, offeredModels } from "./catalog.ts";
import { isOwnHost, priceWarning } from "./cost.ts";
import { isFamily, newestOfFamily } from "./families.ts";
import { type ListedModel, type ListOutcome, type ModelLists } from "./model_lists.ts";
import { closest, similarity } from "./name_similarity.ts";
import { normaliseModel, splitModelName } from "./names.ts";
import { findProvider, PROVIDERS } from "./provider_table.ts";
import type { Runtime } from "./runtime.ts";
import { parseSwitchArgs, type SwitchArgs } from "./switch_args.ts";
import { declaredModels, findUserProvider, userProviders } from "./user_providers.ts";

export interface SwitchContext {
  readonly settings: Settings;
  readonly lists: ModelLists;
  readonly catalog: Catalog;
  resolve(choice: ModelChoice): Runtime;
  /** Wanted name is one of the user's own aliases. */
  isAlias(name: string): boolean;
  signal?: AbortSignal | undefined;
}

/** The list of an endpoint is waited for no longer than this. */
const LIST_MS = 2_000;

export async function switchModel(
  argument: string,
  current: ResolvedModel | null,
  context: SwitchContext,
): Promise<Omit<SwitchResult, "model"> & { runtime: Runtime }> {
  const args = parseSwitchArgs(argument);
  const found = await findRuntime(args, current, context);
  const { runtime, warning } = await verify(found, args, context);
  const { provider, baseUrl } = runtime.model;
  const expensive = priceWarning(runtime.model.model, priceOf(runtime.model, context));
  const notes = [warning, expensive].filter((note) => note !== undefined && note !== null);
  return {
    runtime,
    providerChanged: current !== null && (current.provider !== provider || current.baseUrl !== baseUrl),
    global: args.global ?? context.settings.model.persist_switch_by_default,
    ...(notes.length === 0 ? {} : { warning: notes.join(" ") }),
    ...(expensive === null ? {} : { confirmRequired: true }),
  };
}

/** As the endpoint states it, else as the catalogue has it for the provider itself; `null` when unknown. */
function priceOf(model: ResolvedModel, { lists, catalog }: SwitchContext) {
  return lists.statedPrice(model.baseUrl, model.model) ??
    (isOwnHost(model) ? catalog.find(model.provider, model.model)?.price ?? null : null);
}

async function findRuntime(
  args: SwitchArgs,
  current: ResolvedModel | null,
  context: SwitchContext,
): Promise<Runtime> {
  const { name, provider } = args;
  if (provider !== null) {
    if (name !== "") return context.resolve({ model: name, provider, ...sameEndpoint(provider, current) });
    return await onlyModelOf(provider, context);
  }
  const isNamed = (own: string) => findUserProvider(context.settings, own) !== null;
  const split = splitModelName(name, isNamed);
  if (context.isAlias(name)) return context.resolve({ model: name });
  if (split.provider) {
    return split.model === "" ? await onlyModelOf(split.provider, context) : context.resolve({ model: name });
  }
  return aliasedRuntime(name, context) ?? familyRuntime(name, current, context) ??
    declaredRuntime(name, current, context) ?? bareProvider(name, current, context) ??
    elsewhere(name, current, context) ?? context.resolve(besideCurrent(name, current));
}

/** The id that one of the user's own aliases stands for is called where that alias says. */
function aliasedRuntime(name: string, { settings, resolve }: SwitchContext): Runtime | null {
  const alias = Object.values(settings.model_aliases).find(({ model, provider }) =>
    model === name && provider
  );
  if (!alias?.provider) return null;
  const { provider, base_url } = alias;
  return resolve({ model: name, provider, ...(base_url ? { baseUrl: base_url } : {}) });
}

/**
 * A name that the provider in force does not have, and another one with a key does: its maker first, then OpenRouter.
 * On a server or a proxy of one's own any name may be a model.
 */
function elsewhere(name: string, current: ResolvedModel | null, context: SwitchContext): Runtime | null {
  if (!current || !isOwnHost(current) || findProvider(current.provider)?.keyOptional) return null;
  const mine = idsOf(current, context).map((id) => id.toLowerCase());
  const spelled = [name, normaliseModel(current.provider, name)].map((id) => id.toLowerCase());
  if (mine.some((id) => spelled.includes(id) || id.endsWith(`/${spelled[0]}`))) return null;
  for (const row of [...PROVIDERS.filter((p) => !p.isAggregator), findProvider("openrouter")!]) {
    if (row.id === current.provider || row.flavour === "unsupported" || row.notAutomatic) continue;
    const id = offeredModels(row, context.catalog).find((one) =>
      one === name || (row.isAggregator && one.endsWith(`/${name}`))
    );
    if (id === undefined) continue;
    try {
      return context.resolve({ model: id, provider: row.id });
    } catch (error) {
      if (!(error instanceof HermesError)) throw error;
    }
  }
  return null;
}

/** A session on an address of its own stays there when the same provider is named again. */
function sameEndpoint(provider: string, current: ResolvedModel | null): { baseUrl?: string } {
  return current && current.provider === provider && current.baseUrl ? { baseUrl: current.baseUrl } : {};
}

/** A bare name means the provider in force, except that the built-in one has no other models. */
function besideCurrent(name: string, current: ResolvedModel | null): ModelChoice {
  if (!current || current.provider === "builtin") return { model: name };
  return { model: name, provider: current.provider, baseUrl: current.baseUrl };
}

/** Without a name: the provider's default, or the one model that its endpoint lists. */
async function onlyModelOf(provider: string, context: SwitchContext): Promise<Runtime> {
  try {
    return context.resolve({ provider });
  } catch (error) {
    if (!(error instanceof HermesError) || error.code !== "invalid_model") throw error;
    const probe = context.resolve({ provider, model: "model" });
    const outcome = await ask(probe, context);
    const ids = outcome.type === "listed" ? outcome.models.map((m) => m.id) : [];
    if (ids.length === 1) return context.resolve({ provider, model: ids[0]! });
    const hint = ids.length > 1 ? `it offers ${ids.slice(0, 10).join(", ")}` : "it offers no list of models";
    throw new HermesError("invalid_model", `Name a model of provider "${provider}": ${hint}`, { provider });
  }
}

function familyRuntime(name: string, current: ResolvedModel | null, context: SwitchContext): Runtime | null {
  if (!isFamily(name)) return null;
  const own = current && newestOfFamily(name, idsOf(current, context));
  if (current && own) {
    return context.resolve({ model: own, provider: current.provider, baseUrl: current.baseUrl });
  }
  // On a server of one's own any name may be a model.
  if (current && current.provider.startsWith("custom")) return null;
  for (const row of PROVIDERS) {
    const newest = newestOfFamily(name, offeredModels(row, context.catalog));
    if (!newest || row.flavour === "unsupported") continue;
    try {
      return context.resolve({ model: newest, provider: row.id });
    } catch (error) {
      if (!(error instanceof HermesError)) throw error;
    }
  }
  throw new HermesError("invalid_model", `No configured provider has a model of the family "${name}"`, {
    family: name,
  });
}

function idsOf(model: ResolvedModel, context: SwitchContext): string[] {
  const row = findProvider(model.provider);
  const user = findUserProvider(context.settings, model.provider);
  const kept = context.lists.kept(model.baseUrl) ?? [];
  const offered = row ? offeredModels(row, context.catalog) : [];
  return [...kept.map((m) => m.id), ...offered, ...declaredModels(user?.entry ?? null)];
}

/** A model that the config declares: the provider in force wins, one other is switched to, several are a question. */
function declaredRuntime(
  name: string,
  current: ResolvedModel | null,
  context: SwitchContext,
): Runtime | null {
  const owners = userProviders(context.settings).filter((p) => declaredModels(p.entry).includes(name));
  if (owners.length === 0) return null;
  const mine = owners.find((p) => p.slug === current?.provider);
  if (!mine && owners.length > 1) {
    const names = owners.map((p) => p.slug);
    throw new HermesError(
      "model_ambiguous",
      `Several providers have "${name}": say --provider ${names.join(" or --provider ")}`,
      { model: name, providers: names },
    );
  }
  return context.resolve({ model: name, provider: (mine ?? owners[0]!).slug });
}

function bareProvider(name: string, current: ResolvedModel | null, context: SwitchContext): Runtime | null {
  if (current?.provider.startsWith("custom")) return null;
  const isProvider = findProvider(name) !== null || name.toLowerCase() === "builtin" ||
    findUserProvider(context.settings, name) !== null;
  return isProvider ? context.resolve({ provider: name }) : null;
}

interface Verified {
  readonly runtime: Runtime;
  readonly warning?: string;
}

/** Step 10: is the name one that the endpoint has? */
async function verify(runtime: Runtime, args: SwitchArgs, context: SwitchContext): Promise<Verified> {
  const { provider, model, baseUrl, apiMode } = runtime.model;
  if (provider === "builtin" || declaredModels(runtime.entry).includes(model)) return { runtime };
  const kept = args.refresh ? null : context.lists.kept(baseUrl);
  if (kept?.some((m) => m.id === model)) return { runtime };
  const outcome = await ask(runtime, context);
  // LM Studio lists all that it can load: what is not there cannot be called.
  if (outcome.type === "listed" && (outcome.models.length > 0 || provider === "lmstudio")) {
    return chooseListed(runtime, outcome.models, context);
  }
  const row = findProvider(provider);
  if (row && offeredModels(row, context.catalog).includes(model)) return { runtime };
  const isOwn = provider.startsWith("custom") || runtime.isLocal;
  // Servers of the Messages wire seldom have a list, and some close the door on who asks for one.
  if (outcome.type === "unreachable" && isOwn && apiMode !== "anthropic_messages") {
    throw new HermesError(
      "invalid_model",
      `The endpoint ${baseUrl} cannot be reached (${outcome.reason}), so the model was not changed`,
      { provider, model, base_url: baseUrl },
    );
  }
  const reason = outcome.type === "listed" ? "its list is empty" : outcome.reason;
  return {
    runtime,
    warning: `"${model}" could not be checked: ${provider} offers no list of models (${reason}).`,
  };
}

function ask(runtime: Runtime, context: SwitchContext): Promise<ListOutcome> {
  return context.lists.ask({
    baseUrl: runtime.model.baseUrl,
    apiKey: runtime.apiKey,
    apiMode: runtime.model.apiMode,
    headers: runtime.headers,
    timeoutMs: LIST_MS,
    signal: context.signal,
  });
}

function chooseListed(runtime: Runtime, models: readonly ListedModel[], context: SwitchContext): Verified {
  const { provider, model, baseUrl } = runtime.model;
  const ids = models.map((m) => m.id);
  const again = (id: string) => context.resolve({ provider, model: id, baseUrl });
  if (ids.includes(model)) return { runtime: again(model) };
  const sameButCase = ids.find((id) => id.toLowerCase() === model.toLowerCase()) ??
    ids.find((id) => normaliseModel(provider, id) === model || id.slice(id.lastIndexOf("/") + 1) === model);
  if (sameButCase) return { runtime: again(sameButCase) };
  const row = findProvider(provider);
  if (row && offeredModels(row, context.catalog).includes(model)) {
    return { runtime, warning: notListed(model, provider) };
  }
  // A server of one's own may list `name:latest` and take `name`.
  const best = closest(model, ids, 3);
  const [first] = best;
  if (first && similarity(first, model) >= 0.9) {
    return {
      runtime: again(first),
      warning: `"${model}" is not offered by ${provider}; "${first}" is used instead.`,
    };
  }
  if (/^(anthropic|minimax)/.test(provider)) {
    return { runtime, warning: notListed(model, provider) };
  }
  throw new HermesError(
    "invalid_model",
    `Provider "${provider}" has no model "${model}"${
      best.length ? `; did you mean ${best.join(", ")}?` : ""
    }`,
    { provider, model, suggestions: best },
  );
}

function notListed(model: string, provider: string): string {
  return `"${model}" is not in the list of ${provider}.`;
}
