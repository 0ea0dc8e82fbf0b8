import { ByteReader } from "../../src/models/providers/byte_reader.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";

const encoder = new TextEncoder();

async function textOf(reader: ByteReader): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = await reader.read(); bytes; bytes = await reader.read()) {
    text += decoder.decode(bytes, { stream: true });
  }
  return text;
}

function bytesOf(pieces: readonly string[]): ReadableStream<Uint8Array> {
  let next = 0;
  return new ReadableStream({
    type: "bytes",
    pull: (controller) => {
      if (next < pieces.length) return controller.enqueue(encoder.encode(pieces[next++]));
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

Deno.test("ByteReader: gives a body of bytes whole, in one buffer, also what is larger than that", async () => {
  const long = "é".repeat(40_000);
  assertEquals(
    await textOf(new ByteReader(bytesOf(["a", "b", long, "", "c"].filter(Boolean)))),
    `ab${long}c`,
  );
  const reader = new ByteReader(bytesOf(["one", "two"]));
  const first = await reader.read();
  assertEquals([first!.length, first!.buffer.byteLength], [3, 16_384]);
  await reader.read();
  assertEquals(first!.buffer.byteLength, 0, "the buffer has gone on to the next read");
  assertEquals([await reader.read(), await reader.read()], [null, null]);
});

Deno.test("ByteReader: reads plainly what is no stream of bytes", async () => {
  const stream = ReadableStream.from([encoder.encode("x"), encoder.encode("y")]);
  assertEquals(await textOf(new ByteReader(stream)), "xy");
});

Deno.test("ByteReader: a cancel ends a read that waits, in both forms; a broken body rejects", async () => {
  let cancelled = 0;
  const cancel = () => void cancelled++;
  for (
    const body of [
      new ReadableStream({ type: "bytes", pull: () => new Promise<void>(() => {}), cancel }),
      new ReadableStream<Uint8Array>({ pull: () => new Promise<void>(() => {}), cancel }),
    ]
  ) {
    const reader = new ByteReader(body);
    const waiting = reader.read();
    await reader.cancel();
    assertEquals(await waiting, null);
  }
  assertEquals(cancelled, 2);
  const broken = new ReadableStream({ type: "bytes", pull: () => Promise.reject(new Error("torn")) });
  await assertRejects(() => new ByteReader(broken).read(), /torn/);
  assert(broken.locked);
});
