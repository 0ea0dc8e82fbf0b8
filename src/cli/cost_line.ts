/** What a turn has cost, in one line for people (core.md E.4 `display.show_cost`). */
import { type ModelCost, promptTokens, type TurnResult } from "@/core/contract.ts";

/** Dollars below which a figure says nothing. */
const LEAST = 0.0001;

/** `null` where no model was called. A price that is not known is said to be so. */
export function costLine(result: TurnResult): string | null {
  const { usage, apiCalls, cost } = result;
  if (apiCalls === 0) return null;
  const calls = apiCalls === 1 ? "1 model call" : `${count(apiCalls)} model calls`;
  return `cost: ${costText(cost)}; ${count(promptTokens(usage))} tokens in, ${
    count(usage.output)
  } out, ${calls}`;
}

function costText(cost: ModelCost | undefined): string {
  if (cost === undefined || cost.usd === null) return "unknown, not every price is known";
  if (cost.status === "included") return "nothing per call";
  if (cost.usd > 0 && cost.usd < LEAST) return `less than $${LEAST}`;
  return `about $${cost.usd < 1 ? Number(cost.usd.toFixed(4)) : cost.usd.toFixed(2)}`;
}

function count(n: number): string {
  return n.toLocaleString("en-US");
}
