/**
 * Image files for the next prompt (tui-gateway.md B.0 "ImageMeta"): what they are, how large, and as the part of a
 * message that the model reads. Sizes are read from the head of the file; a format that hides it has none.
 */
import type { Hermes } from "@/app/mod.ts";
import type { ContentPart } from "@/core/contract.ts";

const TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  bmp: "image/bmp",
};
const HEAD_BYTES = 256 << 10;
/** Larger files are refused: providers do so, too, and later. */
export const MAX_IMAGE_BYTES = 25 << 20;

export interface ImageMeta {
  readonly name: string;
  readonly width?: number;
  readonly height?: number;
  readonly token_estimate?: number;
}

export function isImagePath(path: string): boolean {
  return typeOf(path) !== undefined;
}

function typeOf(path: string): string | undefined {
  const end = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  return end !== undefined && Object.hasOwn(TYPES, end) ? TYPES[end] : undefined;
}

export async function imageMeta(hermes: Hermes, path: string): Promise<ImageMeta> {
  const name = path.replace(/^.*[/\\]/, "");
  const size = sizeOf(await hermes.platform.files.readHead(path, HEAD_BYTES));
  if (!size) return { name };
  const [width, height] = size;
  return { name, width, height, token_estimate: Math.ceil(width / 512) * Math.ceil(height / 512) * 85 };
}

/** The file as it is now. */
export async function imagePart(hermes: Hermes, path: string): Promise<ContentPart> {
  const bytes = await hermes.platform.files.read(path);
  const type = typeOf(path) ?? "application/octet-stream";
  return { type: "image_url", image_url: { url: `data:${type};base64,${toBase64(bytes)}` } };
}

function toBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

type Size = readonly [width: number, height: number];

/** Width and height from the head of a PNG, GIF, BMP, WebP or JPEG file; `null` when they are not there. */
export function sizeOf(head: Uint8Array): Size | null {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const ascii = (from: number, to: number) => String.fromCharCode(...head.subarray(from, to));
  if (head.length < 26) return null;
  if (ascii(1, 4) === "PNG") return [view.getUint32(16), view.getUint32(20)];
  if (ascii(0, 3) === "GIF") return [view.getUint16(6, true), view.getUint16(8, true)];
  if (ascii(0, 2) === "BM") return [view.getInt32(18, true), Math.abs(view.getInt32(22, true))];
  if (ascii(0, 4) === "RIFF" && ascii(8, 12) === "WEBP") return webpSize(view, ascii(12, 16));
  return view.getUint16(0) === 0xffd8 ? jpegSize(view) : null;
}

function webpSize(view: DataView, chunk: string): Size | null {
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
function jpegSize(view: DataView): Size | null {
  for (let at = 2; at + 9 < view.byteLength;) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [view.getUint16(at + 7), view.getUint16(at + 5)];
    at += 2 + view.getUint16(at + 2);
  }
  return null;
}
