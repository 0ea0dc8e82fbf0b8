import { assertEquals, assertRejects } from "../support/assert.ts";
import { createDenoPlatform } from "../../src/platform/deno.ts";
import type { Platform } from "../../src/platform/mod.ts";
import { openDb } from "../../src/store/open.ts";
import { Writer } from "../../src/store/writer.ts";

const silent = { debug() {}, info() {}, warn() {}, error() {} };

/** Real in everything but time: a delay advances the clock at once. */
function fastPlatform(): Platform & { delays: number[] } {
  const real = createDenoPlatform();
  const delays: number[] = [];
  let now = 0;
  return {
    ...real,
    delays,
    random: () => delays.length % 2,
    clock: {
      now: () => now,
      monotonic: () => now,
      delay: (ms) => {
        delays.push(ms);
        now += ms;
        return Promise.resolve();
      },
    },
  };
}

function makeWriter() {
  const platform = fastPlatform();
  const db = openDb(":memory:", { platform, log: silent });
  let written = 0;
  const writer = new Writer(db, { platform, log: silent, onWrite: () => written++ });
  return { platform, db, writer, written: () => written };
}

/** As SQLite says it when somebody else holds the lock. */
function locked(): never {
  throw Object.assign(new Error("database is locked"), { code: "ERR_SQLITE_ERROR", errcode: 5 });
}

Deno.test("write() has done its work when it returns", async () => {
  const { db, writer, written } = makeWriter();
  const done: string[] = [];
  const promise = writer.write(() => done.push("a"));
  assertEquals([done, written()], [["a"], 1]);
  assertEquals(await promise, 1);
  db.close();
});

Deno.test("write() waits 20 to 150 ms between tries and keeps the order", async () => {
  const { platform, db, writer } = makeWriter();
  const done: string[] = [];
  let tries = 0;
  const first = writer.write(() => ++tries <= 3 ? locked() : done.push("first"));
  const second = writer.write(() => done.push("second"));
  await Promise.all([first, second]);
  assertEquals(done, ["first", "second"]);
  assertEquals(platform.delays, [20, 150, 20]);
  db.close();
});

Deno.test("write() fails with store_locked when its budget is used up; what waits behind goes on", async () => {
  const { db, writer } = makeWriter();
  const done: string[] = [];
  const stuck = writer.write(() => locked(), 1_000);
  const next = writer.write(() => done.push("next"));
  await assertRejects(() => stuck, /locked the session database for more than 1 s/);
  await next;
  assertEquals(done, ["next"]);
  db.close();
});

Deno.test("write() gives a shorter budget its own end behind a longer one", async () => {
  const { platform, db, writer } = makeWriter();
  const ends: [string, boolean][] = [];
  let free = false;
  const long = writer.write(() => free ? 1 : locked(), 60_000).then(() => ends.push(["long", true]));
  const short = writer.write(() => 2, 500).catch(() => {
    ends.push(["short", platform.clock.monotonic() < 1_000]);
    free = true;
  });
  await Promise.all([long, short]);
  assertEquals(ends, [["short", true], ["long", true]]);
  db.close();
});

Deno.test("write() rolls back what failed and passes the error on", async () => {
  const { db, writer } = makeWriter();
  const failing = writer.write(() => {
    db.run("INSERT INTO state_meta (key, value) VALUES ('k', 'v')");
    throw new TypeError("a mistake");
  });
  await assertRejects(() => failing, /a mistake/);
  assertEquals(db.all("SELECT * FROM state_meta"), []);
  const bad = writer.write(() => db.run("INSERT INTO state_meta (key, value) VALUES ('k', NULL)"));
  await assertRejects(() => bad, /The session database failed: NOT NULL constraint/);
  db.close();
});
