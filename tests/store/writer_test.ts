import { assert, assertEquals, assertMatch, assertRejects } from "../support/assert.ts";
import { createDenoPlatform } from "../../src/platform/deno.ts";
import type { Platform } from "../../src/platform/mod.ts";
import type { Db } from "../../src/store/db.ts";
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
  const told = await stuck.catch((error) => [error.code, error.data.class]);
  assertEquals(told, ["store_locked", "session_persistence_failed:locked"]);
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

const KEEP = "INSERT INTO state_meta (key, value) VALUES (?, ?)";

/** How many transactions were committed; `fail` says when one cannot be. */
function watchCommits(db: Db, fail: (count: number) => void = () => {}): () => number {
  const run = db.run.bind(db);
  let commits = 0;
  db.run = (sql, ...values) => {
    if (sql === "COMMIT") fail(++commits);
    return run(sql, ...values);
  };
  return () => commits;
}

Deno.test("write() commits a burst together; each job is done at once, and told when it is kept", async () => {
  const { db, writer, written } = makeWriter();
  const commits = watchCommits(db);
  const told: number[] = [];
  const all = Array.from(
    { length: 20 },
    (_, i) => writer.write(() => db.run(KEEP, `k${i}`, "v").changes).then(() => told.push(commits())),
  );
  assertEquals(db.all("SELECT key FROM state_meta").length, 20);
  assertEquals(commits(), 1);
  await Promise.all(all);
  assertEquals([commits(), written()], [2, 20]);
  // The first was kept alone, the others with the second commit and not before it.
  assertEquals(told, [1, ...Array(19).fill(2)]);
  db.close();
});

Deno.test("write() of a burst: what fails takes nothing with it, before or after it", async () => {
  const { db, writer } = makeWriter();
  const jobs = ["a", "b", "bad", "c"].map((key) =>
    writer.write(() => {
      db.run(KEEP, key, "v");
      if (key === "bad") throw new TypeError("a mistake");
      return key;
    })
  );
  const ends = await Promise.allSettled(jobs);
  assertEquals(ends.map((end) => end.status), ["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  assertEquals(db.all("SELECT key FROM state_meta ORDER BY key").map((row) => row["key"]), ["a", "b", "c"]);
  db.close();
});

Deno.test("write() of a burst: a commit that meets a lock is tried again, one that fails keeps nothing", async () => {
  const { db, writer } = makeWriter();
  watchCommits(db, (count) => {
    if (count === 2) locked();
  });
  const values = await Promise.all(
    ["a", "b", "c"].map((key) => writer.write(() => db.run(KEEP, key, "v").changes)),
  );
  assertEquals([values, db.all("SELECT key FROM state_meta").length], [[1, 1, 1], 3]);
  db.close();

  const other = makeWriter();
  watchCommits(other.db, (count) => {
    if (count === 2) {
      throw Object.assign(new Error("disk I/O error"), { code: "ERR_SQLITE_ERROR", errcode: 10 });
    }
  });
  const ends = await Promise.allSettled(
    ["a", "b", "c"].map((key) => other.writer.write(() => other.db.run(KEEP, key, "v"))),
  );
  assertEquals(ends.map((end) => end.status), ["fulfilled", "rejected", "rejected"]);
  assertEquals(other.db.all("SELECT key FROM state_meta").map((row) => row["key"]), ["a"]);
  other.db.close();
});

Deno.test("write() of a burst: what fills the disk fails alone, though SQLite has taken back all of it", async () => {
  const { db, writer } = makeWriter();
  const pages = Number(db.get("PRAGMA page_count")!["page_count"]);
  db.exec(`PRAGMA max_page_count=${pages + 20}`);
  const sizes = [1, 1, 1_000_000, 1];
  const ends = await Promise.allSettled(
    sizes.map((size, n) => writer.write(() => db.run(KEEP, `${n}`, "v".repeat(size)))),
  );
  assertEquals(ends.map((end) => end.status), ["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  const { reason } = ends[2] as PromiseRejectedResult;
  assertMatch(reason.message, /full/);
  assertEquals([reason.code, reason.data.diskFull], ["store_failed", true]);
  assertEquals(db.all("SELECT key FROM state_meta").map((row) => row["key"]), ["0", "1", "3"]);
  db.close();
});

Deno.test("close() keeps what a burst has done", async () => {
  const { db, writer } = makeWriter();
  const jobs = ["a", "b", "c"].map((key) => writer.write(() => db.run(KEEP, key, "v").changes));
  writer.close();
  assertEquals(await Promise.all(jobs), [1, 1, 1]);
  await assertRejects(() => writer.write(() => 1), /is closed/);
  assertEquals(db.all("SELECT key FROM state_meta").length, 3);
  db.close();
});

Deno.test("writeInSteps() is one transaction: who writes meanwhile waits, and a failure keeps nothing", async () => {
  const { db, writer, written } = makeWriter();
  db.exec("CREATE TABLE t (n)");
  const count = () => Number(db.get("SELECT count(*) AS n FROM t")!["n"]);
  const done: string[] = [];
  function* steps(isBad: boolean): Generator<void, string> {
    for (let n = 0; n < 20_000; n++) {
      db.run("INSERT INTO t VALUES (?)", n);
      yield;
    }
    if (isBad) throw new Error("half-way");
    done.push("long");
    return "kept";
  }
  const long = writer.writeInSteps(() => steps(false));
  const short = writer.write(() => done.push("short"));
  assertEquals([await long, await short, done, count()], ["kept", 2, ["long", "short"], 20_000]);
  assertEquals(written(), 2);

  const bad = writer.writeInSteps(() => steps(true));
  const behind = writer.write(() => db.run("INSERT INTO t VALUES (0)"));
  await assertRejects(() => bad, /half-way/);
  await behind;
  assertEquals(count(), 20_001);

  const cut = writer.writeInSteps(() => steps(false));
  const last = writer.write(() => db.run("INSERT INTO t VALUES (0)"));
  writer.close();
  assertEquals([await cut, (await last).changes, count()], ["kept", 1, 40_002]);
  db.close();
});

Deno.test("writeInSteps() waits for somebody else's lock, or a long write of our own, and leaves the thread free then, too", async () => {
  const { db, writer, platform, written } = makeWriter();
  db.exec("CREATE TABLE t (n)");
  const real = db.run.bind(db);
  let refusals = 2;
  db.run = (sql, ...values) => sql === "BEGIN IMMEDIATE" && refusals-- > 0 ? locked() : real(sql, ...values);
  const done: string[] = [];
  const write = (name: string) =>
    writer.writeInSteps(function* () {
      for (let n = 0; n < 20_000; n++) {
        real("INSERT INTO t VALUES (?)", n);
        yield;
      }
      done.push(name);
    });
  const all = [write("first"), write("second"), writer.write(() => void done.push("short"))];
  let turns = 0;
  let isOver = false;
  const over = Promise.all(all).finally(() => isOver = true);
  while (!isOver) {
    await new Promise((resolve) => setTimeout(resolve, 0));
    if (!done.includes("second")) turns++;
  }
  await over;
  assertEquals([done, platform.delays, written()], [["first", "second", "short"], [20, 150], 3]);
  assert(turns >= 4, `${turns} turns`);
  const count = Number(db.get("SELECT count(*) AS n FROM t")!["n"]);

  refusals = 1;
  const [cut, last] = [write("cut"), writer.write(() => "last")];
  writer.close();
  assertEquals([await cut, await last, done.slice(3)], [undefined, "last", ["cut"]]);
  assertEquals([count, Number(db.get("SELECT count(*) AS n FROM t")!["n"])], [40_000, 60_000]);
  db.close();
});

Deno.test("rewriteInSteps() can be waited for, or finished at once by who reads", async () => {
  const { db, writer } = makeWriter();
  db.exec("CREATE TABLE t (n)");
  function* steps(isBad: boolean): Generator<void, string> {
    for (let n = 0; n < 20_000; n++) {
      db.run("INSERT INTO t VALUES (?)", n);
      yield;
    }
    if (isBad) throw new Error("half-way");
    return "kept";
  }
  const count = () => Number(db.get("SELECT count(*) AS n FROM t")!["n"]);
  assertEquals(writer.rewriting, null);
  const waited = writer.rewriteInSteps(() => steps(false));
  assert(count() < 20_000 && writer.rewriting !== null);
  await writer.rewriting;
  assertEquals([count(), writer.rewriting, await waited], [20_000, null, "kept"]);

  const bad = writer.rewriteInSteps(() => steps(true));
  const refused = assertRejects(() => bad, /half-way/);
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert(count() > 20_000);
  writer.finishRewrite();
  assertEquals(count(), 20_000);
  await refused;
  await writer.rewriting;

  const branch = writer.writeInSteps(() => steps(false));
  assertEquals(writer.rewriting, null);
  writer.finishRewrite();
  assert(count() < 40_000);
  assertEquals([await branch, count()], ["kept", 40_000]);
  db.close();
});
