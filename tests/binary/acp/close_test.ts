/** `session/close` and `session/delete` in every phase of what they end (acp.md C3, C10; row 39). */
import { type Json, startAcp, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals } from "../../support/assert.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig } from "../../support/program.ts";

const STALL: ScriptTurn = { steps: [{ text: "begun" }, { stall: true }] };

Deno.test("acp 39: close on the line after a prompt that reopens the session cancels it and wins", async () => {
  await withAcp({ turns: ["one", "never", "back"] }, async ({ acp, model, sessionId, again }) => {
    await acp.prompt(sessionId, "a");
    await acp.close();
    await using next = await again();
    const prompt = next.startPrompt(sessionId, "b");
    const close = next.send("session/close", { sessionId });
    assertEquals((await prompt.answer).result?.stopReason, "cancelled");
    assertEquals((await close.answer).result, {});
    assert(next.indexOfAnswer(prompt.id) < next.indexOfAnswer(close.id));
    assertEquals((await next.ask("session/close", { sessionId })).error?.code, -32002);
    assertEquals(model.calls().length, 1);
    assertEquals((await next.request("session/list", {})).sessions.length, 1);
  });
});

Deno.test("acp 39: close while a load reopens the session ends the load and the prompt that waits for it", async () => {
  await withAcp({ turns: ["one", "never"] }, async ({ acp, rig, model, sessionId, again }) => {
    await acp.prompt(sessionId, "a");
    await acp.close();
    await using next = await again();
    const load = next.send("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
    const prompt = next.startPrompt(sessionId, "b");
    const close = next.send("session/close", { sessionId });
    assertEquals((await prompt.answer).result?.stopReason, "cancelled");
    const loaded = await load.answer;
    assert(loaded.result || loaded.error?.code === -32800, JSON.stringify(loaded));
    assertEquals((await close.answer).result, {});
    assertEquals((await next.ask("session/close", { sessionId })).error?.code, -32002);
    assertEquals(model.calls().length, 1);
  });
});

Deno.test("acp 39: close ends the running prompt and those that wait; a prompt behind it opens the session anew", async () => {
  await withAcp({ turns: [STALL, "fresh"] }, async ({ acp, model, sessionId }) => {
    const running = acp.startPrompt(sessionId, "a");
    await acp.update((u) => u.content?.text === "begun");
    const waiting = acp.startPrompt(sessionId, "b");
    const close = acp.send("session/close", { sessionId });
    const behind = acp.startPrompt(sessionId, "c");
    for (const one of [running, waiting]) {
      assertEquals((await one.answer).result.stopReason, "cancelled");
    }
    assertEquals((await close.answer).result, {});
    for (const one of [running, waiting]) assert(acp.indexOfAnswer(one.id) < acp.indexOfAnswer(close.id));
    assertEquals((await behind.answer).result.stopReason, "end_turn");
    assert(acp.indexOfAnswer(close.id) < acp.indexOfAnswer(behind.id));
    assertEquals(acp.text(sessionId).slice(-5), "fresh");
    const users = (call: Json) => call.body.messages.filter((m: Json) => m.role === "user").length;
    assertEquals(model.calls().map(users), [1, 2]);
  });
});

Deno.test("acp 39: close ends a slash command that has the session, with its answer first", async () => {
  const respond = (_: Json, n: number): ScriptTurn => n < 8 ? `answer ${n}` : { steps: [{ stall: true }] };
  const config = { compression: { protect_first_n: 1, protect_last_n: 2 } };
  await withAcp({ respond, config }, async ({ acp, model, sessionId }) => {
    for (let n = 0; n < 8; n++) await acp.prompt(sessionId, `question ${n} ${"filler ".repeat(400)}`);
    const before = model.calls().length;
    const compact = acp.startPrompt(sessionId, "/compact");
    await eventually(() => model.calls().length > before, 10_000, "the call for the summary");
    const close = acp.send("session/close", { sessionId });
    assertEquals((await compact.answer).result.stopReason, "cancelled");
    assertEquals((await close.answer).result, {});
    assert(acp.indexOfAnswer(compact.id) < acp.indexOfAnswer(close.id));
  });
});

Deno.test("acp 39: delete during a turn, and on the line after a prompt that reopens, ends it for good", async () => {
  await withAcp({ turns: [STALL, "never"] }, async ({ acp, rig, model, sessionId, again }) => {
    const running = acp.startPrompt(sessionId, "a");
    await acp.update((u) => u.content?.text === "begun");
    await using next = await again();
    const other = await next.newSession(rig.workspace);
    void next.send("session/close", { sessionId: other });
    const prompt = next.startPrompt(other, "b");
    const removed = next.send("session/delete", { sessionId: other });
    assertEquals((await prompt.answer).result.stopReason, "cancelled");
    assertEquals((await removed.answer).result, {});
    const place = { cwd: rig.workspace, mcpServers: [] };
    assertEquals((await next.ask("session/load", { sessionId: other, ...place })).error?.code, -32002);
    assertEquals(await acp.request("session/delete", { sessionId }), {});
    assertEquals((await running.answer).result.stopReason, "cancelled");
    assertEquals((await acp.startPrompt(sessionId, "c").answer).error?.code, -32002);
    assertEquals(model.calls().length, 1);
  });
});

Deno.test("acp 39: fifty rounds of prompt, close and load on neighbouring lines leave no open answer", async () => {
  await using model = await startModelServer({ respond: () => "ok" });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using acp = startAcp(rig);
  await acp.initialize();
  const sessionId = await acp.newSession(rig.workspace);
  await acp.prompt(sessionId, "first");
  const place = { cwd: rig.workspace, mcpServers: [] };
  for (let round = 0; round < 50; round++) {
    const prompt = (text: string) => ({ sessionId, prompt: [{ type: "text", text }] });
    const lines: [string, unknown][] = [
      ["session/prompt", prompt(`p${round}`)],
      ["session/close", { sessionId }],
      ["session/load", { sessionId, ...place }],
      ["session/close", { sessionId }],
      ["session/prompt", prompt(`q${round}`)],
    ];
    const ids = lines.map((_, n) => `${round}.${n}`);
    const sent = lines.map(([method], n) => acp.expect(ids[n], method));
    const frames = lines.map(([method, params], n) => ({ jsonrpc: "2.0", id: ids[n], method, params }));
    await acp.raw(frames.map((frame) => JSON.stringify(frame) + "\n").join(""));
    const answers = await acp.inTime(Promise.all(sent), 10_000, `round ${round}`);
    assertEquals(answers[0]!.result?.stopReason, "cancelled");
    assertEquals([answers[1]!.result, answers[3]!.result], [{}, {}]);
    assertEquals(answers[4]!.result?.stopReason, "end_turn");
  }
});
