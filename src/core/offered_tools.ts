/** What of a session's tools can be used now (core.md B.1): a tool that says that it cannot is offered to nobody. */
import { canLook } from "./eyes.ts";
import type { Models, ResolvedModel, Tool } from "./ports.ts";
import type { Settings } from "./settings.ts";
import type { Platform } from "@/platform/mod.ts";

export interface Surroundings {
  readonly platform: Platform;
  readonly models: Models;
  readonly settings: Settings;
  /** `null`: none can be used. */
  readonly model: ResolvedModel | null;
  /** Somebody is there to be asked. */
  readonly canClarify: boolean;
}

export function usableTools(tools: readonly Tool[], at: Surroundings): Tool[] {
  const { platform, settings, models, model, canClarify } = at;
  const images = model !== null && canLook(models, settings, model);
  const context = { platform, settings, canClarify, images };
  return tools.filter((tool) => tool.available?.(context) ?? true);
}
