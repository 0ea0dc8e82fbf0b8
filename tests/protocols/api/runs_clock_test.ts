/** Runs of another server on the same home, judged by a clock that is put forward or back. */
import type { Hermes } from "@/app/mod.ts";
import type { RunRow } from "@/core/contract.ts";
import { createDenoPlatform } from "@/platform/deno.ts";
import { openStore } from "@/store/mod.ts";
import { RunClock } from "../../../src/protocols/api/run_clock.ts";
import { Runs } from "../../../src/protocols/api/runs.ts";
import { assertEquals } from "../../support/assert.ts";

const HOUR = 3_600_000;
const START = 1_800_000_000_000;

const NO_LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const settings = () => ({ gateway: { api_server: {} } });

/** A run of a server that lives and was last heard of `silentMs` ago. */
function scene(silentMs: number) {
  let [wall, monotonic] = [START, 1_000];
  let row = { id: "r", terminal: false, status: "running", owner: "other", pid: 7, detail: "{}" } as RunRow;
  let heard = (START - silentMs) / 1_000;
  const runs = {
    get: () => row,
    heardOf: () => heard,
    events: () => [],
    settle: (ended: RunRow) => Promise.resolve((row = ended) !== null),
  };
  const clock = { now: () => wall, monotonic: () => monotonic };
  const hermes = { platform: { pid: 1, clock }, store: () => ({ runs }), settings } as unknown as Hermes;
  const server = new Runs(hermes, { instance: "own", onEnded: () => {}, isAlive: () => true });
  return {
    status: async () => (await server.stored("r"))?.status,
    pass: (ms: number) => [wall, monotonic] = [wall + ms, monotonic + ms],
    jump: (ms: number) => wall += ms,
    beat: () => heard = wall / 1_000,
  };
}

Deno.test("Runs: a server that has been silent for too long is dead, whatever its process id says", async () => {
  assertEquals(await scene(60_000).status(), "running");
  assertEquals(await scene(100_000).status(), "interrupted");
  // Heard of in a time that is yet to come: the clock was put back since, before this server began.
  assertEquals(await scene(-5 * HOUR).status(), "interrupted");
});

Deno.test("Runs: a clock that is put forward or back takes no server that lives for dead", async () => {
  for (const jump of [5 * HOUR, -5 * HOUR]) {
    const other = scene(1_000);
    other.jump(jump);
    assertEquals(await other.status(), "running");
    other.pass(20_000);
    other.beat();
    other.pass(30_000);
    assertEquals(await other.status(), "running");
    other.pass(80_000);
    assertEquals(await other.status(), "interrupted");
  }
});

Deno.test("RunClock: a clock that is put forward makes nothing old before its time, and counts in the end", () => {
  for (const jump of [5 * HOUR, 50 * 24 * HOUR]) {
    let [wall, monotonic] = [START, 1_000];
    const clock = new RunClock({ now: () => wall, monotonic: () => monotonic }, 20, 24 * 3_600);
    const pass = (ms: number) => [wall, monotonic] = [wall + ms, monotonic + ms];
    const ended = clock.now();
    const age = () => Math.round(clock.forKeeping() - ended);
    pass(60_000);
    wall += jump;
    assertEquals(age(), 60);
    pass(HOUR);
    assertEquals(age(), 3_660);
    const later = clock.now();
    assertEquals(clock.forKeeping() - later < 0, true);
    pass(25 * HOUR);
    age();
    // What ended after the jump is as old as it is.
    assertEquals(Math.round(clock.forKeeping() - later), 25 * 3_600);
  }
});

Deno.test("RunClock: a clock that is put back takes nothing that ends after it for old", () => {
  let [wall, monotonic] = [START, 1_000];
  const clock = new RunClock({ now: () => wall, monotonic: () => monotonic }, 20, 24 * 3_600);
  wall -= 5 * HOUR;
  assertEquals(clock.forKeeping() - clock.now(), 0);
  [wall, monotonic] = [wall + HOUR, monotonic + HOUR];
  assertEquals(clock.forKeeping() - clock.now(), 0);
});

Deno.test("Runs: a clock that is put forward forgets no run that has ended a moment ago, nor its key", async () => {
  let [wall, monotonic] = [START, 1_000];
  const row = {
    id: "r",
    terminal: true,
    status: "completed",
    updatedAt: START / 1_000,
    detail: "{}",
  } as RunRow;
  const pruned: [number, number][] = [];
  const listed: number[] = [];
  const runs = {
    get: () => row,
    insert: () => Promise.resolve(null),
    prune: (before: number, keyedBefore: number) => Promise.resolve(void pruned.push([before, keyedBefore])),
    list: ({ endedSince }: { endedSince: number }) => (listed.push(endedSince), [row]),
  };
  const clock = { now: () => wall, monotonic: () => monotonic };
  const hermes = { platform: { pid: 1, clock }, store: () => ({ runs }), settings } as unknown as Hermes;
  const server = new Runs(hermes, { instance: "own", onEnded: () => {} });
  [wall, monotonic] = [wall + 300 * 24 * HOUR + 60_000, monotonic + 60_000];
  assertEquals((await server.stored("r"))?.id, "r");
  await server.list({ limit: 1 });
  await server.reserve({ ...row, id: "s" }, null, null);
  const [[before, keyedBefore], since] = [pruned[0]!, listed[0]!];
  assertEquals([before, keyedBefore, since].map((moment) => moment < row.updatedAt), [true, true, true]);
});

Deno.test("Runs: §0, B4.3: a status is kept for an hour after the end, with a key for a day; then it is unknown", async () => {
  let [wall, monotonic] = [START, 1_000];
  const pass = (ms: number) => [wall, monotonic] = [wall + ms, monotonic + ms];
  const clock = { now: () => wall, monotonic: () => monotonic };
  const store = openStore(":memory:", { platform: createDenoPlatform(), log: NO_LOG } as unknown as Hermes);
  const hermes = { platform: { pid: 1, clock }, store: () => store, settings } as unknown as Hermes;
  const server = new Runs(hermes, { instance: "own", onEnded: () => {} });
  for (const id of ["plain", "keyed"]) {
    const row = { ...server.newRow(id, "s", "m"), status: "completed", terminal: true };
    await server.reserve(row, id === "keyed" ? { digest: "d", fingerprint: "f" } : null, null);
  }
  const kept = async () =>
    [await server.view("plain"), await server.view("keyed")].map((run) => run !== null);
  pass(HOUR - 1_000);
  assertEquals(await kept(), [true, true]);
  pass(2_000);
  assertEquals(await kept(), [false, true]);
  pass(22 * HOUR);
  assertEquals(await kept(), [false, true]);
  pass(HOUR);
  assertEquals(await kept(), [false, false]);
  await store.close();
});
