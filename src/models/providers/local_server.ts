/**
 * What a model server of the user's own must be asked or told before the first call (core.md F.8, row 63). Ollama
 * cuts a long prompt silently at `num_ctx`, so a small one is refused here; LM Studio loads the model with the window
 * it is told. A server that does not answer these questions is called as it is.
 */
import type { Platform } from "@/platform/mod.ts";
import { fetchJson } from "../http_json.ts";
import type { Runtime } from "../runtime.ts";

export interface LocalServerFacts {
  readonly extraBody: Readonly<Record<string, unknown>>;
  /** The window in force; `null` when the server does not say. */
  readonly window: number | null;
  /** Why the model cannot be used as it is. */
  readonly refusal: string | null;
}

/** Below this an agent's prompt, tools and answer do not fit (core.md A.16). Tokens. */
export const SMALLEST_WINDOW = 64_000;

const ASK_MS = 2_000;
/** Loading reads gigabytes. */
const LOAD_MS = 300_000;

type Json = Readonly<Record<string, unknown>>;

type Ask = (path: string, body?: Json, timeoutMs?: number) => Promise<Json | null>;

/** Rejects only with `AbortError`. */
export async function askLocalServer(
  runtime: Runtime,
  platform: Platform,
  signal: AbortSignal,
): Promise<LocalServerFacts> {
  const origin = new URL(runtime.model.baseUrl).origin;
  const ask: Ask = async (path, body, timeoutMs = ASK_MS) => {
    const answer = await fetchJson(platform, origin + path, { timeoutMs, signal, ...(body ? { body } : {}) });
    if (answer.type !== "answered" || answer.status !== 200) return null;
    return typeof answer.body === "object" ? answer.body as Json | null : null;
  };
  return runtime.localKind === "ollama" ? await askOllama(runtime, ask) : await askLmStudio(runtime, ask);
}

const NOTHING: LocalServerFacts = { extraBody: {}, window: null, refusal: null };

async function askOllama(runtime: Runtime, ask: Ask): Promise<LocalServerFacts> {
  const { model } = runtime.model;
  if (runtime.statedWindow !== null) return withOllamaWindow(model, runtime.statedWindow);
  const shown = await ask("/api/show", { name: model, model });
  if (!shown) return NOTHING;
  const set = /^\s*num_ctx\s+(\d+)/m.exec(String(shown["parameters"] ?? ""))?.[1];
  if (set) return withOllamaWindow(model, Number(set));
  const info = (shown["model_info"] ?? {}) as Json;
  const key = Object.keys(info).find((name) => name.endsWith(".context_length"));
  const trained = key ? Number(info[key]) : NaN;
  return Number.isFinite(trained) ? withOllamaWindow(model, trained) : NOTHING;
}

function withOllamaWindow(model: string, window: number): LocalServerFacts {
  const refusal = window >= SMALLEST_WINDOW
    ? null
    : `The model "${model}" runs in Ollama with a window of ${window} tokens (num_ctx), and an agent needs at ` +
      `least 64,000: set model.context_length to 65536 or more, raise num_ctx in its Modelfile ` +
      "(PARAMETER num_ctx 65536), or choose a model with a larger window";
  return { extraBody: { options: { num_ctx: window } }, window, refusal };
}

async function askLmStudio(runtime: Runtime, ask: Ask): Promise<LocalServerFacts> {
  const { model } = runtime.model;
  const body = await ask("/api/v1/models");
  const list = (body?.["models"] ?? body?.["data"]) as readonly Json[] | undefined;
  const entry = Array.isArray(list)
    ? list.find((one) => one["key"] === model || one["id"] === model)
    : undefined;
  if (!entry) return NOTHING;
  const loaded = windowOfLoaded(entry);
  if (loaded !== null && loaded >= (runtime.statedWindow ?? SMALLEST_WINDOW)) {
    return { ...NOTHING, window: loaded };
  }
  const most = Number(entry["max_context_length"] ?? NaN);
  const wanted = Math.min(runtime.statedWindow ?? 65_536, Number.isFinite(most) ? most : Infinity);
  const answer = await ask("/api/v1/models/load", { model, context_length: wanted }, LOAD_MS);
  if (!answer) return { ...NOTHING, window: loaded };
  const given = Number((answer["load_config"] as Json | undefined)?.["context_length"] ?? wanted);
  return { ...NOTHING, window: Number.isFinite(given) ? given : wanted };
}

function windowOfLoaded(entry: Json): number | null {
  const instances = (entry["loaded_instances"] ?? []) as readonly { config?: Json }[];
  const windows = instances.map((one) => Number(one.config?.["context_length"] ?? NaN)).filter(
    Number.isFinite,
  );
  return windows.length > 0 ? Math.max(...windows) : null;
}
