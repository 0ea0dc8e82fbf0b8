import { assertEquals, assertRejects } from "../support/assert.ts";
import { DatabaseSync } from "node:sqlite";
import type { Message } from "../../src/core/mod.ts";
import { agent, makeStore, sessionRow, texts, user } from "./rig.ts";

/** What was stored, without what the store adds. */
function bare(messages: readonly Message[]): unknown[] {
  return messages.map(({ rowId: _id, timestamp: _time, ...rest }) => rest);
}

Deno.test("loadMessages() gives back what appendMessages() took, every field, with row ids in order", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  const messages: Message[] = [
    { role: "user", content: "look", displayText: "look [file]" },
    {
      role: "user",
      content: [{ type: "text", text: "and" }, {
        type: "image_url",
        image_url: { url: "data:x", detail: "low" },
      }],
    },
    {
      role: "assistant",
      content: null,
      toolCalls: [{ id: "c1", name: "read_file", arguments: '{"path":"a"}', providerId: "call_1" }],
      reasoning: "hm",
      reasoningContent: " ",
      reasoningDetails: [{ type: "x", data: "\u0000" }],
      finishReason: "tool_calls",
    },
    {
      role: "tool",
      toolCallId: "c1",
      toolName: "read_file",
      content: "body",
      effect: "unknown",
      meta: { isError: true, durationMs: 3, edits: [{ path: "/a", oldText: null, newText: "x" }] },
    },
    { role: "user", content: "[System: switched]", displayKind: "model_switch" },
    { role: "assistant", content: "done" },
  ];
  const ids = await rig.store.appendMessages("s1", messages);
  rig.store.close();
  const loaded = rig.open().loadMessages("s1");
  assertEquals(bare(loaded), messages as unknown[]);
  assertEquals(loaded.map((message) => message.rowId), ids);
  assertEquals(ids, [1, 2, 3, 4, 5, 6]);
});

Deno.test("appendMessages() keeps texts the column cannot hold as they are", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  const odd = ["a\u0000b", "\u0000json:[1]", "\u0000", "", "e\u0301 \u{1F600} \u2028"];
  await rig.store.appendMessages("s1", odd.map(user));
  assertEquals(texts(rig.store.loadMessages("s1")), odd);
});

Deno.test("appendMessages() takes lone surrogates and writes them as replacement characters", async () => {
  await using rig = await makeStore();
  await rig.store.createSession(sessionRow("s1", { title: "t \ud800" }));
  await rig.store.appendMessages("s1", [user("a\ud800b"), {
    role: "assistant",
    content: "c\udc00",
    reasoning: "\ud800",
    toolCalls: [{ id: "c", name: "t\ud800", arguments: '{"a":"\ud800"}' }],
  }]);
  const [first, second] = rig.store.loadMessages("s1");
  assertEquals([first!.content, second!.content], ["a\uFFFDb", "c\uFFFD"]);
  assertEquals(rig.store.check(), "ok");
});

Deno.test("loadMessages() puts the results of one batch in the order of their calls", async () => {
  await using rig = await makeStore();
  await rig.store.createSession(sessionRow("s1"));
  const call = (id: string) => ({ id, name: "t", arguments: "{}" });
  const result = (id: string): Message => ({ role: "tool", toolCallId: id, toolName: "t", content: id });
  await rig.store.appendMessages("s1", [
    user("go"),
    { role: "assistant", content: "", toolCalls: [call("a"), call("b"), call("c")] },
    result("c"),
    result("a"),
    result("b"),
    { role: "assistant", content: "", toolCalls: [call("d")] },
    result("d"),
    agent("end"),
  ]);
  assertEquals(texts(rig.store.loadMessages("s1")), ["go", "", "a", "b", "c", "", "d", "end"]);
});

Deno.test("appendMessages() counts messages and calls, timeline rows apart, and keeps the first words", async () => {
  await using rig = await makeStore();
  await rig.store.createSession(sessionRow("s1"));
  await rig.store.appendMessages("s1", [{ role: "user", content: "marker", displayKind: "hidden" }]);
  assertEquals(rig.store.listSessions({ limit: 5 }), []);
  await rig.store.appendMessages("s1", [user("  first\n  line \u{1F600}" + "x".repeat(80)), {
    role: "assistant",
    content: "",
    toolCalls: [{ id: "a", name: "t", arguments: "{}" }, { id: "b", name: "t", arguments: "{}" }],
  }]);
  await rig.store.appendMessages("s1", [user("second")]);
  const [row] = rig.store.listSessions({ limit: 5 });
  assertEquals(row!.preview, "first line \u{1F600}" + "x".repeat(48));
  assertEquals(row!.firstText, "first line \u{1F600}" + "x".repeat(68));
  assertEquals([row!.messageCount, rig.store.getSession("s1")!.toolCallCount], [3, 2]);
});

Deno.test("appendMessages() to an unknown session writes nothing", async () => {
  await using rig = await makeStore();
  await assertRejects(() => rig.store.appendMessages("nobody", [user("x")]), /No session "nobody"/);
  assertEquals(rig.store.search("x"), []);
});

Deno.test("updateContent() replaces the text of one row and what it is found by", async () => {
  await using rig = await makeStore();
  await rig.store.createSession(sessionRow("s1"));
  const [id] = await rig.store.appendMessages("s1", [{
    role: "tool",
    toolCallId: "c",
    toolName: "terminal",
    content: "apples",
    meta: { durationMs: 1 },
  }]);
  await rig.store.updateContent(id!, "pears 東京都庁");
  const [message] = rig.store.loadMessages("s1");
  assertEquals(message!.content, "pears 東京都庁");
  assertEquals([rig.store.search("apples").length, rig.store.search("pears").length], [0, 1]);
  assertEquals(rig.store.search("東京都").length, 1);
  await assertRejects(() => rig.store.updateContent(99, "x"), /99/);
  assertEquals(rig.store.check(), "ok");
});

Deno.test("loadMessages() shows what is readable of a damaged row and all other rows", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  const call = { id: "c", name: "t", arguments: "{}" };
  const ids = await rig.store.appendMessages("s1", [
    { role: "assistant", content: "text", toolCalls: [call] },
    { role: "user", content: [{ type: "text", text: "list" }] },
    user("after"),
  ]);
  const db = new DatabaseSync(rig.path);
  db.exec(`UPDATE messages SET tool_calls = '[null, {"id":"x"}]' WHERE id = ${ids[0]}`);
  db.exec(`UPDATE messages SET content = char(0) || 'json:[{' WHERE id = ${ids[1]}`);
  db.close();
  assertEquals(bare(rig.store.loadMessages("s1")), [
    { role: "assistant", content: "text" },
    { role: "user", content: "[unreadable content]" },
    { role: "user", content: "after" },
  ]);
});

Deno.test("FC-18: display data without end is left out of the row, the message stays", async () => {
  await using rig = await makeStore();
  await rig.store.createSession(sessionRow("s1"));
  const edits = [{ path: "/a", oldText: null, newText: "x".repeat(5_000_000) }];
  await rig.store.appendMessages("s1", [{
    role: "tool",
    toolCallId: "c",
    toolName: "write_file",
    content: "ok",
    meta: { durationMs: 4, edits },
  }]);
  assertEquals(bare(rig.store.loadMessages("s1")), [
    { role: "tool", toolCallId: "c", toolName: "write_file", content: "ok", meta: { durationMs: 4 } },
  ]);
});
