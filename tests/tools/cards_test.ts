/** Proves src/tools/cards: one card per built-in tool, the same before and after the tools are loaded (acp.md C11). */
import { cardOf } from "../../src/tools/cards/mod.ts";
import { createTools, SkillRegistry } from "../../src/tools/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";

const AT = { cwd: "/work" };

function titleAndKind(name: string, args: Record<string, unknown>): string[] {
  const { title, kind } = cardOf(name)!(args, AT);
  return [title, kind];
}

Deno.test("cardOf() knows every built-in tool, as the tool shows itself, and no other name", () => {
  const tools = createTools({
    env: () => undefined,
    skills: {} as SkillRegistry,
    sessions: () => {
      throw new Error("not opened");
    },
  });
  assertEquals(tools.length, 17);
  for (const tool of tools) assert(cardOf(tool.name) === tool.describe, tool.name);
  for (const name of ["mcp_files_read", "toString", ""]) assertEquals(cardOf(name), undefined);
});

Deno.test("acp C11: titles and kinds are those of the table", () => {
  const rows: [string, Record<string, unknown>, string, string][] = [
    ["terminal", { command: "ls\n-la" }, "terminal: ls -la", "execute"],
    ["process", { action: "poll", session_id: "proc_1" }, "process poll: proc_1", "execute"],
    ["read_file", { path: "a.ts" }, "read: a.ts", "read"],
    ["write_file", { path: "a.ts" }, "write: a.ts", "edit"],
    ["patch", { path: "a.ts", old_string: "x" }, "patch (replace): a.ts", "edit"],
    ["patch", { patch: "*** Update File: a\n*** Add File: b\n" }, "patch (patch): a, b", "edit"],
    ["search_files", { pattern: "todo" }, "search: todo", "search"],
    ["web_search", { query: "deno" }, "web search: deno", "fetch"],
    ["web_extract", { urls: ["https://a", { url: "https://b" }] }, "extract: https://a (+1)", "fetch"],
    ["todo", { todos: [{ content: "a" }, { content: "b" }] }, "todo (2 items)", "other"],
    ["memory", { action: "add", target: "user", content: "tea" }, "memory add: user", "other"],
    ["session_search", { query: "tea" }, "session search: tea", "other"],
    ["skills_list", {}, "skills list", "read"],
    ["skill_view", { name: "deploy" }, "skill view (deploy)", "read"],
    ["skill_manage", { action: "create", name: "deploy" }, "skill create: deploy", "edit"],
    ["delegate_task", { goal: "look" }, "delegate: look", "execute"],
    ["delegate_task", { tasks: [{ goal: "a" }, { goal: "b" }] }, "delegate batch (2 tasks)", "execute"],
    ["clarify", { question: "Which?" }, "clarify: Which?", "other"],
    ["vision_analyze", { image_url: "a.png" }, "look at: a.png", "read"],
  ];
  for (const [name, args, title, kind] of rows) assertEquals(titleAndKind(name, args), [title, kind], name);
});

Deno.test("cards are made for arguments of any shape", () => {
  const odd = [null, 7, [], {}, [null], ["x"], { url: 3 }, "\n", true];
  const names = [
    "path",
    "command",
    "urls",
    "todos",
    "tasks",
    "operations",
    "patch",
    "choices",
    "image_url",
    "goal",
  ];
  for (const tool of createTools({ env: () => undefined })) {
    for (const value of odd) {
      const card = cardOf(tool.name)!(Object.fromEntries(names.map((name) => [name, value])), AT);
      assertEquals(typeof card.title, "string");
      assert(card.locations.every(({ path }) => path.startsWith("/")), tool.name);
    }
  }
});
