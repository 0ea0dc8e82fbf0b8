/** Proves src/protocols/acp/render/replay.ts and tool_calls.ts: acp.md C11, C12. */
import { assertEquals } from "../../../support/assert.ts";
import type { Message, ToolCall } from "../../../../src/core/mod.ts";
import { replay, type ReplayContext } from "../../../../src/protocols/acp/render/replay.ts";
import { startUpdate } from "../../../../src/protocols/acp/render/tool_calls.ts";

const CONTEXT: ReplayContext = {
  sessionId: "s",
  describe: (call: ToolCall) => ({
    id: call.id,
    name: call.name,
    args: {},
    description: {
      title: `title of ${call.name}`,
      label: "",
      kind: "edit",
      locations: [{ path: "/w/a" }],
      startText: "",
    },
  }),
  isBuiltin: () => true,
  compaction: false,
  isLive: (id) => id === "live",
  isWaiting: () => false,
};

// deno-lint-ignore no-explicit-any
function updates(messages: readonly Message[]): any[] {
  return [...replay(messages, CONTEXT)].flat();
}

function call(id: string, name = "write_file"): ToolCall {
  return { id, name, arguments: "{}" };
}

Deno.test("acp 38: replay() gives the rows in order, with stable ids, and closes calls without a result", () => {
  const shown = updates([
    { role: "user", content: "hi", rowId: 1 },
    { role: "assistant", content: "sure", reasoning: "hm", toolCalls: [call("c1"), call("c2")], rowId: 2 },
    {
      role: "tool",
      toolCallId: "c1",
      toolName: "write_file",
      content: '{"bytes_written":2}',
      meta: { edits: [{ path: "/w/a", oldText: null, newText: "x" }] },
      rowId: 3,
    },
    { role: "user", content: "more", rowId: 4 },
    { role: "assistant", content: "", rowId: 5 },
  ]);
  assertEquals(
    shown.map((u) => [u.sessionUpdate, u.messageId ?? u.toolCallId, u.status ?? u.content.text]),
    [
      ["user_message_chunk", "s-1", "hi"],
      ["agent_thought_chunk", "s-2-t", "hm"],
      ["agent_message_chunk", "s-2", "sure"],
      ["tool_call", "c1", "in_progress"],
      ["tool_call", "c2", "in_progress"],
      ["tool_call_update", "c1", "completed"],
      ["tool_call_update", "c2", "failed"],
      ["user_message_chunk", "s-4", "more"],
    ],
  );
  assertEquals(shown[5].content.at(-1), { type: "diff", path: "/w/a", oldText: null, newText: "x" });
});

Deno.test("replay() leaves a running call open and skips timeline rows", () => {
  const shown = updates([
    { role: "user", content: "[System: …]", displayKind: "model_switch", rowId: 1 },
    { role: "assistant", content: null, toolCalls: [call("live")], rowId: 2 },
  ]);
  assertEquals(shown.map((u) => [u.sessionUpdate, u.status]), [["tool_call", "in_progress"]]);
});

Deno.test("replay() shows what the user typed, and stored images", () => {
  const shown = updates([{
    role: "user",
    content: [
      { type: "text", text: "look\nbody of a file" },
      { type: "image_url", image_url: { url: "data:image/png;base64,QUJD" } },
      { type: "image_url", image_url: { url: "https://x/y.png" } },
    ],
    displayText: "look\n[Attached file: a]",
    rowId: 1,
  }]);
  assertEquals(shown.map((u) => u.content), [
    { type: "text", text: "look\n[Attached file: a]" },
    { type: "image", mimeType: "image/png", data: "QUJD" },
  ]);
});

Deno.test("acp 37: replay() repeats the plan of a todo result", () => {
  const todos = [
    { id: "1", content: "a", status: "cancelled" },
    { id: "2", content: "b", status: "in_progress" },
  ];
  const shown = updates([
    { role: "assistant", content: null, toolCalls: [call("t", "todo")], rowId: 1 },
    { role: "tool", toolCallId: "t", toolName: "todo", content: JSON.stringify({ todos }), rowId: 2 },
  ]);
  assertEquals(shown.at(-1), {
    sessionUpdate: "plan",
    entries: [
      { content: "[cancelled] a", priority: "medium", status: "completed" },
      { content: "b", priority: "medium", status: "in_progress" },
    ],
  });
});

Deno.test("replay() puts a visible placeholder where a row cannot be shown", () => {
  // deno-lint-ignore no-explicit-any
  const broken: any = { role: "user", content: [{ type: "image_url" }], rowId: 1 };
  const shown = updates([broken, { role: "assistant", content: "ok", rowId: 2 }]);
  assertEquals(shown.map((u) => u.content.text), ["[This message cannot be shown]", "ok"]);
});

Deno.test("acp 42: replay() marks a summary, or shows it as a compaction where the client can", () => {
  const summary: Message = { role: "user", content: "S", displayKind: "compaction_summary", rowId: 7 };
  assertEquals(updates([summary]), [{
    sessionUpdate: "user_message_chunk",
    messageId: "s-7",
    content: { type: "text", text: "S" },
    _meta: { hermes: { compactionSummary: true } },
  }]);
  assertEquals([...replay([summary], { ...CONTEXT, compaction: true })].flat(), [{
    sessionUpdate: "compaction_update",
    compactionId: "s-7",
    status: "completed",
    summary: [{ type: "text", text: "S" }],
  }]);
});

Deno.test("acp C12: replay() tells a message with a summary in it from one that is nothing else", () => {
  const summary = "[CONTEXT COMPACTION — REFERENCE ONLY]\nwhat was\n--- END OF CONTEXT SUMMARY — go on ---";
  const rows: Message[] = [
    { role: "user", content: summary, rowId: 1 },
    { role: "assistant", content: `${summary}\n\nand now`, rowId: 2 },
    { role: "user", content: `${summary}\n\nnow do this`, displayText: "now do this", rowId: 3 },
    { role: "user", content: `about ${summary}`, rowId: 4 },
  ];
  const marks = (update: ReturnType<typeof updates>[number]) => update._meta?.hermes ?? null;
  assertEquals(updates(rows).map((u) => [u.sessionUpdate, u.messageId, marks(u)]), [
    ["user_message_chunk", "s-1", { compactionSummary: true }],
    ["agent_message_chunk", "s-2", { containsCompactionSummary: true }],
    ["user_message_chunk", "s-3", null],
    ["user_message_chunk", "s-4", null],
  ]);
  assertEquals([...replay(rows.slice(0, 2), { ...CONTEXT, compaction: true })].flat(), [
    {
      sessionUpdate: "compaction_update",
      compactionId: "s-1",
      status: "completed",
      summary: [{ type: "text", text: summary }],
    },
    {
      sessionUpdate: "compaction_update",
      compactionId: "s-2-c",
      status: "completed",
      summary: [{ type: "text", text: summary }],
    },
    { sessionUpdate: "agent_message_chunk", messageId: "s-2", content: { type: "text", text: "and now" } },
  ]);
});

Deno.test("a card has a title of one line, 500 characters at most, and else the tool's name", () => {
  const titleOf = (title: string) =>
    startUpdate({
      id: "c",
      name: "patch",
      args: {},
      description: { title, label: "", kind: "edit", locations: [], startText: "" },
    }, { waiting: false, builtin: true }) as { title?: string };
  assertEquals(titleOf("read: a\r\nb").title, "read: a b");
  assertEquals(titleOf("x".repeat(501)).title, `${"x".repeat(499)}…`);
  assertEquals(titleOf(" \n").title, "patch");
});
