/**
 * `/models` of an endpoint (core.md F.8), always bounded: by time, by size, by the caller's signal. Lists are kept in
 * memory for an hour; a failed refresh keeps the old one.
 */
import { abortable, AbortError } from "@/lib/abort.ts";
import type { Platform } from "@/platform/mod.ts";
import { windowOfEntry } from "./context_window.ts";
import { NO_KEY } from "./keys.ts";

const TTL_MS = 3_600_000;
const MAX_BYTES = 16 << 20;

export interface ListedModel {
  readonly id: string;
  /** Tokens; `null` when not stated. */
  readonly window: number | null;
}

export type ListOutcome =
  | { readonly type: "listed"; readonly models: readonly ListedModel[] }
  /** It answers, but offers no list. */
  | { readonly type: "no_list"; readonly reason: string }
  | { readonly type: "unreachable"; readonly reason: string };

export interface ListRequest {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal | undefined;
}

export class ModelLists {
  readonly #platform: Platform;
  readonly #kept = new Map<string, { models: readonly ListedModel[]; at: number }>();

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** The kept list of an endpoint, without asking. */
  kept(baseUrl: string): readonly ListedModel[] | null {
    const entry = this.#kept.get(baseUrl);
    if (!entry || this.#platform.clock.now() - entry.at > TTL_MS) return null;
    return entry.models;
  }

  statedWindow(baseUrl: string, model: string): number | null {
    return this.#kept.get(baseUrl)?.models.find((m) => m.id === model)?.window ?? null;
  }

  /** Asks the endpoint. Rejects only with `AbortError`, when the signal fires. */
  async ask(request: ListRequest): Promise<ListOutcome> {
    const outcome = await this.#tryAddresses(request);
    if (outcome.type === "listed") {
      this.#kept.set(request.baseUrl, { models: outcome.models, at: this.#platform.clock.now() });
    }
    return outcome;
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
    return second.type === "listed" ? second : first;
  }

  async #fetchList(url: string, request: ListRequest): Promise<ListOutcome> {
    const { apiKey, headers, timeoutMs, signal } = request;
    const auth = apiKey && apiKey !== NO_KEY ? { authorization: `Bearer ${apiKey}` } : {};
    const answer = await fetchJson(this.#platform, url, {
      headers: { ...headers, ...auth },
      timeoutMs,
      signal,
    });
    if (answer.type !== "answered") return { type: "unreachable", reason: answer.reason };
    if (answer.status >= 400) return { type: "no_list", reason: `HTTP ${answer.status}` };
    const models = readList(answer.body);
    return models ? { type: "listed", models } : { type: "no_list", reason: "no model list in the answer" };
  }
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
    // Google lists its ids with a prefix that its own endpoint does not want.
    return [{ id: id.replace(/^models\//, ""), window: windowOfEntry(fields) }];
  });
}

export type JsonAnswer =
  | { readonly type: "answered"; readonly status: number; readonly body: unknown }
  | { readonly type: "failed"; readonly reason: string };

/** GET with a bound on time and size. Rejects only with `AbortError`; `body` is null when it is not JSON. */
export async function fetchJson(
  platform: Platform,
  url: string,
  options: {
    headers?: Record<string, string>;
    timeoutMs: number;
    signal?: AbortSignal | undefined;
  },
): Promise<JsonAnswer> {
  const { signal, timeoutMs, headers = {} } = options;
  if (signal?.aborted) throw new AbortError();
  const controller = new AbortController();
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  const stop = () => {
    controller.abort();
    reader?.cancel().catch(() => {/* gone already */});
  };
  const timer = setTimeout(stop, timeoutMs);
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const init = { headers: { accept: "application/json", ...headers }, signal: controller.signal };
    const response = await abortable(platform.fetch(url, init), controller.signal);
    reader = response.body?.getReader();
    const text = reader ? await readText(reader) : "";
    if (controller.signal.aborted) throw new AbortError();
    return { type: "answered", status: response.status, body: parseOrNull(text) };
  } catch (error) {
    if (signal?.aborted) throw new AbortError();
    if (controller.signal.aborted) {
      return { type: "failed", reason: `no answer within ${(timeoutMs / 1000).toFixed(1)} s` };
    }
    return { type: "failed", reason: error instanceof Error ? shortReason(error) : String(error) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
    stop();
  }
}

async function readText(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    size += value.length;
    if (size > MAX_BYTES) throw new RangeError("the answer is too long");
    text += decoder.decode(value, { stream: true });
  }
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function shortReason(error: Error): string {
  const text = error.message.replace(/^error sending request for url \([^)]*\):?\s*/i, "");
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
