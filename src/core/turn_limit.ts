/**
 * Which limit ended a turn: the one reading of its exit reason (core.md A.2) for every surface, which put it out as
 * `hermes.limit`. Pure.
 */
import type { TurnResult } from "./events.ts";

export interface TurnLimit {
  /** `iterations`: model calls of one turn. The four of `budgets.*` by the name of their setting. */
  readonly kind: "iterations" | "model_calls" | "tokens" | "usd" | "seconds" | "guardrail";
  /** What raises it: a key of the configuration, or the variable that stands above the key. */
  readonly setting: string;
  /** For people; one sentence without a full stop. */
  readonly text: string;
}

const BUDGET = /^budget_exhausted\(((prompt|session|day)\.(model_calls|tokens|usd|seconds))\)$/;
const STEPS = /^max_iterations_reached\((\d+)\//;
const GUARDRAIL_SETTING = "tool_loop_guardrails.hard_stop_after";
const WHAT = { model_calls: "model calls", tokens: "tokens", usd: "money", seconds: "time" } as const;
const WHOSE = { prompt: "this prompt", session: "this session", day: "today" } as const;

/** `null` for a turn that no limit ended. `stepsSetting`: what holds the steps, where it is not the configuration. */
export function turnLimit(
  { outcome, exitReason }: Pick<TurnResult, "outcome" | "exitReason">,
  stepsSetting = "agent.max_turns",
): TurnLimit | null {
  if (outcome !== "max_turns") return null;
  const budget = BUDGET.exec(exitReason);
  if (budget) {
    const [scope, kind] = [budget[2] as keyof typeof WHOSE, budget[3] as keyof typeof WHAT];
    const setting = `budgets.${budget[1]}`;
    return {
      kind,
      setting,
      text: `The budget of ${WHAT[kind]} for ${WHOSE[scope]} is used up; ${setting} raises it`,
    };
  }
  if (exitReason === "guardrail_halt") {
    const text = `The model went in circles and a guardrail stopped it; ${GUARDRAIL_SETTING} says when`;
    return { kind: "guardrail", setting: GUARDRAIL_SETTING, text };
  }
  const steps = STEPS.exec(exitReason)?.[1];
  const counted = steps ? ` (${steps} model ${steps === "1" ? "call" : "calls"} in one turn)` : "";
  return {
    kind: "iterations",
    setting: stepsSetting,
    text: `The iteration budget is used up${counted}; ${stepsSetting} raises it`,
  };
}
