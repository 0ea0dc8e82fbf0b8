/** How large an image is, told by its first bytes (core.md B.10, A.11). Nothing is decoded or fetched. */

export type ImageSize = readonly [width: number, height: number];

/** What a model is sent at most: the longer side in pixels, and the bytes of the file. */
export interface ImageLimits {
  readonly maxSide: number;
  readonly maxBytes: number;
}

/** More are not opened: a few kilobytes can stand for terabytes. */
export const MAX_PIXELS = 100_000_000;
/** Characters of base64 that are looked at: the size stands at the start, in photographs behind metadata. */
const HEADS = [64, 4 << 10, 256 << 10];
/** Markers of a JPEG that stand alone, without a segment behind them. */
const ALONE = (marker: number) => marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8);
const NO_FRAME: readonly number[] = [0xc4, 0xc8, 0xcc];

/** Width and height from the head of a PNG, GIF, BMP, WebP or JPEG file; `null` when they are not there. */
export function imageSize(head: Uint8Array): ImageSize | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const ascii = (from: number, to: number) => String.fromCharCode(...head.subarray(from, to));
  if (head.length < 26) return null;
  if (ascii(1, 4) === "PNG") return [view.getUint32(16), view.getUint32(20)];
  if (ascii(0, 3) === "GIF") return [view.getUint16(6, true), view.getUint16(8, true)];
  if (ascii(0, 2) === "BM") return bmpSize(view);
  if (ascii(0, 4) === "RIFF" && ascii(8, 12) === "WEBP") return webpSize(view, ascii(12, 16));
  return view.getUint16(0) === 0xffd8 ? jpegSize(view) : null;
}

/** Heights below zero: the rows stand from the top. The oldest header has numbers of two bytes. */
function bmpSize(view: DataView): ImageSize {
  if (view.getUint32(14, true) === 12) return [view.getUint16(18, true), view.getUint16(20, true)];
  return [view.getInt32(18, true), Math.abs(view.getInt32(22, true))];
}

function webpSize(view: DataView, chunk: string): ImageSize | null {
  if (view.byteLength < 30) return null;
  if (chunk === "VP8 ") return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
  if (chunk === "VP8L") {
    const bits = view.getUint32(21, true);
    return [(bits & 0x3fff) + 1, ((bits >> 14) & 0x3fff) + 1];
  }
  const three = (at: number) => view.getUint16(at, true) | view.getUint8(at + 2) << 16;
  return chunk === "VP8X" ? [three(24) + 1, three(27) + 1] : null;
}

/** Walks the segments up to the frame header. */
function jpegSize(view: DataView): ImageSize | null {
  for (let at = 2; at + 9 <= view.byteLength;) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    if (marker === 0xff) at++;
    else if (ALONE(marker)) at += 2;
    else if (marker >= 0xc0 && marker <= 0xcf && !NO_FRAME.includes(marker)) {
      return [view.getUint16(at + 7), view.getUint16(at + 5)];
    } else {
      const length = view.getUint16(at + 2);
      if (length < 2) return null;
      at += 2 + length;
    }
  }
  return null;
}

/** The base64 of a data URL; `null` for any other address. */
export function base64Of(url: string): string | null {
  const data = /^data:[^;,]*(?:;[^;,]*)*;base64,/i.exec(url);
  return data && url.slice(data[0].length);
}

/** True for a vector image inside its URL, by what it says of itself or how it begins. */
export function isVector(url: string): boolean {
  return /^data:image\/svg\+xml[;,]/i.test(url) || /^(PHN2Z|PD94bWwg)/.test(base64Of(url) ?? "");
}

/** True for an image inside its URL that is beyond the limits; addresses and unknown forms count as fine. */
export function isBeyond(url: string, limits: ImageLimits): boolean {
  const base64 = base64Of(url);
  if (base64 === null) return false;
  if (base64.length * 3 / 4 - 2 > limits.maxBytes) return true;
  const size = sizeInside(base64);
  return size !== null && Math.max(...size) > limits.maxSide;
}

function sizeInside(base64: string): ImageSize | null {
  // Every format but JPEG says its size at once.
  for (const limit of base64.startsWith("/9j/") ? HEADS : HEADS.slice(0, 1)) {
    const size = imageSize(headOf(base64, limit));
    if (size !== null) return size;
  }
  return null;
}

function headOf(base64: string, limit: number): Uint8Array {
  const part = base64.slice(0, Math.floor(Math.min(base64.length, limit) / 4) * 4);
  try {
    const text = atob(part);
    const bytes = new Uint8Array(text.length);
    for (let at = 0; at < text.length; at++) bytes[at] = text.charCodeAt(at);
    return bytes;
  } catch {
    // Not base64: nothing is known about it.
    return new Uint8Array();
  }
}
