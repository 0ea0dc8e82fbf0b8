/**
 * Personalities: a few lines on how to talk, laid over the identity (core.md A.4 "context"). Built-in ones and those of
 * `personalities` in the config; a configured one wins over a built-in of the same name.
 */
import type { Settings } from "./settings.ts";

const BUILT_IN: Readonly<Record<string, string>> = {
  concise: "Answer in as few words as the matter allows. No preamble, no summary of what was asked.",
  technical:
    "Talk to an expert: exact terms, numbers with units, trade-offs named, sources and commands shown.",
  teacher:
    "Explain as a patient teacher: first the idea, then an example, then the details. Check understanding.",
  creative: "Look for unusual angles and offer more than one idea before settling on one.",
  friendly: "Be warm and encouraging, in plain words, without flattery.",
};
/** Words that mean no personality. */
const NONE = new Set(["", "none", "default", "neutral"]);

/** Names that can be chosen, built-in ones first. */
export function personalityNames(settings: Settings): readonly string[] {
  return [...new Set([...Object.keys(BUILT_IN), ...Object.keys(settings.personalities)])];
}

/** True for a known name and for the words that mean none. */
export function isPersonality(name: string, settings: Settings): boolean {
  return NONE.has(name.trim().toLowerCase()) || textOf(name.trim(), settings) !== null;
}

/** The overlay of the chosen personality; empty for none and for a name nobody knows. */
export function personalityText(settings: Settings): string {
  const name = settings.display.personality.trim();
  return NONE.has(name.toLowerCase()) ? "" : textOf(name, settings) ?? "";
}

function textOf(name: string, settings: Settings): string | null {
  const own = Object.hasOwn(settings.personalities, name) ? settings.personalities[name] : undefined;
  if (typeof own === "string") return own.trim();
  if (typeof own === "object" && own !== null) {
    const { system_prompt, prompt, tone, style, description } = own as Record<string, unknown>;
    const lines = [system_prompt ?? prompt, labelled("Tone", tone), labelled("Style", style)];
    const text = lines.filter((line) => typeof line === "string" && line !== "").join("\n").trim();
    return text || (typeof description === "string" ? description : "");
  }
  return Object.hasOwn(BUILT_IN, name.toLowerCase()) ? BUILT_IN[name.toLowerCase()]! : null;
}

function labelled(label: string, value: unknown): string {
  return typeof value === "string" && value ? `${label}: ${value}` : "";
}
