/** The part of a session's settings that says which model is meant. */
import type { ModelChoice, SessionConfig } from "./ports.ts";

export function choiceOf({ model, provider, baseUrl, apiMode }: SessionConfig): ModelChoice {
  return {
    ...(model === undefined ? {} : { model }),
    ...(provider === undefined ? {} : { provider }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    ...(apiMode === undefined ? {} : { apiMode }),
  };
}
