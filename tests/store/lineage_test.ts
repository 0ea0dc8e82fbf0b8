import { assertEquals, assertRejects } from "../support/assert.ts";
import { DatabaseSync } from "node:sqlite";
import type { Message } from "../../src/core/mod.ts";
import { agent, makeStore, sessionRow, texts, user } from "./rig.ts";

Deno.test("core 49: rotate() ends the parent and the list shows one conversation, at its tip", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("root", { title: "work", startedAt: 100 }));
  await store.appendMessages("root", [user("first"), agent("a1")]);
  const child = await store.rotate("root", sessionRow("tip"), [user("summary")]);
  assertEquals([child.parentId, store.getSession("root")!.endReason], ["root", "compression"]);
  const list = store.listSessions({ limit: 10 });
  assertEquals(list.map((row) => [row.id, row.rootId, row.title, row.preview, row.startedAt]), [
    ["tip", "root", "work #2", "first", 100],
  ]);
  assertEquals(store.tipOf("root")!.id, "tip");
  assertEquals(store.findByTitle("work")!.id, "tip");
  await store.rotate("tip", sessionRow("tip2"), [user("again")]);
  assertEquals(store.listSessions({ limit: 10 }).map((row) => [row.id, row.rootId, row.title]), [
    ["tip2", "root", "work #3"],
  ]);
});

Deno.test("core D.6: a resume goes to the tip, and from one without messages to its deepest descendant that has some", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  const child = (id: string, parentId: string, config = {}) =>
    store.createSession(sessionRow(id, { parentId, config }));
  await store.createSession(sessionRow("root"));
  await store.appendMessages("root", [user("first")]);
  await store.rotate("root", sessionRow("tip"), []);
  assertEquals(store.resumedFrom("root")!.id, "tip");
  await child("empty", "tip");
  await child("branch", "tip", { branchedFrom: "tip" });
  await child("delegate", "tip", { delegateFrom: "tip" });
  await store.appendMessages("branch", [user("elsewhere")]);
  await store.appendMessages("delegate", [user("of the agent")]);
  await store.createSession(sessionRow("door", { parentId: "tip", source: "api_server" }));
  await store.appendMessages("door", [user("of another door")]);
  assertEquals([store.resumedFrom("root")!.id, store.resumedFrom("tip")!.id], ["tip", "tip"]);
  await child("deep", "empty");
  await store.appendMessages("deep", [user("here")]);
  assertEquals([store.resumedFrom("root")!.id, store.resumedFrom("empty")!.id], ["deep", "deep"]);
  await store.appendMessages("tip", [user("now")]);
  assertEquals([store.resumedFrom("root")!.id, store.resumedFrom("nobody")], ["tip", null]);
});

Deno.test("core D.6: a resume looks at 32 generations, and a loop ends", async () => {
  await using rig = await makeStore({ file: true });
  const { store } = rig;
  await store.createSession(sessionRow("s0"));
  for (let n = 1; n <= 33; n++) await store.createSession(sessionRow(`s${n}`, { parentId: `s${n - 1}` }));
  await store.appendMessages("s33", [user("too deep")]);
  assertEquals([store.resumedFrom("s0")!.id, store.resumedFrom("s1")!.id], ["s0", "s33"]);
  damage(
    rig.path,
    "UPDATE sessions SET parent_session_id = 's2' WHERE id = 's1'; UPDATE sessions SET message_count = 0",
  );
  assertEquals(store.resumedFrom("s2")!.id, "s2");
});

Deno.test("core 48: after a compression the child owns the next number of the title", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("root", { title: "title" }));
  assertEquals((await store.rotate("root", sessionRow("tip"), [])).title, "title #2");
});

Deno.test("rotate() that fails leaves the old head as it was", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("root"));
  await store.createSession(sessionRow("taken"));
  await store.appendMessages("root", [user("first")]);
  await assertRejects(() => store.rotate("root", sessionRow("taken"), [user("s")]), /exists already/);
  assertEquals(store.getSession("root")!.endReason, null);
  assertEquals(store.listSessions({ limit: 5 }).map((row) => row.id), ["root"]);
});

Deno.test("rotate() is done once: the second of two writers is refused", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("root"));
  await store.rotate("root", sessionRow("tip"), [user("s")]);
  await assertRejects(() => store.rotate("root", sessionRow("other"), [user("s")]), /compressed already/);
  assertEquals(store.getSession("other"), null);
});

Deno.test("loadLineage() shows each message once, in the order it was said, with its newest row id", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("root"));
  await store.appendMessages("root", ["u1", "u2", "u3"].flatMap((text) => [user(text), agent(`re ${text}`)]));
  const loaded = store.loadMessages("root");
  const kept = [loaded[0]!, loaded[1]!, user("SUMMARY"), loaded[4]!, loaded[5]!];
  await store.rotate("root", sessionRow("tip"), kept);
  await store.appendMessages("tip", [user("u4")]);
  const shown = store.loadLineage("tip");
  assertEquals(texts(shown), ["u1", "re u1", "u2", "re u2", "u3", "re u3", "SUMMARY", "u4"]);
  const tipIds = new Set(store.loadMessages("tip").map((message) => message.rowId));
  assertEquals(shown.map((message) => tipIds.has(message.rowId)), [
    true,
    true,
    false,
    false,
    true,
    true,
    true,
    true,
  ]);
  // A second compression carries the same messages on.
  const again = store.loadMessages("tip");
  await store.rotate("tip", sessionRow("tip2"), [user("SUMMARY 2"), ...again.slice(3)]);
  assertEquals(texts(store.loadLineage("tip2")), [...texts(shown), "SUMMARY 2"]);
  assertEquals(store.search("u3").length, 2);
});

Deno.test("truncateBefore() in a tip also drops the message from the rows it was carried on from", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("root"));
  await store.appendMessages("root", [user("u1"), agent("a1"), user("u2"), agent("a2")]);
  const loaded = store.loadMessages("root");
  await store.rotate("root", sessionRow("tip"), [user("SUMMARY"), ...loaded.slice(2)]);
  const target = store.loadMessages("tip")[1]!;
  await store.truncateBefore("tip", target.rowId!);
  assertEquals(texts(store.loadLineage("tip")), ["u1", "a1", "SUMMARY"]);
  assertEquals(store.search("u2"), []);
  assertEquals(store.check(), "ok");
});

Deno.test("branch() copies all fields under new ids, links to its source and numbers the title", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s1", { title: "job", config: { model: "m" } }));
  const messages: Message[] = [
    { role: "user", content: [{ type: "text", text: "deploy" }] },
    {
      role: "assistant",
      content: "x",
      toolCalls: [{ id: "c", name: "t", arguments: "{}", providerId: "p" }],
    },
    { role: "tool", toolCallId: "c", toolName: "t", content: "out", meta: { isError: true } },
    agent("end"),
  ];
  const ids = await store.appendMessages("s1", messages);
  const row = await store.branch("s1", sessionRow("b1", { config: { model: "m" } }), { count: 3 });
  assertEquals([row.parentId, row.config.branchedFrom, row.title], ["s1", "s1", "job #2"]);
  assertEquals([row.messageCount, row.toolCallCount], [3, 1]);
  const copied = store.loadMessages("b1");
  assertEquals(
    copied.map(({ rowId: _id, timestamp: _t, ...rest }) => rest) as unknown[],
    messages.slice(0, 3),
  );
  assertEquals(copied.some((message) => ids.includes(message.rowId!)), false);
  assertEquals(store.listSessions({ limit: 5 }).map((r) => [r.id, r.rootId]).sort(), [["b1", "b1"], [
    "s1",
    "s1",
  ]]);
  assertEquals(store.search("deploy").length, 2);
  assertEquals(texts(store.loadLineage("b1")).length, 3);
});

Deno.test("branch() of a forked session that was compressed stays apart from the chain", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s1"));
  await store.appendMessages("s1", [user("one")]);
  const fork = await store.branch("s1", sessionRow("f1"));
  // Settings travel with the session, the marker among them.
  await store.rotate("f1", sessionRow("f2", { config: fork.config }), [user("sum")]);
  await store.updateSession("f2", { config: fork.config });
  await store.rotate("s1", sessionRow("s2"), [user("sum")]);
  assertEquals([store.tipOf("f1")!.id, store.tipOf("s1")!.id], ["f2", "s2"]);
  assertEquals(store.listSessions({ limit: 5 }).map((r) => [r.id, r.rootId]).sort(), [["f2", "f1"], [
    "s2",
    "s1",
  ]]);
});

Deno.test("reopenSession() of a row that goes on in a child changes nothing", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("root"));
  await store.rotate("root", sessionRow("tip"), [user("s")]);
  await store.endSession("tip", "tui_close");
  await store.reopenSession("root");
  await store.reopenSession("tip");
  assertEquals(["root", "tip"].map((id) => store.getSession(id)!.endReason), ["compression", null]);
});

/** Damage from outside: links the store itself would never write. */
function damage(path: string, sql: string): void {
  const db = new DatabaseSync(path, { enableForeignKeyConstraints: false });
  db.exec(sql);
  db.close();
}

Deno.test("ancestors() names a missing row, a loop and a chain without end", async () => {
  await using rig = await makeStore({ file: true });
  const { store } = rig;
  await store.createSession(sessionRow("n0"));
  for (let n = 1; n <= 102; n++) await store.createSession(sessionRow(`n${n}`, { parentId: `n${n - 1}` }));
  assertEquals(store.ancestors("n2").rows.map((row) => row.id), ["n1", "n0"]);
  assertEquals(store.ancestors("n100").status, "ok");
  const deep = store.ancestors("n102");
  assertEquals([deep.status, deep.rows.length, deep.brokenAt], ["too_deep", 100, "n1"]);
  damage(rig.path, "UPDATE sessions SET parent_session_id = 'n2' WHERE id = 'n0'");
  assertEquals([store.ancestors("n2").status, store.ancestors("n2").brokenAt], ["cycle", "n2"]);
  damage(rig.path, "UPDATE sessions SET parent_session_id = 'gone' WHERE id = 'n0'");
  const broken = store.ancestors("n2");
  assertEquals([broken.status, broken.brokenAt, broken.rows.length], ["broken", "gone", 2]);
  assertEquals(store.ancestors("nobody"), { rows: [], status: "broken", brokenAt: "nobody" });
});

Deno.test("tipOf() and loadLineage() end where a loop closes", async () => {
  await using rig = await makeStore({ file: true });
  const { store } = rig;
  await store.createSession(sessionRow("a"));
  await store.rotate("a", sessionRow("b"), [user("s")]);
  damage(rig.path, "UPDATE sessions SET parent_session_id = 'b', relation = 'continuation' WHERE id = 'a'");
  assertEquals(store.tipOf("a")!.id, "b");
  assertEquals(texts(store.loadLineage("b")), ["s"]);
  assertEquals(store.tipOf("nobody"), null);
});

Deno.test("acp 43, D4: a conversation whose first or middle row is gone goes on at its tip, and is deleted as a whole", async () => {
  for (const gone of ["root", "middle", "root', 'middle"]) {
    await using rig = await makeStore({ file: true });
    const { store } = rig;
    await store.createSession(sessionRow("root"));
    await store.appendMessages("root", [user("first"), agent("a1")]);
    await store.rotate("root", sessionRow("middle"), [user("summary 1")]);
    await store.appendMessages("middle", [user("second")]);
    await store.rotate("middle", sessionRow("tip"), [user("summary 2")]);
    await store.appendMessages("tip", [user("third")]);
    await store.createSession(sessionRow("other"));
    damage(
      rig.path,
      `DELETE FROM messages WHERE session_id IN ('${gone}'); DELETE FROM sessions WHERE id IN ('${gone}')`,
    );
    assertEquals([store.tipOf("root")?.id, store.resumedFrom("root")?.id], ["tip", "tip"]);
    assertEquals([store.tipOf("tip")?.id, store.tipOf("nobody")], ["tip", null]);
    assertEquals(store.ancestors("tip").status, "broken");
    const kept = (id: string, ...said: string[]) => gone.includes(id) ? [] : said;
    assertEquals(texts(store.loadLineage("tip")), [
      ...kept("root", "first", "a1"),
      ...kept("middle", "summary 1", "second"),
      "summary 2",
      "third",
    ]);
    assertEquals(store.listSessions({ limit: 10, withMessages: false }).map((row) => row.rootId).sort(), [
      "other",
      "root",
    ]);
    assertEquals([await store.deleteSession("root"), await store.deleteSession("root")], [true, false]);
    assertEquals(store.listSessions({ limit: 10, withMessages: false }).map((row) => row.id), ["other"]);
    for (const id of ["root", "middle", "tip"]) assertEquals(store.getSession(id), null);
  }
});
