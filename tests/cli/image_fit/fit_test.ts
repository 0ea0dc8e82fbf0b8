/** What becomes of an image that is too large, by its format (core.md B.10). */
import { fitImage, targetOf } from "../../../src/cli/image_fit/fit.ts";
import { readPng } from "../../../src/cli/image_fit/png_reader.ts";
import { readByRuntime } from "../../../src/cli/image_fit/runtime_reader.ts";
import { imageSize } from "../../../src/lib/image_head.ts";
import { sniffImage } from "../../../src/lib/image_type.ts";
import { assert, assertEquals, assertRejects } from "../../support/assert.ts";
import { bmp, gif, jpeg, noise, type Paint, png, webp } from "../../support/images.ts";

const ROOMY = 15 << 20;
const noisy: Paint = (x, y) => [noise(x, y), noise(x + 1, y), noise(x, y + 1), 255];

/** Type and pixels of what came out. */
async function opened(bytes: Uint8Array) {
  const own = bytes.slice();
  const type = sniffImage(own);
  const source = type === "image/png" ? readPng(own) : await readByRuntime(own);
  const pixels: number[] = [];
  for await (const row of source.rows()) pixels.push(...row);
  const at = (x: number, y: number) =>
    pixels.slice((y * source.width + x) * 4, (y * source.width + x) * 4 + 4);
  return { type, size: [source.width, source.height], at };
}

function assertNear(actual: readonly number[], wanted: readonly number[], within = 6): void {
  assert(
    actual.length === wanted.length && actual.every((value, i) => Math.abs(value - wanted[i]!) <= within),
    `${actual} is not near ${wanted}`,
  );
}

Deno.test("targetOf() keeps the proportions, at most so many pixels a side and 16 million in all", () => {
  assertEquals(targetOf([12_000, 3_000], 7_900), [7_900, 1_975]);
  assertEquals(targetOf([3, 79_000], 7_900), [1, 7_900]);
  assertEquals(targetOf([800, 600], 7_900), [800, 600]);
  const [width, height] = targetOf([8_160, 6_120], 7_900);
  assert(width * height <= 16_000_000 && width * height > 15_900_000, `${width}×${height}`);
  assertEquals(Math.round(width / height * 1000), 1333);
});

Deno.test("fitImage() makes a GIF, a WebP and a BMP a smaller PNG, with what was clear in them", async () => {
  const blue = await opened(
    await fitImage(gif(300, 20, [[255, 0, 0], [0, 0, 255]], 1), { maxSide: 150, maxBytes: ROOMY }),
  );
  assertEquals([blue.type, blue.size, blue.at(149, 9)], ["image/png", [150, 10], [0, 0, 255, 255]]);
  const half = await opened(
    await fitImage(webp(9_000, 90, [10, 20, 30, 128]), { maxSide: 900, maxBytes: ROOMY }),
  );
  assertEquals([half.type, half.size, half.at(0, 0)], ["image/png", [900, 9], [10, 20, 30, 128]]);
  const corner: Paint = (x, y) => x < 10 && y < 10 ? [200, 100, 50, 255] : [0, 0, 0, 255];
  const plain = await opened(await fitImage(bmp(40, 30, corner), { maxSide: 20, maxBytes: ROOMY }));
  assertEquals([plain.type, plain.size], ["image/png", [20, 15]]);
  assertEquals([plain.at(0, 0), plain.at(4, 4), plain.at(5, 5)], [[200, 100, 50, 255], [200, 100, 50, 255], [
    0,
    0,
    0,
    255,
  ]]);
});

Deno.test("fitImage() turns a photograph the way its camera was held", async () => {
  // Red above on the left, else dark; where that corner is for each of the eight orientations.
  const paint: Paint = (x, y) => x < 40 && y < 20 ? [220, 20, 20, 255] : [10, 10, 10, 255];
  const corners = [[0, 0], [1, 0], [1, 1], [0, 1], [0, 0], [1, 0], [1, 1], [0, 1]] as const;
  for (const [i, [right, down]] of corners.entries()) {
    const photo = jpeg(80, 40, paint, { orientation: i + 1, quality: 95 });
    const seen = await opened(await fitImage(photo, { maxSide: 40, maxBytes: ROOMY }));
    assertEquals([seen.type, seen.size], ["image/jpeg", i < 4 ? [40, 20] : [20, 40]], `orientation ${i + 1}`);
    const [w, h] = seen.size as [number, number];
    const at = (r: number, d: number) => seen.at(r * (w - 1), d * (h - 1));
    assertNear(at(right, down), [220, 20, 20, 255], 12);
    assertNear(at(1 - right, 1 - down), [10, 10, 10, 255], 12);
  }
});

Deno.test("fitImage() makes a PNG a JPEG only where it is too heavy and nothing is transparent", async () => {
  const limits = { maxSide: 7_900, maxBytes: 60_000 };
  const heavy = png(200, 200, noisy);
  assert(heavy.length > 100_000);
  const photo = await fitImage(heavy, limits);
  assertEquals([sniffImage(photo), imageSize(photo), photo.length <= 60_000], [
    "image/jpeg",
    [200, 200],
    true,
  ]);
  const seeThrough = png(200, 200, (x, y) => [...noisy(x, y).slice(0, 3), noise(y, x)] as never);
  const kept = await fitImage(seeThrough, limits);
  assertEquals([sniffImage(kept), kept.length <= 60_000], ["image/png", true]);
  const [width, height] = imageSize(kept)!;
  assert(width === height && width > 80 && width < 200, `${width}×${height}`);
});

Deno.test("fitImage() says of what cannot be opened that it is unreadable", async () => {
  const photo = jpeg(64, 64, noisy);
  const limits = { maxSide: 32, maxBytes: ROOMY };
  for (
    const bytes of [
      new TextEncoder().encode("no image"),
      photo.slice(0, 300),
      webp(9, 9, [0, 0, 0, 0]).slice(0, 22),
    ]
  ) {
    await assertRejects(() => fitImage(bytes as Uint8Array<ArrayBuffer>, limits), /^Unreadable: /);
  }
});
