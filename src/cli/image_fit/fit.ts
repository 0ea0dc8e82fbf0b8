/**
 * A smaller copy of an image (core.md B.10): within the limits, its proportions kept. What was a JPEG stays one; all
 * else becomes a PNG, and a JPEG only where a PNG would be too large and nothing is transparent.
 */
import { sniffImage } from "@/lib/image_type.ts";
import type { ImageLimits } from "@/lib/image_head.ts";
import { type Pixels, type PixelSource, Unreadable } from "./pixels.ts";
import { readPng } from "./png_reader.ts";
import { writePng } from "./png_writer.ts";
import { readByRuntime } from "./runtime_reader.ts";
import { Shrinker } from "./shrinker.ts";

/** Models look at far fewer; more would cost seconds and be thrown away there. */
const MAX_PIXELS = 16_000_000;
const QUALITIES = [88, 70];
/** What is not small enough is made smaller by guess, so it may take some rounds. */
const MAX_ROUNDS = 8;

type Size = readonly [width: number, height: number];

/** Throws `Unreadable`. */
export async function fitImage(bytes: Uint8Array<ArrayBuffer>, limits: ImageLimits): Promise<Uint8Array> {
  const type = sniffImage(bytes);
  if (type === null) throw new Unreadable("This is no image");
  const source = type === "image/png" ? readPng(bytes) : await readByRuntime(bytes);
  let pixels = await shrink(source, targetOf([source.width, source.height], limits.maxSide));
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const encoded = await encode(pixels, type === "image/jpeg", limits.maxBytes);
    if (encoded.length <= limits.maxBytes) return encoded;
    const factor = Math.min(0.9, Math.sqrt(limits.maxBytes / encoded.length) * 0.95);
    pixels = await shrink(held(pixels), scaled([pixels.width, pixels.height], factor));
  }
  throw new Error("The image does not become small enough");
}

/** The largest size that is allowed, in the proportions of `size`. */
export function targetOf(size: Size, maxSide: number): Size {
  const [width, height] = size;
  const factor = Math.min(1, maxSide / Math.max(width, height), Math.sqrt(MAX_PIXELS / (width * height)));
  return factor === 1 ? size : scaled(size, factor);
}

function scaled([width, height]: Size, factor: number): Size {
  // Down, so that no limit is passed by rounding; but the one side that decides hits it exactly.
  const side = (length: number) => Math.max(1, Math.floor(length * factor + 1e-6));
  return [side(width), side(height)];
}

async function shrink(source: PixelSource, to: Size): Promise<Pixels> {
  const shrinker = new Shrinker([source.width, source.height], to);
  for await (const row of source.rows()) shrinker.push(row);
  return shrinker.result();
}

function held({ width, height, data }: Pixels): PixelSource {
  return {
    width,
    height,
    async *rows() {
      for (let y = 0; y < height; y++) yield data.subarray(y * width * 4, (y + 1) * width * 4);
    },
  };
}

/** In the best form that fits, else the smallest. */
async function encode(pixels: Pixels, asJpeg: boolean, maxBytes: number): Promise<Uint8Array> {
  if (!asJpeg) {
    const png = await writePng(pixels);
    if (png.length <= maxBytes || !pixels.opaque) return png;
  }
  const { default: encodeJpeg } = await import("jpeg-js/lib/encoder.js");
  let encoded = new Uint8Array();
  for (const quality of QUALITIES) {
    encoded = encodeJpeg(pixels, quality).data;
    if (encoded.length <= maxBytes) break;
  }
  return encoded;
}
