/** News beside the calls of the model (core.md B.4): they reach it in the running turn or with the next one, once. */
import type { CoreEvent } from "@/core/mod.ts";
import { SessionState } from "../../src/core/session_state.ts";
import { callTool, makeScriptedCore, openSession, prompt, say, text } from "../support/scripted_core.ts";
import { assertEquals } from "../support/assert.ts";
import { addTool } from "./turn_support.ts";

const news = (value: string) => ({ kind: "process_complete", text: value });
const told = (events: readonly CoreEvent[]) =>
  events.filter((event) => event.type === "session.change" && event.what === "notices").length;

Deno.test("core B.4: news that come between turns stand before the next prompt, in a row that is no turn", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  core.push(say("one"), say("two"), say("three"));
  await prompt(session, "first");
  session.scope.tell!(news("it has ended"));
  assertEquals([session.notices, told(events)], [1, 1]);
  await prompt(session, "second");
  assertEquals(session.notices, 0);
  assertEquals(core.requests[1]!.messages.map((m) => [m.role, m.content]), [
    ["user", "first"],
    ["assistant", "one"],
    ["user", "it has ended\nsecond"],
  ]);
  const rows = core.services.store().loadMessages(session.headId);
  assertEquals(rows.map((row) => [row.role, row.displayKind ?? null]), [
    ["user", null],
    ["assistant", null],
    ["user", "process_complete"],
    ["user", null],
    ["assistant", null],
  ]);
  await prompt(session, "third");
  assertEquals(core.requests[2]!.messages.filter((m) => String(m.content).includes("has ended")).length, 1);
});

Deno.test("core B.4: news of a running turn come behind the results of the batch, with guidance where it belongs", async () => {
  await using core = await makeScriptedCore();
  const { session } = await openSession(core);
  addTool(core, "starter", () => {
    session.scope.tell!(news("ready now"));
    session.steer("use tabs");
    return Promise.resolve({ content: "started", isError: false });
  });
  core.push(callTool("starter", {}), callTool("reader", { limit: 1 }, "b"), say("ok"));
  assertEquals((await prompt(session, "go")).text, "ok");
  const second = core.requests[1]!.messages;
  assertEquals(second.map((m) => m.role), ["user", "assistant", "tool", "user"]);
  assertEquals(second[3]!.content, "ready now");
  assertEquals(String(second[2]!.content).endsWith("\nuse tabs\n[/OUT-OF-BAND USER MESSAGE]"), true);
  assertEquals(core.requests[2]!.messages.map((m) => m.role), [
    "user",
    "assistant",
    "tool",
    "user",
    "assistant",
    "tool",
  ]);
});

Deno.test("SessionState.takeNotices() leaves out what is known by now and keeps the newest hundred", () => {
  let calls = 0;
  const state = new SessionState("s", () => calls++);
  let known = false;
  state.tell({ ...news("a"), isKnown: () => known });
  state.tell(news("b"));
  known = true;
  assertEquals([state.notices, state.takeNotices().map((one) => one.text), calls], [1, ["b"], 2]);
  state.tell({ ...news("stopped by hand"), quiet: true });
  assertEquals([state.notices, state.takeNotices().length, calls], [0, 1, 2]);
  for (let n = 0; n < 120; n++) state.tell(news(`${n}`));
  const kept = state.takeNotices();
  assertEquals([kept.length, kept[0]!.text, state.takeNotices().length], [100, "20", 0]);
});

Deno.test("core B.4: news that nobody took are gone with the session, and a closed one says nothing", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  core.push([[text("x")]]);
  await session.close("test");
  session.scope.tell!(news("late"));
  assertEquals(told(events), 0);
});
