/** Which PNGs are read: every colour type and depth of the format, with its filters, and what is wrong with others. */
import { readPng } from "../../../src/cli/image_fit/png_reader.ts";
import { assertEquals, assertRejects, assertThrows } from "../../support/assert.ts";
import { chunk, join, noise, type Paint, png, type PngOptions, type Rgba } from "../../support/images.ts";

async function pixelsOf(bytes: Uint8Array<ArrayBuffer>): Promise<number[]> {
  const all: number[] = [];
  for await (const row of readPng(bytes).rows()) all.push(...row);
  return all;
}

/** What a reader has to give for an image of this kind. */
function expected(width: number, height: number, pixel: (x: number, y: number) => Rgba): number[] {
  return Array.from({ length: width * height }, (_, i) => pixel(i % width, Math.floor(i / width))).flat();
}

const paint: Paint = (x, y) => [noise(x, y), noise(x + 99, y), noise(x, y + 99), noise(x + 7, y + 7)];
const everyFilter = (line: number) => line % 5;

Deno.test("readPng() gives the pixels of every colour type at 8 and 16 bits, interlaced or not", async () => {
  const kinds: readonly (readonly [PngOptions["colour"], (pixel: Rgba) => Rgba])[] = [
    [0, ([r]) => [r, r, r, 255]],
    [2, ([r, g, b]) => [r, g, b, 255]],
    [4, ([r, , , a]) => [r, r, r, a]],
    [6, (pixel) => pixel],
  ];
  for (const [colour, seen] of kinds) {
    for (const depth of [8, 16] as const) {
      for (const interlaced of [false, true]) {
        const bytes = png(13, 11, paint, { colour: colour!, depth, interlaced, filter: everyFilter });
        const wanted = expected(13, 11, (x, y) => seen(paint(x, y)));
        assertEquals(await pixelsOf(bytes), wanted, `${colour} ${depth} ${interlaced}`);
      }
    }
  }
});

Deno.test("readPng() spreads 1, 2 and 4 bits of grey over the whole range", async () => {
  for (const [depth, factor] of [[1, 255], [2, 85], [4, 17]] as const) {
    const grey: Paint = (x, y) => [noise(x, y) & (1 << depth) - 1, 0, 0, 0];
    const wanted = expected(9, 3, (x, y) => {
      const value = grey(x, y)[0] * factor;
      return [value, value, value, 255];
    });
    assertEquals(await pixelsOf(png(9, 3, grey, { colour: 0, depth, filter: everyFilter })), wanted);
  }
});

Deno.test("readPng() looks colours and their opacity up in a palette, of any depth", async () => {
  const palette = [[1, 2, 3], [40, 50, 60], [70, 80, 90]] as const;
  for (const depth of [2, 4, 8] as const) {
    for (const interlaced of [false, true]) {
      const index: Paint = (x, y) => [(x + y) % 3, 0, 0, 0];
      const bytes = png(10, 9, index, { colour: 3, depth, interlaced, palette, transparency: [0, 128] });
      const wanted = expected(
        10,
        9,
        (x, y) => [...palette[(x + y) % 3]!, [0, 128, 255][(x + y) % 3]!] as const,
      );
      assertEquals(await pixelsOf(bytes), wanted);
    }
  }
});

Deno.test("readPng() takes the one colour that is transparent, at 8 and 16 bits", async () => {
  const stripes: Paint = (x) => x % 2 === 0 ? [9, 9, 9, 0] : [9, 9, 8, 0];
  const rgb = png(4, 1, stripes, { colour: 2, transparency: [0, 9, 0, 9, 0, 9] });
  assertEquals((await pixelsOf(rgb)).filter((_, i) => i % 4 === 3), [0, 255, 0, 255]);
  const low = 9 ^ 0x5a;
  const wide = png(4, 1, stripes, { colour: 0, depth: 16, transparency: [9, low] });
  assertEquals((await pixelsOf(wide)).filter((_, i) => i % 4 === 3), [0, 0, 0, 0]);
});

Deno.test("readPng() reads what follows the last line of the image as nothing", async () => {
  const whole = png(3, 2, paint);
  const end = whole.length - 12;
  const more = join(
    whole.subarray(0, end),
    chunk("tEXt", new Uint8Array(20)),
    whole.subarray(end),
    new Uint8Array(9),
  );
  assertEquals(await pixelsOf(more), expected(3, 2, paint));
});

Deno.test("readPng() says of a damaged image that it cannot be read", async () => {
  const whole = png(40, 40, paint);
  const spoiled = whole.slice();
  spoiled.fill(0x55, 60, 90);
  const wrongFilter = png(4, 4, paint, { filter: () => 9 });
  for (const bytes of [whole.subarray(0, whole.length >> 1), spoiled, wrongFilter]) {
    await assertRejects(() => pixelsOf(bytes), /^Unreadable: /);
  }
  const noHeader = join(whole.subarray(0, 8), whole.subarray(33));
  const late = png(4, 4, paint);
  new DataView(late.buffer).setUint32(16, 100_000_000);
  const hidden = join(late.subarray(0, 8), chunk("tEXt", new Uint8Array(20)), late.subarray(8));
  const none = png(0, 4);
  const noPalette = png(4, 4, paint, { colour: 3 });
  const oddDepth = whole.slice();
  oddDepth[24] = 3;
  for (const bytes of [noHeader, hidden, none, noPalette, oddDepth, whole.subarray(0, 24)]) {
    assertThrows(() => readPng(bytes), /^Unreadable: /);
  }
});
