import { assert, assertEquals, assertMatch } from "../support/assert.ts";
import { DatabaseSync } from "node:sqlite";
import { createDenoPlatform } from "../../src/platform/deno.ts";
import { Db, withFileLock } from "../../src/store/db.ts";
import { MIGRATIONS } from "../../src/store/migrations.ts";
import { buildDatabase, openDb } from "../../src/store/open.ts";
import { makeStore, sessionRow, type StoreRig, texts, user } from "./rig.ts";

function mode(path: string): string {
  return ((Deno.statSync(path).mode ?? 0) & 0o777).toString(8);
}

function names(rig: StoreRig): string[] {
  return [...Deno.readDirSync(`${rig.directory}/home`)].map((entry) => entry.name).sort();
}

function errorOf(run: () => unknown): { code: string; message: string } {
  try {
    run();
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error("Nothing was thrown");
}

Deno.test("openStore() makes the directory 0700 and every file 0600, and leaves nothing else", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  assertEquals(names(rig), ["hermes.db", "hermes.db-shm", "hermes.db-wal"]);
  assertEquals(names(rig).map((name) => mode(`${rig.directory}/home/${name}`)), ["600", "600", "600"]);
  assertEquals(mode(`${rig.directory}/home`), "700");
  rig.store.close();
  assertEquals(names(rig), ["hermes.db"]);
});

Deno.test("openStore() takes rights from others on a file that was open to them", async () => {
  await using rig = await makeStore({ file: true });
  rig.store.close();
  Deno.chmodSync(rig.path, 0o644);
  rig.open();
  assertEquals(mode(rig.path), "600");
});

Deno.test("openStore() uses write-ahead logging", async () => {
  await using rig = await makeStore({ file: true });
  const db = new DatabaseSync(rig.path);
  assertEquals(db.prepare("PRAGMA journal_mode").get()!["journal_mode"], "wal");
  db.close();
});

Deno.test("openStore() works on a database without write-ahead logging", async () => {
  await using rig = await makeStore({ file: true });
  rig.store.close();
  const db = new DatabaseSync(rig.path);
  db.exec("PRAGMA journal_mode=DELETE");
  db.close();
  const store = rig.open();
  await store.createSession(sessionRow("s1"));
  await store.appendMessages("s1", [user("hello")]);
  assertEquals(texts(store.loadMessages("s1")), ["hello"]);
  assertEquals(names(rig), ["hermes.db"]);
});

Deno.test("acp D6: a database of a newer program is refused and not touched", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  rig.store.close();
  const db = new DatabaseSync(rig.path);
  db.exec("UPDATE schema_version SET version = 999");
  db.close();
  const before = Deno.readFileSync(rig.path);
  const error = errorOf(() => rig.open());
  assertEquals(error.code, "store_newer");
  assertMatch(error.message, /newer hermes has written it \(schema 999, .*update hermes/);
  assertEquals(Deno.readFileSync(rig.path), before);
  assertEquals(rig.warnings, []);
});

Deno.test("openStore() moves a zero-byte file aside and starts a new one", async () => {
  await using rig = await makeStore({ file: true });
  rig.store.close();
  Deno.truncateSync(rig.path, 0);
  const store = rig.open();
  await store.createSession(sessionRow("s1"));
  assertEquals(store.check(), "ok");
  assertEquals(rig.warnings.length, 1);
  assertMatch(rig.warnings[0]!, /hermes\.db" is empty: it was moved to ".*hermes\.db\.broken-/);
  assertEquals(names(rig).filter((name) => name.includes("broken")).length, 1);
  assertEquals(names(rig).filter((name) => /lock|new/.test(name)), []);
});

Deno.test("openStore() moves a broken file aside, whole, with its sidecars", async () => {
  await using rig = await makeStore({ file: true });
  rig.store.close();
  const garbage = "this is no database ".repeat(500);
  Deno.writeTextFileSync(rig.path, garbage);
  Deno.writeTextFileSync(`${rig.path}-wal`, "old log");
  const store = rig.open();
  assertEquals(store.listSessions({ limit: 5 }), []);
  const backups = names(rig).filter((name) => name.includes("broken"));
  assertEquals(backups.length, 2);
  assertEquals(Deno.readTextFileSync(`${rig.directory}/home/${backups[0]}`), garbage);
  assertMatch(rig.warnings.join(), /is broken \(it is not a database\)/);
  assertEquals(mode(`${rig.directory}/home/hermes.db`), "600");
});

Deno.test("openStore() moves a file with a broken schema aside", async () => {
  await using rig = await makeStore({ file: true });
  rig.store.close();
  const bytes = Deno.readFileSync(rig.path);
  bytes.fill(0xff, 100, 4096);
  Deno.writeFileSync(rig.path, bytes);
  const store = rig.open();
  await store.createSession(sessionRow("s1"));
  assertEquals(store.check(), "ok");
  assertMatch(rig.warnings.join(), /is broken \(.*malformed.*it was moved to/);
});

Deno.test("openStore() refuses a database of another program and leaves it alone", async () => {
  await using rig = await makeStore({ file: true });
  const other = `${rig.directory}/other.db`;
  const db = new DatabaseSync(other);
  db.exec("CREATE TABLE notes (x)");
  db.close();
  rig.store.close();
  Deno.removeSync(rig.path);
  Deno.copyFileSync(other, rig.path);
  const error = errorOf(() => rig.open());
  assertEquals(error.code, "store_failed");
  assertMatch(error.message, /database of another program/);
  assertEquals(Deno.readFileSync(rig.path), Deno.readFileSync(other));
});

Deno.test("openStore() says which path cannot be opened", async () => {
  await using rig = await makeStore({ file: true });
  rig.store.close();
  Deno.removeSync(rig.path);
  Deno.mkdirSync(rig.path);
  const error = errorOf(() => rig.open());
  assertEquals(error.code, "store_failed");
  assert(error.message.includes(rig.path));
});

Deno.test("openStore() brings a database that stopped at an older step up to date", async () => {
  await using rig = await makeStore({ file: true });
  rig.store.close();
  Deno.removeSync(rig.path);
  const db = new DatabaseSync(rig.path);
  db.exec("PRAGMA journal_mode=WAL; CREATE TABLE schema_version (version INTEGER NOT NULL)");
  db.close();
  const store = rig.open();
  await store.createSession(sessionRow("s1"));
  await store.appendMessages("s1", [user("hello")]);
  assertEquals(texts(store.loadMessages("s1")), ["hello"]);
  assertEquals(rig.warnings, []);
});

Deno.test("the schema is at step 16: a change to it is a new step", async () => {
  await using rig = await makeStore({ file: true });
  const db = new DatabaseSync(rig.path, { readOnly: true });
  assertEquals(db.prepare("SELECT version FROM schema_version").all().map((row) => row["version"]), [16]);
  db.close();
});

Deno.test("what a session was created with over the API goes with it, and what was left of others goes at the upgrade", async () => {
  await using rig = await makeStore({ file: true });
  rig.store.close();
  Deno.removeSync(rig.path);
  const db = new Db(rig.path);
  for (const step of MIGRATIONS.slice(0, 15)) step.up(db);
  db.exec(`
    CREATE TABLE schema_version (version INTEGER NOT NULL);
    INSERT INTO schema_version VALUES (15);
    INSERT INTO sessions (id, source, root_id, started_at, last_activity_at) VALUES ('s1', 'api_server', 's1', 1, 1);
    INSERT INTO state_meta VALUES ('api.system.s1', 'be kind'), ('api.model.s1', 'm'), ('api.system.gone', 'secret'),
      ('api.model.gone', ''), ('api.models', 'other');
  `);
  db.close();
  const store = rig.open();
  const told = () =>
    ["api.system.s1", "api.model.s1", "api.system.gone", "api.model.gone", "api.models"].map((key) =>
      store.getMeta(key)
    );
  assertEquals(told(), ["be kind", "m", null, null, "other"]);
  await store.deleteSession("s1");
  assertEquals(told(), [null, null, null, null, "other"]);
});

Deno.test("core D.4: what models have used before it was kept by route stays, sums and all", async () => {
  await using rig = await makeStore({ file: true });
  rig.store.close();
  Deno.removeSync(rig.path);
  const db = new Db(rig.path);
  for (const step of MIGRATIONS.slice(0, 11)) step.up(db);
  db.exec(`
    CREATE TABLE schema_version (version INTEGER NOT NULL);
    INSERT INTO schema_version VALUES (11);
    INSERT INTO sessions (id, source, root_id, started_at, last_activity_at) VALUES ('s1', 'acp', 's1', 1, 1);
    INSERT INTO messages (session_id, role, timestamp, content) VALUES ('s1', 'assistant', 1, 'old');
    INSERT INTO session_model_usage VALUES ('s1', 'm', 'p', 3, 10, 20, 30, 40, 50, 1, 2, 0.5, 'estimated');
    INSERT INTO session_model_usage VALUES ('s1', 'n', 'p', 1, 1, 1, 1, 1, 1, 1, 2, NULL, NULL);
  `);
  db.close();
  const store = rig.open();
  assertEquals(store.check(), "ok");
  assertEquals(store.loadMessages("s1")[0]!.content, "old");
  await store.addUsage("s1", { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, reasoning: 0 }, {
    model: "m",
    provider: "p",
  }, {
    day: null,
    seconds: 0,
    usd: 0.25,
    status: "estimated",
    source: "official_snapshot",
    version: "2026-01-31",
  });
  const raw = new DatabaseSync(rig.path, { readOnly: true });
  const rows = raw.prepare("SELECT * FROM session_model_usage ORDER BY model").all();
  const tables = raw.prepare("SELECT name FROM sqlite_schema WHERE name LIKE '%usage%' AND type = 'table'")
    .all();
  raw.close();
  assertEquals(
    rows.map((row) => [row["model"], row["base_url"], row["billing_mode"], row["api_call_count"]]),
    [
      ["m", "", "metered", 4],
      ["n", "", "unknown", 1],
    ],
  );
  const [first] = rows;
  assertEquals([first!["input_tokens"], first!["reasoning_tokens"], first!["estimated_cost_usd"]], [
    11,
    50,
    0.75,
  ]);
  assertEquals([first!["first_seen"], first!["cost_source"], first!["pricing_version"]], [
    1,
    "official_snapshot",
    "2026-01-31",
  ]);
  assertEquals(tables.map((row) => row["name"]).toSorted(), ["session_model_usage", "usage_totals"]);
});

Deno.test("openDb() takes the picture of an empty database for a new file: the same tables, WAL, 0600, nothing left over", async () => {
  await using rig = await makeStore({ file: true });
  const silent = () => {};
  const log = { debug: silent, info: silent, warn: silent, error: silent };
  const place = `${rig.directory}/picture`;
  Deno.mkdirSync(place);
  buildDatabase(`${place}/made.db`, { log });
  const image = Deno.readFileSync(`${place}/made.db`);
  Deno.removeSync(`${place}/made.db`);
  const asked: number[] = [];
  const path = `${place}/new.db`;
  const db = openDb(path, {
    platform: createDenoPlatform(),
    log,
    image: (steps) => (asked.push(steps), image),
  });
  assertEquals(asked, [Number(db.get("SELECT version FROM schema_version")!["version"])]);
  assertEquals(db.get("PRAGMA journal_mode")!["journal_mode"], "wal");
  db.close();
  assertEquals([...Deno.readDirSync(place)].map((entry) => entry.name), ["new.db"]);
  assertEquals(mode(path), "600");
  const schema = (file: string) => {
    const raw = new DatabaseSync(file);
    const rows = raw.prepare("SELECT type, name, sql FROM sqlite_schema ORDER BY name").all();
    raw.close();
    return rows;
  };
  rig.store.close();
  assertEquals(schema(path), schema(rig.path));
});

/** SQLite's file access with lock files in place of locks: it has no shared memory, as some network file systems. */
function withoutWal(warnings: string[]) {
  const silent = () => {};
  return {
    platform: createDenoPlatform(),
    log: { debug: silent, info: silent, warn: (line: string) => void warnings.push(line), error: silent },
    connect: (path: string) => new Db(`file:${path}?vfs=unix-dotfile`),
  };
}

const NO_WAL =
  "The file system does not allow write-ahead logging: several programs at once will wait for each other";

for (const picture of [true, false]) {
  Deno.test(`openDb() makes a database where write-ahead logging is refused, ${picture ? "with" : "without"} the picture`, async () => {
    await using rig = await makeStore({ file: true });
    rig.store.close();
    const image = Deno.readFileSync(rig.path);
    const place = `${rig.directory}/refusing`;
    Deno.mkdirSync(place);
    const warnings: string[] = [];
    const deps = { ...withoutWal(warnings), image: () => picture ? image : null };
    const db = openDb(`${place}/new.db`, deps);
    assertEquals(db.get("PRAGMA journal_mode")!["journal_mode"], "delete");
    db.run("CREATE TABLE kept (a)");
    db.close();
    assertEquals(warnings, [NO_WAL]);
    const again = openDb(`${place}/new.db`, deps);
    assertEquals(again.get("SELECT count(*) AS n FROM kept")!["n"], 0);
    again.close();
    assertEquals(warnings, [NO_WAL]);
    assertEquals([...Deno.readDirSync(place)].map((entry) => entry.name), ["new.db"]);
    assertEquals(mode(`${place}/new.db`), "600");
  });
}

Deno.test("openDb() takes a database along to where write-ahead logging is refused, with what its log still holds", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  await rig.store.appendMessages("s1", [user("in the log")]);
  // As a copy of a home in use: the last writes stand in the log alone.
  const place = `${rig.directory}/moved`;
  Deno.mkdirSync(place);
  for (const suffix of ["", "-wal"]) Deno.copyFileSync(rig.path + suffix, `${place}/hermes.db${suffix}`);
  const warnings: string[] = [];
  const db = openDb(`${place}/hermes.db`, withoutWal(warnings));
  assertEquals(db.all("SELECT content FROM messages").map((row) => row["content"]), ["in the log"]);
  assertEquals(db.get("PRAGMA journal_mode")!["journal_mode"], "delete");
  db.close();
  assertEquals(warnings, [NO_WAL]);
  assertEquals([...Deno.readDirSync(place)].map((entry) => entry.name), ["hermes.db"]);
});

Deno.test("openDb() leaves a database alone that it cannot open for another reason", async () => {
  await using rig = await makeStore({ file: true });
  const holder = new DatabaseSync(rig.path);
  holder.exec("BEGIN IMMEDIATE");
  const warnings: string[] = [];
  const cannot = () => {
    throw Object.assign(new Error("unable to open database file"), { code: "ERR_SQLITE_ERROR", errcode: 14 });
  };
  const error = errorOf(() => openDb(rig.path, { ...withoutWal(warnings), connect: cannot }));
  assertEquals([error.code, warnings], ["store_failed", []]);
  assertMatch(error.message, /unable to open database file; check free space and permissions/);
  holder.exec("ROLLBACK");
  assertEquals(holder.prepare("PRAGMA journal_mode").get()!["journal_mode"], "wal");
  holder.close();
});

Deno.test("withFileLock() lets one in, waits for a bounded time only, and leaves no file behind", async () => {
  await using rig = await makeStore({ file: true });
  const path = `${rig.path}.lock`;
  const done: string[] = [];
  withFileLock(path, () => {
    done.push("first");
    const error = errorOf(() => withFileLock(path, () => done.push("second"), 50));
    assertMatch(error.message, /database is locked/);
  });
  withFileLock(path, () => done.push("third"));
  assertEquals(done, ["first", "third"]);
  assertEquals(names(rig).filter((name) => name.includes(".lock")), []);
});
