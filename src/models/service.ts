/**
 * The `Models` port: resolving, clients, switching, lists. Holds what lives as long as the program: kept model lists,
 * places in scripts, what servers have taught us. Making it reads nothing.
 */
import {
  auxiliaryEntries,
  type CatalogRefresh,
  type ConfigService,
  fallbackEntries,
  HermesError,
  type LocalServer,
  type Logger,
  type ModelChoice,
  type ModelClient,
  type ModelCost,
  type ModelOptionsQuery,
  type Models,
  type ResolvedModel,
  type Settings,
  type SwitchResult,
  type Usage,
} from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import type { ScriptPositions } from "./builtin/script_client.ts";
import { addressAdvice } from "./address_advice.ts";
import { Catalog, offeredModels } from "./catalog.ts";
import { readRefreshed } from "./catalog_store.ts";
import { costOf, isOwnHost, type KnownPrices } from "./cost.ts";
import { withEndpointTls, writtenAddresses } from "./endpoint_fetch.ts";
import { keyForHost, NO_KEY } from "./keys.ts";
import { LazyClient } from "./lazy_client.ts";
import { ListCache } from "./list_cache.ts";
import { LocalFacts } from "./local_facts.ts";
import { ModelLists } from "./model_lists.ts";
import { Pacer } from "./pacer.ts";
import { RightOfWay } from "./providers/right_of_way.ts";
import { Senders } from "./providers/senders.ts";
import { newMemory, type ServerMemory } from "./providers/server_memory.ts";
import { createWireClient, warmWire } from "./wire_clients.ts";
import { Pools } from "./pools.ts";
import { PROVIDERS } from "./provider_table.ts";
import { resolveRuntime } from "./resolve.ts";
import type { ModelFlags, ResolveContext } from "./resolve_types.ts";
import type { Runtime } from "./runtime.ts";
import { rowRuntime } from "./targets.ts";
import { secretEnvNames } from "./secret_env.ts";
import { UnnamedModels } from "./unnamed.ts";
import { declaredModels, userProviders } from "./user_providers.ts";

export interface ModelsDeps {
  readonly platform: Platform;
  readonly config: ConfigService;
  readonly flags: ModelFlags;
  readonly log: Logger;
  /** Takes configured secrets out of texts for people. */
  redact(text: string): string;
  /** Takes a value out of every text from now on. */
  keepSecret?(value: string): void;
  /** `--record`: listens to every call. */
  readonly tap?: (client: ModelClient) => ModelClient;
  /** Instead of the usual limit for connecting (core.md A.5), for tests that cannot wait for it. Milliseconds. */
  readonly connectMs?: number;
}

const MAX_MEMORIES = 1_000;
const WARM_AFTER_MS = 100;
/** Choices whose model is remembered. */
const MAX_RESOLVED = 100;

export function createModels(deps: ModelsDeps): Models {
  return new ModelService(deps);
}

class ModelService implements Models {
  readonly #deps: ModelsDeps;
  readonly #lists: ModelLists;
  readonly #catalog: Catalog;
  readonly #local: LocalFacts;
  readonly #unnamed: UnnamedModels;
  readonly #pacer: Pacer;
  readonly #positions: ScriptPositions = new Map();
  readonly #senders = new Senders();
  readonly #rightOfWay: RightOfWay;
  readonly #memories = new Map<string, ServerMemory>();
  /** Keys live here and nowhere in the public record. */
  readonly #runtimes = new WeakMap<ResolvedModel, Runtime>();
  readonly #pools: Pools;
  #warmed = false;
  /** What choices came to, under the settings (a new object whenever config or environment change) and lists of then. */
  #resolved: {
    readonly settings: Settings | null;
    readonly version: number;
    readonly models: Map<string, ResolvedModel>;
  } = { settings: null, version: 0, models: new Map() };

  constructor(deps: ModelsDeps) {
    const platform = withEndpointTls(
      deps.platform,
      () => deps.config.settings(),
      () => writtenAddresses(this.#context()),
    );
    this.#deps = { ...deps, platform };
    // A host without a data home of its own keeps nothing on disk.
    const home = deps.config.home || null;
    this.#lists = new ModelLists(platform, new ListCache(platform, home, deps.log));
    this.#catalog = new Catalog(() => home === null ? null : readRefreshed(platform, home));
    this.#local = new LocalFacts(platform, this.#lists);
    this.#unnamed = new UnnamedModels(platform, this.#lists);
    this.#pacer = new Pacer(platform.clock);
    this.#rightOfWay = new RightOfWay(platform);
    this.#pools = new Pools(this.#deps);
  }

  /** The same record for the same choice, as long as nothing that it rests on has changed; refusals are not kept. */
  resolve(choice: ModelChoice = {}): ResolvedModel {
    const context = this.#context();
    const key = JSON.stringify(choice);
    const known = this.#kept(context.settings).get(key);
    if (known) return known;
    const model = this.#register(resolveRuntime(choice, context));
    // Asked again: resolving may have read the lists.
    const models = this.#kept(context.settings);
    if (models.size < MAX_RESOLVED) models.set(key, model);
    return model;
  }

  settling(choice: ModelChoice = {}, options: { signal?: AbortSignal } = {}): Promise<void> | null {
    // Nearly always there is a name, and then this costs nothing.
    if (choice.model || (!choice.provider && this.#isNamed())) return null;
    return this.#unnamed.settling(choice, this.#context(), options.signal);
  }

  async addressAdvice(
    model: ResolvedModel,
    options: { signal?: AbortSignal; online?: boolean } = {},
  ): Promise<string | null> {
    if (model.apiMode === "builtin") return null;
    const runtime = this.#runtimeOf(model);
    if (!runtime.isLocal && !options.online) return null;
    return await addressAdvice(runtime, this.#lists, options.signal);
  }

  #isNamed(): boolean {
    const { config, flags } = this.#deps;
    return Boolean(
      flags.demo || flags.model || config.env("HERMES_MODEL") || config.env("HERMES_INFERENCE_MODEL") ||
        config.settings().model.default,
    );
  }

  #kept(settings: Settings): Map<string, ResolvedModel> {
    const { version } = this.#lists;
    if (this.#resolved.settings !== settings || this.#resolved.version !== version) {
      this.#resolved = { settings, version, models: new Map() };
    }
    return this.#resolved.models;
  }

  client(model: ResolvedModel): ModelClient {
    const client = this.#client(model);
    return this.#deps.tap?.(client) ?? client;
  }

  #client(model: ResolvedModel): ModelClient {
    const { platform, redact } = this.#deps;
    const runtime = this.#runtimeOf(model);
    if (model.apiMode === "builtin") {
      return new LazyClient(model, async () => {
        const { createBuiltin } = await import("./builtin/mod.ts");
        return createBuiltin({ info: model, platform, positions: this.#positions, redact });
      });
    }
    return this.#pools.clientOf(runtime, (one) => this.#wireClient(one));
  }

  #wireClient(runtime: Runtime): ModelClient {
    const { model } = runtime;
    const { platform, redact, config, connectMs } = this.#deps;
    return createWireClient({
      runtime,
      platform,
      senders: this.#senders,
      rightOfWay: this.#rightOfWay,
      redact,
      env: (name) => config.env(name),
      memory: (sessionId) => this.#memory(`${sessionId}\n${model.model}\n${model.baseUrl}`),
      localFacts: (signal) => this.#local.of(runtime, signal),
      pace: async (signal) => {
        const seconds = runtime.entry?.rate_limit_delay ?? 0;
        if (seconds > 0) await this.#pacer.wait(model.baseUrl, seconds, signal);
      },
      addressAdvice: async (signal) => {
        // The addresses of others are known to be right.
        const isOwn = runtime.isLocal || model.provider.startsWith("custom");
        return isOwn ? await addressAdvice(runtime, this.#lists, signal) : null;
      },
      connectMs,
      onWindow: async (tokens) => {
        // An error may only lower it: a larger number in one says nothing about this model.
        if (model.contextWindow !== null && tokens >= model.contextWindow) return;
        await this.#lists.learnWindow(model.baseUrl, model.model, tokens);
      },
    }) ?? refuseMode(model);
  }

  async switchTo(
    argument: string,
    current: ResolvedModel | null,
    options: { signal?: AbortSignal } = {},
  ): Promise<SwitchResult> {
    const context = this.#context();
    const { settings } = context;
    const { switchModel } = await import("./switch.ts");
    const { runtime, ...result } = await switchModel(argument, current, {
      settings,
      lists: this.#lists,
      catalog: this.#catalog,
      resolve: (choice) => resolveRuntime(choice, context),
      isAlias: (name) =>
        Object.hasOwn(settings.model_aliases, name) || Object.hasOwn(settings.model.aliases, name),
      signal: options.signal,
    });
    return { ...result, model: this.#register(runtime) };
  }

  known(current?: ResolvedModel): readonly { provider: string; model: string; label: string }[] {
    const context = this.#context();
    const found = new Map<string, { provider: string; model: string; label: string }>();
    const add = (provider: string, model: string, label: string) => {
      const key = `${provider}\n${model}`;
      if (!found.has(key)) found.set(key, { provider, model, label: `${model} (${label})` });
    };
    const main = this.#default();
    for (const model of [main, current]) if (model) add(model.provider, model.model, model.label);
    if (main?.provider === "custom" && main.baseUrl) {
      for (const { id } of this.#lists.kept(main.baseUrl) ?? []) add("custom", id, main.label);
    }
    const excluded = context.settings.model_catalog?.excluded_providers;
    for (const row of PROVIDERS) {
      if (row.flavour === "unsupported" || excluded?.includes(row.id)) continue;
      const runtime = rowRuntime(row, context);
      if (!runtime) continue;
      const offered = offeredModels(row, this.#catalog);
      if (offered.length === 0) continue;
      const kept = this.#lists.kept(runtime.baseUrl)?.map((m) => m.id) ?? [];
      for (const model of kept.length > 0 ? kept : offered) add(row.id, model, row.label);
    }
    for (const { slug, label, entry, baseUrl } of userProviders(context.settings)) {
      const kept = this.#lists.kept(baseUrl)?.map((m) => m.id) ?? [];
      for (const model of [...declaredModels(entry), ...kept]) add(slug, model, label);
    }
    add("builtin", "demo", "Built-in demo");
    return [...found.values()];
  }

  async options(query: ModelOptionsQuery): Promise<Record<string, unknown>> {
    // Without a name the endpoint in force is not known to be that.
    await this.settling(query.current);
    const context = this.#context();
    const { buildOptions } = await import("./options.ts");
    // At the same time: the payload need not wait for the catalogue, the next one will have it.
    const [payload] = await Promise.all([
      this.#buildOptions(query, context, buildOptions),
      this.#renew(query, context),
    ]);
    return payload;
  }

  #buildOptions(
    query: ModelOptionsQuery,
    context: ResolveContext,
    build: typeof import("./options.ts").buildOptions,
  ): Promise<Record<string, unknown>> {
    return build(query, {
      settings: context.settings,
      lists: this.#lists,
      catalog: this.#catalog,
      current: this.#maybe(query.current ?? {}),
      rowKey: (row) => rowRuntime(row, context),
      keyOfEndpoint: (slug, baseUrl) => this.#keyOfEndpoint(slug, baseUrl),
    });
  }

  estimateCost(usage: Usage, model: ResolvedModel): ModelCost {
    const isOwn = isOwnHost(model);
    const prices: KnownPrices = {
      listed: this.#lists.statedPrice(model.baseUrl, model.model),
      catalog: isOwn ? this.#catalog.find(model.provider, model.model) : null,
      dateOf: (source) =>
        source === "provider_models_api" ? this.#lists.readOn(model.baseUrl) : this.#catalog.date,
    };
    const ttl = this.#deps.config.settings().prompt_caching?.cache_ttl ?? "5m";
    return costOf(usage, model, prices, ttl);
  }

  async refreshCatalog(options: { signal?: AbortSignal } = {}): Promise<CatalogRefresh> {
    const { platform, config } = this.#deps;
    const context = this.#context();
    const { refreshAll } = await import("./refresh_all.ts");
    const report = await refreshAll({
      platform,
      home: config.home,
      settings: context.settings,
      lists: this.#lists,
      rowKey: (row) => rowRuntime(row, context),
      keyOfEndpoint: (slug, baseUrl) => this.#keyOfEndpoint(slug, baseUrl),
      signal: options.signal,
    });
    this.#catalog.reload();
    return report;
  }

  /** A refresh also fetches a catalogue of the user's own choice when the kept one is too old. */
  async #renew(query: ModelOptionsQuery, { settings }: ResolveContext): Promise<void> {
    const { platform, config, log } = this.#deps;
    const wanted = settings.model_catalog;
    if (!query.refresh || !wanted?.enabled || wanted.url === "" || !config.home) return;
    const { fetchCatalog, isStale } = await import("./catalog_refresh.ts");
    if (!isStale(platform, config.home, wanted.ttl_hours)) return;
    const outcome = await fetchCatalog(platform, config.home, settings, undefined);
    if (outcome.type === "failed") log.debug(`The catalogue was not refreshed: ${outcome.reason}`);
    else this.#catalog.reload();
  }

  async discoverLocal(options: { signal?: AbortSignal } = {}): Promise<readonly LocalServer[]> {
    const { discoverLocal } = await import("./discover.ts");
    return await discoverLocal(this.#deps.platform, (name) => this.#deps.config.env(name), options.signal);
  }

  async probe(
    model: ResolvedModel,
    options: { signal?: AbortSignal } = {},
  ): Promise<{ ok: boolean; message: string }> {
    const { probeModel } = await import("./probe.ts");
    return await probeModel(this.client(model), this.#deps.platform, options.signal);
  }

  warm(model: ResolvedModel): void {
    if (this.#warmed || model.apiMode === "builtin") return;
    this.#warmed = true;
    // Once the host has its answer and is most likely waiting for its user.
    setTimeout(() => {
      warmWire(model.apiMode)
        .catch((error: unknown) => this.#deps.log.debug(`Cannot load the model library: ${error}`));
    }, WARM_AFTER_MS);
  }

  secretEnvNames(): readonly string[] {
    const settings = this.#deps.config.settings();
    const own = userProviders(settings).flatMap((p) => p.entry.key_env ?? []);
    const fallbacks = fallbackEntries(settings).flatMap(({ keyEnv }) => keyEnv ?? []);
    const side = Object.keys(settings.auxiliary).flatMap((task) =>
      auxiliaryEntries(settings, task).flatMap(({ keyEnv }) => keyEnv ?? [])
    );
    return secretEnvNames([...own, ...fallbacks, ...side]);
  }

  #context(): ResolveContext {
    const { config, flags } = this.#deps;
    return {
      settings: config.settings(),
      flags,
      env: (name) => config.env(name),
      catalog: this.#catalog,
      statedWindow: (baseUrl, model) => this.#lists.statedWindow(baseUrl, model),
      learnedWindow: (baseUrl, model) => this.#lists.learnedWindow(baseUrl, model),
      offered: (baseUrl) => this.#unnamed.offered(baseUrl),
      pooledKey: (provider) => this.#pools.firstKey(provider),
    };
  }

  #register(runtime: Runtime): ResolvedModel {
    this.#runtimes.set(runtime.model, runtime);
    return runtime.model;
  }

  #default(): ResolvedModel | null {
    return this.#maybe({});
  }

  #maybe(choice: ModelChoice): ResolvedModel | null {
    try {
      return this.resolve(choice);
    } catch (error) {
      if (error instanceof HermesError) return null;
      throw error;
    }
  }

  #keyOfEndpoint(slug: string, baseUrl: string): string {
    try {
      return resolveRuntime({ provider: slug, model: "model", baseUrl }, this.#context()).apiKey;
    } catch (error) {
      if (!(error instanceof HermesError)) throw error;
      return keyForHost(baseUrl, (name) => this.#deps.config.env(name))?.key ?? NO_KEY;
    }
  }

  /** A copy of a record has lost its key: it is looked up again by the same rules. */
  #runtimeOf(model: ResolvedModel): Runtime {
    const { provider, baseUrl, apiMode } = model;
    return this.#runtimes.get(model) ??
      resolveRuntime({ model: model.model, provider, baseUrl, apiMode }, this.#context());
  }

  #memory(key: string): ServerMemory {
    let memory = this.#memories.get(key);
    if (!memory) {
      memory = newMemory();
      this.#memories.set(key, memory);
      if (this.#memories.size > MAX_MEMORIES) this.#memories.delete(this.#memories.keys().next().value!);
    }
    return memory;
  }
}

function refuseMode(model: ResolvedModel): never {
  throw new HermesError("invalid_provider", `The wire "${model.apiMode}" is not spoken by this version`, {
    provider: model.provider,
    api_mode: model.apiMode,
  });
}
