/** How an effort is said in the Responses and the Messages wire (core.md A.12); nothing is sent when none is set. */
import type { ResolvedModel } from "@/core/contract.ts";
import { isAdaptiveClaude } from "../claude_ids.ts";

type Json = Record<string, unknown>;

const LEVELS = ["none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"];

/** The level of `offered` that is nearest to the wanted one, from below where there is one; the wanted one if none is known. */
export function nearestEffort(level: string, offered: readonly string[]): string {
  const wanted = LEVELS.indexOf(level);
  if (wanted === -1 || offered.length === 0 || offered.includes(level)) return level;
  // Whoever asks for a little does not ask for none.
  const known = offered.filter((name) => LEVELS.includes(name) && name !== "none");
  const below = known.filter((name) => LEVELS.indexOf(name) <= wanted);
  return below.at(-1) ?? known[0] ?? level;
}

function levelOf(effort: string | undefined): string | null {
  const level = effort?.trim().toLowerCase();
  if (!level) return null;
  return level === "false" || level === "disabled" ? "none" : level;
}

/** True for models that answer with encrypted thoughts in the Responses wire. */
export function thinksInResponses({ model, reasoningEfforts }: ResolvedModel): boolean {
  return reasoningEfforts.length > 0 ||
    (/gpt-[5-9]|codex|(^|\/)o[134]|grok-[4-9]/.test(model.toLowerCase()) &&
      !/chat|non-reasoning/.test(model));
}

/** `null`: nothing is said, and the model does as it does by itself. */
export function responsesEffort(model: ResolvedModel, effort: string | undefined): string | null {
  const level = levelOf(effort);
  if (level === null) return null;
  if (model.provider === "xai") {
    // Models of theirs that take no effort refuse to be given one.
    if (level === "none" || model.reasoningEfforts.length === 0) return null;
    return nearestEffort(level, model.reasoningEfforts);
  }
  const nearest = nearestEffort(level, model.reasoningEfforts);
  return nearest === "minimal" ? "low" : nearest === "ultra" ? "max" : nearest;
}

const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 4_000,
  low: 4_000,
  medium: 8_000,
  high: 16_000,
  xhigh: 32_000,
  max: 32_000,
  ultra: 32_000,
};
/** Room for the answer itself. */
const BESIDE_BUDGET = 4_096;

/** Fields of the Messages wire; may raise `max_tokens`, which has to be larger than the budget. */
export function thinkingFields(
  model: ResolvedModel,
  effort: string | undefined,
  cap: number,
  messages: readonly Json[],
): Json {
  const id = model.model.toLowerCase();
  const level = levelOf(effort);
  if (level === null || level === "none" || !id.includes("claude")) return {};
  if (isAdaptiveClaude(id)) {
    return {
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort: adaptiveEffort(id, level) },
    };
  }
  const budget = BUDGETS[level];
  if (budget === undefined || id.includes("haiku") || lacksThought(messages)) return {};
  return {
    thinking: { type: "enabled", budget_tokens: budget },
    temperature: 1,
    max_tokens: Math.max(cap, budget + BESIDE_BUDGET),
  };
}

function adaptiveEffort(id: string, level: string): string {
  if (level === "minimal") return "low";
  if (level === "ultra") return "max";
  return level === "xhigh" && /4[.-]6/.test(id) ? "max" : level;
}

/** A turn that called tools without a thought cannot be gone on with in the budget mode. */
function lacksThought(messages: readonly Json[]): boolean {
  const last = messages.findLast((message) => message["role"] === "assistant");
  const blocks = (last?.["content"] ?? []) as readonly Json[];
  if (!blocks.some((block) => block["type"] === "tool_use")) return false;
  return !String(blocks[0]?.["type"]).includes("thinking");
}
