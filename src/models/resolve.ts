/**
 * Which model a session uses and with which key (core.md E.2, F.2). Pure of network and cheap: it runs at start.
 * Never falls back to the demo, and never gives a key to a host it does not belong to.
 *
 *   choice ──► wanted.ts: name, provider ──► targets.ts: address ──► credentials.ts: key ──► api_mode.ts: wire ──► Runtime
 */
import { auxiliaryEntry, HermesError, type ModelChoice } from "@/core/contract.ts";
import { apiModeOf } from "./api_mode.ts";
import type { CatalogModel } from "./catalog_format.ts";
import { contextWindow, isPlausibleWindow } from "./context_window.ts";
import {
  isConfigured,
  keyOfAuxiliary,
  keyOfDelegation,
  keyOfFallback,
  keyOfRoute,
  poolOf,
  requireKey,
} from "./credentials.ts";
import { hostOf, isLocalEndpoint } from "./endpoints.ts";
import { cacheHeaders } from "./openrouter_cache.ts";
import { fastFactor } from "./fast_mode.ts";
import type { FoundKey } from "./keys.ts";
import { localKindOf } from "./local_kind.ts";
import { normaliseModel } from "./names.ts";
import { noModel, onlyModel } from "./only_model.ts";
import { type ResolveContext, SETUP_ADVICE, type Target, type Wanted } from "./resolve_types.ts";
import type { Runtime } from "./runtime.ts";
import { automaticTarget, namedTarget } from "./targets.ts";
import { effortsOf, seesImages } from "./traits.ts";
import { declaredModels, modelFacts } from "./user_providers.ts";
import { whatIsWanted } from "./wanted.ts";

/** Throws `HermesError`: `no_provider_configured`, `missing_api_key`, `invalid_provider`, `invalid_model`. */
export function resolveRuntime(choice: ModelChoice, context: ResolveContext): Runtime {
  const wanted = whatIsWanted(choice, context);
  if (wanted.provider === "builtin") return builtinRuntime(wanted);
  const target = wanted.provider === null
    ? automaticTarget(wanted, context)
    : namedTarget(wanted.provider, wanted, context);
  refuseUnspoken(target, choice, context);
  const model = modelName(target, wanted, context);
  // Written beside an address for this one purpose.
  const given = keyOfRoute(choice, context) ?? keyOfFallback(choice, context) ??
    keyOfDelegation(choice, context) ?? keyOfAuxiliary(choice, context);
  const key = given ?? requireKey(target, context);
  const pool = given ? null : poolOf(target);
  return { ...finish(target, model, key, wanted, choice, context), pool };
}

function builtinRuntime(wanted: Wanted): Runtime {
  const model = wanted.model.trim();
  const isDemo = model === "" || model.toLowerCase() === "demo";
  const isScript = /^script:.+/i.test(model);
  if (!isDemo && !isScript) {
    throw new HermesError(
      "invalid_model",
      `Unknown built-in model "${model}": use builtin:demo or builtin:script:<path>`,
      { provider: "builtin", model },
    );
  }
  return {
    model: {
      provider: "builtin",
      model: isDemo ? "demo" : model,
      baseUrl: "",
      apiMode: "builtin",
      label: isDemo ? "Built-in demo" : "Built-in script",
      isDemo,
      contextWindow: 128_000,
      supportsVision: false,
      reasoningEfforts: [],
      source: wanted.source,
    },
    apiKey: "",
    keySource: "none",
    pool: null,
    headers: {},
    extraBody: {},
    entry: null,
    isLocal: true,
    localKind: null,
    statedWindow: null,
    cacheTtl: "off",
    maxOutput: null,
  };
}

/** Wires and logins that are known by name but not spoken are refused by name, before any key is asked for. */
function refuseUnspoken(target: Target, choice: ModelChoice, context: ResolveContext): void {
  if (target.row?.flavour === "unsupported") {
    throw new HermesError(
      "invalid_provider",
      `Provider "${target.provider}" cannot be used yet: this version does not speak its wire or its login. ` +
        `Use it through openrouter or a compatible endpoint. ${SETUP_ADVICE}`,
      { provider: target.provider },
    );
  }
  const mode = apiModeOf(target, "", choice, context);
  if (mode !== "bedrock_converse") return;
  throw new HermesError(
    "invalid_provider",
    `The endpoint ${hostOf(target.baseUrl)} wants the ${mode} wire, which this version does not speak: ` +
      "use its Chat Completions address, or set api_mode to chat_completions",
    { provider: target.provider, api_mode: mode },
  );
}

function modelName(target: Target, wanted: Wanted, context: ResolveContext): string {
  const { settings } = context;
  const own = declaredModels(target.entry);
  const name = wanted.model || own[0] || target.row?.models[0] ||
    (target.provider === "custom" ? settings.model.default : "");
  if (/\s/.test(name)) {
    throw new HermesError(
      "invalid_model",
      `Invalid model name "${name.slice(0, 100)}": it contains white space`,
    );
  }
  if (name) return own.includes(name) ? name : normaliseModel(target.provider, name);
  const { provider, baseUrl } = target;
  if (isLocalEndpoint(baseUrl)) return onlyModel(provider, baseUrl, context.offered(baseUrl));
  throw noModel(provider);
}

function finish(
  target: Target,
  model: string,
  key: FoundKey,
  wanted: Wanted,
  choice: ModelChoice,
  context: ResolveContext,
): Omit<Runtime, "pool"> {
  const { settings, catalog } = context;
  const facts = modelFacts(target.entry, model);
  const configured = isConfigured(target, context);
  const apiMode = apiModeOf(target, model, choice, context);
  const known = catalog.traits(target.provider, model);
  const fast = fastFactor(target.provider, target.baseUrl, model);
  const vision = (configured ? settings.model.supports_vision : null) ?? facts.supports_vision ??
    seesImages(model, known);
  const stated = [
    configured ? settings.model.context_length : null,
    facts.context_length,
    target.entry?.context_length,
  ].find(isPlausibleWindow) ?? null;
  const headers = {
    ...(configured ? { ...settings.model.default_headers, ...settings.model.extra_headers } : {}),
    ...target.entry?.extra_headers,
  };
  return {
    model: {
      provider: target.provider,
      model,
      baseUrl: target.baseUrl,
      apiMode,
      label: target.label,
      isDemo: false,
      contextWindow: stated ?? foundWindow(target, model, known, context),
      supportsVision: vision,
      reasoningEfforts: effortsOf(target.provider, model, apiMode, known),
      ...(fast === null ? {} : { fastFactor: fast }),
      source: target.isAuto && wanted.source === "config" ? "config" : wanted.source,
    },
    apiKey: key.key,
    keySource: key.from,
    headers: target.provider === "openrouter" ? { ...cacheHeaders(settings, headers), ...headers } : headers,
    extraBody: {
      ...(target.provider === "openrouter" ? routingWishes(settings) : {}),
      ...target.entry?.extra_body,
      ...auxiliaryEntry(settings, choice)?.extraBody,
    },
    entry: target.entry,
    isLocal: isLocalEndpoint(target.baseUrl),
    localKind: localKindOf(target, context),
    statedWindow: stated,
    cacheTtl: settings.prompt_caching?.cache_ttl ?? "5m",
    maxOutput: known?.maxOutput ?? null,
  };
}

/** `provider_routing`, as OpenRouter names it. */
function routingWishes({ provider_routing = {} }: ResolveContext["settings"]): Record<string, unknown> {
  return Object.keys(provider_routing).length === 0 ? {} : { provider: provider_routing };
}

/** core.md F.7: what was learned, the catalogue, what the endpoint has stated, the family. */
function foundWindow(
  target: Target,
  model: string,
  known: CatalogModel | null,
  context: ResolveContext,
): number {
  const learned = context.learnedWindow(target.baseUrl, model);
  if (learned !== null) return learned;
  // What a provider of the table sells is known well enough not to look at the disk before the first answer.
  if (target.row && known?.window) return known.window;
  return contextWindow(model, [context.statedWindow(target.baseUrl, model), known?.window]);
}
