import { assertEquals, assertRejects } from "../support/assert.ts";
import { agent, makeStore, sessionRow, texts, user } from "./rig.ts";

async function threeTurns() {
  const rig = await makeStore();
  await rig.store.createSession(sessionRow("s1", { title: "t", systemPrompt: "sys" }));
  const ids = await rig.store.appendMessages(
    "s1",
    ["one", "two", "three"].flatMap((t) => [user(t), agent(`re ${t}`)]),
  );
  return { rig, store: rig.store, ids };
}

Deno.test("core 51: truncateBefore() keeps earlier rows under new ids and archives the rest", async () => {
  const { rig, store, ids } = await threeTurns();
  await using _ = rig;
  const moved = await store.truncateBefore("s1", ids[4]!);
  assertEquals([...moved.keys()], ids.slice(0, 4));
  const left = store.loadMessages("s1");
  assertEquals(texts(left), ["one", "re one", "two", "re two"]);
  assertEquals(left.map((message) => message.rowId), [...moved.values()]);
  assertEquals(left.some((message) => ids.includes(message.rowId!)), false);
  await assertRejects(() => store.truncateBefore("s1", ids[2]!), /no message with row id/);
  const row = store.getSession("s1")!;
  assertEquals([row.messageCount, row.title, row.systemPrompt], [4, "t", "sys"]);
  assertEquals([store.search("three").length, store.search('"re two"').length], [0, 1]);
  assertEquals(store.check(), "ok");
});

Deno.test("core.md D.8: a long tail that a compression has carried on leaves its earlier session, too", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  const said = Array.from({ length: 120 }, (_, n) => user(`m${n}`));
  await store.createSession(sessionRow("root"));
  await store.appendMessages("root", said);
  await store.rotate("root", sessionRow("tip"), [user("summary"), ...store.loadMessages("root").slice(20)]);
  const tip = store.loadMessages("tip");
  assertEquals([tip.length, store.loadLineage("tip").length], [101, 121]);
  const moved = await store.truncateBefore("tip", tip[51]!.rowId!);
  const names = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `m${from + n}`);
  assertEquals([moved.size, texts(store.loadMessages("tip"))], [51, ["summary", ...names(20, 70)]]);
  assertEquals(texts(store.loadMessages("root")), names(0, 70));
  assertEquals(texts(store.loadLineage("tip")).toSorted(), ["summary", ...names(0, 70)].toSorted());
  assertEquals([store.search("m69").length, store.search("m70").length], [1, 0]);
});

Deno.test("truncateBefore() with 0, or at the first row, empties the conversation", async () => {
  const { rig, store, ids } = await threeTurns();
  await using _ = rig;
  assertEquals((await store.truncateBefore("s1", ids[0]!)).size, 0);
  assertEquals(store.loadMessages("s1"), []);
  await store.appendMessages("s1", [user("anew")]);
  assertEquals(store.listSessions({ limit: 1 })[0]!.preview, "anew");
  assertEquals((await store.truncateBefore("s1", 0)).size, 0);
  assertEquals([store.loadMessages("s1").length, store.listSessions({ limit: 1 }).length], [0, 0]);
});

Deno.test("core 51: deactivateFrom() takes the turn and all later ones, as /undo 2 does", async () => {
  const { rig, store, ids } = await threeTurns();
  await using _ = rig;
  assertEquals(await store.deactivateFrom("s1", ids[2]!), 4);
  assertEquals(texts(store.loadMessages("s1")), ["one", "re one"]);
  assertEquals(store.loadMessages("s1").map((message) => message.rowId), ids.slice(0, 2));
  assertEquals(store.search("two"), []);
});

Deno.test("core 52: a row of another session, a stale one and a fraction are refused, nothing changes", async () => {
  const { rig, store, ids } = await threeTurns();
  await using _ = rig;
  await store.createSession(sessionRow("s2"));
  const [foreign] = await store.appendMessages("s2", [user("other")]);
  for (const bad of [foreign!, 999, ids[2]! + 0.5, -1, Number.NaN]) {
    await assertRejects(() => store.truncateBefore("s1", bad), /no message with row id/);
    await assertRejects(() => store.deactivateFrom("s1", bad), /no message with row id/);
  }
  assertEquals(store.loadMessages("s1").map((message) => message.rowId), ids);
  assertEquals(texts(store.loadMessages("s2")), ["other"]);
});

Deno.test("clearMessages() empties the whole chain and keeps title and id", async () => {
  const { rig, store } = await threeTurns();
  await using _ = rig;
  await store.rotate("s1", sessionRow("tip"), [user("summary")]);
  await store.clearMessages("tip");
  assertEquals([store.loadMessages("tip").length, store.loadLineage("tip").length], [0, 0]);
  assertEquals(store.getSession("tip")!.title, "t #2");
  assertEquals(store.search("one"), []);
  await assertRejects(() => store.clearMessages("nobody"), /No session/);
});
