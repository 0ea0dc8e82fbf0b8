/** Which wire a target is spoken to in (core.md F.1): said by somebody, the provider's own, or told by the address. */
import type { ModelChoice } from "@/core/contract.ts";
import { isConfigured } from "./credentials.ts";
import { type ApiMode, apiModeByName, apiModeByUrl, hostOf, isHostOf, speaksResponses } from "./endpoints.ts";
import type { ProviderRow } from "./provider_table.ts";
import type { ResolveContext, Target } from "./resolve_types.ts";

export function apiModeOf(
  target: Target,
  model: string,
  choice: ModelChoice,
  context: ResolveContext,
): ApiMode {
  const { row, entry, baseUrl } = target;
  const stated = apiModeByName(choice.apiMode ?? "") ?? apiModeByName(entry?.api_mode ?? "") ??
    configuredMode(target, context);
  return stated ?? (row ? modeOfRow(row, baseUrl, model) : apiModeByUrl(baseUrl));
}

/** What an earlier choice has left in the config counts for that endpoint, and Responses only where it is at home. */
function configuredMode(target: Target, context: ResolveContext): ApiMode | null {
  const mode = apiModeByName(context.settings.model.api_mode);
  if (mode === null || !isConfigured(target, context)) return null;
  const isForeign = mode === "codex_responses" && !target.row && !speaksResponses(target.baseUrl);
  return isForeign ? null : mode;
}

function modeOfRow(row: ProviderRow, baseUrl: string, model: string): ApiMode {
  // Proxies of this wire are everywhere, and none of them takes another one under its name.
  if (row.flavour === "anthropic_messages") return "anthropic_messages";
  if (row.id === "opencode-zen" && isOwnHost(row, baseUrl)) return zenMode(model);
  const own = row.flavour === "codex_responses" ? "codex_responses" : "chat_completions";
  return isOwnHost(row, baseUrl) ? own : apiModeByUrl(baseUrl);
}

function isOwnHost(row: ProviderRow, baseUrl: string): boolean {
  return row.baseUrl !== "" && isHostOf(hostOf(baseUrl), hostOf(row.baseUrl));
}

/** That gateway speaks each vendor's own wire. */
function zenMode(model: string): ApiMode {
  if (/^claude/i.test(model)) return "anthropic_messages";
  return /^gpt/i.test(model) ? "codex_responses" : "chat_completions";
}
