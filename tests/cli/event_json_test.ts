import { assertEquals } from "../support/assert.ts";
import { eventJson } from "@/cli/event_json.ts";
import type { CoreEvent, ToolCallView } from "@/core/mod.ts";

const BASE = { sessionId: "s1", turnId: "t1", seq: 7 };
const CALL: ToolCallView = {
  id: "c1",
  name: "terminal",
  args: { command: "ls" },
  description: { title: "terminal: ls", label: "ls", kind: "execute", locations: [], startText: "" },
};

Deno.test("eventJson() gives every line type, session_id, turn_id and seq first", () => {
  const event: CoreEvent = { ...BASE, type: "text.delta", text: "hi" };
  assertEquals(
    JSON.stringify(eventJson(event)),
    '{"type":"text.delta","session_id":"s1","turn_id":"t1","seq":7,"text":"hi"}',
  );
});

Deno.test("eventJson() spells the fields of a finished call in snake_case", () => {
  const event: CoreEvent = {
    ...BASE,
    type: "tool.end",
    call: CALL,
    result: "{}",
    isError: true,
    durationMs: 12.6,
    edits: [{ path: "/a", oldText: null, newText: "x" }],
    todos: null,
    refused: "unattended",
  };
  assertEquals(eventJson(event), {
    type: "tool.end",
    session_id: "s1",
    turn_id: "t1",
    seq: 7,
    tool_call_id: "c1",
    tool: "terminal",
    args: { command: "ls" },
    title: "terminal: ls",
    kind: "execute",
    locations: [],
    result: "{}",
    is_error: true,
    duration_ms: 13,
    edits: [{ path: "/a", old_text: null, new_text: "x" }],
    refused: "unattended",
  });
});
