/** What an image is, by its first bytes; names and headers that others gave are not believed (core.md B.10). */

const WEBP = [0x52, 0x49, 0x46, 0x46];
const KNOWN: readonly (readonly [type: string, bytes: readonly number[]])[] = [
  ["image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", [0xff, 0xd8, 0xff]],
  ["image/gif", [0x47, 0x49, 0x46, 0x38]],
  ["image/bmp", [0x42, 0x4d]],
];
/** Characters of base64 that hold every mark above. */
const HEAD = 64;

/** The media type of an image that models take; `null` for anything else. */
export function sniffImage(bytes: Uint8Array): string | null {
  const begins = (mark: readonly number[], at = 0) => mark.every((byte, i) => bytes[at + i] === byte);
  if (begins(WEBP) && begins([0x57, 0x45, 0x42, 0x50], 8)) return "image/webp";
  return KNOWN.find(([, mark]) => begins(mark))?.[0] ?? null;
}

/** True for the text of a vector image. */
export function looksLikeSvg(bytes: Uint8Array): boolean {
  const head = new TextDecoder().decode(bytes.subarray(0, 1_024));
  return /^\ufeff?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--[^>]{0,400}-->\s*)?(?:<!DOCTYPE svg[^>]{0,300}>\s*)?<svg[\s>]/i
    .test(head);
}

/** A data URL under the type that its bytes have; anything that is not recognised stays as it is. */
export function withTrueType(url: string): string {
  const data = /^data:([^;,]*)(?:;[^;,]*)*;base64,/i.exec(url);
  if (!data) return url;
  let head: Uint8Array;
  try {
    const start = url.slice(data[0].length, data[0].length + HEAD);
    head = Uint8Array.from(atob(start.slice(0, start.length & ~3)), (char) => char.charCodeAt(0));
  } catch {
    return url; // not base64: the provider says what it thinks of it
  }
  const type = sniffImage(head);
  if (type === null || type === data[1]!.toLowerCase()) return url;
  return `data:${type};base64,${url.slice(data[0].length)}`;
}
