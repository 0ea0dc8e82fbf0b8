/**
 * What has been used by a conversation and by a day, as running totals that budgets are held against. A conversation
 * counts over its whole compression chain. Written in the transaction that records a model call.
 */
import type { Usage, UsageCost, UsageTotals } from "@/core/contract.ts";
import type { Db } from "./db.ts";

const NOTHING: UsageTotals = { modelCalls: 0, tokens: 0, usd: 0, seconds: 0 };

export function countTotals(db: Db, sessionId: string, usage: Usage, cost: UsageCost): void {
  db.run(
    `INSERT INTO usage_totals (scope, model_calls, tokens, usd, seconds)
     SELECT scope, 1, ?3, ?4, ?5 FROM (
       SELECT 'session:' || root_id AS scope FROM sessions WHERE id = ?1
       UNION ALL SELECT 'day:' || ?2 WHERE ?2 IS NOT NULL) WHERE true
     ON CONFLICT (scope) DO UPDATE SET model_calls = model_calls + 1, tokens = tokens + excluded.tokens,
       usd = usd + excluded.usd, seconds = seconds + excluded.seconds`,
    sessionId,
    cost.day,
    usage.input + usage.output + usage.cacheRead + usage.cacheWrite,
    cost.usd ?? 0,
    cost.seconds,
  );
}

export function readTotals(
  db: Db,
  sessionId: string,
  day: string,
): { session: UsageTotals; day: UsageTotals } {
  const rows = db.all(
    `SELECT scope, model_calls, tokens, usd, seconds FROM usage_totals
     WHERE scope = 'session:' || (SELECT root_id FROM sessions WHERE id = ?1) OR scope = 'day:' || ?2`,
    sessionId,
    day,
  );
  const found = { session: NOTHING, day: NOTHING };
  for (const row of rows) {
    found[String(row["scope"]).startsWith("day:") ? "day" : "session"] = {
      modelCalls: row["model_calls"] as number,
      tokens: row["tokens"] as number,
      usd: row["usd"] as number,
      seconds: row["seconds"] as number,
    };
  }
  return found;
}
