/** Many tools of MCP servers: three take their place, and a call of one passes everything (core.md B.14). */
import { NOBODY_TO_ASK, type Settings, type Tool } from "@/core/mod.ts";
import { decideDeferral, type SearchSettings } from "../../src/core/deferred_tools.ts";
import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { callTool, makeScriptedCore, openSession, prompt, say } from "../support/scripted_core.ts";

function outside(name: string, ran: string[], more: Partial<Tool> = {}): Tool {
  return {
    name,
    toolset: "mcp-box",
    description: `Does ${name.replaceAll("_", " ")} in the box.`,
    parameters: { type: "object", properties: { count: { type: "integer" }, label: { type: "string" } } },
    parallel: "never",
    describe: () => ({ title: name, label: "", kind: "other", locations: [], startText: "" }),
    execute: (args) => {
      ran.push(`${name}:${JSON.stringify(args)}`);
      return Promise.resolve({ content: `{"ok":"${name}"}`, isError: false });
    },
    ...more,
  };
}

const NAMES = ["mcp__box__create_issue", "mcp__box__list_issues", "mcp__box__send_mail", "mcp__box__weather"];
const BRIDGE = ["tool_search", "tool_describe", "tool_call"];

function withSearch(tool_search: Partial<SearchSettings>) {
  const whole: SearchSettings = {
    enabled: "auto",
    threshold_pct: 10,
    search_default_limit: 5,
    max_search_limit: 20,
    ...tool_search,
  };
  return (s: Settings): Settings => ({ ...s, tools: { tool_search: whole } });
}

async function makeBox(enabled: SearchSettings["enabled"] = "on", more: Partial<Tool> = {}) {
  const ran: string[] = [];
  const tools = NAMES.map((name) => outside(name, ran, more));
  const core = await makeScriptedCore({ tools, settings: withSearch({ enabled }) });
  const { session, events } = await openSession(core);
  const offered = (request: number) => core.requests[request]!.tools.map(({ name }) => name);
  const results = (request: number) =>
    core.requests[request]!.messages.flatMap((m) =>
      m.role === "tool" ? [JSON.parse((m.content as string).split("\n")[0]!)] : []
    );
  return {
    core,
    session,
    ran,
    events,
    offered,
    results,
    [Symbol.asyncDispose]: () => core[Symbol.asyncDispose](),
  };
}

Deno.test("core B.14: search, describe, call; doors and history know the real name and arguments only", async () => {
  await using box = await makeBox();
  const { core, session, events } = box;
  core.push(
    callTool("tool_search", { query: "create an issue", limit: 1 }, "c1"),
    callTool("tool_describe", { name: NAMES[0] }, "c2"),
    callTool("tool_call", { name: NAMES[0], arguments: { count: "3" } }, "c3"),
    say("done"),
  );
  const result = await prompt(session, "go");
  assertEquals(result.outcome, "completed");
  assertEquals(box.offered(0), ["reader", "shell", ...BRIDGE]);
  assertEquals(
    core.requests.map(({ tools }) => JSON.stringify(tools)),
    Array(4).fill(JSON.stringify(core.requests[0]!.tools)),
  );
  assertEquals(box.results(3), [
    {
      query: "create an issue",
      tools: [{
        name: NAMES[0],
        description: "Does mcp  box  create issue in the box.".replace(/\s+/g, " "),
        parameters: ["count", "label"],
      }],
    },
    {
      name: NAMES[0],
      description: "Does mcp  box  create issue in the box.",
      parameters: { type: "object", properties: { count: { type: "integer" }, label: { type: "string" } } },
    },
    { ok: NAMES[0] },
  ]);
  assertEquals(box.ran, [`${NAMES[0]}:{"count":3}`], "coerced by its own schema");
  const starts = events.flatMap((e) => e.type === "tool.start" ? [[e.call.name, e.call.args]] : []);
  assertEquals(starts.at(-1), [NAMES[0]!, { count: 3 }]);
  assertEquals(starts.some(([name]) => name === "tool_call"), false);
  const calls = session.history().flatMap((m) => m.role === "assistant" ? m.toolCalls ?? [] : []);
  assertEquals(calls.map((call) => [call.name, call.arguments]).at(-1), [NAMES[0], '{"count":"3"}']);
});

Deno.test("core B.14, A.9: a hidden tool is called by its own name, also a slightly wrong one", async () => {
  await using box = await makeBox();
  box.core.push(
    callTool(NAMES[3]!, { label: "x" }, "c1"),
    callTool("mcp_box_weather", {}, "c2"),
    callTool("tool_call", { name: "mcp_box_weather", arguments: '{"label":"y"}' }, "c3"),
    callTool("tool_call", { name: "reader", arguments: { limit: 2 } }, "c4"),
    callTool("tool_call", { name: NAMES[3] }, "c5"),
    say("done"),
  );
  assertEquals((await prompt(box.session, "go")).outcome, "completed");
  const name = NAMES[3]!;
  assertEquals(box.ran, [`${name}:{"label":"x"}`, `${name}:{}`, `${name}:{"label":"y"}`, `${name}:{}`]);
  assertEquals(box.core.ran, ['reader:{"limit":2}']);
});

Deno.test("core B.14: over the bridge the guard judges as ever, and what it blocks does not run", async () => {
  await using box = await makeBox("on", { command: (args) => String(args["label"] ?? "") });
  const judged: string[] = [];
  box.core.verdict((command) => {
    judged.push(command);
    return command === "rm" ? { type: "block", content: '{"error":"no"}' } as never : { type: "allow" };
  });
  box.core.push(
    callTool("tool_call", { name: NAMES[2], arguments: { label: "rm" } }, "c1"),
    callTool("tool_call", { name: NAMES[2], arguments: { label: "ls" } }, "c2"),
    say("done"),
  );
  await prompt(box.session, "go");
  assertEquals(judged, ["rm", "ls"]);
  assertEquals(box.ran, [`${NAMES[2]}:{"label":"ls"}`]);
});

Deno.test("core B.14: only tools of this session; what is none is told with similar ones", async () => {
  await using box = await makeBox();
  box.core.push(
    callTool("tool_call", { name: "mcp__other__delete_everything_now", arguments: {} }, "c1"),
    callTool("tool_call", { arguments: {} }, "c2"),
    callTool("tool_call", { name: "tool_call", arguments: { name: NAMES[0] } }, "c3"),
    callTool("tool_describe", { name: "issue" }, "c4"),
    callTool("tool_search", { query: "quux" }, "c5"),
    callTool("something_quite_different", {}, "c6"),
    say("done"),
  );
  assertEquals((await prompt(box.session, "go")).outcome, "completed");
  const errors = box.results(6).map((result) => result.error ?? result.hint);
  assertEquals(errors, [
    "Tool 'mcp__other__delete_everything_now' does not exist. Similar: " +
    `${[NAMES[3], NAMES[0], NAMES[1]].join(", ")}. Find tools with tool_search`,
    "name must be the name of a tool; find one with tool_search",
    "Tool 'tool_call' does not exist. Find tools with tool_search",
    `Tool 'issue' does not exist. Similar: ${NAMES[0]}, ${NAMES[1]}. Find tools with tool_search`,
    "No tool fits these words. There are: box: 4",
    "Tool 'something_quite_different' does not exist. Available tools: reader, shell, tool_search, tool_describe, tool_call",
  ]);
  assertEquals(box.ran, []);
});

Deno.test("core B.14: broken arguments over the bridge are repaired and refused as if called directly", async () => {
  await using box = await makeBox();
  const broken = callTool("tool_call", { name: NAMES[0], arguments: "{bad}" }, "c1");
  box.core.push(
    broken,
    broken,
    broken,
    broken,
    callTool("tool_call", { name: NAMES[0], arguments: [1] }, "c2"),
    say("done"),
  );
  assertEquals((await prompt(box.session, "go")).outcome, "completed");
  const [first, second] = box.results(5);
  assertMatch(first.error + first.message, /Invalid tool arguments.*Invalid JSON/);
  assertEquals(second, { error: "Invalid tool arguments", message: "The arguments must be a JSON object" });
  assertEquals(box.ran, []);
});

Deno.test("core B.14: false shows them all, and without outside tools nothing is different", async () => {
  for (const enabled of ["off", "auto"] as const) {
    await using box = await makeBox(enabled);
    box.core.push(say("done"));
    await prompt(box.session, "go");
    assertEquals(box.offered(0), ["reader", "shell", ...NAMES]);
  }
  await using core = await makeScriptedCore({ settings: withSearch({ enabled: "on" }) });
  const { session } = await openSession(core);
  core.push(say("done"));
  await prompt(session, "go");
  assertEquals(core.requests[0]!.tools.map(({ name }) => name), ["reader", "shell"]);
});

Deno.test("core B.14: the threshold is a part of the window, or 20,000 tokens; the decision holds for a session", async () => {
  await using core = await makeScriptedCore();
  const base = core.services.settings();
  const model = core.services.models.resolve(undefined as never);
  /** One tool whose schema counts as so many tokens. */
  const sized = (tokens: number) => {
    const tool = outside("mcp__box__big", []);
    const { name, parameters } = tool;
    const rest = JSON.stringify({ name, description: "", parameters }).length;
    return [{ ...tool, description: "x".repeat(tokens * 4 - rest) }];
  };
  const isOn = async (tokens: number, contextWindow: number | null, more = {}, last = null as never) => {
    const settings = withSearch(more)(base);
    const decided = await decideDeferral(sized(tokens), {
      model: { ...model, contextWindow },
      settings,
      last,
    });
    return decided!.hidden.size === 1;
  };
  assertEquals([await isOn(12_800, 128_000), await isOn(12_801, 128_000)], [false, true]);
  assertEquals([await isOn(20_000, null), await isOn(20_001, null)], [false, true]);
  assertEquals([
    await isOn(1_280, 128_000, { threshold_pct: 1 }),
    await isOn(1_281, 128_000, { threshold_pct: 1 }),
  ], [
    false,
    true,
  ]);
  const settings = withSearch({})(base);
  const first = await decideDeferral(sized(15_000), { model, settings, last: null });
  const later = await decideDeferral(sized(15_000), {
    model: { ...model, contextWindow: null },
    settings,
    last: first,
  });
  assertEquals([first!.hidden.size, later!.hidden.size], [1, 1]);
  const spec = (d: typeof first) =>
    JSON.stringify(d!.bridge.map(({ name, description, parameters }) => [name, description, parameters]));
  assertEquals(spec(later), spec(first));
  assertEquals(
    await decideDeferral([outside("x", [], { toolset: "file" })], { model, settings, last: null }),
    null,
  );
});

Deno.test("core B.14: search_default_limit and max_search_limit bound a search", async () => {
  const ran: string[] = [];
  const tools = Array.from({ length: 30 }, (_, n) => outside(`mcp__box__issue_${n}`, ran));
  const core = await makeScriptedCore({
    tools,
    settings: withSearch({ enabled: "on", search_default_limit: 4, max_search_limit: 7 }),
  });
  try {
    const { session } = await openSession(core);
    core.push(
      callTool("tool_search", { query: "issue" }, "c1"),
      callTool("tool_search", { query: "issue", limit: 50 }, "c2"),
      callTool("tool_search", { query: "issue", limit: 0 }, "c3"),
      say("done"),
    );
    await session.submit({ content: "go" }, { asks: NOBODY_TO_ASK }).done;
    const counts = core.requests[3]!.messages.flatMap((m) =>
      m.role === "tool" ? [JSON.parse(m.content as string).tools.length] : []
    );
    assertEquals(counts, [4, 7, 1]);
    assert(
      core.requests[0]!.tools.find(({ name }) => name === "tool_search")!.description.includes(
        "30 more (box: 30)",
      ),
    );
  } finally {
    await core[Symbol.asyncDispose]();
  }
});

Deno.test("core B.14: what is hidden does not count as context", async () => {
  const tools = Array.from({ length: 30 }, (_, n) => outside(`mcp__box__issue_${n}`, []));
  const used: number[] = [];
  for (const enabled of ["on", "off"] as const) {
    await using core = await makeScriptedCore({ tools, settings: withSearch({ enabled }) });
    const { session } = await openSession(core);
    core.push(say("done"));
    await prompt(session, "go");
    used.push(session.usage().contextUsed);
  }
  assert(used[1]! - used[0]! > 1_000, `${used}`);
});
