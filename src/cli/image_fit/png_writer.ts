/** Writes a PNG of 8 bits, with opacity only where it is needed. */
import { crc32 } from "node:zlib";
import { paeth } from "./png_filters.ts";
import type { Pixels } from "./pixels.ts";

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** Rows that are filtered at once. */
const ROWS = 64;

export async function writePng(pixels: Pixels): Promise<Uint8Array<ArrayBuffer>> {
  const { width, height, opaque } = pixels;
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([8, opaque ? 2 : 6], 8);
  const lines = ReadableStream.from(filtered(pixels)).pipeThrough(new CompressionStream("deflate"));
  const data = new Uint8Array(await new Response(lines).arrayBuffer());
  const chunks = [chunk("IHDR", header), chunk("IDAT", data), chunk("IEND", new Uint8Array())];
  return new Uint8Array(await new Blob([new Uint8Array(SIGNATURE), ...chunks]).arrayBuffer());
}

function chunk(type: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(body.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, body.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(body, 8);
  view.setUint32(body.length + 8, crc32(bytes.subarray(4, body.length + 8)));
  return bytes;
}

/** The lines with their filters, some at a time. */
function* filtered({ width, height, data, opaque }: Pixels): Generator<Uint8Array<ArrayBuffer>> {
  const step = opaque ? 3 : 4;
  const length = width * step;
  let [line, above] = [new Uint8Array(length), new Uint8Array(length)];
  const tries = [0, 1, 2, 4].map((filter) => ({ filter, bytes: new Uint8Array(length) }));
  for (let y = 0; y < height; y += ROWS) {
    const rows = Math.min(ROWS, height - y);
    const out = new Uint8Array(rows * (length + 1));
    for (let row = 0; row < rows; row++) {
      [line, above] = [above, line];
      takeLine(data, (y + row) * width * 4, line, step);
      const best = tries.map(({ filter, bytes }) => ({
        filter,
        bytes,
        cost: fill(filter, bytes, line, above, step),
      }))
        .reduce((least, other) => other.cost < least.cost ? other : least);
      out[row * (length + 1)] = best.filter;
      out.set(best.bytes, row * (length + 1) + 1);
    }
    yield out;
  }
}

function takeLine(data: Uint8Array, from: number, line: Uint8Array, step: number): void {
  if (step === 4) return line.set(data.subarray(from, from + line.length));
  for (let i = 0, at = from; i < line.length; i += 3, at += 4) {
    line[i] = data[at]!;
    line[i + 1] = data[at + 1]!;
    line[i + 2] = data[at + 2]!;
  }
}

/** How far the filtered bytes are from nothing, which tells how well they deflate. */
function fill(filter: number, out: Uint8Array, line: Uint8Array, above: Uint8Array, step: number): number {
  let cost = 0;
  for (let i = 0; i < line.length; i++) {
    const left = i < step ? 0 : line[i - step]!;
    const guess = filter === 0
      ? 0
      : filter === 1
      ? left
      : filter === 2
      ? above[i]!
      : paeth(left, above[i]!, i < step ? 0 : above[i - step]!);
    const byte = (line[i]! - guess) & 255;
    out[i] = byte;
    cost += byte < 128 ? byte : 256 - byte;
  }
  return cost;
}
