/**
 * `insights.get` (tui-gateway.md B.18): what was done in the last days, counted from the stored conversations and the
 * running totals of each day. A conversation counts where its last activity lies in the period.
 */
import * as z from "zod/mini";
import { localDay } from "@/core/mod.ts";
import { Slices } from "@/lib/slices.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { method, optional } from "./define.ts";

const DAYS = 30;
const MAX_DAYS = 3_660;
const DAY_MS = 86_400_000;
const PAGE = 500;

const params = z.object({ days: optional(z.number().check(z.gt(0), z.lte(MAX_DAYS))) });

export function insightMethods(gateway: Gateway): DefinedMethod[] {
  return [
    method({
      name: "insights.get",
      kind: "inline",
      params,
      failCode: 5017,
      handle: async ({ days = DAYS }) => {
        const since = gateway.hermes.platform.clock.now() - days * DAY_MS;
        const slices = new Slices();
        return {
          days,
          ...await countSessions(gateway, since / 1000, slices),
          ...await countCalls(gateway, since, slices),
        };
      },
    }),
  ];
}

interface Counted {
  sessions: number;
  messages: number;
}

interface SessionCounts extends Counted {
  readonly by_source: Record<string, Counted>;
  readonly by_model: Record<string, Counted>;
}

/** `since`: Unix seconds. */
async function countSessions({ hermes }: Gateway, since: number, slices: Slices): Promise<SessionCounts> {
  const store = hermes.store();
  const all: SessionCounts = { sessions: 0, messages: 0, by_source: {}, by_model: {} };
  let before: { lastActivityAt: number; id: string } | undefined;
  for (;;) {
    const page = store.listSessions({ limit: PAGE, ...(before ? { before } : {}) });
    const recent = page.filter((row) => row.lastActivityAt >= since);
    for (const { source, model, messageCount } of recent) {
      const rows = [all, entry(all.by_source, source), entry(all.by_model, model ?? "unknown")];
      for (const row of rows) {
        row.sessions++;
        row.messages += messageCount;
      }
    }
    if (recent.length < PAGE) return all;
    before = page.at(-1)!;
    if (slices.isOver) await slices.next();
  }
}

function entry(table: Record<string, Counted>, key: string): Counted {
  if (!Object.hasOwn(table, key)) table[key] = { sessions: 0, messages: 0 };
  return table[key]!;
}

interface DayCounts {
  readonly day: string;
  readonly model_calls: number;
  readonly tokens: number;
  readonly cost_usd: number;
}

interface CallCounts extends Omit<DayCounts, "day"> {
  /** Days on which a model was called, the earliest first. */
  readonly by_day: readonly DayCounts[];
}

/** Calls of whole local days, subagents' and side tasks' too; `since`: milliseconds. */
async function countCalls({ hermes }: Gateway, since: number, slices: Slices): Promise<CallCounts> {
  const store = hermes.store();
  const now = hermes.platform.clock.now();
  // Steps of half a day meet every local day, also the short and the long one of a year.
  const days = new Set<string>();
  for (let at = since; at < now; at += DAY_MS / 2) days.add(localDay(at));
  days.add(localDay(now));
  const byDay: DayCounts[] = [];
  for (const day of days) {
    const { modelCalls, tokens, usd } = store.usageTotals("", day).day;
    if (modelCalls > 0) byDay.push({ day, model_calls: modelCalls, tokens, cost_usd: usd });
    if (slices.isOver) await slices.next();
  }
  const sum = (pick: (row: DayCounts) => number) => byDay.reduce((total, row) => total + pick(row), 0);
  return {
    model_calls: sum((row) => row.model_calls),
    tokens: sum((row) => row.tokens),
    cost_usd: sum((row) => row.cost_usd),
    by_day: byDay,
  };
}
