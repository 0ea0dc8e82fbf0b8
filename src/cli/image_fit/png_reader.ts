/**
 * Reads a PNG row by row while it is inflated, so that a large one takes no more memory than two of its rows; only an
 * interlaced one is held whole. Every colour type and depth; of 16 bits the upper 8.
 */
import { type PixelSource, Unreadable } from "./pixels.ts";
import { unfilter } from "./png_filters.ts";
import { CHANNELS, type Parts, partsOf } from "./png_parts.ts";
import { converterOf } from "./png_samples.ts";

/** The seven passes of an interlaced image: first column, first row, and the steps between them. */
const PASSES: readonly (readonly [number, number, number, number])[] = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
];

/** Throws `Unreadable`. */
export function readPng(bytes: Uint8Array<ArrayBuffer>): PixelSource {
  const parts = partsOf(bytes);
  const { width, height, interlaced } = parts.header;
  return { width, height, rows: () => interlaced ? interlacedRows(parts) : plainRows(parts) };
}

async function* plainRows(parts: Parts): AsyncGenerator<Uint8Array> {
  const { width, height } = parts.header;
  const out = new Uint8Array(width * 4);
  const toPixels = converterOf(parts);
  await using lines = new Lines(parts);
  lines.begin(width);
  for (let y = 0; y < height; y++) {
    toPixels(await lines.next(), width, out);
    yield out;
  }
}

async function* interlacedRows(parts: Parts): AsyncGenerator<Uint8Array> {
  const { width, height } = parts.header;
  const all = new Uint32Array(width * height);
  const line = new Uint32Array(width);
  const bytes = new Uint8Array(line.buffer);
  const toPixels = converterOf(parts);
  await using lines = new Lines(parts);
  for (const [x0, y0, dx, dy] of PASSES) {
    const columns = Math.ceil((width - x0) / dx);
    if (columns < 1) continue;
    lines.begin(columns);
    for (let y = y0; y < height; y += dy) {
      toPixels(await lines.next(), columns, bytes);
      for (let x = x0, i = 0; x < width; x += dx, i++) all[y * width + x] = line[i]!;
    }
  }
  for (let y = 0; y < height; y++) yield new Uint8Array(all.buffer, y * width * 4, width * 4);
}

/** The lines of the inflated data, their filters undone. */
class Lines {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #pixelBits: number;
  #chunk = new Uint8Array();
  #at = 0;
  #line = new Uint8Array();
  #above = new Uint8Array();

  constructor({ data, header }: Parts) {
    const inflated = ReadableStream.from(data).pipeThrough(new DecompressionStream("deflate"));
    this.#reader = inflated.getReader();
    this.#pixelBits = CHANNELS[header.colour]! * header.depth;
  }

  /** The lines that follow have this many pixels, and nothing above them. */
  begin(pixels: number): void {
    const length = Math.ceil(pixels * this.#pixelBits / 8);
    [this.#line, this.#above] = [new Uint8Array(length), new Uint8Array(length)];
  }

  /** Good until the next one is asked for. */
  async next(): Promise<Uint8Array> {
    [this.#line, this.#above] = [this.#above, this.#line];
    if (this.#at === this.#chunk.length) await this.#refill();
    const filter = this.#chunk[this.#at++]!;
    for (let filled = 0; filled < this.#line.length;) {
      if (this.#at === this.#chunk.length) await this.#refill();
      const part = this.#chunk.subarray(this.#at, this.#at + this.#line.length - filled);
      this.#line.set(part, filled);
      this.#at += part.length;
      filled += part.length;
    }
    unfilter(filter, this.#line, this.#above, Math.max(1, this.#pixelBits >> 3));
    return this.#line;
  }

  async #refill(): Promise<void> {
    let next: ReadableStreamReadResult<Uint8Array>;
    try {
      do next = await this.#reader.read(); while (!next.done && next.value.length === 0);
    } catch (error) {
      throw new Unreadable("The PNG cannot be inflated", { cause: error });
    }
    if (next.done) throw new Unreadable("The PNG is cut off");
    this.#chunk = next.value as Uint8Array<ArrayBuffer>;
    this.#at = 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#reader.cancel().catch(() => {/* what follows the last line is of no interest */});
  }
}
