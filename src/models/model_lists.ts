/**
 * `/models` of an endpoint (core.md F.8), always bounded: by time, by size, by the caller's signal. Lists are kept
 * for an hour, also over a restart; a failed refresh keeps the old one.
 */
import type { Platform } from "@/platform/mod.ts";
import type { Price } from "./catalog_format.ts";
import { isPlausibleWindow, windowOfEntry } from "./context_window.ts";
import { apiModeByUrl } from "./endpoints.ts";
import { fetchJson } from "./http_json.ts";
import { NO_KEY } from "./keys.ts";
import type { ListCache } from "./list_cache.ts";

const TTL_MS = 3_600_000;

export interface ListedModel {
  readonly id: string;
  /** Tokens; `null` when not stated. */
  readonly window: number | null;
  /** As the endpoint states it. */
  readonly price?: Price;
}

export type ListOutcome =
  /** `otherUrl`: the base URL that has the list, when it is not the one that was given (core.md F.8). */
  | { readonly type: "listed"; readonly models: readonly ListedModel[]; readonly otherUrl?: string }
  /** It answers, but offers no list. */
  | { readonly type: "no_list"; readonly reason: string }
  | { readonly type: "unreachable"; readonly reason: string };

export interface ListRequest {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** By the address when absent. */
  readonly apiMode?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export class ModelLists {
  readonly #platform: Platform;
  readonly #cache: ListCache;

  constructor(platform: Platform, cache: ListCache) {
    this.#platform = platform;
    this.#cache = cache;
  }

  /** Grows whenever an answer of this class may have changed, but for lists that have grown too old. */
  get version(): number {
    return this.#cache.version;
  }

  /** The kept list of an endpoint, without asking. */
  kept(baseUrl: string): readonly ListedModel[] | null {
    const entry = this.#cache.list(baseUrl);
    // A time that is yet to come is of a clock that has been put back since.
    if (!entry || Math.abs(this.#platform.clock.now() - entry.at) > TTL_MS) return null;
    return entry.models;
  }

  /** Ids of the last list, however long ago; `null` when there never was one. */
  lastIds(baseUrl: string): readonly string[] | null {
    return this.#cache.list(baseUrl)?.models.map((model) => model.id) ?? null;
  }

  /** The base URL that the list of an endpoint was really found at; `null` when that is its own, or not known. */
  otherUrl(baseUrl: string): string | null {
    return this.#cache.list(baseUrl)?.otherUrl ?? null;
  }

  /** A window the endpoint has stated, in its list or in an error; however long ago. */
  statedWindow(baseUrl: string, model: string): number | null {
    return this.#cache.window(baseUrl, model) ?? this.#listed(baseUrl, model)?.window ?? null;
  }

  /** Only what was learned in this run; costs nothing. */
  learnedWindow(baseUrl: string, model: string): number | null {
    return this.#cache.learnedWindow(baseUrl, model);
  }

  async learnWindow(baseUrl: string, model: string, tokens: number): Promise<void> {
    if (isPlausibleWindow(tokens)) await this.#cache.setWindow(baseUrl, model, tokens);
  }

  statedPrice(baseUrl: string, model: string): Price | null {
    return this.#listed(baseUrl, model)?.price ?? null;
  }

  /** The day on which that list was read: `2026-01-31`. */
  readOn(baseUrl: string): string | null {
    const at = this.#cache.list(baseUrl)?.at;
    return at === undefined ? null : new Date(at).toISOString().slice(0, 10);
  }

  /** Asks the endpoint. Rejects only with `AbortError`, when the signal fires. */
  async ask(request: ListRequest): Promise<ListOutcome> {
    const outcome = await this.#tryAddresses(request);
    if (outcome.type === "listed") {
      const at = this.#platform.clock.now();
      const { models, otherUrl } = outcome;
      await this.#cache.setList(request.baseUrl, { models, at, ...(otherUrl ? { otherUrl } : {}) });
    }
    return outcome;
  }

  #listed(baseUrl: string, model: string): ListedModel | null {
    return this.#cache.list(baseUrl)?.models.find((m) => m.id === model) ?? null;
  }

  /** The address as given, then with `/v1` added or taken away. */
  async #tryAddresses(request: ListRequest): Promise<ListOutcome> {
    const { baseUrl } = request;
    const other = /\/v1$/.test(baseUrl) ? baseUrl.replace(/\/v1$/, "") : `${baseUrl}/v1`;
    const end = this.#platform.clock.monotonic() + request.timeoutMs;
    const first = await this.#fetchList(`${baseUrl}/models`, request);
    const timeoutMs = end - this.#platform.clock.monotonic();
    if (first.type !== "no_list" || timeoutMs <= 0) return first;
    const second = await this.#fetchList(`${other}/models`, { ...request, timeoutMs });
    if (second.type !== "listed") return first;
    // The Messages wire finds its way from both forms.
    return speaksMessages(request) ? second : { ...second, otherUrl: other };
  }

  async #fetchList(url: string, request: ListRequest): Promise<ListOutcome> {
    const { headers, timeoutMs, signal } = request;
    const answer = await fetchJson(this.#platform, url, {
      headers: { ...headers, ...authHeaders(request) },
      timeoutMs,
      signal,
    });
    if (answer.type !== "answered") return { type: "unreachable", reason: answer.reason };
    if (answer.status >= 400) return { type: "no_list", reason: `HTTP ${answer.status}` };
    const models = readList(answer.body);
    return models ? { type: "listed", models } : { type: "no_list", reason: "no model list in the answer" };
  }
}

function speaksMessages({ apiMode, baseUrl }: ListRequest): boolean {
  return (apiMode ?? apiModeByUrl(baseUrl)) === "anthropic_messages";
}

function authHeaders(request: ListRequest): Record<string, string> {
  const { apiKey } = request;
  if (apiKey === "" || apiKey === NO_KEY) return {};
  if (!speaksMessages(request) || apiKey.startsWith("sk-ant-oat")) {
    return { authorization: `Bearer ${apiKey}` };
  }
  return { "x-api-key": apiKey, "anthropic-version": "2023-06-01" };
}

function readList(body: unknown): ListedModel[] | null {
  const outer = body as { data?: unknown; models?: unknown } | null;
  const list = Array.isArray(body) ? body : outer?.data ?? outer?.models;
  if (!Array.isArray(list)) return null;
  return list.flatMap((entry) => {
    if (typeof entry === "string") return [{ id: entry, window: null }];
    if (typeof entry !== "object" || entry === null) return [];
    const fields = entry as Record<string, unknown>;
    const id = fields["id"] ?? fields["key"] ?? fields["name"];
    if (typeof id !== "string" || id === "" || fields["type"] === "embedding") return [];
    // An agent without tools is of no use, so what says that it takes none is not offered.
    const parameters = fields["supported_parameters"];
    if (Array.isArray(parameters) && !parameters.includes("tools")) return [];
    const price = readPrice(fields["pricing"]);
    // Google lists its ids with a prefix that its own endpoint does not want.
    return [{ id: id.replace(/^models\//, ""), window: windowOfEntry(fields), ...(price ? { price } : {}) }];
  });
}

/** Aggregators state dollars per token, as text; a negative price stands for "it depends". */
function readPrice(pricing: unknown): Price | null {
  if (typeof pricing !== "object" || pricing === null) return null;
  const fields = pricing as Record<string, unknown>;
  const perMillion = (key: string): number | null => {
    const value = fields[key];
    const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
    if (typeof number !== "number" || !Number.isFinite(number) || number < 0) return null;
    return Math.round(number * 1e12) / 1e6;
  };
  const [input, output] = [perMillion("prompt"), perMillion("completion")];
  if (input === null || output === null) return null;
  return {
    input,
    output,
    cacheRead: perMillion("input_cache_read"),
    cacheWrite: perMillion("input_cache_write"),
  };
}
