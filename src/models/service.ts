/**
 * The `Models` port: resolving, clients, switching, lists. Holds what lives as long as the program: kept model lists,
 * places in scripts, what servers have taught us. Making it reads nothing.
 */
import {
  type ConfigService,
  HermesError,
  type LocalServer,
  type Logger,
  type ModelChoice,
  type ModelClient,
  type ModelOptionsQuery,
  type Models,
  type ResolvedModel,
  type SwitchResult,
} from "@/core/mod.ts";
import type { Platform } from "@/platform/mod.ts";
import { DemoClient } from "./builtin/demo_client.ts";
import { ScriptClient, type ScriptPositions } from "./builtin/script_client.ts";
import { discoverLocal } from "./discover.ts";
import { keyForHost, NO_KEY } from "./keys.ts";
import { ModelLists } from "./model_lists.ts";
import { buildOptions } from "./options.ts";
import { probeModel } from "./probe.ts";
import type { ServerMemory } from "./providers/chat_call.ts";
import { ChatClient } from "./providers/openai_chat.ts";
import { loadLibrary } from "./providers/send_chat.ts";
import { PROVIDERS } from "./provider_table.ts";
import { resolveRuntime } from "./resolve.ts";
import type { ModelFlags, ResolveContext } from "./resolve_types.ts";
import type { Runtime } from "./runtime.ts";
import { rowRuntime } from "./targets.ts";
import { secretEnvNames } from "./secret_env.ts";
import { switchModel } from "./switch.ts";
import { declaredModels, userProviders } from "./user_providers.ts";

export interface ModelsDeps {
  readonly platform: Platform;
  readonly config: ConfigService;
  readonly flags: ModelFlags;
  readonly log: Logger;
  /** Takes configured secrets out of texts for people. */
  redact(text: string): string;
}

const MAX_MEMORIES = 1_000;

export function createModels(deps: ModelsDeps): Models {
  return new ModelService(deps);
}

class ModelService implements Models {
  readonly #deps: ModelsDeps;
  readonly #lists: ModelLists;
  readonly #positions: ScriptPositions = new Map();
  readonly #memories = new Map<string, ServerMemory>();
  /** Keys live here and nowhere in the public record. */
  readonly #runtimes = new WeakMap<ResolvedModel, Runtime>();
  #warmed = false;

  constructor(deps: ModelsDeps) {
    this.#deps = deps;
    this.#lists = new ModelLists(deps.platform);
  }

  resolve(choice: ModelChoice = {}): ResolvedModel {
    return this.#register(resolveRuntime(choice, this.#context()));
  }

  client(model: ResolvedModel): ModelClient {
    return CLIENTS[model.apiMode]?.(this.#parts(model)) ?? refuseMode(model);
  }

  async switchTo(
    argument: string,
    current: ResolvedModel | null,
    options: { signal?: AbortSignal } = {},
  ): Promise<SwitchResult> {
    const context = this.#context();
    const { settings } = context;
    const { runtime, ...result } = await switchModel(argument, current, {
      settings,
      lists: this.#lists,
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
    for (const model of [this.#default(), current]) if (model) add(model.provider, model.model, model.label);
    for (const row of PROVIDERS) {
      if (row.models.length === 0 || row.flavour === "unsupported") continue;
      const runtime = rowRuntime(row, context);
      if (!runtime) continue;
      const kept = this.#lists.kept(runtime.baseUrl)?.map((m) => m.id) ?? [];
      for (const model of kept.length > 0 ? kept : row.models) add(row.id, model, row.label);
    }
    for (const { slug, label, entry, baseUrl } of userProviders(context.settings)) {
      const kept = this.#lists.kept(baseUrl)?.map((m) => m.id) ?? [];
      for (const model of [...declaredModels(entry), ...kept]) add(slug, model, label);
    }
    add("builtin", "demo", "Built-in demo");
    return [...found.values()];
  }

  options(query: ModelOptionsQuery): Promise<Record<string, unknown>> {
    const context = this.#context();
    return buildOptions(query, {
      settings: context.settings,
      lists: this.#lists,
      current: this.#maybe(query.current ?? {}),
      rowKey: (row) => rowRuntime(row, context),
      keyOfEndpoint: (slug, baseUrl) => this.#keyOfEndpoint(slug, baseUrl),
    });
  }

  discoverLocal(options: { signal?: AbortSignal } = {}): Promise<readonly LocalServer[]> {
    return discoverLocal(this.#deps.platform, (name) => this.#deps.config.env(name), options.signal);
  }

  probe(
    model: ResolvedModel,
    options: { signal?: AbortSignal } = {},
  ): Promise<{ ok: boolean; message: string }> {
    return probeModel(this.client(model), this.#deps.platform, options.signal);
  }

  warm(model: ResolvedModel): void {
    if (this.#warmed || model.apiMode === "builtin") return;
    this.#warmed = true;
    // After the answer that is being written now.
    setTimeout(() => {
      loadLibrary().catch((error: unknown) =>
        this.#deps.log.debug(`Cannot load the model library: ${error}`)
      );
    }, 0);
  }

  secretEnvNames(): readonly string[] {
    const own = userProviders(this.#deps.config.settings()).flatMap((p) => p.entry.key_env ?? []);
    return secretEnvNames(own);
  }

  #context(): ResolveContext {
    const { config, flags } = this.#deps;
    return {
      settings: config.settings(),
      flags,
      env: (name) => config.env(name),
      statedWindow: (baseUrl, model) => this.#lists.statedWindow(baseUrl, model),
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

  #parts(model: ResolvedModel): ClientParts {
    const { platform, redact, config } = this.#deps;
    const { provider, baseUrl, apiMode } = model;
    // A copy of a record has lost its key: it is looked up again by the same rules.
    const runtime = this.#runtimes.get(model) ??
      resolveRuntime({ model: model.model, provider, baseUrl, apiMode }, this.#context());
    return {
      runtime,
      platform,
      redact,
      positions: this.#positions,
      env: (name) => config.env(name),
      memory: (sessionId) => this.#memory(`${sessionId}\n${runtime.model.baseUrl}`),
    };
  }

  #memory(key: string): ServerMemory {
    let memory = this.#memories.get(key);
    if (!memory) {
      memory = { answersWhole: false, refusesCap: false };
      this.#memories.set(key, memory);
      if (this.#memories.size > MAX_MEMORIES) this.#memories.delete(this.#memories.keys().next().value!);
    }
    return memory;
  }
}

interface ClientParts {
  readonly runtime: Runtime;
  readonly platform: Platform;
  readonly positions: ScriptPositions;
  redact(text: string): string;
  env(name: string): string | undefined;
  memory(sessionId: string): ServerMemory;
}

/** One adapter per wire; a new flavour is one line. */
const CLIENTS: Readonly<Record<string, (parts: ClientParts) => ModelClient>> = {
  chat_completions: (parts) => new ChatClient(parts),
  builtin: ({ runtime, platform, positions, redact }) =>
    runtime.model.isDemo
      ? new DemoClient(runtime.model, platform)
      : new ScriptClient({ info: runtime.model, platform, positions, redact }),
};

function refuseMode(model: ResolvedModel): never {
  throw new HermesError("invalid_provider", `The wire "${model.apiMode}" is not spoken by this version`, {
    provider: model.provider,
    api_mode: model.apiMode,
  });
}
