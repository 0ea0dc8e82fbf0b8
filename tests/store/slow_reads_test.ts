import type { Message, Store } from "../../src/core/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { agent, makeStore, sessionRow, texts, user } from "./rig.ts";

const LONG = 10_000;

function conversation(count: number): Message[] {
  return Array.from({ length: count }, (_, n) => n % 2 === 0 ? user(`question ${n}`) : agent(`answer ${n}`));
}

/** How often others had a turn while `work` ran. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const over = work.finally(() => isOver = true);
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (!isOver) turns++;
  }
  await over;
  return turns;
}

Deno.test("fetchMessages() gives what loadMessages() gives, and others have their turns meanwhile", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s"));
  await store.appendMessages("s", conversation(LONG));
  const reading = store.fetchMessages("s");
  assert(await turnsDuring(reading) >= 1, "the thread was free in between");
  assertEquals(await reading, store.loadMessages("s"));
});

Deno.test("fetchMessages() puts results that lie in two slices in the order of their calls", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s"));
  const ids = Array.from({ length: 60 }, (_, n) => `c${n}`);
  const calls = ids.map((id) => ({ id, name: "t", arguments: "{}" }));
  const results = ids.toReversed().map((id): Message => ({
    role: "tool",
    toolCallId: id,
    toolName: "t",
    content: id,
  }));
  await store.appendMessages("s", [
    user("go"),
    { role: "assistant", content: null, toolCalls: calls },
    ...results,
    agent("done"),
  ]);
  const read = await store.fetchMessages("s");
  assertEquals(read.filter(({ role }) => role === "tool").map(({ content }) => content), ids);
  assertEquals(read, store.loadMessages("s"));
});

Deno.test("fetchMessages() shows one moment: rows that come meanwhile are left out, a rewind is not half seen", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s"));
  await store.appendMessages("s", conversation(LONG));
  const growing = store.fetchMessages("s");
  await store.appendMessages("s", [user("late")]);
  assertEquals((await growing).length, LONG);
  assertEquals((await store.fetchMessages("s")).length, LONG + 1);

  const rows = store.loadMessages("s");
  const shrinking = store.fetchMessages("s");
  await store.deactivateFrom("s", rows[10]!.rowId!);
  assertEquals(texts(await shrinking), texts(rows.slice(0, 10)));
});

Deno.test("fetchLineage() gives what loadLineage() gives over a compression chain", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("root"));
  await store.appendMessages("root", conversation(100));
  const carried = store.loadMessages("root").slice(-4);
  await store.rotate("root", sessionRow("tip"), [user("summary"), ...carried]);
  await store.appendMessages("tip", [user("more")]);
  const lineage = await store.fetchLineage("tip");
  assertEquals(lineage, store.loadLineage("tip"));
  assertEquals(lineage.length, 102);
});

Deno.test("core.md D.6: a branch of a long session is copied whole, and others have their turns meanwhile", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s", { title: "Long" }));
  await store.appendMessages("s", conversation(LONG));
  const copying = store.branch("s", sessionRow("b"));
  const waits = store.appendMessages("s", [user("said meanwhile")]);
  assert(await turnsDuring(copying) >= 1, "the thread was free in between");
  const { messageCount, title } = await copying;
  assertEquals([messageCount, title], [LONG, "Long #2"]);
  await waits;
  assertEquals(texts(store.loadMessages("b")), texts(store.loadMessages("s").slice(0, LONG)));
  assertEquals(store.search("9998", { limit: 10 }).map((hit) => hit.sessionId).sort(), ["b", "s"]);
  await store.branch("s", sessionRow("part"), { count: 33 });
  assertEquals(store.loadMessages("part").length, 33);
});

Deno.test("core.md D.6: a branch that fails half-way leaves nothing, and what waited is written", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s"));
  await store.appendMessages("s", conversation(LONG));
  const copying = store.branch("s", sessionRow("s"));
  const waits = store.appendMessages("s", [user("said meanwhile")]);
  const error = await copying.then(() => null, (reason) => reason);
  assertEquals(error.code, "session_exists");
  await waits;
  assertEquals(store.loadMessages("s").length, LONG + 1);
});

Deno.test("core.md D.2: a store that is closed in the middle of a branch has it whole", async () => {
  await using rig = await makeStore({ file: true });
  const { store } = rig;
  await store.createSession(sessionRow("s"));
  await store.appendMessages("s", conversation(LONG));
  const copying = store.branch("s", sessionRow("b"));
  await new Promise((resolve) => setTimeout(resolve, 0));
  store.close();
  assertEquals((await copying).messageCount, LONG);
  assertEquals(rig.open().loadMessages("b").length, LONG);
});

/** Cuts in the middle of the conversation; the ids of its rows before. */
async function beginCut(store: Store): Promise<{ rows: Message[]; cutting: Promise<Map<number, number>> }> {
  await store.createSession(sessionRow("s"));
  await store.appendMessages("s", conversation(LONG));
  const rows = store.loadMessages("s");
  return { rows, cutting: store.truncateBefore("s", rows[LONG / 2]!.rowId!) };
}

Deno.test("core.md D.8: a rewind of a long session is whole, and others have their turns meanwhile", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  const { rows, cutting } = await beginCut(store);
  const waits = store.appendMessages("s", [user("said meanwhile")]);
  assert(await turnsDuring(cutting) >= 4, "the thread was free in between");
  await waits;
  const moved = await cutting;
  const left = store.loadMessages("s");
  assertEquals(texts(left), [...texts(rows.slice(0, LONG / 2)), "said meanwhile"]);
  assertEquals([...moved], rows.slice(0, LONG / 2).map(({ rowId }, at) => [rowId!, left[at]!.rowId!]));
  assertEquals([store.getSession("s")!.messageCount, store.check()], [LONG / 2 + 1, "ok"]);
  assertEquals([store.search("4998").length, store.search("5000").length], [1, 0]);

  const undoing = store.deactivateFrom("s", left[2]!.rowId!);
  assert(await turnsDuring(undoing) >= 1, "the thread was free in between");
  assertEquals([await undoing, texts(store.loadMessages("s"))], [LONG / 2 - 1, ["question 0", "answer 1"]]);
});

Deno.test("core.md D.8: nobody sees half a rewind: plain reads finish it, those in slices wait for its end", async () => {
  const turn = () => new Promise((resolve) => setTimeout(resolve, 0));
  const reads: readonly ((store: Store) => Message[] | Promise<Message[]>)[] = [
    (store) => store.loadMessages("s"),
    (store) => store.loadLineage("s"),
    (store) => store.fetchMessages("s"),
    (store) => store.fetchLineage("s"),
  ];
  for (const read of reads) {
    await using rig = await makeStore();
    const { store } = rig;
    const { rows, cutting } = await beginCut(store);
    let isOver = false;
    const over = cutting.finally(() => isOver = true);
    await turn();
    assertEquals([store.getSession("s")!.messageCount, store.listSessions({ limit: 1 })[0]!.preview], [
      LONG,
      "question 0",
    ]);
    assertEquals(isOver, false);
    const seen = await read(store);
    await over;
    assertEquals(texts(seen), texts(rows.slice(0, LONG / 2)));
    assertEquals(seen, store.loadMessages("s"));
  }
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s"));
  await store.appendMessages("s", conversation(LONG));
  const reading = store.fetchMessages("s");
  await store.truncateBefore("s", store.loadMessages("s")[LONG / 2]!.rowId!);
  assertEquals(await reading, store.loadMessages("s"));
});

Deno.test("core.md D.2: a store that is closed in the middle of a rewind has it whole", async () => {
  await using rig = await makeStore({ file: true });
  const { cutting } = await beginCut(rig.store);
  await new Promise((resolve) => setTimeout(resolve, 0));
  rig.store.close();
  assertEquals((await cutting).size, LONG / 2);
  assertEquals(rig.open().loadMessages("s").length, LONG / 2);
});

Deno.test("core.md A.16, D.8: compressing or clearing a long session is whole, and others have their turns meanwhile", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s", { title: "Long" }));
  await store.appendMessages("s", conversation(LONG));
  const compacting = store.compactInPlace("s", [user("summary"), ...store.loadMessages("s").slice(LONG / 2)]);
  const waits = store.appendMessages("s", [user("said meanwhile")]);
  assert(await turnsDuring(compacting) >= 1, "an in-place compression leaves the thread free");
  await waits;
  const rows = store.loadMessages("s");
  assertEquals([rows.length, rows[0]!.content, rows[1]!.content, rows.at(-1)!.content], [
    LONG / 2 + 2,
    "summary",
    `question ${LONG / 2}`,
    "said meanwhile",
  ]);
  assertEquals(store.getSession("s")!.messageCount, LONG / 2 + 2);
  // What was compressed away stays searchable.
  assertEquals(store.search("4998").length, 1);

  const rotating = store.rotate("s", sessionRow("tip"), [user("summary 2"), ...rows.slice(2)]);
  const behind = store.rotate("s", sessionRow("other"), [user("x")]).then(() => null, (error) => error);
  assert(await turnsDuring(rotating) >= 1, "a rotation leaves the thread free");
  assertEquals([(await rotating).messageCount, (await rotating).title], [LONG / 2 + 1, "Long #2"]);
  assertEquals([(await behind)?.code, store.getSession("other")], ["session_busy", null]);
  assertEquals(texts(store.loadMessages("tip")), ["summary 2", ...texts(rows.slice(2))]);
  assertEquals([store.tipOf("s")!.id, store.check()], ["tip", "ok"]);

  const clearing = store.clearMessages("tip");
  assert(await turnsDuring(clearing) >= 1, "clearing leaves the thread free");
  assertEquals([
    store.loadLineage("tip"),
    store.getSession("tip")!.messageCount,
    store.getSession("s")!.messageCount,
  ], [
    [],
    0,
    0,
  ]);
  assertEquals([store.getSession("tip")!.title, store.check()], ["Long #2", "ok"]);
});

Deno.test("core.md A.16: while a rotation goes on there is no child yet, and one that fails leaves nothing", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await store.createSession(sessionRow("s", { title: "Long" }));
  await store.createSession(sessionRow("taken"));
  await store.appendMessages("s", conversation(LONG));
  const rows = store.loadMessages("s");
  const seen = () => [
    store.getSession("s")!.endReason,
    store.getSession("tip")?.id ?? null,
    store.resumedFrom("s")!.id,
    store.findByTitle("Long")?.id ?? null,
    store.listSessions({ limit: 5, filter: (row) => row.messageCount > 0 }).map(({ id }) => id),
  ];
  const turn = () => new Promise((resolve) => setTimeout(resolve, 0));
  for (const [id, after] of [["taken", "s"], ["tip", "tip"]] as const) {
    const rotating = store.rotate("s", sessionRow(id), [user("summary"), ...rows.slice(1)])
      .then(() => null, (error) => error.code);
    await turn();
    assertEquals(seen(), [null, null, "s", "s", ["s"]]);
    assertEquals(await rotating, id === "taken" ? "session_exists" : null);
    assertEquals(store.resumedFrom("s")!.id, after);
  }
  assertEquals([texts(store.loadMessages("taken")), texts(store.loadMessages("s"))], [[], texts(rows)]);
  assertEquals(seen(), ["compression", "tip", "tip", "tip", ["tip"]]);
  assertEquals(store.check(), "ok");
});

Deno.test("core.md D.2: a store that is closed in the middle of a rotation has it whole", async () => {
  await using rig = await makeStore({ file: true });
  const { store } = rig;
  await store.createSession(sessionRow("s"));
  await store.appendMessages("s", conversation(LONG));
  const rotating = store.rotate("s", sessionRow("tip"), store.loadMessages("s"));
  await new Promise((resolve) => setTimeout(resolve, 0));
  store.close();
  assertEquals((await rotating).messageCount, LONG);
  const again = rig.open();
  assertEquals([again.loadMessages("tip").length, again.resumedFrom("s")!.id], [LONG, "tip"]);
});
