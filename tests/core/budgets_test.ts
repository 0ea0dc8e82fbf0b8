/** Budgets per prompt, session and day: what is counted, and how reaching one ends a turn. */
import type { BudgetLimits, ModelCost, Settings } from "../../src/core/mod.ts";
import { localDay } from "../../src/core/budgets.ts";
import { assert, assertEquals } from "../support/assert.ts";
import {
  callTool,
  makeScriptedCore,
  openSession,
  prompt,
  say,
  type ScriptedCore,
} from "../support/scripted_core.ts";

const NONE: BudgetLimits = { model_calls: null, tokens: null, usd: null, seconds: null };
type Limits = Partial<Record<"prompt" | "session" | "day", Partial<BudgetLimits>>>;

function limited(limits: Limits): Promise<ScriptedCore> {
  const of = (scope: keyof Limits) => ({ ...NONE, ...limits[scope] });
  const budgets = { prompt: of("prompt"), session: of("session"), day: of("day") };
  return makeScriptedCore({ settings: (s: Settings) => ({ ...s, budgets }) });
}

function priced(core: ScriptedCore, usd: number | null): void {
  const models = core.services.models as { estimateCost: (...args: unknown[]) => ModelCost };
  models.estimateCost = () => ({
    usd,
    status: usd === null ? "unknown" : "estimated",
    source: usd === null ? "none" : "official_snapshot",
  });
}

Deno.test("budgets: model calls of a prompt end the turn with a reason of its own, and the next prompt starts anew", async () => {
  await using core = await limited({ prompt: { model_calls: 2 } });
  const { session, events } = await openSession(core);
  core.push(callTool("reader", {}, "a"), callTool("reader", { limit: 1 }, "b"));
  const result = await prompt(session, "go");
  assertEquals([result.outcome, result.exitReason, result.partial, result.apiCalls], [
    "max_turns",
    "budget_exhausted(prompt.model_calls)",
    true,
    2,
  ]);
  assertEquals(
    result.text,
    "Stopped: this prompt has used 2 of 2 model calls (budgets.prompt.model_calls). To go on, raise it: " +
      "hermes config set budgets.prompt.model_calls <number>, or null for no limit.",
  );
  assertEquals(session.history().at(-1)!.content, result.text);
  assert(events.some((event) => event.type === "text.delta" && event.text === result.text));
  core.push(say("fine"));
  assertEquals((await prompt(session, "again")).text, "fine");
});

Deno.test("budgets: tokens of a session count over its turns, a restart and a compression", async () => {
  await using core = await limited({ session: { tokens: 36 } });
  const { session } = await openSession(core);
  core.push(say("one"), say("two"), say("three"));
  for (const n of [1, 2, 3]) assertEquals((await prompt(session, `q ${n}`)).outcome, "completed");
  const stopped = await prompt(session, "four");
  assertEquals([stopped.exitReason, stopped.apiCalls], ["budget_exhausted(session.tokens)", 0]);
  core.push(say("The summary."));
  assert(await session.compact() !== null);
  await session.close("test");
  const again = await core.sessions.open(session.id, { surface: "tui" });
  assertEquals((await prompt(again, "five")).exitReason, "budget_exhausted(session.tokens)");
  const other = await openSession(core);
  core.push(say("free"));
  assertEquals((await prompt(other.session, "hi")).text, "free");
});

Deno.test("budgets: a day counts all sessions", async () => {
  await using core = await limited({ day: { model_calls: 2 } });
  const [one, two] = [await openSession(core), await openSession(core)];
  core.push(say("a"), say("b"));
  await prompt(one.session, "x");
  assertEquals((await prompt(two.session, "y")).outcome, "completed");
  const stopped = await prompt(one.session, "z");
  assertEquals(stopped.exitReason, "budget_exhausted(day.model_calls)");
  const day = localDay(core.services.platform.clock.now());
  assertEquals(core.services.store().usageTotals(one.session.headId, day).day.modelCalls, 2);
  assertEquals(core.services.store().usageTotals(one.session.headId, "2001-01-01").day.modelCalls, 0);
});

Deno.test("budgets: money counts where a price is known; where it is not, that is told once", async () => {
  await using core = await limited({ prompt: { usd: 0.5 } });
  priced(core, 0.3);
  const { session } = await openSession(core);
  core.push(callTool("reader", {}, "a"), callTool("reader", { limit: 1 }, "b"));
  const result = await prompt(session, "go");
  assertEquals(result.exitReason, "budget_exhausted(prompt.usd)");
  assertEquals(result.cost, { usd: 0.6, status: "estimated", source: "official_snapshot" });
  priced(core, null);
  const { session: other, events } = await openSession(core);
  core.push(callTool("reader", {}, "c"), say("ok"));
  const free = await prompt(other, "go");
  assertEquals([free.outcome, free.cost], ["completed", undefined]);
  const warnings = events.filter((event) => event.type === "status" && event.kind === "warn");
  assertEquals(warnings.length, 1);
});

Deno.test("budgets: seconds are wall time, also of tools", async () => {
  await using core = await limited({ prompt: { seconds: 0.01 } });
  const { session } = await openSession(core);
  core.push(async function* () {
    await new Promise((resolve) => setTimeout(resolve, 15));
    yield* callTool("reader", {}) as Iterable<never>;
  });
  assertEquals((await prompt(session, "go")).exitReason, "budget_exhausted(prompt.seconds)");
});

Deno.test("localDay() is the calendar day of the machine", () => {
  assertEquals(localDay(new Date(2026, 0, 5, 23, 59).getTime()), "2026-01-05");
});
