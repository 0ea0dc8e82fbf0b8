/** A flood on one connection leaves the thread to the others. */
import { assert, assertEquals } from "../../support/assert.ts";
import { Lane } from "../../../src/protocols/gateway/lane.ts";
import { Peer } from "../../../src/protocols/gateway/peer.ts";

const FRAMES = 200;
/** What each frame costs. */
const WORK_MS = 1;

function work(): void {
  const end = performance.now() + WORK_MS;
  while (performance.now() < end);
}

Deno.test("Lane: whoever waits for the thread gets it in the middle of a flood, and the order stays", async () => {
  const seen: number[] = [];
  const lane = new Lane({
    ready: () => null,
    handle: (frame) => {
      work();
      seen.push(frame.type === "request" ? Number(frame.id) : -1);
      return null;
    },
    onQuiet: () => {},
  }, 500);
  // Together, and as messages of their own between which the thread is not free.
  for (const together of [true, false]) {
    seen.length = 0;
    const turns: number[] = [];
    const other = setInterval(() => turns.push(seen.length), 0);
    for (let n = 0; n < FRAMES; n++) {
      lane.receive(JSON.stringify({ id: n, method: "session.status", params: {} }));
      if (!together) await Promise.resolve();
    }
    await lane.quiet();
    clearInterval(other);
    assertEquals(seen, Array.from({ length: FRAMES }, (_, n) => n));
    const inside = turns.filter((count) => count > 0 && count < FRAMES);
    assert(inside.length >= 10, `only ${inside.length} turns of the others`);
    const longest = Math.max(...turns.map((count, n) => count - (turns[n - 1] ?? 0)));
    assert(longest < FRAMES / 2, `${longest} frames without a turn of the others`);
  }
});

Deno.test("FC-18: Peer says when more waits on a connection than can be kept, until it was looked at", async () => {
  const { promise, resolve } = Promise.withResolvers<Record<string, never>>();
  const sent: string[] = [];
  const peer = new Peer({
    client: { send: (frame) => void sent.push(frame), room: () => null },
    methods: () =>
      Promise.resolve({
        get: (name) => ({ name, kind: "inline", run: () => name === "slow" ? promise : {} }),
      }),
    laneWaitMs: 60_000,
    onFault: (where) => assert(false, where),
  });
  peer.receive('{"id":0,"method":"slow"}');
  const large = JSON.stringify({ id: 1, method: "ping", params: { text: "x".repeat(12 << 20) } });
  const flooded: boolean[] = [];
  for (let n = 0; n < 6; n++) {
    peer.receive(large);
    flooded.push(peer.isFlooded);
  }
  assertEquals(flooded, [false, false, false, false, false, true]);
  resolve({});
  await peer.idle();
  assertEquals([peer.isFlooded, sent.length], [false, 7]);
});
