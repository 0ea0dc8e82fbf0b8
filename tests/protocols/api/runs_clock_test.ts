/** Runs of another server on the same home, judged by a clock that is put forward or back. */
import type { Hermes } from "@/app/mod.ts";
import type { RunRow } from "@/core/contract.ts";
import { Runs } from "../../../src/protocols/api/runs.ts";
import { assertEquals } from "../../support/assert.ts";

const HOUR = 3_600_000;
const START = 1_800_000_000_000;

/** A run of a server that lives and was last heard of `silentMs` ago. */
function scene(silentMs: number) {
  let [wall, monotonic] = [START, 1_000];
  let row = { id: "r", terminal: false, status: "running", owner: "other", pid: 7, detail: "{}" } as RunRow;
  let heard = (START - silentMs) / 1_000;
  const runs = {
    get: () => row,
    heardOf: () => heard,
    events: () => [],
    save: (ended: RunRow) => Promise.resolve(void (row = ended)),
  };
  const clock = { now: () => wall, monotonic: () => monotonic };
  const hermes = { platform: { pid: 1, clock }, store: () => ({ runs }) } as unknown as Hermes;
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
