/** What the disk does not take is kept in memory (api-server.md A1 step 3). */
import { HermesError, type ResponseRow, type RunRow, type Store } from "@/core/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { keepThings } from "@/protocols/api/kept/mod.ts";
import { openStore } from "@/store/mod.ts";
import { assertEquals, assertRejects } from "../../support/assert.ts";

type Code = "store_failed" | "store_locked";
const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A disk of which the named methods fail while `broken` says how. */
function makeDisk(methods: readonly string[]) {
  const platform = createDenoPlatform();
  const store = openStore(":memory:", { platform, log: LOG });
  const warnings: string[] = [];
  const state: { broken: Code | null } = { broken: null };
  const guarded = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (_, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (typeof value !== "function") return value;
        return (...args: unknown[]) => {
          if (state.broken !== null && methods.includes(String(name))) {
            throw new HermesError(state.broken, "no");
          }
          return value.apply(target, args);
        };
      },
    });
  const disk = {
    ...{ runs: guarded(store.runs), responses: guarded(store.responses) },
    callbacks: store.callbacks,
  };
  const kept = keepThings({
    store: () => disk as unknown as Store,
    platform,
    log: { ...LOG, warn: (text: string) => void warnings.push(text) },
  });
  return {
    kept,
    warnings,
    store,
    break: (code: Code | null) => void (state.broken = code),
    [Symbol.dispose]: () => {
      kept.close();
      store.close();
    },
  };
}

function response(id: string, conversation: string | null = null): ResponseRow {
  return {
    id,
    conversation,
    sessionId: "s",
    headId: null,
    lastRowId: null,
    owner: "me",
    status: "completed",
    response: JSON.stringify({ id }),
    history: [],
    instructions: null,
  };
}

function run(id: string, createdAt: number, patch: Partial<RunRow> = {}): RunRow {
  return {
    id,
    sessionId: "s",
    status: "running",
    terminal: false,
    createdAt,
    updatedAt: createdAt,
    owner: "me",
    pid: 1,
    detail: "{}",
    ...patch,
  };
}

Deno.test("KeptResponses: a turn that is over is kept also while the database is locked; names go with it", async () => {
  using disk = makeDisk(["put"]);
  const { responses } = disk.kept;
  await responses.put(response("r1", "c"), 100);
  disk.break("store_locked");
  await responses.put(response("r2", "c"), 100);
  assertEquals([(await responses.get("r2"))?.id, responses.findByConversation("c")], ["r2", "r2"]);
  assertEquals([(await responses.get("r1"))?.id, disk.kept.trouble("responses")], ["r1", "memory"]);
  disk.break(null);
  await responses.put(response("r3", "c"), 100);
  assertEquals([responses.findByConversation("c"), disk.kept.trouble("responses")], ["r3", null]);
  assertEquals(disk.store.responses.findByConversation("c"), "r3");
  assertEquals(disk.warnings.length, 2, "once when it begins, once when it is over");
});

Deno.test("KeptResponses: delete() is true for what only memory has, and tells when the disk keeps what it has", async () => {
  using disk = makeDisk(["put", "delete"]);
  const { responses } = disk.kept;
  await responses.put(response("stored"), 100);
  disk.break("store_failed");
  await responses.put(response("here"), 100);
  assertEquals([await responses.delete("here"), await responses.get("here")], [true, null]);
  await assertRejects(() => responses.delete("stored"), /^HermesError: no$/);
  assertEquals((await responses.get("stored"))?.id, "stored");
});

Deno.test("KeptRuns: a lock is not a failure: nothing is begun in memory for it", async () => {
  using disk = makeDisk(["insert"]);
  disk.break("store_locked");
  await assertRejects(() => disk.kept.runs.insert(run("a", 1)), /^HermesError: no$/);
  assertEquals([disk.kept.runs.get("a"), disk.kept.trouble("runs")], [null, null]);
});

Deno.test("KeptRuns: one run per key, wherever it is kept; a key that cannot be looked up begins nothing", async () => {
  using disk = makeDisk(["insert"]);
  const { runs } = disk.kept;
  const key = (digest: string) => ({ digest, fingerprint: "f" });
  await runs.insert(run("stored", 1), key("k1"));
  disk.break("store_failed");
  assertEquals((await runs.insert(run("x", 2), key("k1")))?.run.id, "stored");
  assertEquals(await runs.insert(run("here", 2), key("k2")), null);
  assertEquals((await runs.insert(run("y", 3), key("k2")))?.run.id, "here");
  disk.break(null);
  assertEquals((await runs.insert(run("z", 3), key("k2")))?.run.id, "here", "also when the disk works again");
  using blind = makeDisk(["insert", "findByKey"]);
  blind.break("store_failed");
  await assertRejects(() => blind.kept.runs.insert(run("a", 1), key("k")), /^HermesError: no$/);
  assertEquals(await blind.kept.runs.insert(run("b", 1)), null);
});

Deno.test("KeptRuns: a run whose save fails goes on in memory with its events, its callback and one place in the list", async () => {
  using disk = makeDisk(["save", "settle"]);
  const { runs, callbacks } = disk.kept;
  await runs.insert(run("old", 1));
  await runs.insert(run("moves", 2), undefined, "https://example.com/end");
  await runs.save(run("moves", 2), [{ seq: 0, data: "a" }, { seq: 1, data: "b" }], 1000);
  disk.break("store_failed");
  const ended = run("moves", 2, { status: "completed", terminal: true, updatedAt: 5 });
  await runs.save(ended, [{ seq: 2, data: "c" }], 1000);
  assertEquals(runs.events("moves", -1).map((event) => event.seq), [0, 1, 2]);
  assertEquals(runs.get("moves"), ended);
  assertEquals(callbacks.owed().map((owed) => [owed.runId, owed.url]), [[
    "moves",
    "https://example.com/end",
  ]]);
  await runs.insert(run("new", 3));
  const list = (query: { limit: number; after?: string; status?: string }) =>
    runs.list({ ...query, endedSince: 0 }).map((row) => row.id);
  assertEquals(list({ limit: 9 }), ["new", "moves", "old"]);
  assertEquals([list({ limit: 1, after: "new" }), list({ limit: 1, after: "moves" })], [["moves"], ["old"]]);
  assertEquals(
    list({ limit: 9, status: "running" }),
    ["new", "old"],
    "not with what the disk still says of it",
  );
  const [owed] = callbacks.owed();
  assertEquals([await callbacks.take(owed!, 10), await callbacks.take(owed!, 10)], [true, false]);
  await callbacks.settle("moves");
  assertEquals(callbacks.owed(), []);
});

Deno.test("KeptRuns: the end of a run that a dead server left is told also when the disk takes nothing", async () => {
  using disk = makeDisk(["save", "settle"]);
  const { runs } = disk.kept;
  await runs.insert(run("left", 1));
  await runs.save(run("left", 1), [{ seq: 0, data: "a" }], 1000);
  disk.break("store_failed");
  const ended = run("left", 1, { status: "interrupted", terminal: true });
  assertEquals(await runs.settle(ended, (seq) => `end ${seq}`, 1000), true);
  assertEquals(await runs.settle(ended, (seq) => `end ${seq}`, 1000), false);
  assertEquals(runs.events("left", -1), [{ seq: 0, data: "a" }, { seq: 1, data: "end 1" }]);
  assertEquals(runs.get("left")?.status, "interrupted");
});

Deno.test("trouble(): a disk that cannot be read is none to keep things on", () => {
  using disk = makeDisk(["get", "findByConversation"]);
  assertEquals([disk.kept.trouble("runs"), disk.kept.trouble("responses")], [null, null]);
  disk.break("store_failed");
  assertEquals([disk.kept.trouble("runs"), disk.kept.trouble("responses")], ["store_failed", "store_failed"]);
});
