/** What must not bring the program down or into disorder (acp.md D3, D5, D6; rows 45 and 46). */
import { ALLOW, calls, DENY, type Json, startAcp, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch } from "../../support/assert.ts";
import { stdioServer } from "../../support/mcp_server.ts";
import { startModelServer } from "../../support/model_server.ts";
import { ownSleep, untilGone } from "../../support/processes.ts";
import { eventually, makeRig, modelConfig } from "../../support/program.ts";

Deno.test("acp 46: tools, background processes and MCP servers that print leave stdout to the frames", async () => {
  const sleep = ownSleep(60);
  const noise = "printf '{\"not\":\"ours\"}\\nplain\\n'; printf 'err\\n' >&2; printf 'x\\0\\377\\n'";
  const turns = [
    calls(["terminal", { command: noise }]),
    calls(["terminal", { command: `${noise}; ${sleep}`, background: true }]),
    "done",
  ];
  await withAcp({ turns }, async ({ acp, rig }) => {
    const server = stdioServer({ tools: ["echo"], banner: "Welcome to the server", stderr: "loud" });
    const sessionId = await acp.newSession(rig.workspace, {
      mcpServers: [{ name: "loud", ...server, env: [] }],
    });
    assertEquals((await acp.prompt(sessionId, "go")).stopReason, "end_turn");
    assertEquals((await acp.close()).code, 0);
    assert(acp.lines.length > 5 && acp.lines.every((line) => JSON.parse(line).jsonrpc === "2.0"));
    await untilGone(sleep);
  });
});

Deno.test("D6: an answer that comes twice, late or to nothing is ignored", async () => {
  const turns = [calls(["write_file", { path: "a.txt", content: "x" }]), "done", "again"];
  await withAcp({ turns }, async ({ acp, rig, sessionId }) => {
    acp.onPermission = () => undefined;
    const sent = acp.startPrompt(sessionId, "go");
    const asked = await acp.permission();
    await acp.respond(asked.id, DENY);
    await acp.respond(asked.id, ALLOW);
    for (const id of [9_999, -1]) await acp.respond(id, ALLOW);
    await acp.raw('{"jsonrpc":"2.0","id":"nope","result":{}}\n{"jsonrpc":"2.0","id":null,"error":{}}\n');
    assertEquals((await sent.answer).result.stopReason, "end_turn");
    await acp.respond(asked.id, ALLOW);
    assertEquals((await acp.prompt(sessionId, "more")).stopReason, "end_turn");
    assertEquals([...Deno.readDirSync(rig.workspace)].map((entry) => entry.name), []);
  });
});

Deno.test("D3: a question that waits in one session does not delay another, nor its close", async () => {
  const respond = (request: Json) => {
    const last = request.body.messages.at(-1);
    return last.content === "write" ? calls(["write_file", { path: "a.txt", content: "x" }]) : "quick";
  };
  await withAcp({ respond }, async ({ acp, rig, sessionId }) => {
    acp.onPermission = () => undefined;
    const waiting = acp.startPrompt(sessionId, "write");
    await acp.permission();
    const other = await acp.newSession(rig.workspace);
    assertEquals((await acp.prompt(other, "hello")).stopReason, "end_turn");
    await acp.request("session/close", { sessionId: other });
    assertEquals(acp.indexOfAnswer(waiting.id), -1);
    const closed = acp.send("session/close", { sessionId });
    assertEquals((await waiting.answer).result.stopReason, "cancelled");
    assertEquals((await closed.answer).result, {});
    assertEquals(acp.notifications("$/cancel_request").length, 1);
    const pending = acp.updates(sessionId).filter((u) => u.toolCallId).at(-1);
    assertEquals(pending.status, "failed");
  });
});

Deno.test("FC-08: ten thousand lines at once do not keep a running turn waiting, and each is answered in its order", async () => {
  const LINES = 10_000;
  const turns = [{ steps: [{ text: "x", delay_ms: 4, repeat: 400 }] }];
  await withAcp({ turns }, async ({ acp, sessionId }) => {
    const sent = acp.startPrompt(sessionId, "go");
    await acp.update((u) => u.sessionUpdate === "agent_message_chunk");
    const from = acp.frames.length;
    const ids = Array.from({ length: LINES }, (_, i) => `flood-${i}`);
    const answers = ids.map((id) => acp.expect(id, "session/list"));
    const line = (id: string) => JSON.stringify({ jsonrpc: "2.0", id, method: "session/list", params: {} });
    void acp.raw(ids.map(line).join("\n") + "\n");
    await acp.inTime(Promise.all(answers), 60_000, "all answers");
    const order = acp.frames.slice(from).map(({ frame }) => frame.id).filter((id) =>
      String(id).startsWith("flood")
    );
    assertEquals(order, ids);
    const last = acp.frames.findIndex(({ frame }) => frame.id === ids.at(-1));
    const seen = acp.frames.slice(from, last).filter(({ frame }) => frame.method === "session/update");
    // The longest run of answers without a word of the turn between them.
    let run = 0, longest = 0;
    for (const { frame } of acp.frames.slice(from, last)) {
      longest = Math.max(longest, run = frame.method ? 0 : run + 1);
    }
    const ended = acp.indexOfAnswer(sent.id);
    assert(seen.length > 3, `${seen.length} updates among the answers`);
    // Without slices it is all of them; how many it is with them, the machine decides.
    if (ended === -1 || ended > last) assert(longest < LINES / 2, `${longest} answers in one piece`);
    assertEquals((await sent.answer).result.stopReason, "end_turn");
    assertEquals(acp.text(sessionId), "x".repeat(400));
  });
});

Deno.test("two windows on one home: turns side by side, each sees what the other has stored", async () => {
  await withAcp({ respond: (r) => `re: ${r.body.messages.at(-1).content}` }, async (one) => {
    const { acp, rig, sessionId, again } = one;
    await using second = await again();
    const other = await second.newSession(rig.workspace);
    for (let n = 0; n < 5; n++) {
      const both = await Promise.all([acp.prompt(sessionId, `a${n}`), second.prompt(other, `b${n}`)]);
      assertEquals(both.map((end) => end.stopReason), ["end_turn", "end_turn"]);
    }
    const listed = async (driver: typeof acp) =>
      (await driver.request("session/list", {})).sessions.map((s: Json) => s.sessionId).sort();
    assertEquals(await listed(acp), [sessionId, other].sort());
    assertEquals(await listed(second), await listed(acp));
    await second.request("session/load", { sessionId, cwd: rig.workspace, mcpServers: [] });
    const texts = second.updates(sessionId).filter((u) => u.sessionUpdate === "agent_message_chunk")
      .map((u) => u.content.text);
    assertEquals(texts, ["re: a0", "re: a1", "re: a2", "re: a3", "re: a4"]);
    await second.request("session/delete", { sessionId: other });
    assertEquals(await listed(acp), [sessionId]);
  });
});

Deno.test("a cwd that is deleted under a session: the turn goes on, tools say so, the next session is refused", async () => {
  await using model = await startModelServer({
    turns: [
      calls(["read_file", { path: "a.txt" }]),
      calls(["terminal", { command: "pwd" }]),
      "went on",
    ],
  });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using acp = startAcp(rig);
  await acp.initialize();
  const cwd = `${rig.workspace}/gone`;
  await Deno.mkdir(cwd);
  const sessionId = await acp.newSession(cwd);
  await Deno.remove(cwd);
  assertEquals((await acp.prompt(sessionId, "go")).stopReason, "end_turn");
  const ends = acp.updates(sessionId).filter((u) => u.sessionUpdate === "tool_call_update" && u.status);
  assertEquals(ends[0].status, "failed");
  assertMatch(ends[1].content[0].content.text, /directory no longer exists/);
  assertEquals(acp.text(sessionId), "went on");
  const { error } = await acp.ask("session/new", { cwd, mcpServers: [] });
  assertEquals([error?.code, error?.data.reason], [-32602, "not_found"]);
});

Deno.test("a thousand sessions in one process: each opens, the last one answers, all are closed with the program", async () => {
  await withAcp({ respond: () => "ok" }, async ({ acp, rig }) => {
    const ids: string[] = [];
    for (let round = 0; round < 20; round++) {
      const batch = Array.from({ length: 50 }, () => acp.newSession(rig.workspace));
      ids.push(...await Promise.all(batch));
    }
    assertEquals(new Set(ids).size, 1_000);
    assertEquals((await acp.prompt(ids[0]!, "a")).stopReason, "end_turn");
    assertEquals((await acp.prompt(ids[999]!, "b")).stopReason, "end_turn");
    assertEquals((await acp.request("session/list", {})).sessions.length, 2);
    const announced = acp.updates().filter((u) => u.sessionUpdate === "available_commands_update");
    assertEquals(announced.length, 1_001);
    assertEquals((await acp.close(5_000)).code, 0);
  });
});

/** Ids of the stored sessions, for a client that has not read them. */
async function storedSessions(home: string, count: number): Promise<string[]> {
  const { DatabaseSync } = await import("node:sqlite");
  return await eventually(() => {
    try {
      using db = new DatabaseSync(`${home}/hermes.db`, { readOnly: true });
      const ids = db.prepare("SELECT id FROM sessions").all().map((row) => String(row.id));
      return ids.length === count && ids;
    } catch {
      return undefined; // It is not there yet.
    }
  });
}

Deno.test("D3: turns of a client that reads nothing are paused, a cancel works, and the rest is whole when it reads", async () => {
  const text = "z".repeat(1_000);
  const repeat = 30_000;
  await using model = await startModelServer({ respond: () => ({ steps: [{ text, repeat }], pack: 50 }) });
  await using rig = await makeRig({ config: modelConfig(model.url) });
  await using acp = startAcp(rig, { deaf: true });
  void acp.send("initialize", { protocolVersion: 1 });
  for (let n = 0; n < 2; n++) void acp.send("session/new", { cwd: rig.workspace, mcpServers: [] });
  const ids = await storedSessions(rig.home, 2);
  const sent = ids.map((id) => acp.startPrompt(id, "flood"));
  const written = async () =>
    Number(/rchar: (\d+)/.exec(await Deno.readTextFile(`/proc/${acp.child.pid}/io`))![1]);
  let last = -1;
  let same = 0;
  await eventually(
    async () => {
      const now = await written();
      same = now === last && model.calls().length === 2 ? same + 1 : 0;
      last = now;
      return same >= 20;
    },
    20_000,
    "both turns to pause",
  );
  // 60 MB were asked for; what is held is bounded.
  const rss = /VmRSS:\s+(\d+) kB/.exec(await Deno.readTextFile(`/proc/${acp.child.pid}/status`))![1]!;
  assert(Number(rss) < 400_000, `${rss} kB`);
  await acp.cancel(ids[0]!);
  acp.startReading();
  const ends = await acp.inTime(Promise.all(sent.map((one) => one.answer)), 60_000, "both ends");
  assertEquals(ends.map((end) => end.result.stopReason), ["cancelled", "end_turn"]);
  assert(acp.text(ids[0]).length < text.length * repeat);
  assert(acp.text(ids[1]) === text.repeat(repeat));
});

Deno.test("B3: a write that is pending longer than acp.write_stall_s is logged", async () => {
  const flood = { steps: [{ text: "z".repeat(1_000), repeat: 30_000 }], pack: 50 };
  await using model = await startModelServer({ respond: () => flood });
  await using rig = await makeRig({ config: modelConfig(model.url, { acp: { write_stall_s: 1 } }) });
  await using acp = startAcp(rig, { deaf: true });
  void acp.send("initialize", { protocolVersion: 1 });
  void acp.send("session/new", { cwd: rig.workspace, mcpServers: [] });
  const [id] = await storedSessions(rig.home, 1);
  const sent = acp.startPrompt(id!, "flood");
  await eventually(
    () => /\[WARNING\] .*the client has not read our output for 1 s/.test(acp.stderr),
    20_000,
    "the warning",
  );
  await acp.cancel(id!);
  acp.startReading();
  assertEquals((await sent.answer).result.stopReason, "cancelled");
});

Deno.test("C9: acp.legacy_models adds the models of older clients to new, load, resume and fork", async () => {
  await withAcp(
    { turns: ["one"], config: { acp: { legacy_models: true } } },
    async ({ acp, rig, sessionId }) => {
      await acp.prompt(sessionId, "a");
      const place = { cwd: rig.workspace, mcpServers: [] };
      for (
        const [method, params] of [
          ["session/new", place],
          ["session/load", { sessionId, ...place }],
          ["session/resume", { sessionId, ...place }],
          ["session/fork", { sessionId, ...place }],
        ] as const
      ) {
        const { models } = await acp.request(method, params);
        assertEquals([method, models.currentModelId], [method, "custom:scripted"]);
        assert(models.availableModels.some((m: Json) => m.modelId === "custom:scripted" && m.name));
      }
    },
  );
  await withAcp({}, async ({ acp, rig }) => {
    const result = await acp.request("session/new", { cwd: rig.workspace, mcpServers: [] });
    assert(!("models" in result));
  });
});
