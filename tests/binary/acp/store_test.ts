/** What outlives a process (acp.md E, rows 38, 40, 41, 43; FC-10, FC-25). */
import { ALLOW, calls, type Json, startAcp, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { startModelServer } from "../../support/model_server.ts";
import { eventually, makeRig, modelConfig } from "../../support/program.ts";

function conversation(updates: Json[]): Json[] {
  return updates.filter((u) => /message_chunk|thought|tool|plan/.test(u.sessionUpdate));
}

Deno.test("acp 38: after kill -9, load replays all before its answer, keeps the mode, closes the open call", async () => {
  const turns = ["first answer", calls(["terminal", { command: "sleep 60" }])];
  await withAcp({ turns }, async ({ acp, rig, sessionId, again }) => {
    await acp.request("session/set_mode", { sessionId, modeId: "accept_edits" });
    await acp.prompt(sessionId, "one");
    void acp.startPrompt(sessionId, "two");
    await acp.update((u) => u.sessionUpdate === "tool_call");
    acp.child.kill("SIGKILL");
    await acp.exit();
    await using next = await again();
    const sent = next.send("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
    const { result } = await sent.answer;
    assertEquals(result.modes.currentModeId, "accept_edits");
    assertEquals(result._meta.hermes.sessionProvenance.sessionKind, "root");
    const before = next.frames.slice(0, next.indexOfAnswer(sent.id)).map(({ frame }) => frame.params?.update)
      .filter(Boolean);
    assertEquals(before.map((u) => [u.sessionUpdate, u.content?.text ?? u.status]), [
      ["user_message_chunk", "one"],
      ["agent_message_chunk", "first answer"],
      ["user_message_chunk", "two"],
      ["tool_call", "in_progress"],
      ["tool_call_update", "failed"],
    ]);
    assert(before.filter((u) => u.content?.text).every((u) => typeof u.messageId === "string"));
    assertEquals(before[3].toolCallId, before[4].toolCallId);
    await using resumed = await again();
    await resumed.request("session/resume", { sessionId, cwd: rig.workspace });
    assertEquals(conversation(resumed.updates(sessionId)), []);
  });
});

Deno.test("FC-10: load gives the whole history with the edit's diff, the same each time, and changes nothing", async () => {
  const turns = [
    { steps: [{ reasoning: "hm" }, { text: "plain" }] },
    calls(["write_file", { path: "a.txt", content: "x\n" }]),
    "edited",
  ];
  await withAcp({ turns }, async ({ acp, rig, sessionId, again }) => {
    acp.onPermission = () => ALLOW;
    await acp.prompt(sessionId, "one");
    await acp.prompt(sessionId, "two");
    const live = acp.updates(sessionId).filter((u) => u.toolCallId);
    await acp.close();
    await using next = await again();
    const load = async () => {
      const from = next.frames.length;
      await next.request("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
      return conversation(next.updates(sessionId, from));
    };
    const first = await load();
    assertEquals(first.map((u) => u.sessionUpdate), [
      "user_message_chunk",
      "agent_thought_chunk",
      "agent_message_chunk",
      "user_message_chunk",
      "tool_call",
      "tool_call_update",
      "agent_message_chunk",
    ]);
    const path = `${rig.workspace}/a.txt`;
    assertEquals(first[5].content.at(-1), { type: "diff", path, oldText: null, newText: "x\n" });
    assertEquals(first[4].toolCallId, live[0].toolCallId);
    assertEquals([first[4].title, first[4].kind], [live[0].title, live[0].kind]);
    assertEquals(first[5].content, live.at(-1).content);
    assertEquals(await load(), first);
    const { sessions } = await next.request("session/list", {});
    assertEquals(sessions.length, 1);
  });
});

Deno.test("a prompt on the line after load waits for it, and its answer comes last", async () => {
  await withAcp({ turns: ["one", "two"] }, async ({ acp, rig, sessionId, again }) => {
    await acp.prompt(sessionId, "a");
    await using next = await again();
    const load = next.send("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
    const prompt = next.startPrompt(sessionId, "b");
    assertEquals((await prompt.answer).result.stopReason, "end_turn");
    const at = (text: string) =>
      next.frames.findIndex(({ frame }) => frame.params?.update?.content?.text === text);
    assert(at("one") < next.indexOfAnswer(load.id) && next.indexOfAnswer(load.id) < at("two"));
  });
});

Deno.test("acp 38: a prompt for a stored session restores it without a load", async () => {
  await withAcp({ turns: ["one", "two"] }, async ({ acp, model, sessionId, again }) => {
    await acp.prompt(sessionId, "a");
    await acp.close();
    await using next = await again();
    assertEquals((await next.prompt(sessionId, "b")).stopReason, "end_turn");
    const roles = model.calls()[1]!.body.messages.map((m: Json) => m.role);
    assertEquals(roles.filter((role: string) => role !== "system"), ["user", "assistant", "user"]);
  });
});

Deno.test("load accepts a directory that is gone, and says so", async () => {
  await withAcp({ turns: ["one"], capabilities: { session: { notices: {} } } }, async (
    { acp, sessionId, again, rig },
  ) => {
    await acp.prompt(sessionId, "a");
    await using next = await again();
    const cwd = `${rig.workspace}/gone`;
    await next.request("session/load", { sessionId, cwd, mcpServers: [] });
    const notice = await next.update((u) => u.sessionUpdate === "notice");
    assertMatch(notice.title, /gone does not exist/);
    const { sessions } = await next.request("session/list", { cwd });
    assertEquals(sessions.map((s: Json) => [s.sessionId, s.cwd]), [[sessionId, cwd]]);
  });
});

Deno.test("C4: in a directory that is gone no file or terminal tool runs, whatever the mode, until it is there again", async () => {
  const tools = calls(
    ["terminal", { command: "touch made.txt; pwd" }],
    ["read_file", { path: "/etc/hostname" }],
    ["write_file", { path: "new.txt", content: "x" }],
    ["search_files", { pattern: "x" }],
    ["todo", {}],
  );
  const turns = ["one", tools, "told", calls(["terminal", { command: "pwd" }]), "there", tools, "told again"];
  await withAcp({ turns }, async ({ acp, again, rig }) => {
    const cwd = `${rig.workspace}/sub`;
    await Deno.mkdir(cwd);
    const sessionId = await acp.newSession(cwd);
    await acp.request("session/set_mode", { sessionId, modeId: "dont_ask" });
    await acp.prompt(sessionId, "a");
    await acp.close();
    await Deno.remove(cwd);
    const ends = (driver: typeof acp) =>
      driver.updates(sessionId).filter((u) => ["completed", "failed"].includes(u.status)).map((u) => [
        u.status,
        u.content[0].content.text,
      ]);
    {
      await using next = await again();
      await next.request("session/load", { sessionId, cwd, mcpServers: [] });
      const from = next.frames.length;
      assertEquals((await next.prompt(sessionId, "b")).stopReason, "end_turn");
      assertMatch(next.text(sessionId, from), /^The directory .*sub does not exist/);
      const seen = ends(next);
      assertEquals(seen.map(([status]) => status), ["failed", "failed", "failed", "failed", "completed"]);
      for (const [, text] of seen.slice(0, 4)) assertMatch(text, /sub does not exist, so '\w+' was not run/);
      assertEquals(next.requests("session/request_permission"), []);
      assertEquals(await Deno.stat(cwd).catch(() => null), null);
      assertEquals(await Deno.stat(`${rig.workspace}/made.txt`).catch(() => null), null);
      await Deno.mkdir(cwd);
      await next.prompt(sessionId, "c");
      assertEquals(ends(next).at(-1), ["completed", cwd]);
    }
    // A prompt alone opens a stored session, too.
    await Deno.remove(cwd);
    await using third = await again();
    await third.prompt(sessionId, "d");
    assertEquals(ends(third).map(([status]) => status), [
      "failed",
      "failed",
      "failed",
      "failed",
      "completed",
    ]);
    assertEquals(await Deno.stat(cwd).catch(() => null), null);
  });
});

Deno.test("acp 40: a fork has the history, goes its own way and says what it is", async () => {
  await withAcp(
    { respond: (r) => `re: ${r.body.messages.at(-1).content}` },
    async ({ acp, rig, sessionId, again }) => {
      await acp.prompt(sessionId, "base");
      const forked = await acp.request("session/fork", { sessionId, cwd: rig.workspace });
      const provenance = forked._meta.hermes.sessionProvenance;
      assertEquals(
        [provenance.sessionKind, provenance.parentHermesSessionId, provenance.acpSessionId],
        ["fork", sessionId, forked.sessionId],
      );
      assertEquals(forked.modes.currentModeId, "default");
      await acp.prompt(forked.sessionId, "in the fork");
      await acp.prompt(sessionId, "in the source");
      await using next = await again();
      const texts = async (id: string) => {
        await next.request("session/load", { sessionId: id, cwd: rig.workspace, mcpServers: [] });
        return next.updates(id).filter((u) => u.sessionUpdate === "user_message_chunk").map((u) =>
          u.content.text
        );
      };
      assertEquals(await texts(sessionId), ["base", "in the source"]);
      assertEquals(await texts(forked.sessionId), ["base", "in the fork"]);
    },
  );
});

Deno.test("acp 41: sixty sessions in pages of fifty, newest first, filtered, deleted for good", async () => {
  await using model = await startModelServer({ respond: () => "ok" });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using acp = startAcp(rig);
  await acp.initialize();
  const other = `${rig.workspace}/other`;
  await Deno.mkdir(other);
  const ids: string[] = [];
  for (let n = 0; n < 60; n++) {
    const id = await acp.newSession(n % 10 === 0 ? other : rig.workspace);
    await acp.prompt(id, `prompt number ${n}`);
    ids.push(id);
  }
  await acp.newSession(rig.workspace);
  const first = await acp.request("session/list", {});
  const second = await acp.request("session/list", { cursor: first.nextCursor });
  assertEquals([first.sessions.length, second.sessions.length], [50, 10]);
  assert(!("nextCursor" in second));
  const listed = [...first.sessions, ...second.sessions];
  assertEquals(listed.map((s: Json) => s.sessionId), ids.toReversed());
  assertEquals(listed[0].title, "prompt number 59");
  assertEquals(listed[0].cwd, rig.workspace);
  assertMatch(listed[0].updatedAt, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  const filtered = await acp.request("session/list", { cwd: `${other}/` });
  assertEquals(filtered.sessions.length, 6);
  assertEquals(await acp.request("session/list", { cwd: "/nowhere" }), { sessions: [] });
  for (const cursor of ["bad", "", btoa("[1]"), btoa('[1e999,"x"]'), btoa('[1,"x",2]'), btoa('[1,"\xff"]')]) {
    assertEquals((await acp.ask("session/list", { cursor })).error?.code, -32602);
  }
  const [gone] = ids;
  assertEquals(await acp.request("session/delete", { sessionId: gone }), {});
  assertEquals(await acp.request("session/delete", { sessionId: gone }), {});
  const load = await acp.ask("session/load", { sessionId: gone, cwd: rig.workspace, mcpServers: [] });
  assertEquals([load.error?.code, load.error?.data], [-32002, { sessionId: gone }]);
  assertEquals((await acp.request("session/list", { cursor: first.nextCursor })).sessions.length, 9);
});

Deno.test("acp 39: close cancels first, keeps the session in the list, and frees it here", async () => {
  await withAcp(
    { turns: ["one", { steps: [{ stall: true }] }, "back"] },
    async ({ acp, model, sessionId }) => {
      await acp.prompt(sessionId, "a");
      const running = acp.startPrompt(sessionId, "b");
      await eventually(() => model.calls().length === 2);
      const close = acp.send("session/close", { sessionId });
      assertEquals((await close.answer).result, {});
      assertEquals((await running.answer).result.stopReason, "cancelled");
      assert(acp.indexOfAnswer(running.id) < acp.indexOfAnswer(close.id));
      assertEquals((await acp.ask("session/close", { sessionId })).error?.code, -32002);
      assertEquals((await acp.request("session/list", {})).sessions.length, 1);
      assertEquals((await acp.prompt(sessionId, "c")).stopReason, "end_turn");
    },
  );
});

Deno.test("acp 43: a missing parent row is told to the user, and the session loads", async () => {
  await withAcp({ respond: () => "ok" }, async ({ acp, rig, sessionId, again }) => {
    await acp.prompt(sessionId, "base");
    const { sessionId: forked } = await acp.request("session/fork", { sessionId, cwd: rig.workspace });
    await acp.prompt(forked, "more");
    await acp.close();
    const { DatabaseSync } = await import("node:sqlite");
    const db = new DatabaseSync(`${rig.home}/hermes.db`, { timeout: 10_000 });
    db.exec("PRAGMA foreign_keys = OFF");
    db.prepare("DELETE FROM messages WHERE session_id = ?").run(sessionId);
    db.prepare("DELETE FROM sessions WHERE id = ?").run(sessionId);
    db.close();
    await using next = await again();
    const { _meta } = await next.request("session/load", {
      sessionId: forked,
      cwd: rig.workspace,
      mcpServers: [],
    });
    const { chainStatus, sessionKind, brokenAt } = _meta.hermes.sessionProvenance;
    assertEquals([chainStatus, sessionKind, brokenAt], ["broken", "unknown", sessionId]);
    const last = conversation(next.updates(forked)).at(-1);
    assertMatch(last.content.text, /Earlier history/);
    await next.close();
    assertMatch(next.stderr, /\[WARNING\].*broken/);
  });
});

Deno.test("acp 43: a compressed conversation loads by its id when its first or its middle row is gone, and can be deleted", async () => {
  for (const nth of [0, 1]) {
    await withAcp({ respond: () => "ok" }, async ({ acp, rig, sessionId, again }) => {
      for (
        const text of [
          "one",
          "two",
          "three",
          "four",
          "five",
          "six",
          "/compact",
          "seven",
          "eight",
          "nine",
          "ten",
          "/compact",
          "last",
        ]
      ) {
        await acp.prompt(sessionId, text);
      }
      await acp.close();
      const { DatabaseSync } = await import("node:sqlite");
      const db = new DatabaseSync(`${rig.home}/hermes.db`, { timeout: 10_000 });
      const ids = db.prepare("SELECT id FROM sessions ORDER BY rowid").all().map((row) => String(row["id"]));
      assertEquals([ids.length, ids[0]], [3, sessionId]);
      const gone = ids[nth]!;
      db.exec("PRAGMA foreign_keys = OFF");
      db.prepare("DELETE FROM messages WHERE session_id = ?").run(gone);
      db.prepare("DELETE FROM sessions WHERE id = ?").run(gone);
      db.close();
      await using next = await again();
      assertEquals((await next.request("session/list", {})).sessions.map((row: Json) => row.sessionId), [
        sessionId,
      ]);
      const { _meta } = await next.request("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
      const { chainStatus, sessionKind, brokenAt, currentHermesSessionId } = _meta.hermes.sessionProvenance;
      const kind = nth === 0 ? "continuation" : "unknown";
      assertEquals([chainStatus, sessionKind, brokenAt, currentHermesSessionId], [
        "broken",
        kind,
        gone,
        ids[2],
      ]);
      const said = conversation(next.updates(sessionId)).map((update) => update.content.text);
      assert(said.includes("last"), said.join());
      assertMatch(said.at(-1), /Earlier history/);
      assertEquals((await next.prompt(sessionId, "on")).stopReason, "end_turn");
      assertEquals(await next.request("session/delete", { sessionId }), {});
      assertEquals((await next.request("session/list", {})).sessions, []);
    });
  }
});

Deno.test("FC-25: a model chosen in a session stays there, over restarts, and the config file is untouched", async () => {
  await withAcp(
    { turns: ["x", "y"], models: ["scripted", "other"] },
    async ({ acp, model, rig, sessionId, again }) => {
      const before = await Deno.readTextFile(`${rig.home}/config.jsonc`);
      const { configOptions } = await acp.request("session/set_config_option", {
        sessionId,
        configId: "model",
        value: "custom:other",
      });
      assertEquals(configOptions[0].currentValue, "custom:other");
      await acp.prompt(sessionId, "one");
      await acp.close();
      await using next = await again();
      await next.prompt(sessionId, "two");
      const fresh = await next.request("session/new", { cwd: rig.workspace, mcpServers: [] });
      assertEquals(fresh.configOptions[0].currentValue, "custom:scripted");
      assertEquals(model.calls().map((c) => c.body.model), ["other", "other"]);
      assertEquals(await Deno.readTextFile(`${rig.home}/config.jsonc`), before);
    },
  );
});

Deno.test("C3: a session whose provider lost its key still loads; its prompt is -32000 with what to do", async () => {
  await withAcp({ turns: ["one"] }, async ({ acp, rig, sessionId, again }) => {
    await acp.prompt(sessionId, "a");
    await acp.close();
    await rig.writeConfig({ model: { default: "x", provider: "openrouter" } });
    await using next = await again();
    await next.request("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
    assertEquals(conversation(next.updates(sessionId)).length, 2);
    const { error } = await next.startPrompt(sessionId, "b").answer;
    assertEquals([error?.code, error?.data.hint], [-32000, "hermes acp --setup"]);
    assertEquals((await next.prompt(sessionId, "/version")).stopReason, "end_turn");
  });
});

Deno.test("acp 42: after a compression the handle stays, the head moves, and a load has the tail once", async () => {
  const respond = (request: Json) => {
    const last = JSON.stringify(request.body.messages.at(-1));
    return /summar/i.test(last) ? "SUMMARY of the start" : `answer to ${request.body.messages.length}`;
  };
  const config = { compression: { protect_first_n: 1, protect_last_n: 2 } };
  await withAcp({ respond, config }, async ({ acp, rig, sessionId, again }) => {
    for (let n = 0; n < 8; n++) await acp.prompt(sessionId, `question ${n} ${"filler ".repeat(400)}`);
    await acp.prompt(sessionId, "/compact");
    assertMatch(acp.text(sessionId), /Compressed: \d+/);
    const info = await acp.update((u) => u.sessionUpdate === "session_info_update");
    assert(!("title" in info));
    const moved = info._meta.hermes.sessionProvenance;
    assertEquals(
      [
        moved.acpSessionId,
        moved.rootHermesSessionId,
        moved.previousHermesSessionId,
        moved.parentHermesSessionId,
      ],
      [sessionId, sessionId, sessionId, sessionId],
    );
    assertEquals([moved.sessionKind, moved.compressionDepth, moved.reason, moved.creatorKind], [
      "continuation",
      1,
      "compression",
      "compression",
    ]);
    assert(moved.currentHermesSessionId !== sessionId);
    await acp.prompt(sessionId, "after the compression");
    await acp.close();
    await using next = await again();
    const { sessions } = await next.request("session/list", {});
    assertEquals(sessions.map((s: Json) => s.sessionId), [sessionId]);
    const { _meta } = await next.request("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
    assertEquals(_meta.hermes.sessionProvenance.compressionDepth, 1);
    const chunks = next.updates(sessionId).filter((u) => u.sessionUpdate === "user_message_chunk");
    assertEquals(chunks.filter((u) => u._meta?.hermes?.compactionSummary).length, 1);
    const users = chunks.filter((u) => !u._meta).map((u) => u.content.text.slice(0, 21).trim());
    assertEquals(users.at(-1), "after the compression");
    assertEquals(users.filter((text) => text.startsWith("question 7")).length, 1);
    assertEquals(users.filter((text) => text.startsWith("question 0")).length, 1);
  });
});

Deno.test("C11: a compaction in a turn is one card from its beginning to its end, for a client that shows them", async () => {
  let failSummary = false;
  let full = true;
  const respond = (request: Json) => {
    const last = JSON.stringify(request.body.messages.at(-1));
    if (/summar/i.test(last)) {
      return failSummary ? { steps: [{ error: { status: 400, message: "no" } }] } : "SUMMARY of the start";
    }
    if (!last.includes("overflow")) return "ok";
    full = !full;
    const error = { status: 400, message: "This model's maximum context length is 4096 tokens" };
    return full && !failSummary ? "fits now" : { steps: [{ error }] };
  };
  const config = { compression: { protect_first_n: 1, protect_last_n: 2, abort_on_summary_failure: true } };
  const capabilities = { session: { compaction: {} } };
  await withAcp({ respond, config, capabilities }, async ({ acp, sessionId }) => {
    for (let n = 0; n < 8; n++) await acp.prompt(sessionId, `question ${n} ${"filler ".repeat(400)}`);
    const cards = () =>
      acp.updates(sessionId).filter((u) => u.sessionUpdate === "compaction_update")
        .map((u) => [u.compactionId, u.status]);
    await acp.prompt(sessionId, "overflow");
    const [first, second] = cards();
    assertEquals([cards().length, first![1], second![1]], [2, "in_progress", "completed"]);
    assertEquals(first![0], second![0]);
    for (let n = 0; n < 8; n++) await acp.prompt(sessionId, `question ${n} ${"filler ".repeat(400)}`);
    failSummary = true;
    assertEquals((await acp.startPrompt(sessionId, "overflow again").answer).error?.code, -32603);
    assertEquals(cards().slice(2).map(([, status]) => status), ["in_progress", "failed"]);
    assert(cards()[2]![0] !== first![0]);
  });
});

Deno.test("D6: a locked database is an error of setting up after 5 s and holds up no turn, which is stored afterwards", async () => {
  const turns = ["one", "two", "three"];
  await withAcp({ turns }, async ({ acp, rig, sessionId, again }) => {
    await acp.prompt(sessionId, "a");
    const { DatabaseSync } = await import("node:sqlite");
    const other = new DatabaseSync(`${rig.home}/hermes.db`, { timeout: 10_000 });
    other.exec("BEGIN IMMEDIATE");
    try {
      const { error } = await acp.send("session/new", { cwd: rig.workspace, mcpServers: [] }).answer;
      assertEquals(error?.code, -32603);
      assertMatch(error?.message ?? "", /5 s/);
      // Answered while the lock is still held.
      assertEquals((await acp.prompt(sessionId, "b")).stopReason, "end_turn");
    } finally {
      other.exec("ROLLBACK");
      other.close();
    }
    assertEquals((await acp.prompt(sessionId, "c")).stopReason, "end_turn");
    await acp.close();
    await using next = await again();
    await next.request("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
    const said = conversation(next.updates(sessionId)).map((u) => u.content.text);
    assertEquals(said, ["a", "one", "b", "two", "c", "three"]);
  });
});
