/**
 * What is asked for: model name and provider, in the order of core.md E.2. Decides nothing about keys or addresses.
 *
 *   name:      session ─► command line ─► HERMES_MODEL ─► HERMES_INFERENCE_MODEL ─► model.default
 *   provider:  session ─► name prefix ─► command line ─► model.provider ─► HERMES_INFERENCE_PROVIDER ─► auto
 */
import type { ModelChoice, Settings } from "@/core/contract.ts";
import { keyForRow } from "./keys.ts";
import { normaliseBaseUrl } from "./endpoints.ts";
import { splitModelName } from "./names.ts";
import { CUSTOM_ALIASES, findProvider } from "./provider_table.ts";
import type { ResolveContext, Wanted } from "./resolve_types.ts";
import { findUserProvider } from "./user_providers.ts";

export function whatIsWanted(choice: ModelChoice, context: ResolveContext): Wanted {
  const { settings, flags, env } = context;
  const baseUrl = choice.baseUrl ? normaliseBaseUrl(choice.baseUrl) : null;
  if (choice.model) return named(choice.model, choice.provider, baseUrl, "session", context);
  if (choice.provider) {
    return byProvider(choice.provider, baseUrl, "session", context);
  }
  if (flags.demo) return { model: "demo", provider: "builtin", baseUrl: null, source: "request" };
  if (flags.model) return named(flags.model, flags.provider, baseUrl, "request", context);
  if (flags.provider) return byProvider(flags.provider, baseUrl, "request", context);
  const fromEnv = env("HERMES_MODEL") ?? env("HERMES_INFERENCE_MODEL");
  const name = fromEnv ?? settings.model.default;
  const source = fromEnv ? "environment" : settings.model.default ? "config" : "auto";
  return named(name, undefined, baseUrl, source, context);
}

/** A provider without a model: its own default, or the configured name when it belongs to that provider. */
function byProvider(
  provider: string,
  baseUrl: string | null,
  source: string,
  context: ResolveContext,
): Wanted {
  const standard = defaultProvider(context);
  const isDefault = standard !== null && sameProvider(standard, provider);
  return {
    model: isDefault ? context.settings.model.default : "",
    provider: provider.trim(),
    baseUrl,
    source,
  };
}

/** A name that may carry its provider; without one the defaults decide. */
function named(
  text: string,
  provider: string | undefined,
  baseUrl: string | null,
  source: string,
  context: ResolveContext,
): Wanted {
  const alias = aliasOf(text, context.settings);
  if (alias && !provider) return { ...alias, baseUrl: alias.baseUrl ?? baseUrl, source };
  if (provider) {
    // `--provider box --model custom:box:m` says the same thing twice.
    const split = splitModelName(text, (name) => findUserProvider(context.settings, name) !== null);
    const model = split.provider && sameProvider(split.provider, provider) ? split.model : text.trim();
    return { model, provider: provider.trim(), baseUrl, source };
  }
  const split = splitModelName(text, (name) => findUserProvider(context.settings, name) !== null);
  if (split.provider && !isShadowedAlias(split.provider, context)) {
    return { model: split.model, provider: split.provider, baseUrl, source };
  }
  return { model: text.trim(), provider: defaultProvider(context), baseUrl, source };
}

function sameProvider(a: string, b: string): boolean {
  const id = (name: string) => findProvider(name)?.id ?? name.trim().toLowerCase();
  return id(a) === id(b);
}

/** `qwen:7b` on one's own server is a model, not the provider whose alias is `qwen` and whose key is missing. */
function isShadowedAlias(provider: string, context: ResolveContext): boolean {
  const row = findProvider(provider);
  if (!row || row.id === provider) return false;
  const standard = defaultProvider(context);
  const isOwnEndpoint = standard === null
    ? context.settings.model.base_url !== ""
    : CUSTOM_ALIASES.includes(standard.toLowerCase()) ||
      findUserProvider(context.settings, standard) !== null;
  return isOwnEndpoint && keyForRow(row, row.baseUrl, context.env) === null;
}

/** `null` = automatic. The saved provider outranks the environment (core.md E.2). */
function defaultProvider({ settings, env }: ResolveContext): string | null {
  const saved = settings.model.provider.trim();
  if (saved !== "" && saved.toLowerCase() !== "auto") return saved;
  const seeded = env("HERMES_INFERENCE_PROVIDER")?.trim();
  return seeded && seeded.toLowerCase() !== "auto" ? seeded : null;
}

/** Short names of the user's own: `model_aliases`, then `model.aliases` (`provider/model`). */
function aliasOf(
  text: string,
  settings: Settings,
): { model: string; provider: string | null; baseUrl: string | null } | null {
  const name = text.trim();
  if (Object.hasOwn(settings.model_aliases, name)) {
    const { model, provider, base_url } = settings.model_aliases[name]!;
    if (!model) return null;
    return { model, provider: provider ?? null, baseUrl: base_url ? normaliseBaseUrl(base_url) : null };
  }
  if (!Object.hasOwn(settings.model.aliases, name)) return null;
  const full = settings.model.aliases[name]!;
  const slash = full.indexOf("/");
  const left = slash > 0 ? full.slice(0, slash) : "";
  const isProvider = findProvider(left) !== null || CUSTOM_ALIASES.includes(left) ||
    left.startsWith("custom:") ||
    findUserProvider(settings, left) !== null;
  if (isProvider) return { model: full.slice(slash + 1), provider: left, baseUrl: null };
  const split = splitModelName(full, (n) => findUserProvider(settings, n) !== null);
  return { model: split.model, provider: split.provider ?? null, baseUrl: null };
}
