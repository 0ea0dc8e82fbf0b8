/** A change that is refused changes nothing, not even whether a session has ended (acp.md C3, C9). */
import { type AcpDriver, type Json, withAcp } from "../../support/acp_driver.ts";
import { assertEquals, assertMatch } from "../../support/assert.ts";

const text = (words: string) => [{ type: "text", text: words }];

async function endOf(home: string, id: string): Promise<unknown[]> {
  const { DatabaseSync } = await import("node:sqlite");
  using db = new DatabaseSync(`${home}/hermes.db`, { readOnly: true, timeout: 10_000 });
  const row = db.prepare("SELECT ended_at, end_reason FROM sessions WHERE id = ?").get(id)!;
  return [row.ended_at, row.end_reason];
}

async function codeOf(acp: AcpDriver, method: string, params: Json): Promise<number | undefined> {
  return (await acp.ask(method, params)).error?.code;
}

Deno.test("C9: a refused model, option or mode opens no stored session and leaves its end as it was", async () => {
  await withAcp({ turns: ["one"] }, async ({ acp, rig, sessionId, again }) => {
    await acp.prompt(sessionId, "a");
    await acp.close();
    const before = await endOf(rig.home, sessionId);
    assertEquals(before[1], "agent_close");
    await using next = await again();
    const option = (configId: string, value: unknown) => ({ sessionId, configId, value });
    const refused: [string, Json][] = [
      ["session/set_model", { sessionId, modelId: "no-such-model" }],
      ["session/set_model", { sessionId, modelId: "openrouter:x/y" }],
      ["session/set_model", { sessionId, modelId: "scripted --global" }],
      ["session/set_config_option", option("model", "no-such-model")],
      ["session/set_config_option", option("reasoning_effort", "high")],
      ["session/set_config_option", option("edit_approval_policy", "bogus")],
      ["session/set_config_option", option("edit_approval_policy", true)],
      ["session/set_config_option", option("who", "x")],
      ["session/set_mode", { sessionId, modeId: "bogus" }],
      ["session/load", { sessionId, cwd: "relative", mcpServers: [] }],
    ];
    for (const [method, params] of refused) {
      assertEquals(await codeOf(next, method, params), -32602, JSON.stringify(params));
      // It is not open here.
      assertEquals(await codeOf(next, "session/close", { sessionId }), -32002, JSON.stringify(params));
    }
    assertEquals(await endOf(rig.home, sessionId), before);
    assertEquals(next.updates(sessionId), []);
  });
});

Deno.test("steering: a session that is not open is not opened for a text that is handed back", async () => {
  await withAcp({ turns: ["one"] }, async ({ acp, rig, sessionId, again }) => {
    await acp.prompt(sessionId, "a");
    await acp.close();
    const before = await endOf(rig.home, sessionId);
    await using next = await again();
    const _meta = { steering: { idleBehavior: "promptRequired" } };
    assertEquals(await next.request("_session/steering", { sessionId, prompt: text("x"), _meta }), {
      outcome: "promptRequired",
      reason: "noRunningTurn",
    });
    const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
    assertEquals(await next.request("_session/steering", { sessionId, prompt: [image], _meta }), {
      outcome: "promptRequired",
      reason: "unsupportedContent",
    });
    assertEquals(await codeOf(next, "_session/steering", { sessionId, prompt: [], _meta }), -32602);
    assertEquals(await codeOf(next, "session/close", { sessionId }), -32002);
    assertEquals(await endOf(rig.home, sessionId), before);
  });
});

Deno.test("C9: a prompt on the line after set_model of a stored session runs with that model", async () => {
  await withAcp({ turns: ["one", "two"], models: ["scripted", "other"] }, async (
    { acp, model, sessionId, again },
  ) => {
    await acp.prompt(sessionId, "a");
    await acp.close();
    await using next = await again();
    const change = next.send("session/set_model", { sessionId, modelId: "other" });
    const prompt = next.startPrompt(sessionId, "b");
    assertEquals((await change.answer).result, {});
    assertEquals((await prompt.answer).result.stopReason, "end_turn");
    assertEquals(model.calls().map((call) => call.body.model), ["scripted", "other"]);
  });
});

Deno.test("C9: the configured default comes first in the list, the current model is always in it", async () => {
  await withAcp({ models: ["scripted", "other", "third"] }, async ({ acp, sessionId }) => {
    await acp.request("session/set_model", { sessionId, modelId: "third" });
    const params = { sessionId, configId: "edit_approval_policy", value: "session" };
    const [option] = (await acp.request("session/set_config_option", params)).configOptions;
    assertEquals(option.currentValue, "custom:third");
    const values = option.options.map((one: Json) => one.value);
    assertEquals([values[0], values.includes("custom:third")], ["custom:scripted", true]);
  });
});

Deno.test("C3: a session that another process has deleted is -32002 here, whatever asks for it", async () => {
  const asks: ((sessionId: string, cwd: string) => [string, Json])[] = [
    (sessionId) => ["session/prompt", { sessionId, prompt: text("more") }],
    (sessionId, cwd) => ["session/load", { sessionId, cwd, mcpServers: [] }],
    (sessionId, cwd) => ["session/resume", { sessionId, cwd }],
    (sessionId, cwd) => ["session/fork", { sessionId, cwd }],
    (sessionId) => ["session/set_mode", { sessionId, modeId: "plan" }],
    (sessionId) => ["session/set_model", { sessionId, modelId: "builtin:demo" }],
    (sessionId) => ["_session/steering", { sessionId, prompt: text("x") }],
  ];
  await withAcp({ turns: asks.map((_, n) => `answer ${n}`) }, async ({ acp, model, rig, again }) => {
    await using other = await again();
    for (const ask of asks) {
      const sessionId = await acp.newSession(rig.workspace);
      await acp.prompt(sessionId, "a");
      assertEquals(await other.request("session/delete", { sessionId }), {});
      const calls = model.calls().length;
      const [method, params] = ask(sessionId, rig.workspace);
      const { error } = await acp.ask(method, params);
      assertEquals([error?.code, error?.data], [-32002, { sessionId }], method);
      assertEquals(model.calls().length, calls);
      assertEquals(await acp.request("session/delete", { sessionId }), {});
    }
    assertEquals((await acp.request("session/list", {})).sessions, []);
  });
});

Deno.test("C3: a load during a turn in another directory counts for the next turn, not for the running one", async () => {
  const pwd = (id: string) => ({ steps: [{ tool: "terminal", args: { command: `sleep 1; pwd` }, id }] });
  await withAcp({ turns: ["one", pwd("x"), "two", pwd("y"), "three"] }, async ({ acp, rig, sessionId }) => {
    await acp.prompt(sessionId, "a");
    const cwd = `${rig.workspace}/sub`;
    await Deno.mkdir(cwd);
    const running = acp.startPrompt(sessionId, "b");
    await acp.update((u) => u.sessionUpdate === "tool_call");
    const waiting = acp.startPrompt(sessionId, "c");
    await acp.request("session/load", { sessionId, cwd, mcpServers: [] });
    assertEquals((await running.answer).result.stopReason, "end_turn");
    assertEquals((await waiting.answer).result.stopReason, "end_turn");
    const shown = acp.updates(sessionId).filter((u) => u.status === "completed")
      .map((u) => u.content[0].content.text.trim());
    assertEquals(shown, [rig.workspace, cwd]);
    const { sessions } = await acp.request("session/list", { cwd });
    assertEquals(sessions.map((one: Json) => one.sessionId), [sessionId]);
  });
});

Deno.test("C4: a path with a NUL is refused for new and load alike", async () => {
  await withAcp({ turns: ["one"] }, async ({ acp, rig, sessionId }) => {
    await acp.prompt(sessionId, "a");
    const cwd = `${rig.workspace}\0/x`;
    for (const [method, params] of [["session/new", {}], ["session/load", { sessionId }]] as const) {
      for (const value of [cwd, `file://${rig.workspace}%00/x`]) {
        const { error } = await acp.ask(method, { ...params, cwd: value, mcpServers: [] });
        assertEquals([error?.code, error?.data.reason], [-32602, "not_absolute"]);
        assertMatch(error!.message, /^Cannot use cwd /);
      }
    }
  });
});
