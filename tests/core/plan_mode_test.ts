/** Which tools plan mode lets run (acp.md C7). */
import { planRefusal } from "../../src/core/plan_mode.ts";
import type { Tool, ToolDescription } from "../../src/core/ports.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";

function refused(name: string, kind: ToolDescription["kind"]): boolean {
  const description = { title: name, label: "", kind, locations: [], startText: "" };
  return planRefusal({ name } as Tool, description) !== null;
}

Deno.test("planRefusal() lets look and think, and refuses what changes or says nothing of itself", () => {
  const free = [["read_file", "read"], ["search_files", "search"], ["web_extract", "fetch"], [
    "note",
    "think",
  ]];
  const own = [["todo", "other"], ["memory", "other"], ["session_search", "other"], ["clarify", "other"]];
  const held = [
    ["write_file", "edit"],
    ["terminal", "execute"],
    ["process", "execute"],
    ["remove", "delete"],
    ["rename", "move"],
    ["mcp__files__anything", "other"],
  ];
  const run = (table: string[][]) =>
    table.map(([name, kind]) => refused(name!, kind as ToolDescription["kind"]));
  assertEquals(run([...free, ...own]), Array(8).fill(false));
  assertEquals(run(held), Array(6).fill(true));
});

Deno.test("planRefusal() is an error without effect that says what to do", () => {
  const description: ToolDescription = { title: "", label: "", kind: "edit", locations: [], startText: "" };
  const outcome = planRefusal({ name: "patch" } as Tool, description)!;
  assertEquals([outcome.isError, outcome.effect], [true, "none"]);
  assertMatch(JSON.parse(outcome.content as string).error, /'patch' was not run.*Present your plan/);
});
