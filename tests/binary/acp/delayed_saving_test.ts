/** That a turn cannot be saved is told once for each time it begins to be so (acp.md D6). */
import { calls, type Json, withAcp } from "../../support/acp_driver.ts";
import { assertEquals } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";

const READ = calls(["terminal", { command: "true" }]);
const NOTICES = { session: { notices: {} } };

const DELETED = "Another program has deleted this conversation: nothing more of it is saved";

for (const [name, capabilities] of [["notices", NOTICES], ["no notices", {}]] as const) {
  Deno.test(`acp D6: a conversation that was deleted elsewhere during a turn is told once (${name})`, async () => {
    const steps = Promise.withResolvers<void>();
    const respond = async (_: unknown, n: number) => {
      if (n === 1) await steps.promise;
      return n < 5 ? READ : "done";
    };
    await withAcp({ respond, capabilities }, async ({ acp, model, sessionId, again }) => {
      const prompt = acp.startPrompt(sessionId, "go");
      await acp.update((u) => u.status === "completed");
      await using other = await again();
      assertEquals(await other.request("session/delete", { sessionId }), {});
      steps.resolve();
      assertEquals((await acp.inTime(prompt.answer, 30_000, "the turn")).result?.stopReason, "end_turn");
      assertEquals(model.calls().length, 6);
      const texts = acp.updates(sessionId).flatMap((u) =>
        u.sessionUpdate === "notice" ? [`${u.title}`] : u.content?.text ? [`${u.content.text}`] : []
      );
      assertEquals(texts.filter((text) => /delayed|deleted|saved/i.test(text)), [DELETED]);
    });
  });
}

Deno.test("acp C3: prompts that wait while another program deletes the conversation never reach the model", async () => {
  const first = Promise.withResolvers<void>();
  const respond = async (_: Json, n: number) => {
    if (n === 0) await first.promise;
    return `answer ${n}`;
  };
  await withAcp({ respond }, async ({ acp, model, sessionId, again }) => {
    const running = acp.startPrompt(sessionId, "a");
    await eventually(() => model.calls().length === 1);
    const waiting = ["b", "/queue c"].map((text) => acp.startPrompt(sessionId, text));
    await acp.update((u) => u.content?.text === "Queued: 2 waiting.");
    await using other = await again();
    assertEquals(await other.request("session/delete", { sessionId }), {});
    first.resolve();
    assertEquals((await running.answer).result?.stopReason, "end_turn");
    for (const one of waiting) {
      const { error } = await acp.inTime(one.answer, 5_000, "an answer");
      assertEquals([error?.code, error?.data], [-32002, { sessionId }]);
    }
    assertEquals(model.calls().length, 1);
    assertEquals((await acp.ask("session/close", { sessionId })).error, undefined);
  });
});
