import { assertEquals } from "../../support/assert.ts";
import type { LiveSession } from "../../../src/protocols/gateway/live.ts";
import { Parking } from "../../../src/protocols/gateway/parking.ts";
import type { Client } from "../../../src/protocols/gateway/peer.ts";
import type { Gateway } from "../../../src/protocols/gateway/server.ts";
import { AbortError } from "../../../src/lib/abort.ts";

/** A clock whose waits end when the test moves it. */
class TestClock {
  #now = 0;
  #waits: { readonly at: number; end(): void }[] = [];

  monotonic = () => this.#now;

  delay = (ms: number, { signal }: { signal: AbortSignal }): Promise<void> =>
    new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(new AbortError()), { once: true });
      this.#waits.push({ at: this.#now + ms, end: resolve });
    });

  /** Second by second, so that waits that follow each other are met. */
  async pass(seconds: number): Promise<void> {
    for (let n = 0; n < seconds; n++) {
      this.#now += 1000;
      const due = this.#waits.filter(({ at }) => at <= this.#now);
      this.#waits = this.#waits.filter(({ at }) => at > this.#now);
      for (const { end } of due) end();
      for (let turns = 0; turns < 4; turns++) await Promise.resolve();
    }
  }
}

interface FakeLive {
  readonly sid: string;
  attached: boolean;
  status: string;
  closeOnDisconnect: boolean;
  usedAt: number;
  awaitsResults: boolean;
  readonly session: { closed: boolean; running: boolean };
  readonly audience: { has(client: Client): boolean; remove(client: Client): void };
}

function makeScene(env: Record<string, string> = {}, max: number | null = null) {
  const clock = new TestClock();
  const all: FakeLive[] = [];
  const closed: string[] = [];
  const gateway = {
    hermes: { platform: { clock, env: () => env }, settings: () => ({ max_live_sessions: max }) },
    live: {
      all: () => all.filter((live) => !live.session.closed),
      close: (sid: string, reason: string) => {
        all.find((live) => live.sid === sid)!.session.closed = true;
        closed.push(`${sid} ${reason}`);
        return Promise.resolve(true);
      },
    },
  } as unknown as Gateway;
  const parking = new Parking(gateway, (where, error) => {
    throw new Error(where, { cause: error });
  });
  function add(sid: string, facts: Partial<FakeLive> = {}): FakeLive {
    const live: FakeLive = {
      sid,
      attached: true,
      status: "idle",
      closeOnDisconnect: false,
      usedAt: clock.monotonic(),
      awaitsResults: false,
      session: { closed: false, running: false },
      audience: { has: () => live.attached, remove: () => live.attached = false },
      ...facts,
    };
    all.push(live);
    return live;
  }
  const leave = (live: FakeLive) => parking.leave(live as unknown as LiveSession, {} as Client);
  return { clock, parking, closed, add, leave };
}

Deno.test("A.8: a session that nobody hears is closed after the grace; who comes back in time keeps it", async () => {
  const { clock, parking, closed, add, leave } = makeScene();
  const [gone, kept] = [add("gone"), add("kept")];
  leave(gone);
  leave(kept);
  await clock.pass(19);
  kept.attached = true;
  assertEquals(closed, []);
  await clock.pass(30);
  assertEquals(closed, ["gone ws_orphan_reap"]);
  parking.stop();
});

Deno.test("A.8: coming back cancels the grace, and leaving again starts a whole new one", async () => {
  const { clock, parking, closed, add, leave } = makeScene();
  const live = add("a");
  leave(live);
  await clock.pass(15);
  live.attached = true;
  leave(live);
  await clock.pass(19);
  assertEquals(closed, []);
  await clock.pass(1);
  assertEquals(closed, ["a ws_orphan_reap"]);
  parking.stop();
});

Deno.test("A.8: what runs, asks or waits for subagents outlives the grace, until it is idle", async () => {
  const { clock, parking, closed, add, leave } = makeScene({ HERMES_TUI_WS_ORPHAN_REAP_GRACE_S: "5" });
  const busy = add("busy", { status: "working" });
  const asking = add("asking", { status: "waiting" });
  const parent = add("parent", { awaitsResults: true });
  for (const live of [busy, asking, parent]) leave(live);
  await clock.pass(20);
  assertEquals(closed, []);
  busy.status = "idle";
  await clock.pass(5);
  assertEquals(closed, ["busy ws_orphan_reap"]);
  parking.stop();
});

Deno.test("A.8: grace 0 never reaps; close_on_disconnect closes at once", async () => {
  const { clock, parking, closed, add, leave } = makeScene({ HERMES_TUI_WS_ORPHAN_REAP_GRACE_S: "0" });
  leave(add("a"));
  leave(add("b", { closeOnDisconnect: true }));
  await clock.pass(60);
  assertEquals(closed, ["b ws_disconnect"]);
  parking.stop();
});

Deno.test("A.8 HERMES_TUI_SESSION_TTL_S: a scan closes what was parked and idle for longer, nothing else", async () => {
  const env = { HERMES_TUI_SESSION_TTL_S: "1000", HERMES_TUI_WS_ORPHAN_REAP_GRACE_S: "0" };
  const { clock, parking, closed, add } = makeScene(env);
  add("old", { attached: false });
  add("heard");
  add("busy", { attached: false, status: "working" });
  await clock.pass(800);
  add("young", { attached: false });
  await clock.pass(399);
  assertEquals(closed, []);
  await clock.pass(1);
  assertEquals(closed, ["old idle_timeout"]);
  parking.stop();
});

Deno.test("A.8 max_live_sessions: the longest idle parked sessions make room, as many as are too many", () => {
  const { parking, closed, add } = makeScene({}, 2);
  add("middle", { attached: false, usedAt: 20 });
  add("oldest", { attached: false, usedAt: 10 });
  add("busy", { attached: false, usedAt: 1, status: "working" });
  add("heard", { usedAt: 1 });
  parking.trim();
  assertEquals(closed, ["oldest lru_evict", "middle lru_evict"]);
  parking.stop();
  const off = makeScene({}, 0);
  for (const sid of ["a", "b", "c"]) off.add(sid, { attached: false });
  off.parking.trim();
  assertEquals(off.closed, []);
  off.parking.stop();
});
