/** The samples of a line of a PNG as pixels of four bytes. */
import { CHANNELS, type Parts } from "./png_parts.ts";

export type Converter = (line: Uint8Array, pixels: number, out: Uint8Array) => void;

export function converterOf({ header, palette, transparency }: Parts): Converter {
  const { colour, depth } = header;
  const channels = CHANNELS[colour]!;
  const sample = samplerOf(depth);
  const top = (1 << Math.min(depth, 8)) - 1;
  const clear = transparency.length >= channels * 2
    ? Array.from({ length: channels }, (_, i) => transparency[i * 2]! << 8 | transparency[i * 2 + 1]!)
    : null;
  if (colour === 3) {
    return (line, pixels, out) => {
      for (let x = 0, o = 0; x < pixels; x++, o += 4) {
        const index = sample(line, x);
        const at = index * 3;
        out[o] = palette[at] ?? 0;
        out[o + 1] = palette[at + 1] ?? 0;
        out[o + 2] = palette[at + 2] ?? 0;
        out[o + 3] = transparency[index] ?? 255;
      }
    };
  }
  const isGrey = colour === 0 || colour === 4;
  const hasAlpha = colour === 4 || colour === 6;
  const exact = depth === 16 ? wideSample : sample;
  return (line, pixels, out) => {
    for (let x = 0, o = 0, i = 0; x < pixels; x++, o += 4, i += channels) {
      const first = sample(line, i) * 255 / top;
      out[o] = first;
      out[o + 1] = isGrey ? first : sample(line, i + 1);
      out[o + 2] = isGrey ? first : sample(line, i + 2);
      out[o + 3] = hasAlpha
        ? sample(line, i + channels - 1)
        : clear !== null && clear.every((value, n) => value === exact(line, i + n))
        ? 0
        : 255;
    }
  };
}

/** Sample `i` of a line; of 16 bits the upper 8. */
function samplerOf(depth: number): (line: Uint8Array, i: number) => number {
  if (depth === 8) return (line, i) => line[i]!;
  if (depth === 16) return (line, i) => line[i * 2]!;
  const mask = (1 << depth) - 1;
  return (line, i) => line[i * depth >> 3]! >> (8 - depth - (i * depth & 7)) & mask;
}

function wideSample(line: Uint8Array, i: number): number {
  return line[i * 2]! << 8 | line[i * 2 + 1]!;
}
