/**
 * Limits on what a prompt, a session and a day may use (`budgets.*` in the config). They are looked at before each
 * model call; a call that has begun is never cut, so a limit can be passed by what one call takes.
 */
import type { UsageTotals } from "./ports.ts";
import type { BudgetLimits, Settings } from "./settings.ts";

export interface ReachedBudget {
  /** Its key below `budgets`: `session.tokens`. */
  readonly key: string;
  /** For people: which limit, and how to raise it. */
  readonly text: string;
}

/** What is used up in each scope; `kept` is asked only where a session or a day has a limit. */
export interface Spent {
  readonly prompt: UsageTotals;
  kept(): { readonly session: UsageTotals; readonly day: UsageTotals };
}

type Scope = "prompt" | "session" | "day";

const FIELDS: readonly (readonly [keyof BudgetLimits, keyof UsageTotals, string])[] = [
  ["model_calls", "modelCalls", "model calls"],
  ["tokens", "tokens", "tokens"],
  ["usd", "usd", "US dollars"],
  ["seconds", "seconds", "seconds"],
];
const NAMES: Readonly<Record<Scope, string>> = {
  prompt: "This prompt has",
  session: "This session has",
  day: "Today's sessions have",
};

/** The first limit that is reached; `null` when there is none. */
export function reachedBudget(budgets: Settings["budgets"], spent: Spent): ReachedBudget | null {
  if (!budgets) return null;
  const prompt = reachedIn("prompt", budgets.prompt, spent.prompt);
  if (prompt || !(hasLimit(budgets.session) || hasLimit(budgets.day))) return prompt;
  const kept = spent.kept();
  return reachedIn("session", budgets.session, kept.session) ?? reachedIn("day", budgets.day, kept.day);
}

/** True where money is limited: then a price that is unknown is worth a warning. */
export function limitsMoney(budgets: Settings["budgets"]): boolean {
  return budgets !== undefined &&
    [budgets.prompt, budgets.session, budgets.day].some(({ usd }) => usd !== null);
}

function hasLimit(limits: BudgetLimits): boolean {
  return FIELDS.some(([field]) => limits[field] !== null);
}

function reachedIn(scope: Scope, limits: BudgetLimits, used: UsageTotals): ReachedBudget | null {
  for (const [field, total, unit] of FIELDS) {
    const limit = limits[field];
    if (limit === null || used[total] < limit) continue;
    const key = `${scope}.${field}`;
    const amount = field === "usd" ? used.usd.toFixed(4) : String(Math.floor(used[total]));
    return {
      key,
      text: `Stopped: ${NAMES[scope].toLowerCase()} used ${amount} of ${limit} ${unit} ` +
        `(budgets.${key}). To go on, raise it: hermes config set budgets.${key} <number>, or null for no limit.`,
    };
  }
  return null;
}

/** The local day of a moment (milliseconds): `2026-01-31`. */
export function localDay(ms: number): string {
  const date = new Date(ms);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
