/** Sessions while something else goes on (acp.md C3, C9, C10, D6): loads and forks of running ones, locks, titles. */
import { createDenoPlatform } from "../../../src/platform/deno.ts";
import { openStore } from "../../../src/store/mod.ts";
import { calls, type Json, startAcp, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import type { ScriptTurn } from "../../support/model_server.ts";
import { makeRig, modelConfig } from "../../support/program.ts";

const place = (cwd: string) => ({ cwd, mcpServers: [] });

function kinds(updates: Json[]): string[] {
  return updates.map((u) => u.sessionUpdate).filter((kind) => /message_chunk|tool/.test(kind));
}

Deno.test("C3: a load during a turn replays what is stored and leaves the turn running", async () => {
  const turns: ScriptTurn[] = ["first", { steps: [{ text: "begun" }, { stall: true }] }];
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    await acp.prompt(sessionId, "one");
    const running = acp.startPrompt(sessionId, "two");
    await acp.update((u) => u.content?.text === "begun");
    const from = acp.frames.length;
    const { modes } = await acp.request("session/load", { sessionId, ...place(rig.workspace) });
    assertEquals(modes.currentModeId, "default");
    const texts = acp.updates(sessionId, from).filter((u) => /message_chunk/.test(u.sessionUpdate))
      .map((u) => u.content.text);
    assertEquals(texts, ["one", "first", "two"]);
    assertEquals(acp.indexOfAnswer(running.id), -1);
    await acp.cancel(sessionId);
    assertEquals((await running.answer).result.stopReason, "cancelled");
  });
});

Deno.test("C3: a fork of a running session has its last complete group, no call without a result", async () => {
  const turns = [
    "first",
    calls(["terminal", { command: "sleep 30" }]),
    "in the fork",
  ];
  await withAcp({ turns }, async ({ acp, rig, model, sessionId }) => {
    await acp.prompt(sessionId, "one");
    const running = acp.startPrompt(sessionId, "two");
    await acp.update((u) => u.sessionUpdate === "tool_call");
    const { sessionId: forked } = await acp.request("session/fork", { sessionId, ...place(rig.workspace) });
    assertEquals((await acp.prompt(forked, "three")).stopReason, "end_turn");
    const messages = model.calls().at(-1)!.body.messages;
    assertEquals(messages.filter((m: Json) => m.tool_calls || m.role === "tool"), []);
    assertEquals(acp.indexOfAnswer(running.id), -1);
    await acp.cancel(sessionId);
    await running.answer;
  });
});

Deno.test("C3: mode and options of a stored session are set without a load, and are stored", async () => {
  await withAcp({ turns: ["one"] }, async ({ acp, rig, sessionId, again }) => {
    await acp.prompt(sessionId, "a");
    await acp.close();
    {
      await using next = await again();
      assertEquals(await next.request("session/set_mode", { sessionId, modeId: "plan" }), {});
      const { configOptions } = await next.request("session/set_config_option", {
        sessionId,
        configId: "edit_approval_policy",
        value: "workspace_session",
      });
      assertEquals(configOptions.at(-1).currentValue, "workspace_session");
    }
    await using last = await again();
    const { modes } = await last.request("session/resume", { sessionId, cwd: rig.workspace });
    assertEquals(modes.currentModeId, "accept_edits");
  });
});

Deno.test("C9: /reset empties the stored conversation and keeps the session", async () => {
  await withAcp({ turns: ["one", "two"] }, async ({ acp, rig, model, sessionId, again }) => {
    await acp.prompt(sessionId, "a");
    assertEquals((await acp.prompt(sessionId, "/reset")).stopReason, "end_turn");
    await acp.close();
    await using next = await again();
    await next.request("session/load", { sessionId, ...place(rig.workspace) });
    assertEquals(kinds(next.updates(sessionId)), []);
    await next.prompt(sessionId, "b");
    assertEquals(model.calls()[1]!.body.messages.filter((m: Json) => m.role === "user").length, 1);
  });
});

Deno.test("C9: while a turn runs /reset, /compact and /model x are refused as busy, the others answer", async () => {
  await withAcp({ turns: [{ steps: [{ text: "begun" }, { stall: true }] }] }, async ({ acp, sessionId }) => {
    const running = acp.startPrompt(sessionId, "go");
    await acp.update((u) => u.content?.text === "begun");
    for (const command of ["/reset", "/compact", "/model builtin:demo"]) {
      const from = acp.frames.length;
      assertEquals((await acp.prompt(sessionId, command)).stopReason, "end_turn");
      assertMatch(acp.text(sessionId, from), /has to wait until the turn has ended/);
    }
    for (const command of ["/model", "/context", "/tools", "/help", "/version"]) {
      const from = acp.frames.length;
      assertEquals((await acp.prompt(sessionId, command)).stopReason, "end_turn");
      assert(!/has to wait/.test(acp.text(sessionId, from)));
    }
    assertEquals(acp.indexOfAnswer(running.id), -1);
    await acp.cancel(sessionId);
    await running.answer;
  });
});

Deno.test("D6: a database that another process holds for a while delays a session, and does not refuse it", async () => {
  await withAcp({ turns: ["ok"] }, async ({ acp, rig }) => {
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(`${rig.home}/hermes.db`, { timeout: 10_000 });
    db.exec("BEGIN IMMEDIATE");
    const opened = acp.send("session/new", place(rig.workspace));
    assertEquals((await acp.ask("session/set_mode", { sessionId: "nope", modeId: "x" })).error?.code, -32002);
    assertEquals(acp.indexOfAnswer(opened.id), -1);
    db.exec("COMMIT");
    db.close();
    const { result } = await opened.answer;
    assertEquals((await acp.prompt(result.sessionId, "go")).stopReason, "end_turn");
  });
});

Deno.test("C11: after the first exchange the title is told, and it is that of the list", async () => {
  const respond = (request: Json) =>
    /You name conversations/.test(JSON.stringify(request.body.messages[0])) ? "Greeting it" : "hello to you";
  const config = { auxiliary: { title_generation: { model: "scripted" } } };
  await withAcp({ respond, config }, async ({ acp, sessionId }) => {
    const sent = acp.startPrompt(sessionId, "hello machine");
    await sent.answer;
    const told = await acp.update((u) => u.sessionUpdate === "session_info_update" && u.title);
    const { sessions } = await acp.request("session/list", {});
    assertEquals([told.title, sessions[0].title], ["Greeting it", "Greeting it"]);
    assertEquals(told._meta.hermes.sessionProvenance.acpSessionId, sessionId);
    assertMatch(told.updatedAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  });
});

Deno.test("A3: methods of the protocol that are not offered are -32601, and so is logout", async () => {
  await withAcp({}, async ({ acp, sessionId }) => {
    const methods = [
      "logout",
      "auth/status",
      "session/archive",
      "session/unarchive",
      "session/status",
      "session/set_title",
      "providers/list",
      "mcp/message",
      "toString",
      "__proto__",
    ];
    for (const method of methods) {
      assertEquals([method, (await acp.ask(method, { sessionId })).error?.code], [method, -32601]);
    }
    assertEquals((await acp.ask("session/list", [1])).error?.code, -32602);
  });
});

Deno.test("thousands of stored sessions: every page in order, none twice, a filter over all of them", async () => {
  await using rig = await makeRig({ config: modelConfig("http://127.0.0.1:9/v1") });
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const store = openStore(`${rig.home}/hermes.db`, { platform: createDenoPlatform(), log: silent });
  const count = 2_000;
  const ids = Array.from({ length: count }, () => crypto.randomUUID());
  await Promise.all(ids.map(async (id, n) => {
    const cwd = n % 500 === 7 ? `${rig.workspace}/rare` : rig.workspace;
    await store.createSession({ id, source: "acp", cwd, config: {} });
    await store.appendMessages(id, [{ role: "user", content: `prompt ${n}` }]);
  }));
  store.close();
  await using acp = startAcp(rig);
  await acp.initialize();
  const listed: Json[] = [];
  let cursor: string | undefined;
  do {
    const page = await acp.request("session/list", cursor ? { cursor } : {});
    listed.push(...page.sessions);
    cursor = page.nextCursor;
    assertEquals(page.sessions.length, 50);
  } while (cursor);
  assertEquals(new Set(listed.map((one) => one.sessionId)), new Set(ids));
  assertEquals(listed.length, count);
  const times = listed.map((one) => Date.parse(one.updatedAt));
  assert(times.every((time, n) => n === 0 || time <= times[n - 1]!));
  const rare = await acp.request("session/list", { cwd: `${rig.workspace}/rare` });
  assertEquals([rare.sessions.length, rare.nextCursor], [4, undefined]);
});
