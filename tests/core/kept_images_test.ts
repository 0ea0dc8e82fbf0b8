import { KeptImages, keyOf } from "../../src/core/kept_images.ts";
import { assert, assertEquals } from "../support/assert.ts";

Deno.test("KeptImages: those that were used last are kept, 24 MB of them", () => {
  const kept = new KeptImages();
  const image = () => ({ bytes: new Uint8Array(10 << 20), from: [9, 9], to: [8, 8] }) as const;
  const [a, b] = [image(), image()];
  kept.set("a", a);
  kept.set("b", b);
  kept.set("a", image());
  assert(kept.get("a") === a);
  kept.set("c", image());
  assertEquals(["a", "b", "c"].map((key) => kept.get(key) !== null), [true, false, true]);
});

Deno.test("keyOf() tells bytes and limits apart", async () => {
  const limits = { maxSide: 7_900, maxBytes: 1 };
  const keys = await Promise.all([
    keyOf(new Uint8Array([1, 23]), limits),
    keyOf(new Uint8Array([12, 3]), limits),
    keyOf(new Uint8Array([1, 23]), { ...limits, maxBytes: 2 }),
    keyOf(new Uint8Array([1, 23]), { ...limits, maxSide: 79 }),
  ]);
  assertEquals(new Set(keys).size, 4);
  assertEquals(keys[0], await keyOf(new Uint8Array([1, 23]), limits));
});
