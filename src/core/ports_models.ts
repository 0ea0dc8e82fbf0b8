/**
 * What the core needs of models: what a session has chosen, how it is resolved, one call of it. Nothing in here knows a
 * wire; `models/` implements it.
 */
import type { ModelFailure } from "./errors.ts";
import type { Message, Usage } from "./messages.ts";
import type { JsonSchema } from "./ports_tools.ts";

/** What a session has chosen; absent fields follow the defaults (core.md E.2). */
export interface ModelChoice {
  readonly model?: string;
  readonly provider?: string;
  readonly baseUrl?: string;
  readonly apiMode?: string;
  /** Its place in the failover chain of the configuration: the key of that entry, if it has one, is used. */
  readonly fallback?: number;
  /** The entry of `model_routes` that it comes from: its key, if it has one, is used. */
  readonly route?: string;
  /** It comes from `delegation.*` of the configuration: the key that stands beside its address is used. */
  readonly delegation?: true;
  /** Its place in `auxiliary.<task>` (0 = the entry itself, then its chain): key and body fields of that place are used. */
  readonly auxiliary?: { readonly task: string; readonly at: number };
}

/** A model that can be called: credentials were found, nothing was contacted yet. Never holds the key in JSON. */
export interface ResolvedModel {
  readonly provider: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly apiMode: string;
  /** For people: "Built-in demo", "OpenRouter". */
  readonly label: string;
  readonly isDemo: boolean;
  /** Tokens; `null` when unknown. */
  readonly contextWindow: number | null;
  readonly supportsVision: boolean;
  /** Efforts the model takes, in order; empty when unknown or none. */
  readonly reasoningEfforts: readonly string[];
  /** What its fast mode costs, as a factor of the usual price; absent: it has none (core.md F.10). */
  readonly fastFactor?: number;
  /** Where the choice came from: "session", "environment", "config", "auto", "request". */
  readonly source: string;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
}

export interface ModelRequest {
  readonly system: string;
  /** Repaired already (core.md A.1): strict providers accept it. */
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly maxTokens?: number;
  readonly reasoningEffort?: string;
  /** A wish: sent to models that have a fast mode. */
  readonly fast?: boolean;
  /** A wish: not sent to models that refuse it. */
  readonly temperature?: number;
  /** An image that is refused as too large is sent again, smaller: nothing is left out for it meanwhile. */
  readonly shrinks?: boolean;
  /** Left out of recordings: it is not made when they are played. */
  readonly unrecorded?: boolean;
  /** Stable per session, for provider-side caches and logs. */
  readonly sessionId: string;
}

export interface RawToolCall {
  /** As the provider gave it; empty when it gave none. */
  readonly id: string;
  readonly name: string;
  /** As the provider gave it: may be empty, cut or not JSON. */
  readonly arguments: string;
}

export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

export type ModelChunk =
  /** Visible text, think tags already taken out. */
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "reasoning"; readonly text: string }
  /** A tool call's name became known; once per call. */
  | { readonly type: "tool_name"; readonly name: string }
  /** Always last when the call succeeded. */
  | {
    readonly type: "done";
    readonly finish: FinishReason;
    readonly toolCalls: readonly RawToolCall[];
    readonly usage: Usage | null;
    readonly reasoningContent?: string;
    readonly reasoningDetails?: readonly unknown[];
  }
  /** Always last when it failed; nothing is thrown. `toolInFlight`: call deltas had begun. */
  | { readonly type: "error"; readonly failure: ModelFailure; readonly toolInFlight: boolean };

/**
 * One model. `stream` yields batches: all that one read of the network gave, so that work is done per read and
 * not per token. It never throws: a failure is an `error` chunk; an abort ends the iteration without a last chunk.
 */
export interface ModelClient {
  readonly info: ResolvedModel;
  stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncIterable<readonly ModelChunk[]>;
}

export interface SwitchResult {
  readonly model: ResolvedModel;
  readonly providerChanged: boolean;
  readonly warning?: string;
  /** The known price is far above the usual: a surface that can ask, asks first (core.md F.4 step 11). */
  readonly confirmRequired?: boolean;
  readonly global: boolean;
}

/** What a call has cost (core.md F.9): a sum of known prices, or honestly unknown. */
export interface ModelCost {
  /** US dollars; `null` when unknown. */
  readonly usd: number | null;
  /** `included`: nothing is charged per call. */
  readonly status: "estimated" | "included" | "unknown";
  readonly source: "provider_models_api" | "official_snapshot" | "none";
  /** The day of the price list: `2026-01-31`; absent where no price was used. */
  readonly version?: string;
}

export interface CatalogRefresh {
  /** Models in the fetched catalogue; `null` when it was not fetched. */
  readonly models: number | null;
  /** Providers whose own lists were read, with their number of models. */
  readonly lists: readonly { readonly provider: string; readonly models: number }[];
  /** What could not be read, for people; the old knowledge stays in force. */
  readonly warnings: readonly string[];
}

export interface Models {
  /**
   * Pure of network; reads settings and environment. Throws `HermesError` `no_provider_configured`,
   * `missing_api_key`, `invalid_provider`, `invalid_model` (core.md F.2), each saying what to do.
   */
  resolve(choice?: ModelChoice): ResolvedModel;
  /**
   * Where no model is named and the provider is a server of the user's own, asks that server for its only model, 2 s at
   * most (core.md F.8); resolving knows it afterwards. `null` when there is nothing to ask. Never rejects.
   */
  settling?(choice?: ModelChoice, options?: { signal?: AbortSignal }): Promise<void> | null;
  /**
   * What is to be changed about the address of a model, as far as its list of models tells (core.md F.8); `null` for
   * nothing. Servers that are not the user's own are asked with `online` only. 2 s; rejects only with `AbortError`.
   */
  addressAdvice?(
    model: ResolvedModel,
    options?: { signal?: AbortSignal; online?: boolean },
  ): Promise<string | null>;
  /** The client of a resolved model; cheap, the network library is loaded at the first call. */
  client(model: ResolvedModel): ModelClient;
  /** `/model` syntax of core.md F.4 (`name`, `provider:model`, `--provider`, `--global`). Changes nothing itself. */
  switchTo(
    argument: string,
    current: ResolvedModel | null,
    options?: { signal?: AbortSignal },
  ): Promise<SwitchResult>;
  /** Ids for pickers without any network wait: `[{provider, model, label}]`, the default first. */
  known(current?: ResolvedModel): readonly { provider: string; model: string; label: string }[];
  /** The `model.options` payload of core.md F.5, wire keys included. */
  options(query: ModelOptionsQuery): Promise<Record<string, unknown>>;
  /** The price of one call; add up calls, do not pass sums (prices depend on the size of a prompt). */
  estimateCost(usage: Usage, model: ResolvedModel): ModelCost;
  /** Fetches the catalogue and the lists of all configured providers; bounded, rejects only with `AbortError`. */
  refreshCatalog(options?: { signal?: AbortSignal }): Promise<CatalogRefresh>;
  /** Local servers that answer (Ollama, LM Studio, llama.cpp, vLLM); 2 s at most each, in parallel. */
  discoverLocal(options?: { signal?: AbortSignal }): Promise<readonly LocalServer[]>;
  /** One tiny real call; used by setup and doctor. */
  probe(model: ResolvedModel, options?: { signal?: AbortSignal }): Promise<{ ok: boolean; message: string }>;
  /** Loads what the first call of this model will need, in the background; never throws. */
  warm(model: ResolvedModel): void;
  /** Environment names that carry provider keys or base URLs; never given to child processes (core.md C.12). */
  secretEnvNames(): readonly string[];
}

export interface ModelOptionsQuery {
  readonly current?: ModelChoice;
  readonly refresh?: boolean;
  readonly includeUnconfigured?: boolean;
  readonly explicitOnly?: boolean;
}

export interface LocalServer {
  readonly kind: "ollama" | "lmstudio" | "llamacpp" | "vllm";
  readonly baseUrl: string;
  readonly models: readonly string[];
}
