import type { DelegationStore } from "../../src/core/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { makeStore, sessionRow, type StoreRig } from "./rig.ts";

const DAY = 24 * 3600;
const T = 1_000_000;

async function begin(rig: StoreRig, id = "d1", sessionId = "s1", at = T): Promise<DelegationStore> {
  if (rig.store.getSession(sessionId) === null) await rig.store.createSession(sessionRow(sessionId));
  await rig.store.delegations.insert({ id, sessionId, goals: ["dig", "fill"], owner: "p1", at });
  return rig.store.delegations;
}

const end = (text: string | null, at = T + 10) => ({ state: "completed", text, result: "[]", at });

Deno.test("a result is taken by its conversation, oldest first, and by nobody else", async () => {
  await using rig = await makeStore();
  const rows = await begin(rig);
  await begin(rig, "d2", "s1", T + 1);
  await begin(rig, "d3", "s2", T);
  for (const id of ["d2", "d1", "d3"]) await rows.finish(id, end(`text of ${id}`));
  assertEquals(await rows.take("s1", T + 20), { id: "d1", text: "text of d1" });
  assertEquals(await rows.take("s1", T + 20), { id: "d2", text: "text of d2" });
  assertEquals(await rows.take("s1", T + 20), null);
  await rows.settle("d1", "stored", T + 21);
  await rows.settle("d2", "stored", T + 21);
  assertEquals([rows.hasWaiting("s1"), rows.hasWaiting("s2")], [false, true]);
});

Deno.test("the conversation is the whole compression chain", async () => {
  await using rig = await makeStore();
  const rows = await begin(rig);
  await rows.finish("d1", end("report"));
  await rig.store.rotate("s1", sessionRow("s2"), []);
  assert(rows.hasWaiting("s2"));
  assertEquals((await rows.take("s2", T + 20))?.id, "d1");
});

Deno.test("what was taken and not settled comes again; what fails five times is given up", async () => {
  await using rig = await makeStore();
  const rows = await begin(rig);
  await rows.finish("d1", end("report"));
  let now = T + 20;
  for (let n = 0; n < 3; n++) {
    assertEquals((await rows.take("s1", now))?.id, "d1");
    await rows.settle("d1", "unused", now);
  }
  assertEquals((await rows.take("s1", now))?.id, "d1");
  assertEquals(await rows.take("s1", now + 59), null);
  now += 61; // whoever took it is gone: the first failure
  assertEquals((await rows.take("s1", now))?.id, "d1");
  for (let n = 0; n < 3; n++) {
    await rows.settle("d1", "failed", now);
    assertEquals((await rows.take("s1", now))?.id, "d1");
  }
  await rows.settle("d1", "failed", now);
  assertEquals([await rows.take("s1", now + 100), rows.hasWaiting("s1")], [null, false]);
});

Deno.test("work of a program that is gone is told as lost; one that says that it lives keeps its own", async () => {
  await using rig = await makeStore();
  const rows = await begin(rig);
  assertEquals(await rows.take("s1", T + 80), null);
  await rows.touch("p1", T + 80);
  assertEquals(await rows.take("s1", T + 160), null);
  const lost = (await rows.take("s1", T + 171))!;
  assert(lost.text.startsWith("[ASYNC DELEGATION COMPLETE — d1]"), lost.text);
  assert(lost.text.includes("- dig\n- fill"));
  await rows.finish("d1", end("too late"));
  await rows.settle("d1", "stored", T + 172);
  assertEquals(rows.hasWaiting("s1"), false);
});

Deno.test("what ended with its session waits for nobody", async () => {
  await using rig = await makeStore();
  const rows = await begin(rig);
  await rows.finish("d1", end(null));
  assertEquals([rows.hasWaiting("s1"), await rows.take("s1", T + 500)], [false, null]);
});

Deno.test("results go with their session, after seven days, and when more than a thousand wait", async () => {
  await using rig = await makeStore();
  const rows = await begin(rig);
  await rows.finish("d1", end("report"));
  await begin(rig, "d2", "s2", T);
  await rows.finish("d2", end("old"));
  await rig.store.deleteSession("s1");
  await begin(rig, "d3", "s3", T + 7 * DAY + 1);
  assertEquals(rows.hasWaiting("s2"), false);

  for (let n = 0; n <= 1_001; n++) {
    const id = `m${String(n).padStart(4, "0")}`;
    await begin(rig, id, "s4", T + 8 * DAY + n);
    await rows.finish(id, end("report", T + 8 * DAY + n));
  }
  await begin(rig, "last", "s5", T + 8 * DAY + 2_000);
  assertEquals((await rows.take("s4", T + 8 * DAY + 2_000))?.id, "m0002");
});
