import { assert, assertEquals } from "../support/assert.ts";
import { createDenoPlatform } from "../../src/platform/deno.ts";
import type { SessionQuery, SessionStore } from "../../src/core/mod.ts";
import { listSql } from "../../src/store/listing.ts";
import { openDb } from "../../src/store/open.ts";
import { makeStore, sessionRow, user } from "./rig.ts";

/** Sessions `s0`, `s1`, … with one message each, in this order of activity. */
async function fill(store: SessionStore, count: number, source: (n: number) => string = () => "acp") {
  for (let n = 0; n < count; n++) {
    await store.createSession(sessionRow(`s${n}`, { source: source(n), cwd: `/w${n % 3}` }));
    await store.appendMessages(`s${n}`, [user(`text ${n}`)]);
    await store.updateSession(`s${n}`, { lastActivityAt: 4e9 + Math.floor(n / 2) });
  }
}

const ids = (store: SessionStore, query: SessionQuery) => store.listSessions(query).map((row) => row.id);

Deno.test("listSessions() goes by last activity, equal times by id, and stops at the limit", async () => {
  await using rig = await makeStore();
  await fill(rig.store, 6);
  assertEquals(ids(rig.store, { limit: 3 }), ["s5", "s4", "s3"]);
  assertEquals(ids(rig.store, { limit: 99 }), ["s5", "s4", "s3", "s2", "s1", "s0"]);
  assertEquals(ids(rig.store, { limit: 0 }), []);
});

Deno.test("listSessions() pages by cursor, also when the row of the cursor is gone", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await fill(store, 7);
  const seen: string[] = [];
  let before: SessionQuery["before"];
  for (;;) {
    const page = store.listSessions({ limit: 2, ...(before ? { before } : {}) });
    if (page.length === 0) break;
    seen.push(...page.map((row) => row.id));
    const last = page.at(-1)!;
    before = { lastActivityAt: last.lastActivityAt, id: last.id };
    await store.deleteSession(last.id);
  }
  assertEquals(seen, ["s6", "s5", "s4", "s3", "s2", "s1", "s0"]);
});

Deno.test("listSessions() hides subagents and tools unless they are asked for by name", async () => {
  await using rig = await makeStore();
  await fill(rig.store, 4, (n) => ["acp", "subagent", "tool", "tui"][n]!);
  assertEquals(ids(rig.store, { limit: 9 }), ["s3", "s0"]);
  assertEquals(ids(rig.store, { limit: 9, sources: ["subagent"] }), ["s1"]);
  assertEquals(ids(rig.store, { limit: 9, sources: ["tool", "acp"] }), ["s2", "s0"]);
  assertEquals(ids(rig.store, { limit: 9, excludeSources: ["tui"] }), ["s0"]);
  assertEquals(ids(rig.store, { limit: 9, sources: ["acp"], excludeSources: ["acp"] }), []);
});

Deno.test("listSessions() leaves out empty sessions unless asked", async () => {
  await using rig = await makeStore();
  await rig.store.createSession(sessionRow("empty"));
  assertEquals(ids(rig.store, { limit: 9 }), []);
  assertEquals(ids(rig.store, { limit: 9, withMessages: false }), ["empty"]);
});

Deno.test("listSessions() reads on until the filter has let enough rows through", async () => {
  await using rig = await makeStore();
  await fill(rig.store, 300);
  const filter = (row: { cwd: string | null }) => row.cwd === "/w0";
  assertEquals(ids(rig.store, { limit: 2, filter }), ["s297", "s294"]);
  assertEquals(ids(rig.store, { limit: 1000, filter }).length, 100);
  assertEquals(ids(rig.store, { limit: 2, filter: () => false }), []);
});

Deno.test("listSessions() asks once per directory and merges what it accepts, newest first", async () => {
  await using rig = await makeStore();
  const { store } = rig;
  await fill(store, 9, (n) => n === 4 ? "tui" : "acp");
  await store.createSession(sessionRow("nowhere", { cwd: null }));
  await store.appendMessages("nowhere", [user("x")]);
  const asked: (string | null)[] = [];
  const accept = (wanted: (string | null)[]) => (cwd: string | null) => {
    asked.push(cwd);
    return wanted.includes(cwd);
  };
  assertEquals(ids(store, { limit: 9, cwd: accept(["/w0", "/w1"]) }), ["s7", "s6", "s4", "s3", "s1", "s0"]);
  assertEquals(asked, [null, "/w0", "/w1", "/w2"]);
  assertEquals(ids(store, { limit: 2, cwd: accept(["/w1"]), sources: ["acp"] }), ["s7", "s1"]);
  assertEquals(ids(store, { limit: 9, cwd: accept([null]) }), ["nowhere"]);
  assertEquals(ids(store, { limit: 9, cwd: accept([]) }), []);
  const before = { lastActivityAt: 4e9 + 3, id: "s7" };
  assertEquals(ids(store, { limit: 2, cwd: accept(["/w0", "/w1"]), before }), ["s6", "s4"]);
  const query = {
    limit: 9,
    cwd: accept(["/w1"]),
    withMessages: false,
    filter: (row: { id: string }) => row.id !== "s4",
  };
  assertEquals(ids(store, query), ["s7", "s1"]);
});

Deno.test("a list page of 10,000 sessions is one walk over an index", () => {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const db = openDb(":memory:", { platform: createDenoPlatform(), log: silent });
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000)
    INSERT INTO sessions (id, source, root_id, started_at, last_activity_at, message_count)
    SELECT 's' || i, CASE i % 3 WHEN 0 THEN 'acp' WHEN 1 THEN 'tui' ELSE 'subagent' END, 's' || i, i, i, 1 FROM n`);
  const statements = [
    listSql({ limit: 50 }),
    listSql({ limit: 50, sources: ["acp"] }),
    listSql({ limit: 50, sources: ["acp", "tui"], excludeSources: ["cli"] }),
    listSql({ limit: 50, withMessages: false }),
    listSql({ limit: 50, sources: ["acp"] }, { cwd: "/w" }),
    listSql({ limit: 50 }, { cwd: null }),
  ];
  for (const { sql, values } of statements) {
    const plan = db.all(`EXPLAIN QUERY PLAN ${sql}`, ...values, 5_000, "s5000", 50).map((row) =>
      String(row["detail"])
    );
    const text = plan.join("\n");
    assert(plan.some((line) => /^SEARCH s USING .*INDEX sessions_recent/.test(line)), text);
    assert(!plan.some((line) => /SCAN (s|sessions)\b|TEMP B-TREE FOR ORDER BY/.test(line)), text);
  }
  db.close();
});
