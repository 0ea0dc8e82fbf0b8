/** How an effort is said to each provider (core.md A.12); nothing is sent when none is set. */
import { alwaysThinks } from "../claude_ids.ts";
import { versionOf } from "../traits.ts";

type Body = Record<string, unknown>;

function isOff(effort: string): boolean {
  return effort === "none" || effort === "false" || effort === "disabled";
}

/** Body fields for an effort; empty when it is unset or the route has no way to say it. */
export function reasoningFields(provider: string, model: string, effort: string | undefined): Body {
  const level = effort?.trim().toLowerCase();
  if (!level) return {};
  const write = provider.startsWith("custom") ? customFields : ROUTES[provider];
  return write ? write(level, model.toLowerCase()) : {};
}

const ROUTES: Readonly<Record<string, (level: string, model: string) => Body>> = {
  openrouter: routedFields,
  nous: routedFields,
  lmstudio: customFields,
  "ollama-cloud": customFields,
  "openai-api": openaiFields,
  "azure-foundry": openaiFields,
  deepseek: deepseekFields,
  zai: zaiFields,
  "kimi-coding": kimiFields,
  "kimi-coding-cn": kimiFields,
  gemini: geminiFields,
  xai: (level, model) =>
    isOff(level) || !/mini/.test(model) ? {} : { reasoning_effort: upTo("high", level, "low") },
};

function routedFields(level: string, model: string): Body {
  // Models that always think take no switch, but a wish how much they write.
  if (alwaysThinks(model)) return isOff(level) ? {} : { verbosity: upTo("max", level, "low") };
  return { reasoning: isOff(level) ? { enabled: false } : { enabled: true, effort: upTo("xhigh", level) } };
}

function customFields(level: string): Body {
  return isOff(level) ? { reasoning_effort: "none", think: false } : { reasoning_effort: level };
}

function openaiFields(level: string, model: string): Body {
  if (!/gpt-[5-9]|codex|(^|\/)o[134]/.test(model)) return {};
  if (isOff(level)) return { reasoning_effort: /gpt-(5[.-][1-9]|[6-9])/.test(model) ? "none" : "minimal" };
  return { reasoning_effort: upTo(/gpt-(5[.-][2-9]|[6-9])/.test(model) ? "xhigh" : "high", level) };
}

function deepseekFields(level: string): Body {
  if (isOff(level)) return { thinking: { type: "disabled" } };
  const effort = LEVELS.indexOf(level) <= 2 ? "low" : LEVELS.indexOf(level) <= 4 ? "high" : "max";
  return { thinking: { type: "enabled" }, reasoning_effort: effort };
}

function toggledFields(level: string): Body {
  return { thinking: { type: isOff(level) ? "disabled" : "enabled" } };
}

/** GLM takes an effort from 5.2 on; from 5.3 on it always thinks, in three degrees. */
function zaiFields(level: string, model: string): Body {
  const version = versionOf("glm-", model);
  if (version >= 5.3) return deepseekFields(isOff(level) ? "low" : level);
  if (version < 5.2 || isOff(level)) return toggledFields(level);
  return { ...toggledFields(level), reasoning_effort: upTo("max", level) };
}

/** Kimi takes an effort from K3 on. */
function kimiFields(level: string, model: string): Body {
  if (isOff(level) || versionOf("kimi-k", model) < 3) return toggledFields(level);
  return { ...toggledFields(level), reasoning_effort: upTo("high", level, "low") };
}

/** Google reads its own fields out of an `extra_body` in the body; an effort beside them would be refused. */
function geminiFields(level: string, model: string): Body {
  const version = versionOf("gemini-", model);
  // Names without a number are of the newest.
  const config = version > 0 && version < 3 ? budgetConfig(level, model) : levelConfig(level, model);
  return { extra_body: { google: { thinking_config: config } } };
}

/** Tokens for thinking, as the 2.5 models are told; the larger of them cannot do without. */
function budgetConfig(level: string, model: string): Body {
  const isPro = model.includes("pro");
  if (isOff(level)) return { thinking_budget: isPro ? 128 : 0 };
  const at = LEVELS.indexOf(level);
  const budget = at <= 2 ? 1_024 : at === 3 ? 8_192 : 24_576;
  return { thinking_budget: budget, include_thoughts: true };
}

/** From 3 on there are levels, none of which is none: the least is what comes nearest. */
function levelConfig(level: string, model: string): Body {
  const lowest = model.includes("pro") ? "low" : "minimal";
  if (isOff(level)) return { thinking_level: lowest };
  return { thinking_level: upTo("high", level, lowest), include_thoughts: true };
}

const LEVELS = ["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"];

/** The level, or the nearest one that the provider has. */
function upTo(highest: string, level: string, lowest = "minimal"): string {
  const at = LEVELS.indexOf(level);
  if (at === -1) return level;
  return LEVELS[Math.min(LEVELS.indexOf(highest), Math.max(LEVELS.indexOf(lowest), at))]!;
}
