/**
 * What the environment of the start says about sessions and commands of this process (tui-gateway.md I). Numbers that
 * are none count as absent.
 */
import type { Hermes } from "@/app/mod.ts";
import type { ModelChoice } from "@/core/contract.ts";

const SLASH_SECONDS = 45;
const LEAST_SLASH_SECONDS = 5;

/** Model calls of one turn at most; `null` = as configured. */
export function maxTurns(hermes: Hermes): number | null {
  const value = Number(hermes.config.env("HERMES_TUI_MAX_TURNS"));
  return Number.isInteger(value) && value > 0 ? value : null;
}

/** What holds the model calls of a turn. */
export function stepsSetting(hermes: Hermes): string {
  return maxTurns(hermes) === null ? "agent.max_turns" : "HERMES_TUI_MAX_TURNS";
}

/** How long `slash.exec` waits for a command that answers by itself. */
export function slashTimeoutMs(hermes: Hermes): number {
  const text = hermes.config.env("HERMES_TUI_SLASH_TIMEOUT_S");
  const seconds = text?.trim() ? Number(text) : SLASH_SECONDS;
  return Math.max(LEAST_SLASH_SECONDS, Number.isFinite(seconds) ? seconds : SLASH_SECONDS) * 1000;
}

/** For sessions whose host names no model; never written to the configuration. */
export function launchModel(hermes: Hermes): ModelChoice | null {
  const provider = hermes.config.env("HERMES_TUI_PROVIDER")?.trim();
  if (!provider) return null;
  const model = hermes.config.env("HERMES_MODEL") ?? hermes.config.env("HERMES_INFERENCE_MODEL");
  return model?.trim() ? { provider, model: model.trim() } : { provider };
}
