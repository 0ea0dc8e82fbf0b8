/** Providers of the user's own (core.md F.1 `custom:<name>`): one list from `providers` and `custom_providers`. */
import type { ModelFacts, ProviderEntry, Settings } from "@/core/contract.ts";
import { baseUrlOf } from "./endpoints.ts";
import { slugOf } from "./names.ts";
import { findProvider } from "./provider_table.ts";

export interface UserProvider {
  /** `custom:<name>`. */
  readonly slug: string;
  readonly name: string;
  readonly label: string;
  readonly baseUrl: string;
  readonly entry: ProviderEntry;
}

/** In the order they are written; entries without a base URL are left out, and the first of a name wins. */
export function userProviders(settings: Settings): readonly UserProvider[] {
  const found = new Map<string, UserProvider>();
  const add = (name: string, entry: ProviderEntry) => {
    const baseUrl = baseUrlOf("", entry.base_url ?? "");
    const key = slugOf(name);
    if (baseUrl === null || key === "" || found.has(key)) return;
    found.set(key, { slug: `custom:${key}`, name: key, label: entry.name ?? name, baseUrl, entry });
  };
  for (const [name, entry] of Object.entries(settings.providers)) {
    if (!isOverride(name, entry)) add(name, entry);
  }
  for (const entry of settings.custom_providers) add(entry.name ?? "", entry);
  return [...found.values()];
}

/** An entry under the id of a known provider, without an address of its own, only adds to that provider. */
function isOverride(name: string, entry: ProviderEntry): boolean {
  return findProvider(name) !== null && !entry.base_url;
}

/** What `providers.<id>` says about a known provider. */
export function overrideOf(settings: Settings, id: string): ProviderEntry | null {
  const entry = Object.hasOwn(settings.providers, id) ? settings.providers[id] : undefined;
  return entry && isOverride(id, entry) ? entry : null;
}

export function findUserProvider(settings: Settings, name: string): UserProvider | null {
  const wanted = slugOf(name.replace(/^custom:/i, ""));
  return userProviders(settings).find((p) => p.name === wanted || slugOf(p.label) === wanted) ?? null;
}

/** Ids an entry declares, its default first. */
export function declaredModels(entry: ProviderEntry | null): readonly string[] {
  if (!entry) return [];
  const { models } = entry;
  const listed = isList(models) ? models : Object.keys(models ?? {});
  const first = entry.default_model ?? entry.model;
  return first ? [first, ...listed.filter((id) => id !== first)] : [...listed];
}

function isList(models: ProviderEntry["models"]): models is readonly string[] {
  return Array.isArray(models);
}

export function modelFacts(entry: ProviderEntry | null, model: string): ModelFacts {
  const models = entry?.models;
  if (!models || isList(models) || !Object.hasOwn(models, model)) return {};
  return models[model] ?? {};
}
