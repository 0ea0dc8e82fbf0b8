import { restoreTodos } from "@/tools/mod.ts";
import { assertEquals, assertMatch } from "../support/assert.ts";
import { makeBench } from "./context.ts";

Deno.test("todo replaces, merges, reads and sums up, one list per session", async () => {
  await using bench = await makeBench();
  const todos = [{ id: "1", content: "a", status: "in_progress" }, {
    id: "2",
    content: "b",
    status: "pending",
  }];
  const first = await bench.json("todo", { todos });
  assertEquals(first, {
    todos,
    summary: { total: 2, pending: 1, in_progress: 1, completed: 0, cancelled: 0 },
  });
  const merged = await bench.json("todo", {
    todos: [{ id: "1", status: "completed" }, { id: "3", content: "c" }],
    merge: true,
  });
  assertEquals(merged.todos.map((t: { status: string }) => t.status), ["completed", "pending", "pending"]);
  assertEquals((await bench.json("todo", {})).summary.total, 3);
  assertEquals((await bench.json("todo", {}, { session: "s2" })).summary.total, 0);
});

Deno.test("todo refuses what it cannot keep and leaves the list as it was", async () => {
  await using bench = await makeBench();
  await bench.json("todo", { todos: [{ id: "1", content: "a", status: "pending" }] });
  for (
    const todos of [
      "x",
      [5],
      [{ content: "no id" }],
      [{ id: "1", content: "x", status: "done" }],
      [{ id: "2", content: "y".repeat(4_001) }],
      Array.from({ length: 257 }, (_, i) => ({ id: `${i}`, content: "x" })),
    ]
  ) {
    assertMatch((await bench.json("todo", { todos })).error, /./);
  }
  assertEquals((await bench.json("todo", {})).summary.total, 1);
});

Deno.test("restoreTodos() rebuilds the list from the last result in the history", async () => {
  await using bench = await makeBench();
  const todos = [{ id: "1", content: "a", status: "pending" as const }];
  const tool = (content: string) => ({ role: "tool" as const, toolCallId: "c", toolName: "todo", content });
  restoreTodos(bench.scope(), [tool(JSON.stringify({ todos })), tool('{"error":"x"}'), tool("not json")]);
  assertEquals((await bench.json("todo", {})).todos, todos);
});

Deno.test("core B.6: restoreTodos() reads a result that something follows, and what the row kept of one that went to a file", async () => {
  await using bench = await makeBench();
  const of = (id: string) => [{ id, content: `item ${id}`, status: "pending" as const }];
  const tool = (content: string, meta = {}) => ({
    role: "tool" as const,
    toolCallId: "c",
    toolName: "todo",
    content,
    meta,
  });
  const json = (id: string) => JSON.stringify({ todos: of(id), summary: { total: 1 } });
  const restored = async (...history: Parameters<typeof restoreTodos>[1]) => {
    restoreTodos(bench.scope(), history);
    return (await bench.json("todo", {})).todos;
  };
  const warning = "\n\n[Tool loop warning: same_tool_failure_warning; count=3; stop {here}]";
  assertEquals(await restored(tool(json("1")), tool(json("2") + warning)), of("2"));
  assertEquals(
    await restored(tool(json("1")), tool("<persisted-output>\n</persisted-output>", { todos: of("3") })),
    of("3"),
  );
  const summary = { role: "user" as const, content: "S", displayKind: "compaction_summary", todos: of("4") };
  assertEquals(await restored(tool(json("1")), summary), of("4"));
  assertEquals(await restored(summary, tool(json("5"))), of("5"));
  assertEquals(await restored({ role: "user", content: json("6") }), []);
});

Deno.test("clarify asks and returns the answer; choices are flattened and at most four", async () => {
  const asked: unknown[] = [];
  await using bench = await makeBench({
    ask: (payload) => {
      asked.push(payload);
      return Promise.resolve({ type: "answered", answer: { type: "text", text: "blue" } });
    },
  });
  const choices = ["red", { label: "blue" }, { description: "green" }, 4, "five"];
  const result = await bench.json("clarify", { question: " Which? ", choices });
  assertEquals(result, {
    question: "Which?",
    choices_offered: ["red", "blue", "green", "4"],
    user_response: "blue",
  });
  assertEquals(asked, [{ kind: "clarify", question: "Which?", choices: ["red", "blue", "green", "4"] }]);
});

Deno.test("clarify tells silence, and that nobody can be asked", async () => {
  await using silent = await makeBench({ ask: () => Promise.resolve({ type: "timeout" }) });
  const late = await silent.json("clarify", { question: "Q?" });
  assertEquals([late.user_response, late.choices_offered], ["", null]);
  assertMatch(late.note, /Nobody answered/);
  await using alone = await makeBench();
  assertMatch((await alone.json("clarify", { question: "Q?" })).error, /Nobody can be asked/);
  assertMatch((await alone.json("clarify", {})).error, /'question'/);
  const available = alone.tool("clarify").available!;
  const context = { platform: alone.platform, settings: alone.context().settings };
  assertEquals([available({ ...context, canClarify: true }), available({ ...context, canClarify: false })], [
    true,
    false,
  ]);
});
