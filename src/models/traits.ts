/** What a model id tells about the model, for defaults only; settings always win. */

const VISION =
  /claude|gpt-4o|gpt-4[.-]1|gpt-5|(^|\/)o[34]|gemini|gemma-?[34]|llama-?4|grok-4|pixtral|llava|(^|[-/])vl($|[-:])|-vl-|vision|glm-4[.-]\dv|kimi-k2[.-]5/;

export function seesImages(model: string): boolean {
  return VISION.test(model.toLowerCase());
}

const REASONS =
  /gpt-5|codex|(^|\/)o[134]|claude-(sonnet|opus|haiku|fable)|gemini-[23]|deepseek|glm|kimi|grok|qwen-?3|r1|think/;

/** Efforts that `reasoning.ts` can express for this route; empty when none is known to work. */
export function effortsOf(provider: string, model: string): readonly string[] {
  const id = model.toLowerCase();
  if (provider === "openrouter" || provider === "nous") {
    return REASONS.test(id) ? ["none", "minimal", "low", "medium", "high", "xhigh"] : [];
  }
  if (provider === "openai-api") {
    return /gpt-5|codex|^o[134]/.test(id) ? ["minimal", "low", "medium", "high"] : [];
  }
  if (provider === "deepseek") return ["none", "low", "high", "max"];
  if (provider === "zai" || provider.startsWith("kimi-coding")) return ["none", "medium"];
  return [];
}

/** Models that think for minutes before the first token. */
export function isSlowThinker(model: string): boolean {
  return /(^|[-/])(o[134]|r1|reasoner|qwq)($|[-:.])|think|gpt-5[\w.-]*(pro|codex)/.test(model.toLowerCase());
}
