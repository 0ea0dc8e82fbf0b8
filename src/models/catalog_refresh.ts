/**
 * Fetches a newer catalogue (core.md F.6) from the address of the config, or from models.dev: the models of the
 * providers we know that call tools. What cannot be fetched or read leaves the old one as it is.
 */
import type { Settings } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { type CatalogModel, type Price, writeLine } from "./catalog_format.ts";
import { writeRefreshed } from "./catalog_store.ts";
import { isPlausibleWindow } from "./context_window.ts";
import { fetchJson } from "./http_json.ts";
import { findProvider } from "./provider_table.ts";

const DEFAULT_URL = "https://models.dev/api.json";
const FETCH_MS = 10_000;

/** Their names for providers that we call differently. */
const THEIR_NAMES: Readonly<Record<string, string>> = {
  openai: "openai-api",
  moonshotai: "kimi-coding",
  "moonshotai-cn": "kimi-coding-cn",
  "opencode": "opencode-zen",
  "fireworks-ai": "fireworks",
};

type Json = Readonly<Record<string, unknown>>;

export { isStale } from "./catalog_store.ts";

export type FetchOutcome =
  /** `warnings`: lists of single providers that could not be read; the big one tells of those. */
  | { readonly type: "fetched"; readonly models: number; readonly warnings: readonly string[] }
  | { readonly type: "failed"; readonly reason: string };

/** Rejects only with `AbortError`. */
export async function fetchCatalog(
  platform: Platform,
  home: string,
  settings: Settings,
  signal: AbortSignal | undefined,
): Promise<FetchOutcome> {
  const url = settings.model_catalog?.url || DEFAULT_URL;
  const [whole, ...single] = await Promise.all([
    fetchModels(platform, url, readManifest, signal),
    ...Object.entries(settings.model_catalog?.providers ?? {}).map(([id, entry]) =>
      fetchProvider(platform, id, entry.url, signal)
    ),
  ]);
  if (typeof whole === "string") return { type: "failed", reason: whole };
  const own = single.filter((found) => typeof found !== "string");
  const replaced = new Set(own.map(({ provider }) => provider));
  const models = [
    ...whole.filter((model) => !replaced.has(model.provider)),
    ...own.flatMap((found) => found.models),
  ];
  const excluded = new Set(settings.model_catalog?.excluded_providers ?? []);
  const wanted = models.filter((model) => !excluded.has(model.provider));
  const fetchedAt = platform.clock.now();
  try {
    await writeRefreshed(platform, home, { fetchedAt, lines: wanted.map(writeLine).join("\n") }, url);
  } catch (error) {
    return { type: "failed", reason: `the catalogue cannot be kept: ${error}` };
  }
  const warnings = single.filter((found) => typeof found === "string");
  return { type: "fetched", models: wanted.length, warnings };
}

/** The models at an address, or why there are none. */
async function fetchModels(
  platform: Platform,
  url: string,
  read: (body: unknown) => CatalogModel[],
  signal: AbortSignal | undefined,
): Promise<readonly CatalogModel[] | string> {
  const answer = await fetchJson(platform, url, { timeoutMs: FETCH_MS, signal });
  if (answer.type !== "answered") return `${url}: ${answer.reason}`;
  if (answer.status !== 200) return `${url}: HTTP ${answer.status}`;
  const models = read(answer.body);
  return models.length === 0 ? `${url}: holds no catalogue that we can read` : models;
}

/** `model_catalog.providers.<id>.url`: the form of the big list, or that of its one provider (core.md E.4). */
async function fetchProvider(
  platform: Platform,
  id: string,
  url: unknown,
  signal: AbortSignal | undefined,
): Promise<{ readonly provider: string; readonly models: readonly CatalogModel[] } | string> {
  const key = `model_catalog.providers.${id}`;
  const row = findProvider(id);
  if (!row) return `${key}: there is no provider of this name`;
  if (typeof url !== "string" || url === "") return `${key}: has no url`;
  const read = (body: unknown) => {
    const isOne = isOf(body, "models");
    return readManifest(isOne ? { providers: { [row.id]: body } } : body).filter(({ provider }) =>
      provider === row.id
    );
  };
  const models = await fetchModels(platform, url, read, signal);
  return typeof models === "string" ? `${key}: ${models}` : { provider: row.id, models };
}

function isOf(body: unknown, member: string): boolean {
  return typeof body === "object" && body !== null && Object.hasOwn(body, member);
}

/** The form of models.dev (`{provider: {models: {id: facts}}}`), or version 1 with lists of ids. */
export function readManifest(body: unknown): CatalogModel[] {
  if (typeof body !== "object" || body === null) return [];
  const outer = body as Json;
  if (outer["version"] !== undefined && outer["version"] !== 1) return [];
  const providers = (outer["providers"] ?? outer) as Json;
  return Object.entries(providers).flatMap(([name, entry]) => {
    const row = findProvider(THEIR_NAMES[name] ?? name);
    const models = (entry as Json | null)?.["models"];
    if (!row || typeof models !== "object" || models === null) return [];
    const facts = Array.isArray(models) ? models : Object.values(models);
    return facts.flatMap((fact) => readModel(row.id, fact as Json | null) ?? []);
  });
}

/** `null` for what is no model of ours: without an id, without tools, or with a mark of our own format in its name. */
function readModel(provider: string, fact: Json | null): CatalogModel | null {
  const id = fact?.["id"];
  if (!fact || typeof id !== "string" || id === "" || /[|\n]/.test(id)) return null;
  if (fact["tool_call"] === false) return null;
  const limit = (fact["limit"] ?? {}) as Json;
  const inputs = ((fact["modalities"] ?? {}) as Json)["input"];
  const thinks = fact["reasoning"] === true;
  return {
    provider,
    id,
    window: isPlausibleWindow(limit["context"]) ? limit["context"] : null,
    maxOutput: isPlausibleWindow(limit["output"]) ? limit["output"] : null,
    price: readPrice(fact["cost"]),
    tier: null,
    sees: Array.isArray(inputs) && inputs.includes("image"),
    thinks,
    callsTools: fact["tool_call"] !== false,
    efforts: thinks ? ["low", "medium", "high"] : [],
  };
}

function readPrice(cost: unknown): Price | null {
  if (typeof cost !== "object" || cost === null) return null;
  const fields = cost as Json;
  // Prices that depend on the size of the prompt are not told here in a way that we could add up.
  if (fields["context_over_200k"] !== undefined) return null;
  const number = (key: string) => {
    const value = fields[key];
    return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
  };
  const [input, output] = [number("input"), number("output")];
  if (input === null || output === null) return null;
  return { input, output, cacheRead: number("cache_read"), cacheWrite: number("cache_write") };
}
