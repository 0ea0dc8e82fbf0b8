/** MCP servers that a client gives with its sessions (acp.md C5; E rows 13, 14). */
import { calls, type Json, withAcp } from "../../support/acp_driver.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../../support/assert.ts";
import { startMcpHttp, stdioServer } from "../../support/mcp_server.ts";
import { eventually } from "../../support/program.ts";

function stdio(name: string, script: Parameters<typeof stdioServer>[0]) {
  return { name, ...stdioServer(script), env: [] };
}

async function isAlive(pid: number): Promise<boolean> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`).catch(() => "");
  return stat !== "" && !/^\d+ \(.*\) Z/s.test(stat);
}

Deno.test("acp 13: a server that never answers delays nothing and is told in the next turn; other tools work", async () => {
  const mcpServers = [stdio("mute", { silent: true })];
  const turns = [calls(["read_file", { path: "a.txt" }]), "read it"];
  await withAcp({ turns }, async ({ acp, rig }) => {
    await Deno.writeTextFile(`${rig.workspace}/a.txt`, "content of a");
    const before = acp.now;
    const sessionId = await acp.newSession(rig.workspace, { mcpServers });
    assertWithin(acp.now - before, 5_000);
    assertEquals((await acp.prompt(sessionId, "read a.txt")).stopReason, "end_turn");
    const [first] = acp.updates(sessionId).filter((u) => u.sessionUpdate === "agent_message_chunk");
    assertMatch(first.content.text, /MCP server "mute"/);
    const read = acp.updates(sessionId).find((u) => u.toolCallId && u.status === "completed");
    assertMatch(read.content[0].content.text, /content of a/);
  });
});

Deno.test("C5: the tools of a slow server are there in the turn after it has started, and it is told once", async () => {
  const mcpServers = [stdio("slow", { tools: ["where"], startMs: 5_500 })];
  await withAcp({ respond: () => "ok" }, async ({ acp, model, rig }) => {
    const before = acp.now;
    const sessionId = await acp.newSession(rig.workspace, { mcpServers });
    await acp.prompt(sessionId, "first");
    assertWithin(acp.now - before, 5_400);
    const offered = (request: Json) =>
      request.body.tools.some((tool: Json) => tool.function.name === "mcp__slow__where");
    assert(!offered(model.calls()[0]));
    await eventually(
      async () => {
        await acp.prompt(sessionId, "and now");
        return offered(model.calls().at(-1));
      },
      20_000,
      "the tools of the slow server",
    );
    assertEquals(acp.text(sessionId).split('MCP server "slow"').length - 1, 1);
  });
});

Deno.test("acp 13: a server that cannot be started is one notice for a client with notices", async () => {
  const mcpServers = [{ name: "files", command: "/bin/false", args: [], env: [] }];
  const capabilities = { session: { notices: {} } };
  await withAcp({ turns: ["hi"], capabilities }, async ({ acp, rig }) => {
    const sessionId = await acp.newSession(rig.workspace, { mcpServers });
    const notice = await acp.update((u) => u.sessionUpdate === "notice");
    assertEquals(notice.severity, "warning");
    assertMatch(notice.title, /^MCP server "files"/);
    await acp.prompt(sessionId, "hello");
    assertEquals(acp.updates(sessionId).filter((u) => u.sessionUpdate === "notice").length, 1);
    assertEquals(acp.text(sessionId), "hi");
  });
});

Deno.test("acp 14: a tool of a session's server is called by its name, in the session's cwd, and ends with the session", async () => {
  const turns = [calls(["mcp__place__where", {}]), "done"];
  await withAcp({ turns }, async ({ acp, model, rig }) => {
    const sessionId = await acp.newSession(rig.workspace, {
      mcpServers: [{ ...stdio("place", { tools: ["where"] }), env: [{ name: "MARK", value: "x" }] }],
    });
    assertEquals((await acp.prompt(sessionId, "where")).stopReason, "end_turn");
    const updates = acp.updates(sessionId);
    const call = updates.find((u) => u.sessionUpdate === "tool_call");
    assertEquals([call.name, call.kind, call.rawInput], ["mcp__place__where", "other", {}]);
    const end = updates.findLast((u) => u.toolCallId === call.toolCallId);
    assertEquals(end.status, "completed");
    const said = JSON.stringify(model.calls()[1]!.body.messages.at(-1));
    assert(said.includes(rig.workspace), said);
    const pid = Number(/pid\W+(\d+)/.exec(said)![1]);
    assert(await isAlive(pid));
    await acp.request("session/close", { sessionId });
    await eventually(async () => !await isAlive(pid), 5_000, "the end of the server");
  });
});

Deno.test("C11: what an MCP tool gave is shown without its wrapper, JSON as bullets, and has failed where it says so", async () => {
  const long = "the answer of a server ".repeat(4).trim();
  const given: [Json, string, string, string?][] = [
    [long, "completed", long, long],
    ["short", "completed", "short", "short"],
    [JSON.stringify({ a: long, b: { c: 1 } }), "completed", `- a: ${long}\n- b:\n  - c: 1`],
    [JSON.stringify({ success: false, why: long }), "failed", `- success: false\n- why: ${long}`],
    ['{"ok":false}', "failed", "- ok: false"],
    ['{"exit_code":3}', "failed", "- exit_code: 3"],
    ['{"returncode":1}', "failed", "- returncode: 1"],
    ['{"error":"x"}', "completed", "- error: x"],
    ["[1,2]", "completed", "[1,2]", "[1,2]"],
  ];
  const turns = [calls(...given.map(([text]) => ["mcp__s__echo", { text }] as const)), "done"];
  await withAcp({ turns }, async ({ acp, rig, again }) => {
    const mcpServers = [stdio("s", { tools: ["echo"] })];
    const sessionId = await acp.newSession(rig.workspace, { mcpServers });
    await acp.prompt(sessionId, "go");
    const ends = (updates: Json[]) =>
      updates.filter((u) => u.toolCallId && (u.status === "completed" || u.status === "failed"))
        .map((u) => [u.status, u.content.at(-1).content.text, u.rawOutput]);
    const expected = given.map(([, status, shown, raw]) => [status, shown, raw]);
    assertEquals(ends(acp.updates(sessionId)), expected);
    await acp.close();
    await using next = await again();
    await next.request("session/load", { sessionId, cwd: rig.workspace, mcpServers });
    assertEquals(ends(next.updates(sessionId)), expected);
  });
});

Deno.test("C5: http and sse servers of a session are reached with their headers", async () => {
  await using server = await startMcpHttp({ tools: ["echo"] });
  const headers = [{ name: "x-mark", value: "42" }];
  const mcpServers = [
    { type: "http", name: "web", url: server.url, headers },
    { type: "sse", name: "old", url: server.sseUrl, headers },
  ];
  const turns = [
    calls(["mcp__web__echo", { text: "over http" }], ["mcp__old__echo", { text: "over sse" }]),
    "done",
  ];
  await withAcp({ turns }, async ({ acp, model, rig }) => {
    const sessionId = await acp.newSession(rig.workspace, { mcpServers });
    await acp.prompt(sessionId, "go");
    const results = model.calls()[1]!.body.messages.filter((m: Json) => m.role === "tool");
    assertMatch(results[0].content, /over http/);
    assertMatch(results[1].content, /over sse/);
    assertEquals(new Set(server.requests.map((r) => r.headers["x-mark"])), new Set(["42"]));
    await acp.request("session/close", { sessionId });
  });
});

Deno.test("C5, core 67: load brings the servers of its own request, and two sessions may use one name differently", async () => {
  const respond = (request: Json) => {
    const last = request.body.messages.at(-1);
    return last.role === "user" ? calls([last.content, { text: "hello" }]) : "ok";
  };
  await withAcp({ respond }, async ({ acp, model, rig, again }) => {
    const one = await acp.newSession(rig.workspace, { mcpServers: [stdio("s", { tools: ["first"] })] });
    const two = await acp.newSession(rig.workspace, { mcpServers: [stdio("s", { tools: ["second"] })] });
    await acp.prompt(one, "mcp__s__first");
    await acp.prompt(two, "mcp__s__second");
    const offered = model.calls().map((c) =>
      c.body.tools.map((t: Json) => t.function.name).filter((n: string) => n.startsWith("mcp__s__"))
    );
    assertEquals(offered, [["mcp__s__first"], ["mcp__s__first"], ["mcp__s__second"], ["mcp__s__second"]]);
    await acp.close();
    await using next = await again();
    const mcpServers = [stdio("s", { tools: ["third"] })];
    await next.request("session/load", { sessionId: one, cwd: rig.workspace, mcpServers });
    await next.prompt(one, "mcp__s__third");
    const last = model.calls().at(-1)!.body.tools.map((t: Json) => t.function.name);
    assertEquals(last.filter((n: string) => n.startsWith("mcp__s__")), ["mcp__s__third"]);
  });
});

Deno.test("C1, C5: configured servers are there, shadowed by a session's of the same name, left out by the environment", async () => {
  const mcp_servers = {
    conf: stdioServer({ tools: ["mine"] }),
    both: stdioServer({ tools: ["configured"] }),
  };
  const offered = async (env: Record<string, string>, mcpServers: unknown[]) => {
    let names: string[] = [];
    await withAcp(
      { turns: ["hi"], config: { mcp_servers, mcp_discovery_timeout: 30 }, env },
      async ({ acp, model, rig }) => {
        const sessionId = await acp.newSession(rig.workspace, { mcpServers });
        await acp.prompt(sessionId, "hello");
        names = model.calls()[0]!.body.tools.map((t: Json) => t.function.name);
      },
    );
    return names.filter((name) => name.startsWith("mcp__")).sort();
  };
  assertEquals(await offered({}, []), ["mcp__both__configured", "mcp__conf__mine"]);
  const own = [stdio("both", { tools: ["given"] })];
  assertEquals(await offered({}, own), ["mcp__both__given", "mcp__conf__mine"]);
  assertEquals(await offered({ HERMES_ACP_SKIP_CONFIGURED_MCP: "1" }, own), ["mcp__both__given"]);
});
