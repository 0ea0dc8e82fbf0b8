/** Folding the log back by somebody else (core.md D.2): when it is asked for, what holds meanwhile, and what it does. */
import { createDenoPlatform } from "@/platform/deno.ts";
import { foldLogBack, openStore } from "@/store/mod.ts";
import { assert, assertEquals, assertRejects, assertThrows } from "../support/assert.ts";
import { agent, sessionRow, texts, user } from "./rig.ts";

interface Call {
  readonly path: string;
  readonly signal: AbortSignal;
  readonly end: PromiseWithResolvers<void>;
}

async function makeFolded() {
  const directory = await Deno.makeTempDir({ prefix: "hermes-fold-" });
  const path = `${directory}/hermes.db`;
  const calls: Call[] = [];
  const told: string[] = [];
  const store = openStore(path, {
    platform: createDenoPlatform(),
    log: { debug: (line: string) => void told.push(line), info() {}, warn() {}, error() {} },
    foldBack: (path, signal) => {
      const end = Promise.withResolvers<void>();
      calls.push({ path, signal, end });
      return end.promise;
    },
  });
  await store.createSession(sessionRow("s"));
  return {
    directory,
    path,
    store,
    calls,
    told,
    logSize: () => Deno.statSync(`${path}-wal`).size,
    [Symbol.asyncDispose]: async () => {
      store.close();
      await Deno.remove(directory, { recursive: true });
    },
  };
}

const many = (count: number) =>
  Array.from(
    { length: count },
    (_, n) => n % 2 === 0 ? user(`question ${n} ${"word ".repeat(200)}`) : agent(`answer ${n}`),
  );

Deno.test("a write of many rows asks somebody else once to fold the log back; few rows ask nobody", async () => {
  await using rig = await makeFolded();
  const { store, calls } = rig;
  for (let n = 0; n < 40; n++) await store.appendMessages("s", many(60));
  assertEquals(calls.length, 0);
  await store.appendMessages("s", many(1_000));
  assertEquals(calls.map(({ path }) => path), [rig.path]);
  await store.appendMessages("s", many(2_000));
  assertEquals(calls.length, 1);
  calls[0]!.end.resolve();
  await new Promise((resolve) => setTimeout(resolve, 0));
  await store.appendMessages("s", many(2_000));
  assertEquals(calls.length, 2);
  assertEquals(store.loadMessages("s").length, 40 * 60 + 1_000 + 2_000 + 2_000);
});

Deno.test("meanwhile commits leave the log alone; when it failed the next one folds it back", async () => {
  await using rig = await makeFolded();
  const { store, calls, told } = rig;
  await store.appendMessages("s", many(8_000));
  const size = () => Deno.statSync(rig.path).size;
  const before = size();
  for (let n = 0; n < 5; n++) await store.appendMessages("s", [user(`meanwhile ${n}`)]);
  assertEquals(size(), before);
  calls[0]!.end.reject(new Error("no process to be had"));
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(told, ["The log of the session database is folded back later: Error: no process to be had"]);
  await store.appendMessages("s", [user("afterwards")]);
  assert(size() > before + 1_000_000, `the database has grown from ${before} to ${size()} bytes`);
});

Deno.test("a long write while the log is folded back leaves it alone, too, and is folded back next", async () => {
  await using rig = await makeFolded();
  const { store, calls } = rig;
  const size = () => Deno.statSync(rig.path).size;
  const before = size();
  await store.appendMessages("s", many(4_000));
  await store.appendMessages("s", many(4_000));
  for (let n = 0; n < 5; n++) await store.appendMessages("s", [user(`meanwhile ${n}`)]);
  assertEquals([calls.length, size()], [1, before]);
  calls[0]!.end.resolve();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(calls.length, 2);
  await store.appendMessages("s", [user("and then")]);
  assertEquals(size(), before);
  calls[1]!.end.resolve();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(calls.length, 2);
});

Deno.test("foldLogBack() brings the log into the database while it is open, and writes nothing where none is", async () => {
  await using rig = await makeFolded();
  const { store, path } = rig;
  await store.appendMessages("s", many(3_000));
  const before = Deno.statSync(path).size;
  foldLogBack(path);
  assert(Deno.statSync(path).size > before + 1_000_000, "the rows are in the database");
  const log = rig.logSize();
  await store.appendMessages("s", [user("the last one")]);
  assertEquals(rig.logSize(), log);
  assertEquals([texts(store.loadMessages("s")).at(-1), store.check()], ["the last one", "ok"]);

  const absent = `${rig.directory}/absent.db`;
  assertThrows(() => foldLogBack(absent), /No such file/);
  Deno.writeTextFileSync(`${rig.directory}/notes.txt`, "no database, but long enough to be one");
  assertThrows(() => foldLogBack(`${rig.directory}/notes.txt`), /is no database/);
  assertEquals([...Deno.readDirSync(rig.directory)].map(({ name }) => name).toSorted(), [
    "hermes.db",
    "hermes.db-shm",
    "hermes.db-wal",
    "notes.txt",
  ]);
});

Deno.test("a store that is closed ends who folds its log back", async () => {
  await using rig = await makeFolded();
  await rig.store.appendMessages("s", many(2_000));
  const [call] = rig.calls;
  assertEquals(call!.signal.aborted, false);
  rig.store.close();
  assertEquals(call!.signal.aborted, true);
  call!.end.reject(new Error("ended"));
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(rig.told, []);
});

Deno.test("core.md D.5: many messages at once are kept in steps, whole, and nothing of them when they are refused", async () => {
  await using rig = await makeFolded();
  const { store } = rig;
  let turns = 0;
  const tick = setInterval(() => turns++, 0);
  const writing = store.appendMessages("s", many(8_000));
  const ids = await writing;
  clearInterval(tick);
  assert(turns >= 4, `the others had ${turns} turns`);
  assertEquals([ids.length, new Set(ids).size, ids.every((id, at) => at === 0 || id > ids[at - 1]!)], [
    8_000,
    8_000,
    true,
  ]);
  assertEquals(store.getSession("s")!.messageCount, 8_000);

  // Who reads while it is written reads all of it.
  const more = store.appendMessages("s", many(500));
  assertEquals(store.loadMessages("s").length, 8_500);
  assertEquals((await more).length, 500);
  await assertRejects(() => store.appendMessages("gone", many(500)), /no session/i);
  assertEquals(store.check(), "ok");
});

Deno.test("small writes ask nobody, neither by their number nor while the log is folded back", async () => {
  await using rig = await makeFolded();
  const { store, calls } = rig;
  for (let n = 0; n < 300; n++) await store.appendMessages("s", [user(`small ${n}`), agent("ok")]);
  await store.appendMessages("s", many(70));
  assertEquals(calls.length, 0);
  await store.appendMessages("s", many(2_000));
  for (let n = 0; n < 300; n++) await store.appendMessages("s", [user(`meanwhile ${n}`), agent("ok")]);
  calls[0]!.end.resolve();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(calls.length, 1);
});

Deno.test("long writes that follow each other do not let the log grow without end, whoever was to fold it back", async () => {
  await using rig = await makeFolded();
  const large = Array.from({ length: 1_000 }, (_, n) => user(`${n} ${"x".repeat(20_000)}`));
  let most = 0;
  for (let n = 0; n < 8; n++) {
    await rig.store.appendMessages("s", large);
    most = Math.max(most, rig.logSize());
  }
  assert(most <= 64 << 20, `the log had ${most} bytes`);
  const { size } = Deno.statSync(rig.path);
  assert(size > 16 << 20, `the database has ${size} bytes`);
  assertEquals([rig.calls.length, rig.store.check()], [1, "ok"]);
});

Deno.test("settled() resolves when who folds the log back is gone", async () => {
  await using rig = await makeFolded();
  await rig.store.appendMessages("s", many(2_000));
  let isSettled = false;
  const settled = rig.store.settled().then(() => isSettled = true);
  const [call] = rig.calls;
  assertEquals(call!.signal.aborted, true);
  await new Promise((resolve) => setTimeout(resolve, 5));
  assertEquals(isSettled, false);
  call!.end.reject(new Error("ended"));
  await settled;
  rig.store.close();
  assertEquals([...Deno.readDirSync(rig.directory)].map(({ name }) => name), ["hermes.db"]);
});

Deno.test("while many messages are kept, nothing is told of them before all are", async () => {
  await using rig = await makeFolded();
  const { store } = rig;
  await store.appendMessages("s", [user("first")]);
  const writing = store.appendMessages("s", many(3_000));
  let looks = 0;
  let isOver = false;
  const done = writing.finally(() => isOver = true);
  while (!isOver) {
    const { messageCount } = store.getSession("s")!;
    if (isOver) break;
    assert(messageCount === 1 || messageCount === 3_001, `${messageCount} messages`);
    if (messageCount === 1) looks++;
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
  await done;
  assert(looks > 2, `${looks} looks`);
  assertEquals(store.getSession("s")!.messageCount, 3_001);
});

Deno.test("a reading in slices ends although one long write follows the other", async () => {
  await using rig = await makeFolded();
  const { store } = rig;
  for (const id of ["a", "b"]) await store.createSession(sessionRow(id));
  await store.appendMessages("s", [user("one"), agent("two")]);
  let isOver = false;
  const load = ["a", "b"].map(async (id) => {
    for (let n = 0; n < 200 && !isOver; n++) await store.appendMessages(id, many(200));
    return isOver;
  });
  assertEquals(texts(await store.fetchMessages("s")), ["one", "two"]);
  isOver = true;
  assertEquals(await Promise.all(load), [true, true]);
});
