/** `_session/steering`, as other agents take it, beside `/steer`. */
import { calls, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";

const text = (words: string) => [{ type: "text", text: words }];
const PROMPT_REQUIRED = { steering: { idleBehavior: "promptRequired" } };

Deno.test("steering: text for a running turn is injected at its next tool boundary and answered at once", async () => {
  const turns = [calls(["terminal", { command: "sleep 2; echo ready" }]), "used tabs"];
  await withAcp({ turns }, async ({ acp, model, sessionId }) => {
    const sent = acp.startPrompt(sessionId, "go");
    await acp.update((u) => u.sessionUpdate === "tool_call");
    const result = await acp.request("_session/steering", { sessionId, prompt: text("use tabs") });
    assertEquals(result, { outcome: "injected" });
    assertEquals(acp.indexOfAnswer(sent.id), -1);
    assertEquals((await sent.answer).result.stopReason, "end_turn");
    assertMatch(JSON.stringify(model.calls()[1]!.body.messages.at(-1)), /use tabs/);
    assertEquals(model.calls().length, 2);
  });
});

Deno.test("steering: on the line right behind its prompt it finds that prompt's turn", async () => {
  const turns = [calls(["terminal", { command: "echo one" }]), "done"];
  await withAcp({ turns }, async ({ acp, model, sessionId }) => {
    const sent = acp.startPrompt(sessionId, "go");
    const steered = acp.send("_session/steering", {
      sessionId,
      prompt: text("at once"),
      _meta: PROMPT_REQUIRED,
    });
    assertEquals((await steered.answer).result, { outcome: "injected" });
    assertEquals((await sent.answer).result.stopReason, "end_turn");
    assertMatch(JSON.stringify(model.calls().at(-1)!.body.messages), /at once/);
  });
});

Deno.test("steering: while idle it is handed back to a client that wants that, and nothing runs", async () => {
  await withAcp({ turns: ["never"] }, async ({ acp, model, sessionId }) => {
    const params = { sessionId, prompt: text("hello"), _meta: PROMPT_REQUIRED };
    assertEquals(await acp.request("_session/steering", params), {
      outcome: "promptRequired",
      reason: "noRunningTurn",
    });
    assertEquals(model.calls().length, 0);
    assertEquals(acp.text(sessionId), "");
  });
});

Deno.test("steering: while idle it becomes a turn of its own for other clients, its updates behind the answer", async () => {
  await withAcp({ turns: ["ran it", "next"] }, async ({ acp, model, sessionId }) => {
    const sent = acp.send("_session/steering", { sessionId, prompt: text("hello") });
    assertEquals((await sent.answer).result, { outcome: "startedNewTurn", reason: "noRunningTurn" });
    await acp.update((u) => u.sessionUpdate === "agent_message_chunk" && u.content.text === "ran it");
    const chunk = acp.frames.findIndex(({ frame }) => frame.params?.update?.content?.text === "ran it");
    assert(acp.indexOfAnswer(sent.id) < chunk);
    assertEquals((await acp.prompt(sessionId, "again")).stopReason, "end_turn");
    assertEquals(
      model.calls()[1]!.body.messages.filter((m: { role: string }) => m.role === "user").length,
      2,
    );
  });
});

Deno.test("steering: a cancel ends the turn it began, and a failing one says so", async () => {
  await withAcp({ turns: [{ steps: [{ text: "a" }, { stall: true }] }, "after"] }, async (
    { acp, model, sessionId },
  ) => {
    await acp.request("_session/steering", { sessionId, prompt: text("hello") });
    await acp.update((u) => u.sessionUpdate === "agent_message_chunk" && u.content.text === "a");
    await acp.cancel(sessionId);
    await eventually(() => model.calls()[0]!.aborted, 2_000, "the end of the model call");
    assertEquals((await acp.prompt(sessionId, "next")).stopReason, "end_turn");
  });
  await withAcp({ turns: [{ steps: [{ error: { status: 401, message: "bad key" } }] }] }, async (
    { acp, sessionId },
  ) => {
    await acp.request("_session/steering", { sessionId, prompt: text("hello") });
    await eventually(() => /Authentication required/.test(acp.text(sessionId)), 5_000, "the failure");
  });
});

Deno.test("steering: an image cannot join a running turn and is handed back", async () => {
  const turns = [calls(["terminal", { command: "sleep 30" }]), "done"];
  await withAcp({ turns }, async ({ acp, sessionId }) => {
    const sent = acp.startPrompt(sessionId, "go");
    await acp.update((u) => u.sessionUpdate === "tool_call");
    const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
    const params = { sessionId, prompt: [image], _meta: PROMPT_REQUIRED };
    assertEquals(await acp.request("_session/steering", params), {
      outcome: "promptRequired",
      reason: "unsupportedContent",
    });
    await acp.cancel(sessionId);
    assertEquals((await sent.answer).result.stopReason, "cancelled");
  });
});

Deno.test("steering: an unknown session is -32002, an empty or malformed prompt -32602", async () => {
  await withAcp({}, async ({ acp, sessionId }) => {
    const unknown = await acp.ask("_session/steering", { sessionId: "nobody", prompt: text("x") });
    assertEquals([unknown.error?.code, unknown.error?.data], [-32002, { sessionId: "nobody" }]);
    for (const prompt of [[], undefined, "words", [{ type: "weird" }]]) {
      assertEquals((await acp.ask("_session/steering", { sessionId, prompt })).error?.code, -32602);
    }
  });
});
