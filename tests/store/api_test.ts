import { DatabaseSync } from "node:sqlite";
import type { ResponseRow, RunRow } from "../../src/core/mod.ts";
import { assertEquals } from "../support/assert.ts";
import { makeStore, user } from "./rig.ts";

function run(id: string, extra: Partial<RunRow> = {}): RunRow {
  return {
    id,
    sessionId: "s",
    status: "queued",
    terminal: false,
    createdAt: 1,
    updatedAt: 1,
    owner: "me",
    pid: 1,
    detail: "{}",
    ...extra,
  };
}

function response(id: string, extra: Partial<ResponseRow> = {}): ResponseRow {
  return {
    id,
    conversation: null,
    sessionId: "s",
    headId: null,
    lastRowId: null,
    owner: "me",
    status: "completed",
    response: `{"id":"${id}"}`,
    history: [user("hi")],
    instructions: null,
    ...extra,
  };
}

Deno.test("runs.insert() gives a key to one run only, and says which has it", async () => {
  await using rig = await makeStore();
  const { runs } = rig.store;
  const key = { digest: "d", fingerprint: "f" };
  assertEquals(await runs.insert(run("a"), key), null);
  assertEquals(await runs.insert(run("b"), { ...key, fingerprint: "g" }), {
    run: run("a"),
    fingerprint: "f",
  });
  assertEquals([runs.get("b"), runs.findByKey("d")?.run.id, runs.findByKey("x")], [null, "a", null]);
});

Deno.test("runs.save() writes status and events together and keeps the newest events", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.runs.insert(run("a"));
  const events = Array.from({ length: 12 }, (_, seq) => ({ seq, data: `{"seq":${seq}}` }));
  const done = run("a", { status: "completed", terminal: true, updatedAt: 2, detail: '{"output":"x"}' });
  await rig.store.runs.save(done, events, 10);
  const { runs } = rig.open();
  assertEquals(runs.get("a"), done);
  assertEquals(runs.events("a", -1).map(({ seq }) => seq), [2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  assertEquals(runs.events("a", 10), [{ seq: 11, data: '{"seq":11}' }]);
  await runs.save(run("gone"), events, 10);
  assertEquals([runs.get("gone"), runs.events("gone", -1)], [null, []]);
});

Deno.test("runs.prune() takes ended runs with their events; a key keeps its status longer", async () => {
  await using rig = await makeStore();
  const { runs } = rig.store;
  const old = { terminal: true, status: "completed", updatedAt: 100 };
  await runs.insert(run("plain", old));
  await runs.insert(run("keyed", old), { digest: "d", fingerprint: "f" });
  await runs.insert(run("live", { updatedAt: 100 }));
  for (const id of ["plain", "keyed"]) await runs.save(run(id, old), [{ seq: 0, data: "{}" }], 10);
  await runs.prune(200, 50);
  assertEquals([runs.get("plain"), runs.get("keyed")?.id, runs.get("live")?.id], [null, "keyed", "live"]);
  assertEquals(runs.events("keyed", -1), []);
  await runs.prune(200, 200);
  assertEquals(runs.get("keyed"), null);
  assertEquals(runs.unfinished().map(({ id }) => id), ["live"]);
});

Deno.test("runs.list() is newest first, filtered, and goes on after a run", async () => {
  await using rig = await makeStore();
  const { runs } = rig.store;
  for (const [i, id] of ["a", "b", "c", "d"].entries()) {
    await runs.insert(run(id, { createdAt: i, sessionId: i % 2 ? "odd" : "even" }));
  }
  const ids = (query: Parameters<typeof runs.list>[0]) => runs.list(query).map(({ id }) => id);
  assertEquals(ids({ limit: 3, endedSince: 0 }), ["d", "c", "b"]);
  assertEquals(ids({ limit: 3, endedSince: 0, after: "b" }), ["a"]);
  assertEquals(ids({ limit: 3, endedSince: 0, sessionId: "odd", status: "queued" }), ["d", "b"]);
});

Deno.test("responses.put() drops the least recently used one and the name that points at it", async () => {
  await using rig = await makeStore();
  const { responses } = rig.store;
  await responses.put(response("a", { conversation: "ca" }), 3);
  await responses.put(response("b", { conversation: "cb" }), 3);
  await responses.put(response("c"), 3);
  await responses.get("a");
  await responses.put(response("d"), 3);
  assertEquals(await responses.get("b"), null);
  assertEquals([responses.findByConversation("ca"), responses.findByConversation("cb")], ["a", null]);
});

Deno.test("responses.put() replaces, and moves a name to the newer one", async () => {
  await using rig = await makeStore();
  const { responses } = rig.store;
  await responses.put(response("a", { conversation: "c", status: "in_progress" }), 3);
  const whole = response("a", { headId: "h", lastRowId: 7, instructions: "be\u0000brief" });
  await responses.put(whole, 3);
  assertEquals(await responses.get("a"), { ...whole, instructions: "be\uFFFDbrief" });
  await responses.put(response("b", { conversation: "c" }), 3);
  assertEquals(responses.findByConversation("c"), "b");
  assertEquals([await responses.delete("b"), await responses.delete("b")], [true, false]);
  assertEquals(responses.findByConversation("c"), null);
});

Deno.test("responses.get() drops a damaged row and says so", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.responses.put(response("a"), 3);
  const db = new DatabaseSync(rig.path);
  db.exec("UPDATE api_responses SET history = '{'");
  db.close();
  assertEquals(await rig.store.responses.get("a"), null);
  assertEquals([rig.warnings.length, await rig.store.responses.delete("a")], [1, false]);
});

Deno.test("runs and responses keep the key that made them; list() gives one key its own", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.runs.insert(run("a", { keyId: "k1" }));
  await rig.store.runs.insert(run("b", { createdAt: 2 }));
  await rig.store.responses.put(response("r", { keyId: "k1" }), 10);
  const { runs, responses } = rig.open();
  assertEquals([runs.get("a"), runs.get("b")], [run("a", { keyId: "k1" }), run("b", { createdAt: 2 })]);
  await runs.save(run("a", { keyId: "k1", status: "running" }), [], 10);
  const ids = (query: { keyId?: string }) =>
    runs.list({ limit: 9, endedSince: 0, ...query }).map(({ id }) => id);
  assertEquals([ids({}), ids({ keyId: "k1" }), ids({ keyId: "k2" })], [["b", "a"], ["a"], []]);
  assertEquals((await responses.get("r"))?.keyId, "k1");
});

Deno.test("owners: the first key has a session, until it is deleted", async () => {
  await using rig = await makeStore();
  const { owners } = rig.store;
  assertEquals([owners.ofSession("s"), await owners.claimSession("s", "k1")], [null, true]);
  assertEquals([await owners.claimSession("s", "k2"), await owners.claimSession("s", "k1")], [false, true]);
  await owners.releaseSession("s", "k2");
  assertEquals(owners.ofSession("s"), "k1", "only its own");
  await owners.releaseSession("s", "k1");
  assertEquals([owners.ofSession("s"), await owners.claimSession("s", "k2")], [null, true]);
});

Deno.test("callbacks: owed once the run has ended, taken by one server at a time, gone with the run", async () => {
  await using rig = await makeStore();
  const { runs, callbacks } = rig.store;
  await runs.insert(run("a"), undefined, "https://x.example/");
  await runs.insert(run("b"));
  assertEquals(callbacks.owed(), []);
  await runs.save(run("a", { terminal: true, status: "completed" }), [], 10);
  const first = { runId: "a", url: "https://x.example/", attempts: 0, nextAt: 0 };
  assertEquals(callbacks.owed(), [first]);
  assertEquals([await callbacks.take(first, 50), await callbacks.take(first, 60)], [true, false]);
  assertEquals(callbacks.owed(), [{ ...first, attempts: 1, nextAt: 50 }]);
  await runs.insert(run("c"), undefined, "https://x.example/");
  await runs.save(run("c", { terminal: true }), [], 10);
  await callbacks.settle("c");
  assertEquals(callbacks.owed().map(({ runId }) => runId), ["a"]);
  await runs.remove("a");
  assertEquals(callbacks.owed(), []);
});

Deno.test("api A1 step 4: runs.settle() ends a run once, whoever finds it at the same time, behind the last event", async () => {
  await using rig = await makeStore({ file: true });
  const other = rig.open();
  await rig.store.runs.insert(run("a", { status: "running" }));
  await rig.store.runs.save(
    run("a", { status: "running" }),
    [{ seq: 0, data: "0" }, { seq: 1, data: "1" }],
    10,
  );
  const ended = run("a", { status: "interrupted", terminal: true, updatedAt: 9, detail: '{"error":"x"}' });
  const settle = (store: typeof other) => store.runs.settle(ended, (seq) => `{"seq":${seq}}`, 10);
  assertEquals(await Promise.all([settle(rig.store), settle(other), settle(rig.store)]), [
    true,
    false,
    false,
  ]);
  assertEquals(other.runs.get("a"), ended);
  assertEquals(other.runs.events("a", -1).map(({ data }) => data), ["0", "1", '{"seq":2}']);
  assertEquals(await other.runs.settle(run("gone"), String, 10), false);
});
