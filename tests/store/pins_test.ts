/** Conversations that a person has pinned (core.md D.3 `pinned`, D.10; tui-gateway.md B.2). */
import { assertEquals, assertRejects } from "../support/assert.ts";
import { makeStore, sessionRow, user } from "./rig.ts";

Deno.test("setPinned() is the conversation's, whichever of its rows is named, and goes along through compressions", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  const pins = () => store.listSessions({ limit: 9 }).map(({ id, pinned }) => [id, pinned]);
  for (const id of ["a", "b"]) {
    await store.createSession(sessionRow(id, { startedAt: id === "a" ? 2 : 1 }));
    await store.appendMessages(id, [user("hello")]);
  }
  assertEquals(await store.setPinned("a", true), true);
  assertEquals(await store.setPinned("a", true), false);
  await store.rotate("a", sessionRow("a2"), [user("summary")]);
  await store.branch("a2", sessionRow("c"));
  assertEquals(new Map(pins() as [string, boolean][]), new Map([["a2", true], ["b", false], ["c", false]]));
  assertEquals(await store.setPinned("a2", false), true);
  assertEquals(pins().map(([, pinned]) => pinned), [false, false, false]);
  await assertRejects(() => store.setPinned("nobody", true), /No session/);
});

Deno.test("core D.10: what is pinned is not pruned", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  for (const id of ["kept", "gone"]) {
    await store.importSession({
      row: { ...sessionRow(id), startedAt: 1 },
      messages: [user("hello")],
      lastActivityAt: 1,
      endedAt: 1,
      endReason: "closed",
    });
  }
  await store.setPinned("kept", true);
  const pruning = await store.pruning();
  assertEquals((await pruning.find(100, 9)).map(({ id }) => id), ["gone"]);
});
