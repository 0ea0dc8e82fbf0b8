/**
 * How model names are written (core.md F.4): `name`, `provider:model`, `custom:<name>:<model>`, `vendor/model:tag`,
 * and the form each provider wants them in. Pure text; credentials and lists are others' business.
 */
import { CUSTOM_ALIASES, findProvider } from "./provider_table.ts";

export interface SplitName {
  /** Provider as written on the left (`builtin`, `openrouter`, `custom:box`, `ollama`); absent for a bare name. */
  readonly provider?: string;
  /** May be empty when only a provider was named. */
  readonly model: string;
}

/**
 * Splits at the first colon when what stands before it is a provider; any other colon belongs to the model
 * (`llama3:8b`, `vendor/model:free`). `isNamed` knows the user's own providers.
 */
export function splitModelName(text: string, isNamed: (name: string) => boolean): SplitName {
  const name = text.trim();
  const colon = name.indexOf(":");
  const slash = name.indexOf("/");
  if (colon <= 0 || (slash !== -1 && slash < colon)) return { model: name };
  const left = name.slice(0, colon).toLowerCase();
  const right = name.slice(colon + 1).trim();
  if (left === "builtin") return { provider: "builtin", model: right };
  if (left === "custom") return splitCustom(right, isNamed);
  if (CUSTOM_ALIASES.includes(left) || findProvider(left) || left === "openai") {
    return { provider: left, model: right };
  }
  if (isNamed(left)) return { provider: `custom:${left}`, model: right };
  return { model: name };
}

function splitCustom(right: string, isNamed: (name: string) => boolean): SplitName {
  const colon = right.indexOf(":");
  const left = colon === -1 ? right : right.slice(0, colon);
  if (isNamed(left)) {
    return { provider: `custom:${left}`, model: colon === -1 ? "" : right.slice(colon + 1).trim() };
  }
  return { provider: "custom", model: right };
}

const VENDORS: readonly (readonly [RegExp, string])[] = [
  [/^claude/, "anthropic"],
  [/^(gpt|o1|o3|o4)/, "openai"],
  [/^(gemini|gemma)/, "google"],
  [/^deepseek/, "deepseek"],
  [/^glm/, "z-ai"],
  [/^kimi/, "moonshotai"],
  [/^minimax/, "minimax"],
  [/^grok/, "x-ai"],
  [/^qwen/, "qwen"],
  [/^mimo/, "xiaomi"],
  [/^trinity/, "arcee-ai"],
  [/^nemotron/, "nvidia"],
  [/^llama/, "meta-llama"],
  [/^step/, "stepfun"],
];

const ADDS_VENDOR = new Set(["openrouter", "nous", "kilocode"]);
const DROPS_VENDOR = new Set(["copilot", "openai-codex"]);
const OWN_PREFIXES: Readonly<Record<string, readonly string[]>> = {
  "openai-api": ["openai"],
  zai: ["zai", "z-ai", "zhipu"],
  "kimi-coding": ["kimi", "moonshot", "moonshotai", "kimi-coding"],
  "kimi-coding-cn": ["kimi", "moonshot", "moonshotai", "kimi-coding-cn"],
  minimax: ["minimax"],
  alibaba: ["alibaba", "qwen"],
  xiaomi: ["xiaomi"],
  arcee: ["arcee", "arcee-ai"],
  "ollama-cloud": ["ollama-cloud", "ollama"],
  gemini: ["gemini", "google"],
  xai: ["xai", "x-ai"],
  custom: ["custom"],
};

/** The id in the form its provider expects (step 8). */
export function normaliseModel(provider: string, model: string): string {
  if (ADDS_VENDOR.has(provider)) return addVendor(model);
  if (provider === "anthropic") return dropPrefix(model, ["anthropic"]).replace(/(\d)\.(?=\d)/g, "$1-");
  if (DROPS_VENDOR.has(provider)) return model.slice(model.lastIndexOf("/") + 1);
  if (provider === "deepseek") return deepseekName(dropPrefix(model, ["deepseek"]));
  if (provider === "opencode-zen") return zenName(model);
  const own = OWN_PREFIXES[provider.startsWith("custom:") ? "custom" : provider];
  const bare = own ? dropPrefix(model, own) : model;
  return provider === "xiaomi" ? bare.toLowerCase() : bare;
}

function addVendor(model: string): string {
  if (model.includes("/")) return model;
  // On an aggregator `vendor:model` is a slip for `vendor/model`; a tag after the model stays.
  const colon = model.indexOf(":");
  const left = colon === -1 ? "" : model.slice(0, colon).toLowerCase();
  if (VENDORS.some(([, vendor]) => vendor === left)) return `${left}/${model.slice(colon + 1)}`;
  const vendor = VENDORS.find(([pattern]) => pattern.test(model.toLowerCase()))?.[1];
  return vendor ? `${vendor}/${model}` : model;
}

function dropPrefix(model: string, prefixes: readonly string[]): string {
  const slash = model.indexOf("/");
  return slash > 0 && prefixes.includes(model.slice(0, slash).toLowerCase()) ? model.slice(slash + 1) : model;
}

function deepseekName(model: string): string {
  const id = model.toLowerCase();
  if (/^deepseek-(chat|reasoner|flash|pro)$|^deepseek-v\d/.test(id)) return id;
  return /r1|reason|think/.test(id) ? "deepseek-reasoner" : "deepseek-chat";
}

function zenName(model: string): string {
  const bare = model.slice(model.lastIndexOf("/") + 1);
  return bare.startsWith("claude") ? bare.replace(/(\d)\.(?=\d)/g, "$1-") : bare;
}

/** The name of a provider of the user's own, as it is compared: any case, blanks and underscores as dashes. */
export function slugOf(name: string): string {
  return name.trim().toLowerCase().replace(/[\s_]+/g, "-");
}
