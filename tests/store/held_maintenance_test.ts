/** Upkeep by the number of writes (core.md D.2): a passive checkpoint every 50, the text index every 1,000. */
import type { Platform } from "@/platform/mod.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { Maintenance } from "@/store/maintenance.ts";
import type { Db } from "@/store/db.ts";
import { openDb } from "@/store/open.ts";
import { assertEquals } from "../support/assert.ts";

const log = { debug() {}, info() {}, warn() {}, error() {} };

/** Upkeep whose pause takes no time; what it has asked of the database, and how. */
function makeUpkeep(db: Pick<Db, "get" | "run">) {
  const real = createDenoPlatform();
  const platform: Platform = { ...real, clock: { ...real.clock, delay: () => Promise.resolve() } };
  const asked: string[] = [];
  const spied = {
    get: (sql: string) => (asked.push(sql), db.get(sql)),
    run: (sql: string) => (asked.push(sql), db.run(sql)),
  };
  const upkeep = new Maintenance(spied as unknown as Db, { platform, log });
  return {
    asked,
    async write(times: number): Promise<void> {
      for (let n = 0; n < times; n++) {
        upkeep.noteWrite();
        for (let turn = 0; turn < 4; turn++) await Promise.resolve();
      }
    },
    count: (part: string) => asked.filter((sql) => sql.includes(part)).length,
  };
}

const nothing = { get: () => undefined, run: () => ({ changes: 0, lastId: 0 }) };

Deno.test("core D.2: a passive checkpoint every 50 writes, a merge of both text indexes every 1,000", async () => {
  const { write, count, asked } = makeUpkeep(nothing);
  const counts = () => [count("wal_checkpoint(PASSIVE)"), count("'merge'")];
  await write(49);
  assertEquals(counts(), [0, 0]);
  await write(1);
  assertEquals(counts(), [1, 0]);
  await write(949);
  assertEquals(counts(), [19, 0]);
  await write(1);
  assertEquals(counts(), [20, 2]);
  assertEquals(asked.slice(-2), [
    "INSERT INTO messages_fts(messages_fts, rank) VALUES ('merge', 64)",
    "INSERT INTO messages_fts_trigram(messages_fts_trigram, rank) VALUES ('merge', 64)",
  ]);
  await write(999);
  assertEquals(counts(), [39, 2]);
  await write(1);
  assertEquals(counts(), [40, 4]);
});

Deno.test("core D.2: the merge is one that the database takes, and rows are found after it", async () => {
  const db = openDb(":memory:", { platform: createDenoPlatform(), log });
  try {
    db.run(
      "INSERT INTO sessions (id, root_id, source, started_at, last_activity_at) VALUES ('s', 's', 'acp', 1, 1)",
    );
    const failed: unknown[] = [];
    const { write } = makeUpkeep({
      get: (sql) => db.get(sql),
      run: (sql) => {
        try {
          return db.run(sql);
        } catch (error) {
          failed.push(error);
          throw error;
        }
      },
    });
    for (let n = 0; n < 40; n++) {
      db.run(
        "INSERT INTO messages (session_id, role, search_kind, content, timestamp) VALUES ('s', 'user', 2, ?, 1)",
        `word${n} deployed`,
      );
    }
    const found = () => db.all("SELECT rowid FROM messages_fts WHERE messages_fts MATCH 'deployed'").length;
    const before = found();
    await write(1_000);
    assertEquals([failed, before, found()], [[], 40, 40]);
  } finally {
    db.close();
  }
});
