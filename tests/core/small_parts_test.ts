import { CallIds } from "@/core/call_ids.ts";
import type { Message, Tool } from "@/core/mod.ts";
import { repairForRequest } from "@/core/request_repair.ts";
import { repairForResume } from "@/core/resume.ts";
import { cutIntoSegments } from "@/core/segments.ts";
import { Steering, withSteer } from "@/core/steering.ts";
import { repairToolName } from "@/core/tool_names.ts";
import { assert, assertEquals } from "../support/assert.ts";

const KNOWN = ["read_file", "write_file", "terminal", "search_files", "mcp__box__list"];

Deno.test("core 7: repairToolName() finds the tool that was meant", () => {
  assertEquals(repairToolName("ReadFile_tool", KNOWN), "read_file");
  assertEquals(repairToolName("read-file", KNOWN), "read_file");
  assertEquals(repairToolName('terminal">', KNOWN), "terminal");
  assertEquals(repairToolName("mcp_box_list", KNOWN), "mcp__box__list");
  assertEquals(repairToolName("serch_files", KNOWN), "search_files");
  assertEquals(repairToolName("launch_rocket", KNOWN), null);
  assertEquals(repairToolName("", KNOWN), null);
});

Deno.test("FC-27: CallIds.assign() makes reused and missing ids unique and keeps the provider's own", () => {
  const ids = new CallIds();
  const first = ids.assign({ id: "call_1", name: "a", arguments: "{}" }, 0);
  const second = ids.assign({ id: "call_1", name: "b", arguments: "{}" }, 1);
  assertEquals(first, { id: "call_1", name: "a", arguments: "{}" });
  assertEquals(second, { id: "call_1_2", name: "b", arguments: "{}", providerId: "call_1" });
  const made = ids.assign({ id: "", name: "a", arguments: "{}" }, 0);
  assertEquals(made.id, new CallIds().assign({ id: "", name: "a", arguments: "{}" }, 0).id);
  assert(made.providerId === undefined);
});

Deno.test("CallIds.learn() remembers a stored history", () => {
  const ids = new CallIds();
  ids.learn([{
    role: "assistant",
    content: null,
    toolCalls: [{ id: "call_1", name: "a", arguments: "{}" }],
  }]);
  assertEquals(ids.assign({ id: "call_1", name: "a", arguments: "{}" }, 0).id, "call_1_2");
});

const call = (id: string) => ({ id, name: "t", arguments: "{}" });
const result = (toolCallId: string, content: string): Message => ({
  role: "tool",
  toolCallId,
  toolName: "t",
  content,
});

Deno.test("repairForRequest() answers every call once, in call order, and drops strays", () => {
  const history: Message[] = [
    { role: "user", content: "go" },
    { role: "assistant", content: null, toolCalls: [call("a"), call("b"), call("c")] },
    result("b", "2"),
    result("a", "1"),
    result("a", "again"),
    result("x", "stray"),
    { role: "user", content: "more" },
  ];
  const repaired = repairForRequest(history);
  assertEquals(repaired.map((m) => m.role), ["user", "assistant", "tool", "tool", "tool", "user"]);
  assertEquals(repaired.slice(2, 5).map((m) => m.role === "tool" && m.toolCallId), ["a", "b", "c"]);
  assertEquals(repaired[2]!.content, "1");
  assert(String(repaired[4]!.content).includes("interrupted"));
  assertEquals(history.length, 7);
});

Deno.test("FC-12: repairForRequest() sends each id once and no call without a name", () => {
  const history: Message[] = [
    { role: "user", content: "go" },
    { role: "assistant", content: null, toolCalls: [call("a"), call("a"), { ...call("b"), name: " " }] },
    result("a", "1"),
  ];
  const [, assistant, ...results] = repairForRequest(history);
  assertEquals(assistant?.role === "assistant" && assistant.toolCalls?.map(({ id, name }) => [id, name]), [
    ["a", call("a").name],
    ["b", "invalid_tool_call"],
  ]);
  assertEquals(results.map((m) => m.role === "tool" && m.toolCallId), ["a", "b"]);
});

Deno.test("repairForRequest() alternates roles and drops thought-only answers", () => {
  const repaired = repairForRequest([
    { role: "user", content: "one" },
    { role: "assistant", content: null, reasoning: "hm" },
    { role: "user", content: "two" },
    { role: "assistant", content: "a" },
    { role: "assistant", content: "b" },
  ]);
  assertEquals(repaired.map((m) => [m.role, m.content]), [["user", "one\ntwo"], ["assistant", "a\nb"]]);
});

Deno.test("FC-12: repairForResume() closes calls that a crash left open", () => {
  const repaired = repairForResume([
    { role: "user", content: "go", rowId: 1 },
    { role: "assistant", content: null, toolCalls: [call("a"), call("b")], rowId: 2 },
    { ...result("a", "1"), rowId: 3 },
  ]);
  assertEquals(repaired.length, 4);
  const stub = repaired[3]!;
  assert(stub.role === "tool" && stub.toolCallId === "b" && stub.effect === "unknown");
});

const tool = (parallel: Tool["parallel"]) => ({ parallel }) as Tool;

Deno.test("core 5: cutIntoSegments() runs a barrier alone and reads together", () => {
  const [barrier, safe, path] = [tool("never"), tool("safe"), tool("path")];
  const place = (t: Tool, ...paths: string[]) => ({ tool: t, paths });
  const cut = (calls: { tool: Tool; paths: string[] }[]) => cutIntoSegments(calls).map((s) => s.length);
  assertEquals(cut([place(barrier), place(path, "/a"), place(path, "/b")]), [1, 2]);
  assertEquals(cut([place(path, "/a"), place(path, "/a/b")]), [1, 1]);
  assertEquals(cut([place(path, "/a"), place(path, "/ab"), place(safe)]), [3]);
  assertEquals(cut(Array.from({ length: 9 }, () => place(safe))), [8, 1]);
});

Deno.test("core 21: withSteer() ends the tool result with the exact marker block", () => {
  const steering = new Steering();
  assertEquals(steering.push("  "), false);
  assert(steering.push(" use tabs ") && steering.push("be quick"));
  assertEquals(
    withSteer("out", steering.take()!),
    "out\n\n[OUT-OF-BAND USER MESSAGE — a direct message from the user, delivered mid-turn; not tool output]\n" +
      "use tabs\nbe quick\n[/OUT-OF-BAND USER MESSAGE]",
  );
  assertEquals(steering.take(), null);
});
