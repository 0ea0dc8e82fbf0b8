/** A compression by hand that keeps the last N turns, and one that is only looked at (core A.16, H.2). */
import { planCompression } from "../../src/core/compression.ts";
import type { Message, Settings } from "../../src/core/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { makeScriptedCore, openSession, prompt, say } from "../support/scripted_core.ts";

const SETTINGS: Settings["compression"] = {
  enabled: true,
  threshold: 0.5,
  target_ratio: 0.2,
  protect_first_n: 3,
  protect_last_n: 20,
  in_place: false,
};
const user = (content: string): Message => ({ role: "user", content });
const assistant = (content: string): Message => ({ role: "assistant", content });
const summary: Message = { role: "user", content: "S", displayKind: "compaction_summary" };

function turns(count: number): Message[] {
  return Array.from({ length: count }, (_, n) => [user(`q${n}`), assistant(`a${n}`)]).flat();
}

const plan = (messages: readonly Message[], keepTurns: number) =>
  planCompression(messages, 64_000, SETTINGS, keepTurns);
const texts = (messages: readonly Message[] | undefined) => messages?.map(({ content }) => content);

Deno.test("core A.16: here N makes the last N turns the tail, with their calls, and markers are no turns", () => {
  const call = { id: "c", name: "reader", arguments: "{}" };
  const marker: Message = { role: "user", content: "[System: x]", displayKind: "model_switch" };
  const messages: Message[] = [
    ...turns(3),
    user("q3"),
    { role: "assistant", content: "look", toolCalls: [call] },
    { role: "tool", toolCallId: "c", toolName: "reader", content: "r" },
    assistant("a3"),
    marker,
    user("q4"),
    assistant("a4"),
  ];
  assertEquals(texts(plan(messages, 1)?.tail), ["q4", "a4"]);
  assertEquals(texts(plan(messages, 2)?.tail), ["q3", "look", "r", "a3", "[System: x]", "q4", "a4"]);
  assertEquals(texts(plan(messages, 2)?.middle), ["q0", "a0", "q1", "a1", "q2", "a2"]);
  assertEquals([plan(messages, 5), plan(messages, 6)], [null, null]);
});

Deno.test("core A.16: here N has nothing to do where only a summary stands before the turns", () => {
  assertEquals(plan([summary, ...turns(2)], 2), null);
  const again = plan([summary, ...turns(2)], 1)!;
  assertEquals([again.previous, texts(again.middle), texts(again.tail)], ["S", ["q0", "a0"], ["q1", "a1"]]);
});

Deno.test("core H.2: a preview asks no model, writes nothing, and the compression does what it has said", async () => {
  await using core = await makeScriptedCore();
  const { session, events } = await openSession(core);
  for (let n = 0; n < 6; n++) {
    core.push(say(`answer ${n} ${"word ".repeat(200)}`));
    await prompt(session, `question ${n}`);
  }
  const before = { head: session.headId, told: events.length, asked: core.requests.length };
  const preview = (await session.previewCompaction({ keepTurns: 2 }))!;
  assertEquals(
    [preview.before.messages, preview.after.messages, preview.kept, preview.summarised.messages],
    [12, 5, { first: 0, last: 4 }, 8],
  );
  assert(preview.summarised.tokens > 800 && preview.after.tokens <= preview.before.tokens);
  assertEquals({ head: session.headId, told: events.length, asked: core.requests.length }, before);
  assertEquals(session.history().length, 12);
  assertEquals(await session.previewCompaction({ keepTurns: 6 }), null);

  core.push(say("SUMMARY"));
  const report = (await session.compact({ keepTurns: 2 }))!;
  assertEquals(report.before, preview.before);
  assertEquals(report.after.messages, preview.after.messages);
  assertEquals(session.history().slice(1).map(({ content }) => String(content).slice(0, 10)), [
    "question 4",
    "answer 4 w",
    "question 5",
    "answer 5 w",
  ]);
});
