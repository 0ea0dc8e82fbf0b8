/**
 * Personalities of the configuration (core.md E): a name, and words that are put before a turn. The map is the
 * user's own: a text, or an object that holds one.
 */
import type { Hermes } from "@/app/mod.ts";

/** Words of the user for every turn of this door; empty when there are none. */
export function customPrompt(hermes: Hermes): string {
  const value = hermes.config.get("gateway.prompt");
  return typeof value === "string" ? value.trim() : "";
}

/** What is put before a turn: the user's own words, then those of the personality; `null` when there is nothing. */
export function systemExtraOf(hermes: Hermes, personality: string): string | null {
  return [customPrompt(hermes), personalityText(hermes, personality)].filter(Boolean).join("\n\n") || null;
}

export function personalityNames(hermes: Hermes): string[] {
  return Object.keys(personalities(hermes));
}

/** `null` for no name, and for one that the configuration no longer has. */
export function personalityText(hermes: Hermes, name: string): string | null {
  if (name === "") return null;
  const known = personalities(hermes);
  const entry = Object.hasOwn(known, name) ? known[name] : undefined;
  if (typeof entry === "string") return entry.trim() || null;
  if (typeof entry !== "object" || entry === null) return null;
  const { prompt, system_prompt: system } = entry as Record<string, unknown>;
  const said = [prompt, system].find((value) => typeof value === "string" && value.trim() !== "");
  return typeof said === "string" ? said.trim() : null;
}

function personalities(hermes: Hermes): Record<string, unknown> {
  const value = hermes.config.get("personalities");
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : {};
}
