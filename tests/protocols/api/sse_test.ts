import { SseStream } from "@/protocols/api/sse.ts";
import { assert, assertEquals, assertRejects } from "../../support/assert.ts";
import { eventually } from "../../support/program.ts";

const clock = { now: () => Date.now(), monotonic: () => performance.now(), delay: () => Promise.resolve() };

function open(options: { keepaliveMs?: number; stallMs?: number } = {}) {
  const seen = { gone: 0 };
  const stream = new SseStream({ clock, onGone: () => void seen.gone++, ...options });
  return { stream, seen, reader: stream.body.getReader() };
}

Deno.test("write() hands over all frames of a tick at once; end() closes the body after the last ones", async () => {
  const { stream, seen, reader } = open();
  void stream.write("a\n\n");
  void stream.write("b\n\n");
  assertEquals(new TextDecoder().decode((await reader.read()).value), "a\n\nb\n\n");
  void stream.write("c\n\n");
  stream.end("d\n\n");
  assertEquals(new TextDecoder().decode((await reader.read()).value), "c\n\nd\n\n");
  assertEquals((await reader.read()).done, true);
  assertEquals([seen.gone, stream.closed], [0, true]);
});

Deno.test("write() returns a promise only while the peer is full, and a read settles it", async () => {
  const { stream, reader } = open();
  assertEquals(stream.write("x"), undefined);
  const full = stream.write("y".repeat(100_000));
  assert(full instanceof Promise);
  assertEquals(stream.write("z"), full);
  await reader.read();
  await full;
  assertEquals(stream.write("more"), undefined);
  stream.end();
});

Deno.test("a reader that leaves is reported once, frees who waits, and later writes do nothing", async () => {
  const { stream, seen, reader } = open();
  const full = stream.write("y".repeat(100_000));
  await reader.cancel();
  await full;
  assertEquals(stream.write("late"), undefined);
  stream.end("late");
  assertEquals([seen.gone, stream.closed], [1, true]);
});

Deno.test("a reader that stops reading is given up after the stall time", async () => {
  const { stream, seen, reader } = open({ keepaliveMs: 2, stallMs: 10 });
  const full = stream.write("y".repeat(100_000));
  await eventually(() => seen.gone === 1);
  await full;
  await assertRejects(async () => {
    while (!(await reader.read()).done);
  }, /stopped reading/);
  assertEquals(seen.gone, 1);
});
