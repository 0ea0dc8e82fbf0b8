/** Loop guardrails: warnings in results, blocks and the end of a turn only where the config wants them. */
import { ordersIn } from "../../src/core/delegation_tools.ts";
import { Guardrails } from "../../src/core/guardrails.ts";
import type { ToolMessage } from "../../src/core/mod.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import {
  callTool,
  makeScriptedCore,
  openSession,
  prompt,
  say,
  type ScriptedCore,
} from "../support/scripted_core.ts";

const lastResult = (core: ScriptedCore) => String(core.requests.at(-1)!.messages.at(-1)!.content);
const codeIn = (text: string) =>
  /\[Tool loop warning: (\w+); count=(\d+); [^\]]+\]$/.exec(text)?.slice(1) ?? null;

const call = (args: string, kind: "read" | "execute" = "execute") => ({ name: "t", arguments: args, kind });

Deno.test("core A.14: warnings come at two equal failures, three of one tool, two equal looks", () => {
  const guard = new Guardrails(undefined);
  const failing = (args: string) => {
    guard.begin();
    return codeIn(guard.after(call(args), "e", true));
  };
  assertEquals(failing("1"), null);
  assertEquals(codeIn(guard.after(call("0"), "e", true)), null, "in one answer it is no loop");
  assertEquals(failing("1"), ["repeated_exact_failure_warning", "2"]);
  assertEquals(failing("2"), ["same_tool_failure_warning", "3"]);
  assertEquals(codeIn(guard.after(call("3"), "ok", false)), null);
  assertEquals(codeIn(guard.after(call("2"), "e", true)), ["repeated_exact_failure_warning", "2"]);
  assertEquals(codeIn(guard.after(call("4", "read"), "same", false)), null);
  assertEquals(codeIn(guard.after(call("4", "read"), "same", false)), [
    "idempotent_no_progress_warning",
    "2",
  ]);
  assertEquals(codeIn(guard.after(call("4", "read"), "other", false)), null);
  for (const _ of "123456") assertEquals(codeIn(guard.after(call("5"), "same", false)), null);
  assertEquals([guard.block(call("1")), guard.halt], [null, null]);
  const silent = new Guardrails({ warnings_enabled: false });
  for (const _ of "12345") assertEquals(silent.after(call("1"), "e", true), "");
});

Deno.test("core A.14: a failing call is told in its result, and the turn goes on", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  for (let n = 0; n < 9; n++) core.push(callTool("reader", { throw: "boom" }, `c${n}`));
  core.push(say("ok"));
  assertEquals((await prompt(session, "go")).text, "ok");
  assertEquals(core.ran.length, 9);
  assertEquals(codeIn(lastResult(core)), ["repeated_exact_failure_warning", "9"]);
  const last = session.history().findLast((m): m is ToolMessage => m.role === "tool")!;
  assertEquals(last.content, lastResult(core));
  const end = events.findLast((event) => event.type === "tool.end");
  assert(end?.type === "tool.end" && end.result === last.content);
});

Deno.test("core A.14: with hard stops the sixth equal failure does not run and ends the turn", async () => {
  await using core = await makeScriptedCore({
    settings: (s) => ({ ...s, tool_loop_guardrails: { hard_stop_enabled: true } }),
  });
  const { session } = await openSession(core);
  for (let n = 0; n < 7; n++) core.push(callTool("reader", { throw: "boom" }, `c${n}`));
  const result = await prompt(session, "go");
  assertEquals([result.outcome, result.exitReason, result.apiCalls], ["max_turns", "guardrail_halt", 6]);
  assertMatch(result.text, /has failed 5 times/);
  assertEquals(core.ran.length, 5);

  await using other = await makeScriptedCore({
    settings: (s) => ({
      ...s,
      tool_loop_guardrails: { hard_stop_enabled: true, hard_stop_after: { same_tool_failure: 3 } },
    }),
  });
  const second = await openSession(other);
  for (let n = 0; n < 7; n++) other.push(callTool("reader", { throw: `boom ${n}` }, `c${n}`));
  assertEquals([(await prompt(second.session, "go")).exitReason, other.ran.length], ["guardrail_halt", 3]);
});

Deno.test("core A.14: so many web searches and subagents in one turn and no more; looking after them is free", () => {
  const search = { name: "web_search", arguments: "{}", kind: "search" as const };
  const guard = new Guardrails({ max_web_searches: 2, max_subagents: 5 });
  assertEquals([guard.block(search), guard.block(search)], [null, null]);
  assertMatch(guard.block(search)!, /at most 2 web searches in one turn/);
  assertEquals(guard.halt, null);
  const order = (args: Record<string, unknown>) =>
    guard.block({
      name: "delegate_task",
      arguments: JSON.stringify(args),
      kind: "other",
      weight: ordersIn("delegate_task", args),
    });
  assertEquals(order({ tasks: [{}, {}, {}] }), null);
  assertMatch(order({ tasks: [{}, {}, {}] })!, /"max_subagents_reached"/);
  assertEquals([order({ action: "list" }), order({ goal: "x" }), order({ goal: "y" })], [null, null, null]);
  assertMatch(order({ goal: "z" })!, /at most 5 subagents/);
  assertEquals(order({ action: "stop" }), null);
  const standard = new Guardrails(undefined);
  for (let n = 0; n < 50; n++) assertEquals(standard.block(search), null);
  assertMatch(standard.block(search)!, /at most 50 web searches/);
});
