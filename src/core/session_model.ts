/** Which model a session talks to and how (core.md F.4, F.10): its own choice, else what the configuration says. */
import { configuredEffort } from "./efforts.ts";
import { HermesError } from "./errors.ts";
import { isFastTier } from "./fast_mode.ts";
import { choiceOf } from "./model_choice.ts";
import type { ResolvedModel, SessionConfig } from "./ports.ts";
import type { CoreServices } from "./services.ts";

interface ModelOwner {
  readonly config: SessionConfig;
  readonly services: Pick<CoreServices, "models" | "settings">;
}

/** The model, or why there is none. */
export function resolveFor({ config, services }: ModelOwner): ResolvedModel | HermesError {
  try {
    return services.models.resolve(choiceOf(config));
  } catch (error) {
    if (error instanceof HermesError) return error;
    throw error;
  }
}

/** `null`: the model's own. */
export function effortOf({ config, services }: ModelOwner, model: () => ResolvedModel | null): string | null {
  return config.reasoningEffort ?? configuredEffort(services.settings(), () => model()?.model ?? null);
}

/** Fast mode is wished for: by the session, else by the configuration. */
export function wantsFast({ config, services }: ModelOwner): boolean {
  return isFastTier(config.serviceTier ?? services.settings().agent.service_tier ?? "");
}
