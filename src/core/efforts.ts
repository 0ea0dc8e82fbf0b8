/**
 * How hard a model is to think when nobody has said so for the session (core.md A.12): the wish for that model
 * (`agent.reasoning_overrides`), else the one for all. Names are matched in any spelling: dots or dashes, with or
 * without the vendor before the slash.
 */
import type { Settings } from "./settings.ts";

/** `null` = the model's own default. */
export function configuredEffort({ agent }: Settings, model: () => string | null): string | null {
  const wishes = Object.entries(agent.reasoning_overrides ?? {});
  const asked = wishes.length === 0 ? null : model();
  const wish = asked === null ? undefined : wishes.find(([name]) => isSameModel(name, asked))?.[1];
  if (typeof wish === "string" && wish.trim() !== "") return wish.trim();
  if (wish === false) return "none";
  return agent.reasoning_effort || null;
}

export function isSameModel(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

function plain(name: string): string {
  return name.slice(name.lastIndexOf("/") + 1).trim().toLowerCase().replaceAll(".", "-");
}
