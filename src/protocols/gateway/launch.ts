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

const USUAL_SOURCE = "tui";
/** Of sessions that other doors look after, or that no list shows. */
const RESERVED = new Set(["acp", "api_server", "cron", "subagent", "tool"]);

/** `HERMES_SESSION_SOURCE` (core.md E.5); the usual one, with a warning, where that is none. */
export function launchSource(hermes: Hermes): string {
  const wanted = hermes.config.env("HERMES_SESSION_SOURCE")?.trim() ?? "";
  if (wanted === "" || wanted === USUAL_SOURCE) return USUAL_SOURCE;
  if (/^[a-z0-9_-]{1,32}$/.test(wanted) && !RESERVED.has(wanted)) return wanted;
  const why = RESERVED.has(wanted) ? "that name is reserved" : "use 1 to 32 of a-z, 0-9, _ and -";
  hermes.log.warn(`HERMES_SESSION_SOURCE=${wanted.slice(0, 40)} is not used: ${why}`);
  return USUAL_SOURCE;
}
