/**
 * Models for side tasks (`auxiliary.<task>` of core.md E.4): a cheaper one may write summaries and titles. What is
 * not configured, or cannot be used, is `null`: the caller decides what that means.
 */
import type { ModelChoice, ModelClient, Models } from "./ports.ts";
import type { Settings } from "./settings.ts";

export function auxiliaryChoice(settings: Settings, task: string): ModelChoice | null {
  const entry: Record<string, unknown> = settings.auxiliary[task] ?? {};
  const text = (key: string) => {
    const value = entry[key];
    return typeof value === "string" && value !== "" && value !== "auto" ? value : undefined;
  };
  const [model, provider, baseUrl] = [text("model"), text("provider"), text("base_url")];
  if (model === undefined && provider === undefined) return null;
  return {
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
  };
}

export function auxiliaryClient(models: Models, settings: Settings, task: string): ModelClient | null {
  const choice = auxiliaryChoice(settings, task);
  if (choice === null) return null;
  try {
    return models.client(models.resolve(choice));
  } catch {
    return null;
  }
}
