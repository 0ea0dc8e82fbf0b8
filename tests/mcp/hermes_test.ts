/** Session servers through the whole program in one process: what a door hands in and what it gets to see. */
import { buildHermes } from "@/app/build.ts";
import type { Hermes } from "@/app/mod.ts";
import { type CoreEvent, NOBODY_TO_ASK, type Session } from "@/core/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../support/assert.ts";
import { stdioServer } from "../support/mcp_server.ts";
import { processesWith, untilGone } from "../support/processes.ts";
import { eventually } from "../support/program.ts";

interface House {
  readonly hermes: Hermes;
  readonly work: string;
  script(turns: unknown[]): Promise<void>;
}

async function withHermes(
  config: Record<string, unknown>,
  test: (house: House) => Promise<void>,
): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "hermes-mcp-" }));
  const [home, work] = [`${base}/home`, `${base}/work`];
  for (const dir of [home, work]) await Deno.mkdir(dir);
  await Deno.writeTextFile(`${home}/config.jsonc`, JSON.stringify(config));
  const env = { PATH: Deno.env.get("PATH")!, HOME: base, HERMES_HOME: home };
  const platform = { ...createDenoPlatform(), env: () => ({ ...env }), cwd: () => work, homeDir: () => base };
  const hermes = buildHermes(platform, {
    surface: "acp",
    model: `builtin:script:${base}/turns.jsonc`,
    storePath: ":memory:",
  });
  try {
    await test({
      hermes,
      work,
      script: (turns) => Deno.writeTextFile(`${base}/turns.jsonc`, JSON.stringify({ turns })),
    });
  } finally {
    await hermes.shutdown("test");
    await Deno.remove(base, { recursive: true });
  }
}

function listen(session: Session): CoreEvent[] {
  const events: CoreEvent[] = [];
  session.subscribe((event) => void events.push(event));
  return events;
}

const acp = { source: "acp", surface: "acp", editPolicy: "ask" } as const;

Deno.test("acp 14 (core side): a session's server is used, runs in its cwd, and ends with the session", async () => {
  await withHermes({}, async ({ hermes, work, script }) => {
    const journal = `${work}/journal`;
    await script([{ steps: [{ tool: "mcp__own__where", args: {} }] }, "done"]);
    const cwd = `${work}/deep`;
    await Deno.mkdir(cwd);
    const session = await hermes.sessions.create({
      ...acp,
      cwd,
      mcpServers: [{ name: "own", ...stdioServer({ tools: ["where"], journal }) }],
    });
    const events = listen(session);
    const result = await session.submit({ content: "go" }, { asks: NOBODY_TO_ASK }).done;
    assertEquals([result.outcome, result.text], ["completed", "done"]);
    const end = events.find((event) => event.type === "tool.end");
    assert(end?.type === "tool.end");
    assertEquals([end.call.name, end.call.description.kind, end.isError], [
      "mcp__own__where",
      "other",
      false,
    ]);
    assert(end.result.includes(cwd));
    assertEquals(session.mcpStatus(), [
      { name: "own", transport: "stdio", tools: 1, connected: true, disabled: false, status: "connected" },
    ]);
    assertEquals(session.toolNames().at(-1), "mcp__own__where");
    assertEquals((await processesWith(journal)).length, 1);
    await session.close("closed");
    await untilGone(journal);
  });
});

Deno.test("core 67: session servers in two sessions: each sees only its own", async () => {
  await withHermes({}, async ({ hermes, work }) => {
    const open = (tool: string) =>
      hermes.sessions.create({
        ...acp,
        cwd: work,
        mcpServers: [{ name: "own", ...stdioServer({ tools: [tool] }) }],
      });
    const [a, b] = [await open("echo"), await open("where")];
    const outside = (session: Session) => session.toolNames().filter((name) => name.startsWith("mcp__"));
    await eventually(() => outside(a).length + outside(b).length === 2, 10_000, "both servers");
    assertEquals([outside(a), outside(b)], [["mcp__own__echo"], ["mcp__own__where"]]);
  });
});

Deno.test("acp 13 (core side): the report waits for a listener, comes once and outside of any turn", async () => {
  await withHermes({}, async ({ hermes, work }) => {
    const session = await hermes.sessions.create({
      ...acp,
      cwd: work,
      mcpServers: [{ name: "gone", command: "/no/such/program" }],
    });
    await eventually(() => session.mcpStatus()[0]?.status === "failed", 5_000, "the failure");
    const events = listen(session);
    await eventually(() => events.some((event) => event.type === "status"), 1_000, "the report");
    const told = events.filter((event) => event.type === "status");
    assertEquals(told.map(({ kind, turnId }) => [kind, turnId]), [["warn", ""]]);
    assertMatch(told[0]!.text, /^MCP server "gone" cannot be used: cannot start/);
  });
});

Deno.test("core G.5: opening a live session with a list replaces its servers, without one leaves them", async () => {
  await withHermes({}, async ({ hermes, work }) => {
    const session = await hermes.sessions.create({
      ...acp,
      cwd: work,
      storeNow: true,
      mcpServers: [{ name: "a", ...stdioServer({ tools: ["echo"] }) }],
    });
    await hermes.sessions.open(session.id, { surface: "acp" });
    assertEquals(session.mcpStatus().map(({ name }) => name), ["a"]);
    await hermes.sessions.open(session.id, {
      surface: "acp",
      mcpServers: [{ name: "b", ...stdioServer({ tools: ["echo"] }) }],
    });
    await eventually(() => session.toolNames().includes("mcp__b__echo"), 10_000, "the new server");
    assertEquals(session.mcpStatus().map(({ name }) => name), ["b"]);
  });
});

Deno.test("core G.4: a reload is told to the session as a change of its tools", async () => {
  await withHermes({ mcp_servers: { box: stdioServer({ tools: ["echo"] }) } }, async ({ hermes, work }) => {
    const session = await hermes.sessions.create({ ...acp, cwd: work });
    const events = listen(session);
    await eventually(() => session.toolNames().includes("mcp__box__echo"), 10_000, "the server");
    events.length = 0;
    await hermes.mcp.reload();
    assert(events.some((event) => event.type === "session.change" && event.what === "tools"));
    assert(session.toolNames().includes("mcp__box__echo"));
    assertEquals((await hermes.mcp.status()).map(({ name, status }) => [name, status]), [[
      "box",
      "connected",
    ]]);
  });
});

Deno.test("core A.15, G.3: a cancel while the turn waits for a silent server ends it at once", async () => {
  await withHermes({}, async ({ hermes, work, script }) => {
    await script(["never said"]);
    const session = await hermes.sessions.create({
      ...acp,
      cwd: work,
      mcpServers: [{ name: "mute", ...stdioServer({ silent: true }) }],
    });
    const events = listen(session);
    const turn = session.submit({ content: "go" }, { asks: NOBODY_TO_ASK });
    setTimeout(() => turn.cancel(), 50);
    const start = performance.now();
    assertEquals((await turn.done).outcome, "cancelled");
    assertWithin(performance.now() - start, 1_000);
    assertEquals(events.filter((event) => event.type === "turn.end").length, 1);
    assertEquals(events.filter((event) => event.turnId !== "")[0]?.type, "turn.start");
  });
});
