/** What a model can do, for defaults only; settings always win. The catalogue knows, else the id tells. */
import type { CatalogModel } from "./catalog_format.ts";
import { isAdaptiveClaude } from "./claude_ids.ts";

const VISION =
  /claude|gpt-4o|gpt-4[.-]1|gpt-[5-9]|(^|\/)o[34]|gemini|gemma-?[34]|llama-?4|grok-4|pixtral|llava|(^|[-/])vl($|[-:])|-vl-|vision|glm-4[.-]\dv|kimi-k(2[.-]5|[3-9])/;

export function seesImages(model: string, known: CatalogModel | null): boolean {
  return known?.sees ?? VISION.test(model.toLowerCase());
}

const REASONS =
  /gpt-[5-9]|codex|(^|\/)o[134]|claude-(sonnet|opus|haiku|fable)|gemini-[2-9]|deepseek|glm|kimi|grok|qwen-?3|r1|think/;

/** False for models that think: several of them refuse a temperature, and the others know better. */
export function takesTemperature(model: string): boolean {
  return !REASONS.test(model.toLowerCase());
}

/** Efforts that this route can express, in order; empty when none is known to work. */
export function effortsOf(
  provider: string,
  model: string,
  apiMode: string,
  known: CatalogModel | null,
): readonly string[] {
  const id = model.toLowerCase();
  if (known && !known.thinks) return [];
  if (apiMode === "codex_responses") return responsesEfforts(provider, id, known);
  if (apiMode === "anthropic_messages") return messagesEfforts(id, known);
  if (provider === "openrouter" || provider === "nous") {
    return known || REASONS.test(id) ? ["none", "minimal", "low", "medium", "high", "xhigh"] : [];
  }
  if (provider === "openai-api") {
    return /gpt-[5-9]|codex|^o[134]/.test(id) ? ["minimal", "low", "medium", "high"] : [];
  }
  if (provider === "deepseek") return ["none", "low", "high", "max"];
  if (provider === "zai") return zaiEfforts(versionOf("glm-", id));
  if (provider.startsWith("kimi-coding")) {
    return versionOf("kimi-k", id) >= 3 ? ["none", "low", "medium", "high"] : ["none", "medium"];
  }
  return [];
}

function zaiEfforts(version: number): readonly string[] {
  if (version >= 5.3) return ["low", "high", "max"];
  return version >= 5.2 ? ["none", "minimal", "low", "medium", "high", "xhigh", "max"] : ["none", "medium"];
}

/** The number behind `name` in the id of a model, `glm-5.2` → 5.2; 0 when there is none. */
export function versionOf(name: string, id: string): number {
  const at = id.indexOf(name);
  return at === -1 ? 0 : Number.parseFloat(id.slice(at + name.length)) || 0;
}

function responsesEfforts(provider: string, id: string, known: CatalogModel | null): readonly string[] {
  if (provider === "xai") return known ? ["low", "medium", "high"] : [];
  if (known) return known.efforts.filter((effort) => effort !== "minimal");
  return /gpt-[5-9]|codex|^o[134]/.test(id) && !id.includes("chat") ? ["low", "medium", "high"] : [];
}

function messagesEfforts(id: string, known: CatalogModel | null): readonly string[] {
  if (!id.includes("claude")) return [];
  if (!isAdaptiveClaude(id)) return id.includes("haiku") ? [] : ["none", "low", "medium", "high", "xhigh"];
  const most = known?.efforts.filter((effort) => effort === "xhigh" || effort === "max") ?? ["max"];
  return ["none", "low", "medium", "high", ...most];
}

/** Models that think for minutes before the first token. */
export function isSlowThinker(model: string): boolean {
  return /(^|[-/])(o[134]|r1|reasoner|qwq)($|[-:.])|think|gpt-[5-9][\w.-]*(pro|codex)/.test(
    model.toLowerCase(),
  );
}
