import { assertEquals } from "../support/assert.ts";
import { blockReasonOf, type ToolEnd } from "@/cli/blocked_calls.ts";

function endOf(refused: ToolEnd["refused"], result: string): ToolEnd {
  return {
    type: "tool.end",
    sessionId: "s",
    turnId: "t",
    seq: 1,
    call: {
      id: "c",
      name: "terminal",
      args: {},
      description: { title: "", label: "", kind: "execute", locations: [], startText: "" },
    },
    result,
    isError: true,
    durationMs: 1,
    edits: [],
    todos: null,
    refused,
  };
}

Deno.test("blockReasonOf() tells a rule, a missing human and a mistake of the model apart", () => {
  assertEquals(blockReasonOf(endOf("policy", '{"status":"blocked","outcome":"hardline"}')), "policy");
  assertEquals(blockReasonOf(endOf("policy", '{"status":"blocked","outcome":"unattended"}')), "unattended");
  assertEquals(blockReasonOf(endOf("policy", '{"error":"old_string was not found"}')), null);
  assertEquals(blockReasonOf(endOf("policy", "not json")), null);
});

Deno.test("blockReasonOf() takes the core's word for everything else", () => {
  assertEquals(blockReasonOf(endOf("denied", "{}")), "denied");
  assertEquals(blockReasonOf(endOf("timeout", "{}")), "timeout");
  assertEquals(blockReasonOf(endOf(null, '{"status":"blocked"}')), null);
});
