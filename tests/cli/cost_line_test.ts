/** What a turn has cost, in one line (core.md E.4 `display.show_cost`, F.9). */
import { costLine } from "@/cli/cost_line.ts";
import { type ModelCost, NO_USAGE, type TurnResult } from "@/core/contract.ts";
import { assertEquals } from "../support/assert.ts";

function line(cost: Partial<ModelCost> | null, apiCalls = 2): string | null {
  const usage = { ...NO_USAGE, input: 1_000, cacheRead: 200, cacheWrite: 34, output: 5_678 };
  const known = { usd: null, status: "estimated", source: "official_snapshot", ...cost };
  return costLine({ usage, apiCalls, ...(cost ? { cost: known } : {}) } as unknown as TurnResult);
}

const REST = "; 1,234 tokens in, 5,678 out, 2 model calls";

Deno.test("costLine() tells dollars as exactly as they say something, and never 0 for what is not known", () => {
  const cases: readonly (readonly [Partial<ModelCost> | null, string])[] = [
    [{ usd: 12.3456 }, "cost: about $12.35"],
    [{ usd: 0.12 }, "cost: about $0.12"],
    [{ usd: 0.00123456 }, "cost: about $0.0012"],
    [{ usd: 0.00001 }, "cost: less than $0.0001"],
    [{ usd: 0 }, "cost: about $0"],
    [{ usd: 0, status: "included" }, "cost: nothing per call"],
    [{ usd: null, status: "unknown" }, "cost: unknown, not every price is known"],
    [null, "cost: unknown, not every price is known"],
  ];
  for (const [cost, text] of cases) assertEquals(line(cost), text + REST);
  assertEquals(line({ usd: 1 }, 1), "cost: about $1.00; 1,234 tokens in, 5,678 out, 1 model call");
  assertEquals(line({ usd: 1 }, 0), null);
});
