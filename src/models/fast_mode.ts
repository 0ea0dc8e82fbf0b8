/**
 * Fast modes of providers (core.md F.10): which models have one, and how much more it costs. OpenAI calls it the tier
 * `priority`, Anthropic `speed: "fast"`. A model that is not known here has none; one whose server refuses it all the
 * same is called without (`refusals.ts`).
 */
import { hostOf, isHostOf } from "./endpoints.ts";

interface FastModels {
  readonly models: RegExp;
  readonly not?: RegExp;
  /** Of the usual price. */
  readonly factor: number;
}

const OPENAI: readonly FastModels[] = [
  { models: /^gpt-5\.5($|-\d)/, factor: 2.5 },
  {
    models: /^(gpt-(4o|4\.1|[5-9])|o3|o4-mini)/,
    not: /codex|-(pro|nano|chat|audio|realtime|search|transcribe|tts|image|deep)/,
    factor: 2,
  },
];

const ANTHROPIC: readonly FastModels[] = [
  { models: /^claude-opus-4[.-]6/, factor: 6 },
  { models: /^claude-(opus-(4[.-]8|5)|(fable|mythos)-5[.-]2)/, factor: 2 },
];

/** `null`: it has no fast mode. */
export function fastFactor(provider: string, baseUrl: string, model: string): number | null {
  const host = hostOf(baseUrl);
  const known = provider === "openai-api" || isHostOf(host, "openai.com")
    ? OPENAI
    : provider === "anthropic" || host === "api.anthropic.com"
    ? ANTHROPIC
    : [];
  const id = model.toLowerCase();
  return known.find(({ models, not }) => models.test(id) && !not?.test(id))?.factor ?? null;
}
