/**
 * Which model a session uses and with which key (core.md E.2, F.2). Pure of network and cheap: it runs at start.
 * Never falls back to the demo, and never gives a key to a host it does not belong to.
 *
 *   choice ──► wanted.ts: name, provider ──► targets.ts: address ──► credentials.ts: key ──► Runtime
 */
import { HermesError, type ModelChoice } from "@/core/mod.ts";
import { contextWindow } from "./context_window.ts";
import { isConfigured, requireKey } from "./credentials.ts";
import { apiModeByUrl, hostOf, isLocalEndpoint } from "./endpoints.ts";
import type { FoundKey } from "./keys.ts";
import { normaliseModel } from "./names.ts";
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
  const key = requireKey(target, context);
  return finish(target, model, key, wanted, context);
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
      label: isDemo ? "Built-in demo (demo)" : "Built-in script",
      isDemo,
      contextWindow: 128_000,
      supportsVision: false,
      reasoningEfforts: [],
      source: wanted.source,
    },
    apiKey: "",
    keySource: "none",
    headers: {},
    extraBody: {},
    entry: null,
    isLocal: true,
  };
}

/** Wires and logins that are known by name but not spoken are refused by name, before any key is asked for. */
function refuseUnspoken(target: Target, choice: ModelChoice, { settings }: ResolveContext): void {
  if (target.row?.flavour === "unsupported") {
    throw new HermesError(
      "invalid_provider",
      `Provider "${target.provider}" cannot be used yet: this version speaks Chat Completions only. ` +
        `Use it through openrouter or a compatible endpoint. ${SETUP_ADVICE}`,
      { provider: target.provider },
    );
  }
  const stated = choice.apiMode ?? target.entry?.api_mode ?? (target.row ? "" : settings.model.api_mode);
  const mode = stated || (target.row ? "chat_completions" : apiModeByUrl(target.baseUrl));
  if (mode !== "anthropic_messages" && mode !== "bedrock_converse") return;
  throw new HermesError(
    "invalid_provider",
    `The endpoint ${hostOf(target.baseUrl)} wants the ${mode} wire, which this version does not speak: ` +
      "use its Chat Completions address, or set api_mode to chat_completions",
    { provider: target.provider, api_mode: mode },
  );
}

function modelName(target: Target, wanted: Wanted, { settings }: ResolveContext): string {
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
  throw new HermesError(
    "invalid_model",
    `No model is chosen for provider "${target.provider}": set model.default, or pass --model ${target.provider}:<name>`,
    { provider: target.provider },
  );
}

function finish(
  target: Target,
  model: string,
  key: FoundKey,
  wanted: Wanted,
  context: ResolveContext,
): Runtime {
  const { settings } = context;
  const facts = modelFacts(target.entry, model);
  const configured = isConfigured(target, context);
  const vision = (configured ? settings.model.supports_vision : null) ?? facts.supports_vision ??
    seesImages(model);
  return {
    model: {
      provider: target.provider,
      model,
      baseUrl: target.baseUrl,
      apiMode: "chat_completions",
      label: target.label,
      isDemo: false,
      contextWindow: contextWindow(model, [
        configured ? settings.model.context_length : null,
        facts.context_length,
        target.entry?.context_length,
        context.statedWindow(target.baseUrl, model),
      ]),
      supportsVision: vision,
      reasoningEfforts: effortsOf(target.provider, model),
      source: target.isAuto && wanted.source === "config" ? "config" : wanted.source,
    },
    apiKey: key.key,
    keySource: key.from,
    headers: {
      ...(configured ? { ...settings.model.default_headers, ...settings.model.extra_headers } : {}),
      ...target.entry?.extra_headers,
    },
    extraBody: target.entry?.extra_body ?? {},
    entry: target.entry,
    isLocal: isLocalEndpoint(target.baseUrl),
  };
}
