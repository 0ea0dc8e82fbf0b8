/** Calls that begin go before answers that run, while the thread is fully used and not for long. */
import { RightOfWay } from "@/models/providers/right_of_way.ts";
import type { ModelChunk, ModelClient } from "@/core/mod.ts";
import type { Clock } from "@/platform/mod.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { startModelServer } from "../support/model_server.ts";
import { eventually } from "../support/program.ts";
import { endpoint, fold, makeModels, platform, requestOf } from "./helpers.ts";

/** A machine whose clock and use of the processor are set by hand. */
function makeMachine() {
  const state = { now: 1_000, cpu: 0, delays: [] as { ms: number; fire: () => void }[] };
  const way = new RightOfWay({
    cpuMs: () => state.cpu,
    clock: {
      monotonic: () => state.now,
      delay: (ms) => new Promise((fire) => state.delays.push({ ms, fire })),
    },
  });
  const pass = (ms: number, share: number) => {
    state.now += ms;
    state.cpu += ms * share;
  };
  return { way, state, pass };
}

Deno.test("an answer waits where several calls begin and the thread is fully used, and only there", () => {
  const { way, pass } = makeMachine();
  const ends = Array.from({ length: 3 }, () => way.begin());
  assertEquals(way.isWanted, false);
  ends.push(way.begin());
  assertEquals(way.isWanted, false);
  pass(25, 0.95);
  assertEquals(way.isWanted, true);
  pass(10, 0);
  assertEquals(way.isWanted, true); // looked at every 20 ms
  pass(15, 0.5);
  assertEquals(way.isWanted, false);
  pass(20, 1);
  assertEquals(way.isWanted, true);
  const end = ends.pop()!;
  end();
  assertEquals(way.isWanted, false);
  end();
  ends.push(way.begin());
  assertEquals(way.isWanted, true);
});

Deno.test("those that wait go on together after one wait, or each by itself when it must", async () => {
  const { way, state } = makeMachine();
  const gone: string[] = [];
  for (const name of ["a", "b", "c"]) void way.wait().promise.then(() => gone.push(name));
  const own = way.wait();
  void own.promise.then(() => gone.push("own"));
  assertEquals(state.delays.map(({ ms }) => ms), [20]);
  own.resolve();
  await Promise.resolve();
  assertEquals(gone, ["own"]);
  state.delays[0]!.fire();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assertEquals(gone, ["own", "a", "b", "c"]);
  void way.wait();
  assertEquals(state.delays.length, 2);
});

/** A client on a machine that says to be fully used, where `stalled` calls have begun; `waits` counts what was waited. */
async function onFullMachine(
  stalled: number,
  delay: (ms: number, options?: { signal?: AbortSignal | undefined }) => Promise<void>,
  run: (client: ModelClient, waits: () => number) => Promise<void>,
) {
  await using server = await startModelServer({
    turns: [
      ...Array.from({ length: stalled }, () => ({ steps: [{ stall: true as const }] })),
      { steps: [{ text: "tok ", repeat: 60, delay_ms: 5 }] },
    ],
  });
  let waits = 0;
  const clock: Clock = {
    ...platform.clock,
    delay: (ms, options) => ms === 20 ? (waits++, delay(ms, options)) : platform.clock.delay(ms, options),
  };
  const models = makeModels({
    config: endpoint(server.url),
    platform: { ...platform, clock, cpuMs: () => performance.now() },
  });
  const client = models.client(models.resolve());
  const stop = new AbortController();
  const others = [];
  for (let n = 0; n < stalled; n++) {
    const stream = client.stream(requestOf("x"), { signal: stop.signal });
    others.push(stream[Symbol.asyncIterator]().next());
    await eventually(() => server.calls().length === n + 1);
  }
  await run(client, () => waits);
  stop.abort();
  await Promise.all(others);
}

Deno.test("an answer that lets others go first is whole, and waits for 200 ms in all, however long they stall", async () => {
  await onFullMachine(5, platform.clock.delay, async (client, waits) => {
    const chunks = [];
    for await (const batch of client.stream(requestOf("x"), { signal: new AbortController().signal })) {
      chunks.push(...batch);
    }
    const { text, failure } = fold(chunks);
    assertEquals([text, failure], ["tok ".repeat(60), null]);
    assert(waits() >= 1 && waits() <= 10, `${waits()} waits`);
  });
  await onFullMachine(3, platform.clock.delay, async (client, waits) => {
    for await (const _ of client.stream(requestOf("x"), { signal: new AbortController().signal }));
    assertEquals(waits(), 0);
  });
});

Deno.test("FC-06: an abort while an answer lets others go first ends it at once", async () => {
  await onFullMachine(5, () => new Promise(() => {}), async (client, waits) => {
    const controller = new AbortController();
    const chunks: ModelChunk[] = [];
    const reading = (async () => {
      for await (const batch of client.stream(requestOf("x"), { signal: controller.signal })) {
        chunks.push(...batch);
      }
    })();
    await eventually(() => waits() === 1);
    controller.abort();
    await reading;
    const { done, failure } = fold(chunks);
    assertEquals([done, failure], [null, null]);
  });
});
