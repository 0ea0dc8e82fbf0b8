/** The audit trail and the list of file changes. */
import { DatabaseSync } from "node:sqlite";
import type { AuditEntry, Store } from "../../src/core/mod.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";
import { makeStore, sessionRow } from "./rig.ts";

const entry = (sessionId: string, at: number): AuditEntry => ({
  at,
  sessionId,
  turnId: "t",
  surface: "acp",
  client: "acp",
  kind: "tool",
  tool: "terminal",
  callId: "c",
  detail: { title: `at ${at}` },
});

Deno.test("audit.list() gives the newest, oldest first, by session and time, also of a deleted session", async () => {
  await using rig = await makeStore();
  const store = rig.store as Store;
  await store.createSession(sessionRow("s1"));
  await store.audit.append([entry("s1", 1), entry("s2", 2), entry("s1", 3)]);
  await store.audit.append([entry("s1", 4)]);
  const at = (query: Parameters<typeof store.audit.list>[0]) => store.audit.list(query).map((row) => row.at);
  assertEquals(at({ limit: 10 }), [1, 2, 3, 4]);
  assertEquals(at({ limit: 2 }), [3, 4]);
  assertEquals(at({ limit: 10, sessionId: "s1" }), [1, 3, 4]);
  assertEquals(at({ limit: 10, sessionId: "s1", since: 3 }), [3, 4]);
  await store.deleteSession("s1");
  assertEquals(at({ limit: 10, sessionId: "s1" }), [1, 3, 4]);
  assertEquals(store.audit.list({ limit: 1 }).map(({ id: _, ...rest }) => rest), [entry("s1", 4)]);
});

Deno.test("audit.list() follows a conversation over its compression", async () => {
  await using rig = await makeStore();
  const store = rig.store as Store;
  await store.createSession(sessionRow("s1"));
  await store.rotate("s1", sessionRow("s2", { parentId: "s1" }), []);
  await store.audit.append([entry("s1", 1), entry("s2", 2), entry("s3", 3)]);
  const at = (sessionId: string) => store.audit.list({ limit: 10, sessionId }).map((row) => row.at);
  assertEquals([at("s1"), at("s2"), at("s3")], [[1, 2], [1, 2], [3]]);
});

Deno.test("the audit table refuses changes and deletions, also by other programs", async () => {
  await using rig = await makeStore({ file: true });
  await (rig.store as Store).audit.append([entry("s1", 1)]);
  const db = new DatabaseSync(rig.path);
  assertThrows(() => db.exec("UPDATE audit SET at = 2"), /append-only/);
  assertThrows(() => db.exec("DELETE FROM audit"), /append-only/);
  db.close();
  assertEquals((rig.store as Store).audit.list({ limit: 5 }).length, 1);
});

Deno.test("snapshots.changes() are in order, pruned by age, and go with their session", async () => {
  await using rig = await makeStore();
  const { snapshots, ...store } = { snapshots: (rig.store as Store).snapshots, it: rig.store };
  await store.it.createSession(sessionRow("s1"));
  const change = (at: number, sessionId = "s1") => ({
    at,
    sessionId,
    turnId: "t",
    path: "/a",
    before: null,
    after: `h${at}`,
  });
  await snapshots.record([change(1), change(2), change(3, "s2")]);
  assertEquals(snapshots.changes("s1"), [change(1), change(2)]);
  await snapshots.prune(2);
  assertEquals(snapshots.changes("s1"), [change(2)]);
  await store.it.deleteSession("s1");
  assertEquals([snapshots.changes("s1"), snapshots.changes("s2")], [[], [change(3, "s2")]]);
});

Deno.test("snapshots.checkpoints() are the turns that changed files, the newest first, with the words of each", async () => {
  await using rig = await makeStore();
  const store = rig.store as Store;
  await store.createSession(sessionRow("s1"));
  const change = (at: number, turnId: string, path: string) => ({
    at,
    sessionId: "s1",
    turnId,
    path,
    before: null,
    after: "h",
  });
  await store.audit.append([
    { ...entry("s1", 1), turnId: "t1", kind: "turn.start", detail: { text: "make it" } },
    { ...entry("s1", 2), turnId: "t2", kind: "turn.start", detail: { text: "only talk" } },
    { ...entry("s2", 3), turnId: "t3", kind: "turn.start", detail: { text: "of another session" } },
  ]);
  await store.snapshots.record([
    change(1.5, "t1", "/a"),
    change(1.6, "t1", "/a"),
    change(1.7, "t1", "/b"),
    change(4, "t3", "/a"),
    change(5, "", "/a"),
  ]);
  assertEquals(store.snapshots.checkpoints("s1"), [
    { id: "t3", at: 4, text: "", files: 1 },
    { id: "t1", at: 1.5, text: "make it", files: 2 },
  ]);
  assertEquals(store.snapshots.checkpoints("s2"), []);
});
