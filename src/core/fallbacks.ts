/**
 * The failover chain as the configuration lists it (core.md A.11): `fallback_providers`, else the older single
 * `fallback_model`. Entries without a model or a provider are left out. Pure.
 */
import type { ModelChoice, ModelClient } from "./ports.ts";
import type { Settings } from "./settings.ts";

export interface FallbackEntry {
  readonly choice: ModelChoice;
  readonly apiKey: string | null;
  /** Name of the variable that holds its key. */
  readonly keyEnv: string | null;
  readonly reasoningEffort: string | null;
}

export function fallbackEntries(settings: Settings): readonly FallbackEntry[] {
  const listed = entriesOf(settings.fallback_providers);
  return listed.length > 0 ? listed : entriesOf([settings.fallback_model]);
}

function entriesOf(value: unknown): FallbackEntry[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: Record<string, unknown> | null, at) => {
    const text = (key: string) => {
      const found = item?.[key];
      return typeof found === "string" && found.trim() !== "" ? found.trim() : null;
    };
    const [model, provider] = [text("model"), text("provider")];
    const [baseUrl, apiMode] = [text("base_url"), text("api_mode")];
    if (model === null || provider === null) return [];
    const choice: ModelChoice = {
      model,
      provider,
      ...(baseUrl === null ? {} : { baseUrl }),
      ...(apiMode === null ? {} : { apiMode }),
      fallback: at,
    };
    return [{
      choice,
      apiKey: text("api_key"),
      keyEnv: text("key_env"),
      reasoningEffort: text("reasoning_effort"),
    }];
  });
}

/** The same model, asked with an effort of its own. */
export function withEffort(client: ModelClient, effort: string | null): ModelClient {
  if (effort === null) return client;
  return {
    info: client.info,
    stream: (request, options) => client.stream({ ...request, reasoningEffort: effort }, options),
  };
}
