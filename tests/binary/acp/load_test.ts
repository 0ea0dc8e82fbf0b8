/** Loading right after the start, before any tool is there (acp.md C3, C11, C12; B2.2). */
import { ALLOW, calls, type Json, startAcp, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals } from "../../support/assert.ts";

const TURNS = [
  calls(
    ["read_file", { path: "notes.txt", offset: 2 }, "c1"],
    ["terminal", { command: "echo hi" }, "c2"],
    ["todo", { todos: [{ id: "1", content: "look", status: "completed" }] }, "c3"],
  ),
  calls(["write_file", { path: "a.txt", content: "x\n" }, "c4"]),
  "done",
  "again",
];

function cards(updates: Json[]): Json[] {
  return updates.filter((u) => /^tool_call|^plan$/.test(u.sessionUpdate));
}

Deno.test("C12: a load on the lines behind initialize shows the calls as they were live, then opens, then prompts go on", async () => {
  await withAcp({ turns: TURNS }, async ({ acp, rig, sessionId }) => {
    await Deno.writeTextFile(`${rig.workspace}/notes.txt`, "one\ntwo\n");
    acp.onPermission = () => ALLOW;
    await acp.prompt(sessionId, "go");
    const live = acp.updates(sessionId).filter((u) => u.sessionUpdate === "tool_call");
    await acp.close();
    await using next = startAcp(rig);
    const started = next.send("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const loaded = next.send("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
    const prompted = next.startPrompt(sessionId, "and now");
    await Promise.all([started.answer, loaded.answer]);
    assertEquals((await prompted.answer).result.stopReason, "end_turn");
    const at = [started, loaded, prompted].map(({ id }) => next.indexOfAnswer(id));
    assertEquals(at, [...at].sort((a, b) => a - b));
    const before = next.frames.slice(at[0]! + 1, at[1]).map(({ frame }) => frame.params.update);
    const shown = before.filter((u) => u.sessionUpdate === "tool_call");
    const facts = (
      card: Json,
    ) => [card.toolCallId, card.title, card.name, card.kind, card.locations, card.rawInput];
    assertEquals(shown.map(facts), live.map(facts));
    assertEquals(shown.map((card) => card.kind), ["read", "execute", "other", "edit"]);
    assertEquals(shown.map((card) => card.rawInput), [undefined, undefined, undefined, undefined]);
    assertEquals(before.filter((u) => u.status === "completed").length, 4);
    assertEquals(before.filter((u) => u.sessionUpdate === "plan").length, 1);
    const after = next.updates(sessionId, at[1]!).map((u) => u.sessionUpdate);
    assertEquals(after.slice(0, 3), ["available_commands_update", "usage_update", "agent_message_chunk"]);
    assertEquals(next.text(sessionId, at[1]!), "again");
  });
});

Deno.test("C3: what needs no tool is answered in order on the lines behind initialize", async () => {
  await withAcp(
    { turns: ["hello"], models: ["scripted", "other"] },
    async ({ acp, rig, sessionId, model }) => {
      await acp.prompt(sessionId, "hi");
      await acp.close();
      await using next = startAcp(rig);
      const sent = [
        next.send("initialize", { protocolVersion: 1 }),
        next.send("session/list", {}),
        next.send("session/set_mode", { sessionId, modeId: "plan" }),
        next.send("session/set_config_option", { sessionId, configId: "model", value: "custom:other" }),
        next.send("session/resume", { sessionId, cwd: rig.workspace }),
        next.send("session/fork", { sessionId, cwd: rig.workspace, mcpServers: [] }),
      ];
      const answers = await Promise.all(sent.map((one) => one.answer));
      assertEquals(answers.map(({ error }) => error), answers.map(() => undefined));
      assertEquals(answers[1]!.result.sessions.map((one: Json) => one.sessionId), [sessionId]);
      const { modes, configOptions } = await next.request("session/resume", {
        sessionId,
        cwd: rig.workspace,
      });
      assertEquals([modes.currentModeId, configOptions[0].currentValue], ["plan", "custom:other"]);
      assertEquals(cards(next.updates()), []);
      // The size of the next request is never told without the tools.
      const sizes = next.updates().filter((u) => u.sessionUpdate === "usage_update").map((u) => u.used);
      assert(sizes.every((used) => used > 1_000), sizes.join(" "));
      assertEquals(model.calls().length, 1);
    },
  );
});
