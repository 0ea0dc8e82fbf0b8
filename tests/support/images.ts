/** Images made for tests: every format that models take, of any size, without a file in the repository. */
import { crc32, deflateSync } from "node:zlib";
import encodeJpeg from "jpeg-js/lib/encoder.js";

export type Rgba = readonly [red: number, green: number, blue: number, alpha: number];
export type Paint = (x: number, y: number) => Rgba;

export interface PngOptions {
  /** 0 grey, 2 RGB, 3 palette (the red of `paint` is the index), 4 grey and alpha, 6 RGB and alpha. */
  readonly colour?: 0 | 2 | 3 | 4 | 6;
  readonly depth?: 1 | 2 | 4 | 8 | 16;
  readonly interlaced?: boolean;
  readonly palette?: readonly (readonly [number, number, number])[];
  readonly transparency?: readonly number[];
  /** The filter of a line; 0 by default. */
  readonly filter?: (line: number) => number;
  readonly level?: number;
}

export function chunk(type: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(body.length + 12);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, body.length);
  bytes.set(new TextEncoder().encode(type), 4);
  bytes.set(body, 8);
  view.setUint32(body.length + 8, crc32(bytes.subarray(4, body.length + 8)));
  return bytes;
}

export function join(...parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

const SAMPLES = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 } as const;
const PASSES = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
] as const;

/** A PNG; without `paint` all of it is clear black. */
export function png(
  width: number,
  height: number,
  paint: Paint | null = null,
  options: PngOptions = {},
): Uint8Array<ArrayBuffer> {
  const { colour = 6, depth = 8, interlaced = false, filter = () => 0 } = options;
  const bits = SAMPLES[colour] * depth;
  const lines: Uint8Array[] = [];
  const passes = interlaced ? PASSES : [[0, 0, 1, 1]] as const;
  for (const [x0, y0, dx, dy] of passes) {
    const columns = Math.ceil((width - x0) / dx);
    if (columns < 1) continue;
    let above = new Uint8Array(Math.ceil(columns * bits / 8));
    const blank = paint === null ? new Uint8Array(above.length + 1) : null;
    for (let y = y0, n = 0; y < height; y += dy, n++) {
      if (blank) {
        lines.push(blank);
        continue;
      }
      const line = new Uint8Array(above.length);
      for (let i = 0; i < columns; i++) put(line, i, samplesOf(paint!(x0 + i * dx, y), colour), depth);
      lines.push(filtered(filter(n), line, above, Math.max(1, bits >> 3)));
      above = line;
    }
  }
  const header = new Uint8Array(13);
  const view = new DataView(header.buffer);
  view.setUint32(0, width);
  view.setUint32(4, height);
  header.set([depth, colour, 0, 0, interlaced ? 1 : 0], 8);
  const data = new Uint8Array(deflateSync(join(...lines), { level: options.level ?? 6 }));
  return join(
    new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk("IHDR", header),
    ...(options.palette ? [chunk("PLTE", new Uint8Array(options.palette.flat()))] : []),
    ...(options.transparency ? [chunk("tRNS", new Uint8Array(options.transparency))] : []),
    // Two parts, as writers do.
    chunk("IDAT", data.subarray(0, data.length >> 1)),
    chunk("IDAT", data.subarray(data.length >> 1)),
    chunk("IEND", new Uint8Array()),
  );
}

function samplesOf([red, green, blue, alpha]: Rgba, colour: number): number[] {
  if (colour === 0 || colour === 3) return [red];
  if (colour === 4) return [red, alpha];
  return colour === 2 ? [red, green, blue] : [red, green, blue, alpha];
}

function put(line: Uint8Array, pixel: number, samples: readonly number[], depth: number): void {
  samples.forEach((sample, n) => {
    const i = pixel * samples.length + n;
    if (depth === 16) line.set([sample, sample ^ 0x5a], i * 2);
    else if (depth === 8) line[i] = sample;
    else line[i * depth >> 3]! |= sample << (8 - depth - (i * depth & 7));
  });
}

function filtered(filter: number, line: Uint8Array, above: Uint8Array, step: number): Uint8Array {
  const out = new Uint8Array(line.length + 1);
  out[0] = filter;
  for (let i = 0; i < line.length; i++) {
    const [a, b, c] = [line[i - step] ?? 0, above[i]!, i < step ? 0 : above[i - step]!];
    const near = [a, b, c].reduce((best, one) =>
      Math.abs(a + b - c - one) < Math.abs(a + b - c - best) ? one : best
    );
    const guess = [0, a, b, (a + b) >> 1, near][filter] ?? 0;
    out[i + 1] = line[i]! - guess;
  }
  return out;
}

/** A JPEG; with `orientation` (1 to 8) in its metadata, as cameras write it. */
export function jpeg(
  width: number,
  height: number,
  paint: Paint,
  options: { readonly quality?: number; readonly orientation?: number } = {},
): Uint8Array<ArrayBuffer> {
  const data = new Uint8Array(width * height * 4);
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++, at += 4) data.set(paint(x, y), at);
  }
  const bytes = new Uint8Array(encodeJpeg({ data, width, height }, options.quality ?? 80).data);
  if (options.orientation === undefined) return bytes;
  const exif = new Uint8Array([
    ...[0xff, 0xe1, 0, 34, 0x45, 0x78, 0x69, 0x66, 0, 0],
    ...[0x4d, 0x4d, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, options.orientation, 0, 0],
    ...[0, 0, 0, 0],
  ]);
  return join(bytes.subarray(0, 2), exif, bytes.subarray(2));
}

/** Uncompressed, 24 bits. */
export function bmp(width: number, height: number, paint: Paint): Uint8Array<ArrayBuffer> {
  const stride = (width * 3 + 3) & ~3;
  const bytes = new Uint8Array(54 + stride * height);
  const view = new DataView(bytes.buffer);
  bytes.set([0x42, 0x4d]);
  view.setUint32(2, bytes.length, true);
  view.setUint32(10, 54, true);
  view.setUint32(14, 40, true);
  view.setInt32(18, width, true);
  view.setInt32(22, height, true);
  view.setUint16(26, 1, true);
  view.setUint16(28, 24, true);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const [red, green, blue] = paint(x, y);
      bytes.set([blue, green, red], 54 + (height - 1 - y) * stride + x * 3);
    }
  }
  return bytes;
}

/** One frame of one colour out of two; `pixel` is its index. */
export function gif(
  width: number,
  height: number,
  colours: readonly [readonly number[], readonly number[]],
  pixel: 0 | 1,
): Uint8Array<ArrayBuffer> {
  // Codes of three bits: clear before every second pixel, so that they never grow.
  const codes: number[] = [];
  for (let left = width * height; left > 0; left -= 2) codes.push(4, ...Array(Math.min(2, left)).fill(pixel));
  codes.push(5);
  const packed = new Uint8Array(Math.ceil(codes.length * 3 / 8));
  codes.forEach((code, i) => {
    const at = i * 3;
    packed[at >> 3]! |= code << (at & 7);
    if ((at & 7) > 5) packed[(at >> 3) + 1]! |= code >> (8 - (at & 7));
  });
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < packed.length; at += 255) {
    const part = packed.subarray(at, at + 255);
    blocks.push(new Uint8Array([part.length]), part);
  }
  const two = (value: number) => [value & 255, value >> 8];
  return join(
    new Uint8Array([0x47, 0x49, 0x46, 0x38, 0x39, 0x61, ...two(width), ...two(height), 0x80, 0, 0]),
    new Uint8Array([...colours[0], ...colours[1]]),
    new Uint8Array([0x2c, 0, 0, 0, 0, ...two(width), ...two(height), 0, 2]),
    ...blocks,
    new Uint8Array([0, 0x3b]),
  );
}

/** Lossless, all of one colour. */
export function webp(
  width: number,
  height: number,
  [red, green, blue, alpha]: Rgba,
): Uint8Array<ArrayBuffer> {
  const bits: number[] = [];
  const push = (value: number, count: number) => {
    for (let i = 0; i < count; i++) bits.push(value >> i & 1);
  };
  push(width - 1, 14);
  push(height - 1, 14);
  push(1, 1);
  push(0, 3);
  push(0, 3); // no transform, no cache, one set of codes
  // Each code has one symbol, so the pixels themselves take no bits.
  for (const symbol of [green, red, blue, alpha]) {
    push(0b101, 3);
    push(symbol, 8);
  }
  push(0b001, 3);
  push(0, 1);
  const data = new Uint8Array(1 + Math.ceil(bits.length / 8) + 1);
  data[0] = 0x2f;
  bits.forEach((bit, i) => data[1 + (i >> 3)]! |= bit << (i & 7));
  const even = data.length + (data.length & 1);
  const bytes = new Uint8Array(20 + even);
  const view = new DataView(bytes.buffer);
  bytes.set(new TextEncoder().encode("RIFF"));
  view.setUint32(4, 12 + even, true);
  bytes.set(new TextEncoder().encode("WEBPVP8L"), 8);
  view.setUint32(16, data.length, true);
  bytes.set(data, 20);
  return bytes;
}

/** Base64 of bytes. */
export function base64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

/** The same numbers each time, hard to compress. */
export function noise(x: number, y: number): number {
  let n = Math.imul(x + 1, 0x9e3779b1) ^ Math.imul(y + 1, 0x85ebca6b);
  n = Math.imul(n ^ n >>> 15, 0x2c1b3c6d);
  return (n ^ n >>> 12) & 255;
}

/** Type and pixels of a PNG or JPEG, by its bytes. */
export function factsOf(bytes: Uint8Array): { type: string; size: readonly [number, number] } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0) === 0x89504e47) {
    return { type: "image/png", size: [view.getUint32(16), view.getUint32(20)] };
  }
  if (view.getUint16(0) !== 0xffd8) throw new Error("Neither a PNG nor a JPEG");
  for (let at = 2;; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint16(at);
    if (marker < 0xffc0 || marker > 0xfffe) throw new Error("The JPEG has no frame");
    if (marker <= 0xffc2) {
      return { type: "image/jpeg", size: [view.getUint16(at + 7), view.getUint16(at + 5)] };
    }
  }
}
