/**
 * What is known about models without asking anybody (core.md F.6, F.7, F.9): the embedded catalogue, and the one that
 * `hermes model refresh` has fetched. Read at the first question; where both know a model, the newer one tells its
 * price. A price counts only for the provider that takes it: the same model costs something else elsewhere.
 */
import { CATALOG_DATA, CATALOG_DATE } from "./catalog_data.ts";
import type { CatalogModel } from "./catalog_format.ts";
import { CatalogLines } from "./catalog_lines.ts";

export interface RefreshedCatalog {
  /** Milliseconds since the epoch. */
  readonly fetchedAt: number;
  readonly lines: string;
}

/** Rows that sell the models of another row at the same prices. */
const SAME: Readonly<Record<string, string>> = { "minimax-cn": "minimax" };
/** Vendors in `vendor/model` ids. */
const VENDORS: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  openai: "openai-api",
  "x-ai": "xai",
  google: "gemini",
  moonshotai: "kimi-coding",
  "z-ai": "zai",
  deepseek: "deepseek",
  minimax: "minimax",
};

export class Catalog {
  readonly #loadRefreshed: () => RefreshedCatalog | null;
  readonly #own = new CatalogLines(CATALOG_DATA);
  /** `newerSince`: milliseconds of its fetching; `null` where the embedded one is newer. */
  #refreshed: { readonly lines: CatalogLines; readonly newerSince: number | null } | null = null;

  constructor(loadRefreshed: () => RefreshedCatalog | null) {
    this.#loadRefreshed = loadRefreshed;
  }

  /** Forgets the fetched catalogue, so that the next question reads it again. */
  reload(): void {
    this.#refreshed = null;
  }

  /** The day of the catalogue that is asked first. */
  get date(): string {
    const { newerSince } = this.#fetched();
    return newerSince === null ? CATALOG_DATE : new Date(newerSince).toISOString().slice(0, 10);
  }

  /** The entry of a provider's own model, its price included. */
  find(provider: string, model: string): CatalogModel | null {
    const seller = SAME[provider] ?? provider;
    const embedded = this.#embedded(seller, model);
    const { lines, newerSince } = this.#fetched();
    const refreshed = lines.find(seller, model);
    const [first, second] = newerSince === null ? [embedded, refreshed] : [refreshed, embedded];
    if (first && !first.price && second?.price) return { ...first, price: second.price, tier: second.tier };
    return first ?? second ?? null;
  }

  /**
   * What a model can do, wherever it is served: by provider, by vendor, by its bare id. Cheap: reads the embedded
   * catalogue only, so it may be asked at start. Say nothing of its price.
   */
  traits(provider: string, model: string): CatalogModel | null {
    const direct = this.#embedded(SAME[provider] ?? provider, model);
    if (direct) return direct;
    const id = model.toLowerCase().replace(/:[\w-]+$/, "");
    const slash = id.indexOf("/");
    const vendor = slash === -1 ? undefined : VENDORS[id.slice(0, slash)];
    const bare = id.slice(id.lastIndexOf("/") + 1);
    if (slash !== -1 && vendor === undefined) return null;
    const name = bare.startsWith("claude") ? bare.replace(/(\d)\.(?=\d)/g, "$1-") : bare;
    if (vendor) return this.#own.find(vendor, name);
    return this.#own.findAny(name) ?? this.#own.findAny(undated(name));
  }

  /** Ids of a provider: the embedded ones, then what was fetched beside them. */
  idsOf(provider: string): readonly string[] {
    const wanted = SAME[provider] ?? provider;
    const ids = new Set<string>();
    for (const lines of [this.#own, this.#fetched().lines]) {
      for (const id of lines.idsOf(wanted)) ids.add(id);
    }
    return [...ids];
  }

  #embedded(provider: string, model: string): CatalogModel | null {
    return this.#own.find(provider, model) ?? this.#own.find(provider, undated(model));
  }

  #fetched(): { readonly lines: CatalogLines; readonly newerSince: number | null } {
    if (this.#refreshed) return this.#refreshed;
    const loaded = this.#loadRefreshed();
    return this.#refreshed = {
      lines: new CatalogLines(loaded?.lines ?? ""),
      newerSince: loaded !== null && loaded.fetchedAt >= Date.parse(CATALOG_DATE) ? loaded.fetchedAt : null,
    };
  }
}

/** The curated list of a provider: its own first, so that the default stays the first, then what the catalogue has. */
export function offeredModels(
  row: { readonly id: string; readonly models: readonly string[] },
  catalog: Catalog,
): readonly string[] {
  return [...new Set([...row.models, ...catalog.idsOf(row.id)])];
}

/** `claude-sonnet-4-5-20250929` is `claude-sonnet-4-5`. */
function undated(id: string): string {
  return id.replace(/-(20\d{6}|20\d\d-\d\d-\d\d)$/, "");
}
