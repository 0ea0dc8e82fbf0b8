/** Whose server is whose, what a turn waits for, what is reported, and what a reload does. */
import type { Settings, Tool } from "@/core/mod.ts";
import { OutsideTools } from "../../src/core/outside.ts";
import { isSelected } from "../../src/mcp/selection.ts";
import { assert, assertEquals, assertMatch, assertWithin } from "../support/assert.ts";
import { stdioServer } from "../support/mcp_server.ts";
import { eventually } from "../support/program.ts";
import { makeBench } from "./mcp_support.ts";

const never = new AbortController().signal;

Deno.test("core 67: each session sees its own servers, also under one name", async () => {
  await using bench = await makeBench();
  const [a, b, c] = [
    bench.session({ servers: [{ name: "own", ...stdioServer({ tools: ["echo"] }) }] }),
    bench.session({ servers: [{ name: "own", ...stdioServer({ tools: ["fail"] }) }] }),
    bench.session(),
  ];
  await a.offered("mcp__own__echo");
  await b.offered("mcp__own__fail");
  assertEquals([a.names(), b.names(), c.names()], [["mcp__own__echo"], ["mcp__own__fail"], []]);
  await a.tools.close();
  assertEquals((await b.run("mcp__own__fail")).isError, true);
});

Deno.test("core D8: a session's server hides the configured one of its name, in that session only", async () => {
  await using bench = await makeBench({ servers: { box: stdioServer({ tools: ["echo"] }) } });
  const own = bench.session({ servers: [{ name: "box", ...stdioServer({ tools: ["where"] }) }] });
  const other = bench.session();
  await own.offered("mcp__box__where");
  await other.offered("mcp__box__echo");
  assertEquals([own.names(), other.names()], [["mcp__box__where"], ["mcp__box__echo"]]);
});

Deno.test("core G: configured servers are one process for all sessions", async () => {
  const journal = await Deno.makeTempFile();
  await using bench = await makeBench({ servers: { box: stdioServer({ tools: ["echo"], journal }) } });
  const [a, b] = [bench.session(), bench.session()];
  await a.offered("mcp__box__echo");
  await b.offered("mcp__box__echo");
  assertEquals((await Deno.readTextFile(journal)).trim().split("\n").length, 1);
  await Deno.remove(journal);
});

Deno.test("core G.3: a turn waits for servers that are starting, and for nothing when there are none", async () => {
  await using bench = await makeBench({ servers: { box: stdioServer({ tools: ["echo"], startMs: 100 }) } });
  const seat = bench.session();
  const waiting = seat.tools.settling(never);
  assert(waiting);
  await waiting;
  assertEquals(seat.names(), ["mcp__box__echo"]);
  assertEquals(seat.tools.settling(never), null);
  await using empty = await makeBench();
  assertEquals(empty.session().tools.settling(never), null);
});

Deno.test("core G.3: the first turn waits at most mcp_discovery_timeout, later ones not at all", async () => {
  await using bench = await makeBench({
    servers: { mute: stdioServer({ silent: true }), box: stdioServer({ tools: ["echo"] }) },
    config: { mcp_discovery_timeout: 5 },
  });
  const seat = bench.session();
  const start = performance.now();
  await seat.tools.settling(never);
  const took = performance.now() - start;
  assert(took > 4_500, `${took} ms`);
  assertWithin(took, 6_000);
  assertEquals(seat.names(), ["mcp__box__echo"]);
  assertEquals(seat.tools.settling(never), null);
  assertEquals(seat.tools.status().map(({ name, status }) => [name, status]), [
    ["mute", "connecting"],
    ["box", "connected"],
  ]);
});

Deno.test("core G.3: a cancel ends the wait of a turn", async () => {
  await using bench = await makeBench();
  const seat = bench.session({ servers: [{ name: "mute", ...stdioServer({ silent: true }) }] });
  const controller = new AbortController();
  setTimeout(() => controller.abort(), 50);
  const start = performance.now();
  await seat.tools.settling(controller.signal);
  assertWithin(performance.now() - start, 1_000);
});

Deno.test("acp 13, FC-07.1: a server that never answers is reported once after 4 s; others work", async () => {
  await using bench = await makeBench();
  const seat = bench.session({
    servers: [
      { name: "mute", ...stdioServer({ silent: true }) },
      { name: "box", ...stdioServer({ tools: ["echo"] }) },
    ],
  });
  const start = performance.now();
  await seat.tools.settling(never);
  assertWithin(performance.now() - start, 4_500);
  await eventually(() => seat.reports.length > 0, 1_000, "the report");
  assertEquals(seat.reports.filter((text) => text.includes("mute")), [
    'MCP server "mute" has not answered for 4 s; its tools join when it does',
  ]);
  await seat.offered("mcp__box__echo");
  assertEquals(seat.names(), ["mcp__box__echo"]);
});

Deno.test("core G.3: what cannot be started is reported at once, with the reason", async () => {
  await using bench = await makeBench({ servers: { gone: { command: "/no/such/program" } } });
  const seat = bench.session({ servers: [{ name: "bad", url: "ftp://x" }] });
  await eventually(() => seat.reports.length === 2, 3_000, "both reports");
  assertEquals(
    seat.reports.toSorted()[0],
    'MCP server "bad" cannot be used: url must start with http:// or https:// and name a host',
  );
  assertMatch(
    seat.reports.toSorted()[1]!,
    /^MCP server "gone" cannot be used: cannot start "\/no\/such\/program": .*ENOENT/,
  );
  assertEquals(seat.tools.settling(never), null);
  const later = bench.session();
  await eventually(() => later.reports.length === 1, 1_000, "the report of a later session");
  const [status] = await bench.mcp.status();
  assertEquals([status!.status, status!.connected, status!.tools], ["failed", false, 0]);
});

Deno.test("core G.3: a server that ends at once is tried three times, then told with its last words", async () => {
  const journal = await Deno.makeTempFile();
  await using bench = await makeBench({
    servers: { crash: stdioServer({ exit: 7, stderr: "no database", journal }) },
  });
  const seat = bench.session();
  await eventually(() => seat.tools.status()[0]?.status === "failed", 10_000, "the end of the tries");
  const why = "the server ended with code 7 (no database)";
  assertEquals(seat.tools.status()[0]!.error, why);
  // Reported once: on a busy machine the three starts take longer than the patience of 4 s.
  assertEquals(seat.reports.length, 1);
  assert(seat.reports[0]!.endsWith(why) || seat.reports[0]!.includes("has not answered"), seat.reports[0]);
  assertEquals((await Deno.readTextFile(journal)).trim().split("\n").length, 3);
  await Deno.remove(journal);
});

Deno.test("core 66: a server that ends during a call is a tool error; the next call reaches it again", async () => {
  await using bench = await makeBench({ servers: { box: stdioServer({ tools: ["die", "echo"] }) } });
  const seat = bench.session();
  const outcome = await seat.run("mcp__box__die");
  assertEquals([outcome.isError, outcome.effect], [true, "unknown"]);
  assertEquals(outcome.content, JSON.stringify({ error: 'MCP server "box": the server ended with code 3' }));
  assertEquals(await seat.json("mcp__box__echo", { text: "back" }), { result: "back" });
  assertEquals(seat.tools.status()[0]!.status, "connected");
});

Deno.test("core G.4: reload reads the configuration again and restarts what runs", async () => {
  const entry = stdioServer({ tools: ["where"] });
  await using bench = await makeBench({ servers: { box: entry } });
  const seat = bench.session({ servers: [{ name: "own", ...stdioServer({ tools: ["where"] }) }] });
  const pid = async (name: string) => JSON.parse((await seat.json(name)).result).pid;
  const before = [await pid("mcp__box__where"), await pid("mcp__own__where")];
  await bench.configure({ fresh: stdioServer({ tools: ["echo"] }) });
  await eventually(
    async () => (await bench.mcp.status())[0]?.name === "fresh",
    5_000,
    "the new configuration",
  );
  await bench.mcp.reload();
  await seat.offered("mcp__fresh__echo");
  assert(await pid("mcp__own__where") !== before[1]);
  assertEquals(seat.names().sort(), ["mcp__fresh__echo", "mcp__own__where"]);
});

Deno.test("core G.4: a reload brings in the first server there is", async () => {
  await using bench = await makeBench();
  const seat = bench.session();
  await bench.configure({ box: stdioServer({ tools: ["echo"] }) });
  await eventually(async () => (await bench.mcp.status()).length === 1, 5_000, "the new configuration");
  await bench.mcp.reload();
  assertEquals(seat.names(), ["mcp__box__echo"]);
  assert(seat.changes > 0);
});

Deno.test("core G.5: the same list again keeps the servers running, another one replaces them", async () => {
  await using bench = await makeBench();
  const one = { name: "one", ...stdioServer({ tools: ["where"] }) };
  const seat = bench.session({ servers: [one] });
  const { result } = await seat.json("mcp__one__where");
  seat.tools.setServers([one, { name: "two", ...stdioServer({ tools: ["echo"] }) }]);
  await seat.offered("mcp__two__echo");
  assertEquals((await seat.json("mcp__one__where")).result, result);
  seat.tools.setServers([]);
  assertEquals(seat.names(), []);
});

Deno.test("core B.2, acp.md B: which surface has which configured servers", async () => {
  const servers = { a: stdioServer({ tools: ["echo"] }), b: stdioServer({ tools: ["echo"] }) };
  const config = {
    platform_toolsets: { api_server: ["terminal", "mcp-a"], cli: ["no_mcp"] },
    agent: { disabled_toolsets: [] },
  };
  await using bench = await makeBench({ servers, config });
  const [api, cli, acp] = ["api_server", "cli", "acp"].map((surface) => bench.session({ surface }));
  await acp!.offered("mcp__b__echo");
  await acp!.offered("mcp__a__echo");
  assertEquals([api!.names(), cli!.names()], [["mcp__a__echo"], []]);
  await using skipped = await makeBench({
    servers,
    surface: "acp",
    env: { HERMES_ACP_SKIP_CONFIGURED_MCP: "1" },
  });
  assertEquals(await skipped.mcp.status(), []);
  assertEquals(skipped.session({ surface: "acp" }).tools.settling(never), null);
});

Deno.test("core G.2: of two tools that come to one name the first is offered; a built-in one wins over both", async () => {
  const said: string[] = [];
  const quiet = () => {};
  await using bench = await makeBench({
    servers: {
      "my-api": stdioServer({ tools: ["a-b", "a_b"] }),
      "my_api": stdioServer({ tools: ["a.b", "c"] }),
    },
    deps: { log: { debug: quiet, info: quiet, error: quiet, warn: (text) => void said.push(text) } },
  });
  const seat = bench.session();
  const both = () => seat.tools.status().filter(({ connected }) => connected).length === 2;
  await eventually(both, 10_000, "both servers");
  assertEquals(seat.names(), ["mcp__my_api__a_b", "mcp__my_api__c"]);
  assertEquals(seat.tool("mcp__my_api__a_b").toolset, "mcp-my-api");
  assertEquals(said, ['MCP server "my-api": the tool "a_b" is left out: another is mcp__my_api__a_b']);
  const own = { name: "mcp__my_api__c", toolset: "file" } as Tool;
  const outside = new OutsideTools(
    { id: "s", surface: "cli", cwd: "/", closed: false, publish: () => {} },
    { attach: () => seat.tools },
  );
  assertEquals(outside.joinTools([own]).map(({ name, toolset }) => [name, toolset]), [
    ["mcp__my_api__c", "file"],
    ["mcp__my_api__a_b", "mcp-my-api"],
  ]);
});

Deno.test("core G.2, B.2: a server goes by its name and by mcp-<name> where toolsets are named", () => {
  const settings = (more: Record<string, unknown>) =>
    ({
      agent: { disabled_toolsets: [] },
      mcp_servers: { box: {}, desk: {} },
      ...more,
    }) as unknown as Settings;
  for (const alias of ["box", "mcp-box"]) {
    const named = settings({ platform_toolsets: { cli: ["file", alias] } });
    assertEquals(["box", "desk"].map((name) => isSelected(name, named, "tui")), [true, false]);
    const without = settings({ agent: { disabled_toolsets: [alias] } });
    assertEquals(["box", "desk"].map((name) => isSelected(name, without, "acp")), [false, true]);
  }
});

Deno.test("core B.2: on the gateway HERMES_TUI_TOOLSETS names the servers that there are, above platform_toolsets", () => {
  const settings = {
    agent: { disabled_toolsets: ["desk"] },
    platform_toolsets: { cli: ["no_mcp"] },
    mcp_servers: { box: {}, shelf: {}, desk: {} },
  } as unknown as Settings;
  const chosen = (env: string | undefined, surface = "tui") =>
    ["box", "shelf", "desk"].filter((name) => isSelected(name, settings, surface, env));
  assertEquals(chosen("file"), []);
  assertEquals(chosen("file, mcp-box"), ["box"]);
  assertEquals(chosen("shelf"), ["shelf"]);
  assertEquals(chosen("all"), ["box", "shelf"]);
  assertEquals(chosen("*,no_mcp"), []);
  for (const none of [undefined, "", " , "]) assertEquals(chosen(none), []);
  assertEquals(chosen("box", "cli"), []);
  assertEquals(chosen("box", "acp"), ["box", "shelf"]);
});
