/**
 * Reads JPEG, GIF (the first frame), WebP and BMP with the decoders that the runtime has for `createImageBitmap`: they
 * take a fifth of the memory of one in JavaScript, and nothing in the program. A JPEG's orientation is applied.
 *
 * What the runtime decodes it hands out only through a function that it keeps for its own tests; where that is missing
 * (another runtime), the image counts as one that cannot be opened.
 */
import { type PixelSource, Unreadable } from "./pixels.ts";

type Decoded = Awaited<ReturnType<typeof createImageBitmap>>;

/** Throws `Unreadable`. */
export async function readByRuntime(bytes: Uint8Array<ArrayBuffer>): Promise<PixelSource> {
  const bitmap = await createImageBitmap(new Blob([bytes])).catch((error) => {
    throw new Unreadable("The image cannot be decoded", { cause: error });
  });
  const { width, height } = bitmap;
  const data = samplesOf(bitmap);
  bitmap.close();
  const channels = data.length / (width * height);
  if (![1, 2, 3, 4].includes(channels)) throw new Unreadable("The image has samples of an unknown kind");
  return { width, height, rows: () => rowsOf(data, width, height, channels) };
}

function samplesOf(bitmap: Decoded): Uint8Array {
  const { internal } = Deno as unknown as { internal?: symbol };
  const own = internal && (Deno as unknown as Record<symbol, unknown>)[internal];
  const { getBitmapData } = (own ?? {}) as { getBitmapData?: (bitmap: Decoded) => Uint8Array };
  if (typeof getBitmapData !== "function") throw new Unreadable("This runtime does not hand out pixels");
  return getBitmapData(bitmap);
}

async function* rowsOf(
  data: Uint8Array,
  width: number,
  height: number,
  channels: number,
): AsyncGenerator<Uint8Array> {
  const out = new Uint8Array(width * 4).fill(255);
  const isGrey = channels < 3;
  const hasAlpha = channels === 2 || channels === 4;
  for (let y = 0, i = 0; y < height; y++) {
    for (let o = 0; o < out.length; o += 4, i += channels) {
      out[o] = data[i]!;
      out[o + 1] = data[isGrey ? i : i + 1]!;
      out[o + 2] = data[isGrey ? i : i + 2]!;
      if (hasAlpha) out[o + 3] = data[i + channels - 1]!;
    }
    yield out;
  }
}
