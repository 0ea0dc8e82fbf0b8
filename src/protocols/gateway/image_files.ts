/**
 * Image files for the next prompt (tui-gateway.md B.0 "ImageMeta"): what they are, how large, and as the part of a
 * message that the model reads. Sizes are read from the head of the file; a format that hides it has none.
 */
import type { Hermes } from "@/app/mod.ts";
import type { ContentPart } from "@/core/contract.ts";
import { imageSize } from "@/lib/image_head.ts";

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
  const size = imageSize(await hermes.platform.files.readHead(path, HEAD_BYTES));
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
