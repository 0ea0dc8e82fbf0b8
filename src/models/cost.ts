/** What a call has cost (core.md F.9): a sum of known prices, or honestly unknown. Never a guess. */
import { promptTokens, type ResolvedModel, type Usage } from "@/core/contract.ts";
import type { CatalogModel, Price } from "./catalog_format.ts";
import { hostOf, isHostOf } from "./endpoints.ts";
import { findProvider } from "./provider_table.ts";
import type { CacheTtl } from "./runtime.ts";

export interface Cost {
  /** US dollars; `null` when unknown. */
  readonly usd: number | null;
  readonly status: "estimated" | "included" | "unknown";
  readonly source: "provider_models_api" | "official_snapshot" | "none";
  /** The day of the list that the price stands in; absent where no price was used. */
  readonly version?: string;
}

export interface KnownPrices {
  /** What the endpoint's own list says. */
  readonly listed: Price | null;
  readonly catalog: CatalogModel | null;
  /** The day of the one or the other; asked for where a price was found. */
  dateOf?(source: Cost["source"]): string | null;
}

const UNKNOWN: Cost = { usd: null, status: "unknown", source: "none" };

/** The price of one call; a price above a prompt size is chosen by this usage, so sums of calls must be added up. */
export function costOf(
  usage: Usage,
  model: ResolvedModel,
  prices: KnownPrices,
  cacheTtl: CacheTtl,
): Cost {
  if (model.provider === "builtin") return { usd: 0, status: "included", source: "none" };
  const source = prices.listed ? "provider_models_api" : "official_snapshot";
  const price = prices.listed ?? priceAt(prices.catalog, promptTokens(usage));
  if (!price) return UNKNOWN;
  const write = model.provider === "anthropic" && cacheTtl === "1h" ? price.input * 2 : price.cacheWrite;
  const usd = sum([
    [usage.input, price.input],
    [usage.output, price.output],
    [usage.cacheRead, price.cacheRead],
    [usage.cacheWrite, write],
  ]);
  if (usd === null) return UNKNOWN;
  const version = prices.dateOf?.(source) ?? null;
  return {
    usd: usage.fast ? usd * (model.fastFactor ?? 1) : usd,
    status: "estimated",
    source,
    ...(version === null ? {} : { version }),
  };
}

function priceAt(model: CatalogModel | null, prompt: number): Price | null {
  return model?.tier && prompt > model.tier.tokens ? model.tier.price : model?.price ?? null;
}

/** `null` when a price that is needed is missing. */
function sum(parts: readonly (readonly [tokens: number, perMillion: number | null])[]): number | null {
  let total = 0;
  for (const [tokens, price] of parts) {
    if (tokens === 0) continue;
    if (price === null) return null;
    total += tokens * price;
  }
  return total / 1_000_000;
}

/** True when the call goes to the provider whose prices the catalogue holds, and not to a stand-in. */
export function isOwnHost({ provider, baseUrl }: ResolvedModel): boolean {
  const row = findProvider(provider);
  return row !== null && row.baseUrl !== "" && isHostOf(hostOf(baseUrl), hostOf(row.baseUrl));
}

const INPUT_LIMIT = 20;
const OUTPUT_LIMIT = 100;

/** A warning before a model is chosen that costs far more than usual (core.md F.4 step 11); `null` when it does not. */
export function priceWarning(model: string, price: Price | null): string | null {
  if (!price || (price.input <= INPUT_LIMIT && price.output <= OUTPUT_LIMIT)) return null;
  return `"${model}" is expensive: ${dollars(price.input)} per million input and ${
    dollars(price.output)
  } per million output tokens.`;
}

/** `$3.00`, `$0.075`, `free`. */
export function dollars(perMillion: number): string {
  if (perMillion === 0) return "free";
  const digits = perMillion < 1 ? Math.max(2, (String(perMillion).split(".")[1] ?? "").length) : 2;
  return `$${perMillion.toFixed(Math.min(digits, 6))}`;
}
