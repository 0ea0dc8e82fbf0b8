/**
 * Personalities: a few lines on how to talk, laid over the system prompt of a turn (core.md A.4 "context", H.2).
 * Built-in ones and those of `personalities` in the config; a configured one wins over a built-in of the same name.
 * They are no part of the stored prompt, so that a session can take another one, or none, from its next turn on.
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
/** Words that mean no personality, whatever the config has under them. */
const NONE = new Set(["", "none", "default", "neutral"]);

type Known = Pick<Settings, "personalities">;

/** Names that can be chosen, built-in ones first. */
export function personalityNames(settings: Known): readonly string[] {
  const names = new Set([...Object.keys(BUILT_IN), ...Object.keys(settings.personalities)]);
  return [...names].filter((name) => ![null, "none"].includes(findPersonality(name, settings)));
}

/** The name as it is kept: `none` for the words that mean none, `null` for one that nobody knows. */
export function findPersonality(name: string, settings: Known): string | null {
  const wanted = name.trim();
  const lower = wanted.toLowerCase();
  if (NONE.has(lower)) return "none";
  if (ownText(wanted, settings) !== null) return wanted;
  return Object.hasOwn(BUILT_IN, lower) ? lower : null;
}

/** The overlay of a personality, by default the configured one; empty for none and for a name nobody knows. */
export function personalityText(
  settings: Known & Pick<Settings, "display">,
  name: string = settings.display.personality,
): string {
  const known = findPersonality(name, settings);
  if (known === null || known === "none") return "";
  return ownText(known, settings) ?? BUILT_IN[known]!;
}

/** `null` where the config has no words under this name. */
function ownText(name: string, { personalities }: Known): string | null {
  const own = Object.hasOwn(personalities, name) ? personalities[name] : undefined;
  if (typeof own === "string") return own.trim() || null;
  if (typeof own !== "object" || own === null) return null;
  const { system_prompt, prompt, tone, style, description } = own as Record<string, unknown>;
  const lines = [said(system_prompt) || said(prompt), labelled("Tone", tone), labelled("Style", style)];
  return lines.filter(Boolean).join("\n") || said(description) || null;
}

function said(value: unknown): string {
  return typeof value === "string" ? value.trim() : "";
}

function labelled(label: string, value: unknown): string {
  return said(value) && `${label}: ${said(value)}`;
}
