/** One running turn per conversation over all programs of a home (core.md D.4 `session_turn_leases`). */
import { DatabaseSync } from "node:sqlite";
import { HermesError } from "../../src/core/mod.ts";
import type { Message } from "../../src/core/mod.ts";
import { createDenoPlatform } from "../../src/platform/deno.ts";
import { hostIdentity, isProcessDead, processStart } from "../../src/store/process_identity.ts";
import { openStore } from "../../src/store/mod.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "../support/assert.ts";
import { agent, makeStore, sessionRow, type StoreRig, texts, user } from "./rig.ts";

const PLATFORM = createDenoPlatform();

async function rejection(work: Promise<unknown>): Promise<HermesError> {
  try {
    await work;
  } catch (error) {
    if (error instanceof HermesError) return error;
    throw error;
  }
  throw new Error("it was taken");
}

interface LeaseRow {
  readonly session_id: string;
  readonly holder: string;
  readonly host: string;
  readonly pid: number;
  readonly expires_at: number;
}

function leases(rig: StoreRig): LeaseRow[] {
  const db = new DatabaseSync(rig.path, { readOnly: true });
  try {
    return db.prepare("SELECT * FROM session_turn_leases").all() as unknown as LeaseRow[];
  } finally {
    db.close();
  }
}

/** A turn of a program that is not this one. */
function holdElsewhere(
  rig: StoreRig,
  sessionId: string,
  more: Partial<Record<string, string | number>> = {},
) {
  const db = new DatabaseSync(rig.path);
  const { holder, host, pid, process_start, expires_at } = {
    holder: "other",
    host: "far-away",
    pid: 4242,
    process_start: "1",
    expires_at: Date.now() / 1000 + 50,
    ...more,
  };
  db.prepare("INSERT OR REPLACE INTO turn_holders VALUES (?, ?, ?, ?, ?)")
    .run(holder, host, pid, process_start, expires_at);
  db.prepare("UPDATE sessions SET turn_holder = ? WHERE id = ?").run(holder, sessionId);
  db.close();
}

const turn = (...rows: Message[]) => rows;

Deno.test("core D.4: a turn takes its conversation with its first row and gives it back with its last", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  await rig.store.appendMessages("s1", turn(user("zero")), [], "alone");
  assertEquals(leases(rig), []);
  const before = Date.now() / 1000;
  await rig.store.appendMessages("s1", turn(user("one")), [], "begin");
  const [lease] = leases(rig);
  assertEquals([lease!.session_id, lease!.pid, lease!.host], ["s1", Deno.pid, hostIdentity(PLATFORM)]);
  assert(lease!.expires_at >= before + 60 && lease!.expires_at <= Date.now() / 1000 + 60);
  await rig.store.appendMessages("s1", turn(agent("two")), [], "go_on");
  await rig.store.appendMessages("s1", turn(agent("three")), [], "end");
  assertEquals(leases(rig), []);
  assertEquals(texts(rig.store.loadMessages("s1")), ["zero", "one", "two", "three"]);
});

Deno.test("core D.4: while another program runs a turn, a second one is refused and nothing of it is stored", async () => {
  await using rig = await makeStore({ file: true });
  const other = rig.open();
  await rig.store.createSession(sessionRow("s1"));
  await rig.store.appendMessages("s1", turn(user("mine")), [], "begin");
  for (const step of ["begin", "alone"] as const) {
    const error = await rejection(other.appendMessages("s1", turn(user("yours")), [], step));
    assertEquals([error.code, error.data], ["session_busy", { sessionId: "s1", pid: Deno.pid }]);
    assertMatch(
      error.message,
      new RegExp(`^session busy: another hermes \\(process ${Deno.pid}\\) is running`),
    );
  }
  assertEquals((await rejection(Promise.resolve().then(() => other.requireFree("s1")))).code, "session_busy");
  rig.store.requireFree("s1");
  assertEquals(texts(other.loadMessages("s1")), ["mine"]);
  assertEquals(other.getSession("s1")!.messageCount, 1);
  await rig.store.appendMessages("s1", turn(agent("done")), [], "end");
  other.requireFree("s1");
  await other.appendMessages("s1", turn(user("yours")), [], "begin");
  assertEquals(
    (await rejection(rig.store.appendMessages("s1", [user("x")], [], "begin"))).code,
    "session_busy",
  );
});

Deno.test("core D.4, A.16: the lease is the conversation's: it goes along through a compression, a branch is free", async () => {
  await using rig = await makeStore({ file: true });
  const other = rig.open();
  await rig.store.createSession(sessionRow("root"));
  await rig.store.appendMessages("root", turn(user("one")), [], "begin");
  await rig.store.rotate("root", sessionRow("tip"), [user("summary")]);
  await rig.store.branch("tip", sessionRow("side"));
  assertEquals((await rejection(other.appendMessages("tip", [user("x")], [], "begin"))).code, "session_busy");
  await other.appendMessages("side", [user("x")], [], "begin");
  await rig.store.appendMessages("tip", turn(agent("end")), [], "end");
  await other.appendMessages("tip", [user("next")], [], "begin");
  assertEquals(leases(rig).map((row) => row.session_id).toSorted(), ["root", "side"]);
  assertEquals(await other.deleteSession("tip"), true);
  assertEquals(leases(rig).map((row) => row.session_id), ["side"]);
});

Deno.test("core D.4: another machine's lease holds until it expires, and one far in the future is of a wrong clock", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  const now = Date.now() / 1000;
  holdElsewhere(rig, "s1");
  const error = await rejection(rig.store.appendMessages("s1", [user("x")], [], "begin"));
  assertMatch(error.message, /process 4242 on far-away\)/);
  for (const until of [now - 1, now + 500]) {
    holdElsewhere(rig, "s1", { expires_at: until });
    rig.store.requireFree("s1");
    await rig.store.appendMessages("s1", [user("x")], [], "begin");
    await rig.store.appendMessages("s1", [agent("y")], [], "end");
  }
  assertEquals(texts(rig.store.loadMessages("s1")), ["x", "y", "x", "y"]);
});

Deno.test("core D.4: a lease of this machine is free at once when its process is dead, or its number is another's now", async () => {
  await using rig = await makeStore({ file: true });
  await rig.store.createSession(sessionRow("s1"));
  const host = hostIdentity(PLATFORM);
  const child = new Deno.Command("sleep", { args: ["60"], stdout: "null", stderr: "null" }).spawn();
  const start = processStart(child.pid, PLATFORM);
  holdElsewhere(rig, "s1", { host, pid: child.pid, process_start: start });
  assertEquals(
    (await rejection(rig.store.appendMessages("s1", [user("x")], [], "begin"))).code,
    "session_busy",
  );
  if (start !== "") {
    holdElsewhere(rig, "s1", { host, pid: child.pid, process_start: "1" });
    await rig.store.appendMessages("s1", [user("a")], [], "begin");
    await rig.store.appendMessages("s1", [agent("b")], [], "end");
    holdElsewhere(rig, "s1", { host, pid: child.pid, process_start: start });
  }
  child.kill("SIGKILL");
  await child.status;
  assert(isProcessDead(child.pid, start, PLATFORM));
  rig.store.requireFree("s1");
  await rig.store.appendMessages("s1", [user("c")], [], "begin");
  assertEquals(leases(rig)[0]!.pid, Deno.pid);
});

/** A wall clock that a test moves; delays end when it says so. */
function movedClock() {
  let ahead = 0;
  const waiting: (() => void)[] = [];
  const platform = {
    ...PLATFORM,
    clock: {
      ...PLATFORM.clock,
      now: () => Date.now() + ahead,
      delay: (ms: number, options: { signal?: AbortSignal } = {}) => {
        if (ms < 10_000) return PLATFORM.clock.delay(ms, options);
        return new Promise<void>((resolve, reject) => {
          options.signal?.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
          waiting.push(resolve);
        });
      },
    },
  };
  return {
    platform,
    move: (ms: number) => ahead += ms,
    beat: () => waiting.splice(0).forEach((resolve) => resolve()),
    get beats() {
      return waiting.length;
    },
  };
}

Deno.test("core D.4: the lease of a running turn is renewed; one that was lost is noticed before the next row", async () => {
  await using rig = await makeStore({ file: true });
  const clock = movedClock();
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const store = openStore(rig.path, { platform: clock.platform, log });
  await store.createSession(sessionRow("s1"));
  assertEquals(clock.beats, 0);
  await store.appendMessages("s1", [user("one")], [], "begin");
  assertEquals(clock.beats, 1);
  clock.move(15_000);
  const until = leases(rig)[0]!.expires_at;
  clock.beat();
  await new Promise((resolve) => setTimeout(resolve));
  assert(leases(rig)[0]!.expires_at >= until + 15);
  // Stopped for minutes: nobody has taken it, so it goes on.
  clock.move(120_000);
  await store.appendMessages("s1", [agent("two")], [], "go_on");
  assert(leases(rig)[0]!.expires_at > Date.now() / 1000 + 190);
  clock.move(120_000);
  holdElsewhere(rig, "s1", { expires_at: Date.now() / 1000 + 300 });
  assertEquals(
    (await rejection(store.appendMessages("s1", [agent("three")], [], "go_on"))).code,
    "session_busy",
  );
  assertEquals(texts(store.loadMessages("s1")), ["one", "two"]);
  await store.appendMessages("s1", [], [], "end");
  assertEquals(leases(rig).map((row) => row.holder), ["other"]);
  store.close();
});

Deno.test("core D.4: a conversation that another program deletes during its turn is not held for ever", async () => {
  await using rig = await makeStore({ file: true });
  const clock = movedClock();
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const store = openStore(rig.path, { platform: clock.platform, log });
  await store.createSession(sessionRow("s1"));
  await store.appendMessages("s1", [user("one")], [], "begin");
  const other = new DatabaseSync(rig.path);
  other.exec("DELETE FROM messages; DELETE FROM sessions");
  other.close();
  const gone = await rejection(store.appendMessages("s1", [agent("two")], [], "end"));
  assertEquals([gone.code, clock.beats], ["session_not_found", 1]);
  clock.move(15_000);
  clock.beat();
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(clock.beats, 0);
  store.close();
});

Deno.test("core D.4: close() gives back what its program held; a refused session row leaves no lease", async () => {
  await using rig = await makeStore({ file: true });
  const other = rig.open();
  await other.createSession(sessionRow("s1"));
  await other.appendMessages("s1", [user("one")], [], "begin");
  other.close();
  assertEquals(leases(rig), []);
  await assertRejects(
    () => rig.store.appendMessages("nobody", [user("x")], [], "begin"),
    /No session "nobody"/,
  );
  assertEquals(leases(rig), []);
});
