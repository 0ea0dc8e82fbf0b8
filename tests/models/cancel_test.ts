/**
 * Cancelling reaches the provider (FC-06), also after garbage collections: the runtime's own way of forwarding an
 * abort to a response body is lost when the Response has been collected.
 */
import { assertEquals, assertWithin } from "../support/assert.ts";
import { startModelServer } from "../support/model_server.ts";
import { eventually } from "../support/program.ts";
import { endpoint, fold, makeModels, requestOf } from "./helpers.ts";

/** `--v8-flags=--expose-gc` gives a real one; else enough garbage that the collector must have run several times. */
function collectGarbage(): void {
  const { gc } = globalThis as { gc?: () => void };
  if (gc) return gc();
  let keep: unknown[] = [];
  for (let n = 0; n < 400; n++) {
    keep.push(new Array(20_000).fill(n));
    if (keep.length > 20) keep = [];
  }
}

function clientOf(url: string) {
  const models = makeModels({ config: endpoint(url) });
  return models.client(models.resolve());
}

Deno.test("FC-06: an abort after garbage collections closes the provider's connection and ends the stream", async () => {
  await using server = await startModelServer({
    turns: [{ steps: [{ text: "tok ", repeat: 100_000, delay_ms: 5 }] }],
  });
  const controller = new AbortController();
  const stream = clientOf(server.url).stream(requestOf("x"), { signal: controller.signal });
  let batches = 0;
  let abortedAt = 0;
  const chunks = [];
  for await (const batch of stream) {
    chunks.push(...batch);
    collectGarbage();
    if (++batches === 12) {
      collectGarbage();
      abortedAt = performance.now();
      controller.abort();
    }
  }
  await eventually(() => server.calls()[0]!.aborted, 2_000, "the server to see the close");
  assertWithin(performance.now() - abortedAt, 2_000);
  const { done, failure } = fold(chunks);
  assertEquals([batches, done, failure], [12, null, null]);
});

Deno.test("FC-06: an abort while the stream is silent, after garbage collections, ends it", async () => {
  await using server = await startModelServer({ turns: [{ steps: [{ text: "a" }, { stall: true }] }] });
  const controller = new AbortController();
  const stream = clientOf(server.url).stream(requestOf("x"), { signal: controller.signal });
  const iterator = stream[Symbol.asyncIterator]();
  assertEquals((await iterator.next()).value, [{ type: "text", text: "a" }]);
  const waiting = iterator.next();
  for (let n = 0; n < 5; n++) {
    collectGarbage();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  controller.abort();
  assertEquals(await waiting, { done: true, value: undefined });
  await eventually(() => server.calls()[0]!.aborted, 2_000, "the server to see the close");
});

Deno.test("FC-06: an abort before the first byte ends the call and closes the connection", async () => {
  await using server = await startModelServer({ turns: [{ steps: [{ stall: true }] }] });
  const controller = new AbortController();
  const iterator = clientOf(server.url).stream(requestOf("x"), { signal: controller.signal })
    [Symbol.asyncIterator]();
  const waiting = iterator.next();
  await eventually(() => server.calls().length === 1);
  collectGarbage();
  controller.abort();
  assertEquals(await waiting, { done: true, value: undefined });
  await eventually(() => server.calls()[0]!.aborted, 2_000, "the server to see the close");
});

Deno.test("FC-06: a reader that stops early closes the connection; an aborted signal sends nothing", async () => {
  await using server = await startModelServer({ turns: [{ steps: [{ text: "a" }, { stall: true }] }] });
  for await (
    const _ of clientOf(server.url).stream(requestOf("x"), { signal: new AbortController().signal })
  ) break;
  await eventually(() => server.calls()[0]!.aborted, 2_000, "the server to see the close");
  const chunks = [];
  for await (const batch of clientOf(server.url).stream(requestOf("x"), { signal: AbortSignal.abort() })) {
    chunks.push(batch);
  }
  assertEquals([chunks, server.calls().length], [[], 1]);
});
