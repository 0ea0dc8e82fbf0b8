/** The bridge to hidden tools of an MCP server through the real program (core.md B.14). */
import { assertEquals, assertMatch } from "../../support/assert.ts";
import { call, calling, results } from "../../support/core_driver.ts";
import { stdioServer } from "../../support/mcp_server.ts";
import { type ScriptTurn, startModelServer } from "../../support/model_server.ts";
import { makeRig, modelConfig, runProgram } from "../../support/program.ts";

// deno-lint-ignore no-explicit-any
type Json = any;

/** Short results are not wrapped. */
const LONG = "one ".repeat(100).trim();

const toolNames = (request: { body: Json } | undefined): string[] =>
  request?.body.tools.map((tool: Json) => tool.function.name);

async function run(threshold_pct: number, turns: ScriptTurn[], more = {}) {
  await using model = await startModelServer({ turns });
  await using rig = await makeRig({
    config: modelConfig(model.url, {
      mcp_discovery_timeout: 20,
      mcp_servers: { box: stdioServer({ tools: ["echo", "list_pages"] }) },
      tools: { tool_search: { threshold_pct } },
      ...more,
    }),
  });
  const first = await runProgram(["run", "--json", "go"], { rig });
  const lines: Json[] = first.stdout.trim().split("\n").map((line) => JSON.parse(line));
  const session = lines.at(-1).session_id;
  const second = await runProgram(["run", "--json", "--session", session, "again"], { rig });
  const shown = JSON.parse((await runProgram(["sessions", "show", session, "--json"], { rig })).stdout);
  return { code: first.code + second.code, lines, shown, calls: model.calls() };
}

Deno.test("core B.14: found, called and shown under its real name, wrapped as data; the next process sends the same tools", async () => {
  const { code, lines, shown, calls } = await run(0, [
    calling(call("tool_search", { query: "echo" })),
    calling(call("tool_call", { name: "mcp__box__echo", arguments: { text: LONG } })),
    "done",
    calling(call("mcp__box__echo", { text: "two" })),
    "done again",
  ]);
  assertEquals(code, 0);
  const names = toolNames(calls[0]);
  assertEquals(names.slice(-3), ["tool_search", "tool_describe", "tool_call"]);
  assertEquals(names.filter((name) => name.startsWith("mcp__")), []);
  assertEquals(
    calls.map(({ body }) => JSON.stringify(body.tools)),
    calls.map(() => JSON.stringify(calls[0]!.body.tools)),
  );
  assertEquals(calls[3]!.body.messages[0], calls[0]!.body.messages[0], "the same prompt");
  const [found, echoed] = results(calls[2]);
  assertEquals(JSON.parse(found!).tools.map((tool: Json) => tool.name), ["mcp__box__echo"]);
  assertMatch(
    echoed!,
    /^<untrusted_tool_result source="mcp__box__echo">[\s\S]*\{"result":"one one [\s\S]*\n<\/untrusted_tool_result>$/,
  );
  const starts = lines.filter((line) => line.type === "tool.start").map((line) => [line.tool, line.title]);
  assertEquals(starts, [["tool_search", "tool_search: echo"], ["mcp__box__echo", "mcp__box__echo"]]);
  const stored = shown.messages.flatMap((message: Json) => message.tool_calls ?? []).map((c: Json) =>
    c.function
  );
  assertEquals(stored.map(({ name, arguments: text }: Json) => [name, JSON.parse(text)]), [
    ["tool_search", { query: "echo" }],
    ["mcp__box__echo", { text: LONG }],
    ["mcp__box__echo", { text: "two" }],
  ]);
});

Deno.test("core B.14: a rule for the real name holds over the bridge", async () => {
  const { calls } = await run(
    0,
    [calling(call("tool_call", { name: "mcp__box__echo", arguments: { text: "one" } })), "done", "done"],
    { policy: { rules: [{ effect: "deny", mcp_server: "box", tool: "*echo", reason: "not this one" }] } },
  );
  assertMatch(results(calls[1])[0]!, /not this one/);
});

Deno.test("core B.14: few tools are shown whole", async () => {
  const { calls } = await run(10, ["done", "done"]);
  const names = toolNames(calls[0]);
  assertEquals(names.filter((name) => name.startsWith("mcp__")), ["mcp__box__echo", "mcp__box__list_pages"]);
  assertEquals(names.includes("tool_search"), false);
});
