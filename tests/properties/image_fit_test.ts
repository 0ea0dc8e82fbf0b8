/** Making images smaller (core.md B.10): sizes, proportions, colours and opacity for any image. */
import fc from "fast-check";
import { fitImage } from "../../src/cli/image_fit/fit.ts";
import { readPng } from "../../src/cli/image_fit/png_reader.ts";
import { Shrinker } from "../../src/cli/image_fit/shrinker.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { noise, type Paint, png, type Rgba } from "../support/images.ts";

const side = fc.integer({ min: 1, max: 90 });

async function pixelsOf(bytes: Uint8Array): Promise<{ size: [number, number]; data: number[] }> {
  const source = readPng(bytes.slice());
  const data: number[] = [];
  for await (const row of source.rows()) data.push(...row);
  return { size: [source.width, source.height], data };
}

/** Mean opacity, and mean colour by opacity, of RGBA pixels. */
function means(data: readonly number[]): number[] {
  const sums = [0, 0, 0, 0];
  for (let i = 0; i < data.length; i += 4) {
    for (let c = 0; c < 3; c++) sums[c]! += data[i + c]! * data[i + 3]!;
    sums[3]! += data[i + 3]!;
  }
  return [...sums.slice(0, 3).map((sum) => sums[3] ? sum / sums[3]! : 0), sums[3]! / (data.length / 4)];
}

Deno.test("fitImage(): the longer side hits the limit, the other one keeps the proportion to a pixel", async () => {
  await fc.assert(
    fc.asyncProperty(side, side, fc.integer({ min: 1, max: 100 }), async (width, height, maxSide) => {
      const paint: Paint = (x, y) => [noise(x, y), 0, 0, 255];
      const { size } = await pixelsOf(
        await fitImage(png(width, height, paint), { maxSide, maxBytes: 1 << 20 }),
      );
      const longest = Math.max(width, height);
      assertEquals(Math.max(...size), Math.min(longest, maxSide));
      const factor = Math.min(1, maxSide / longest);
      for (const [now, before] of [[size[0], width], [size[1], height]] as const) {
        assert(now >= 1 && now <= before);
        assert(now === 1 || Math.abs(now - before * factor) < 1, `${width}×${height} → ${size}`);
      }
    }),
    { numRuns: 150 },
  );
});

Deno.test("fitImage(): what is small enough keeps every pixel, transparent ones too", async () => {
  await fc.assert(
    fc.asyncProperty(side, side, fc.boolean(), async (width, height, opaque) => {
      const paint: Paint = (x, y) => [noise(x, y), noise(y, x), 7, opaque ? 255 : 1 + noise(x + y, 3) % 255];
      const image = png(width, height, paint);
      const { data } = await pixelsOf(await fitImage(image, { maxSide: 90, maxBytes: 1 << 20 }));
      assertEquals(data, (await pixelsOf(image)).data);
    }),
    { numRuns: 60 },
  );
});

Deno.test("Shrinker: the mean of colour and opacity stays, and clear pixels colour nothing", () => {
  const channel = fc.integer({ min: 0, max: 255 });
  fc.assert(
    fc.property(
      side,
      side,
      side,
      side,
      fc.tuple(channel, channel, channel),
      (w, h, a, b, [red, green, blue]) => {
        const to = [Math.min(a, w), Math.min(b, h)] as const;
        const shrinker = new Shrinker([w, h], to);
        const all: number[] = [];
        for (let y = 0; y < h; y++) {
          // Where nothing is seen stands another colour.
          const row = Array.from({ length: w }, (_, x): Rgba => {
            const alpha = noise(x, y) < 128 ? 0 : noise(y, x);
            return alpha === 0 ? [255 - red, 255 - green, 255 - blue, 0] : [red, green, blue, alpha];
          }).flat();
          all.push(...row);
          shrinker.push(new Uint8Array(row));
        }
        const { width, height, data, opaque } = shrinker.result();
        assertEquals([width, height, opaque], [
          to[0],
          to[1],
          all.every((value, i) => i % 4 < 3 || value === 255),
        ]);
        const [before, after] = [means(all), means([...data])];
        assert(Math.abs(before[3]! - after[3]!) <= 0.51, `opacity ${before[3]} → ${after[3]}`);
        for (let i = 0; i < data.length; i += 4) {
          if (data[i + 3]! > 0) assertEquals([...data.subarray(i, i + 3)], [red, green, blue]);
        }
      },
    ),
    { numRuns: 200 },
  );
});
