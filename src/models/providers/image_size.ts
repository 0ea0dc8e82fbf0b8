/** How large an image is, from its own bytes (core.md A.11 `image_too_large`). Nothing is decoded or fetched. */

const MAX_BYTES = 5 << 20;
const MAX_SIDE = 8_000;
/** The size stands near the start, behind metadata in photographs. */
const HEAD_CHARACTERS = 256 << 10;

/** True for an image of more than 5 MB or more than 8,000 pixels a side; addresses and unknown forms count as fine. */
export function isOversized(url: string): boolean {
  const data = /^data:[^;,]+;base64,/.exec(url);
  if (!data) return false;
  const base64 = url.slice(data[0].length);
  if (base64.length * 3 / 4 > MAX_BYTES) return true;
  const size = sizeOf(headOf(base64));
  return size !== null && Math.max(size.width, size.height) > MAX_SIDE;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

function headOf(base64: string): DataView {
  const part = base64.slice(0, Math.floor(Math.min(base64.length, HEAD_CHARACTERS) / 4) * 4);
  try {
    const bytes = Uint8Array.from(atob(part), (character) => character.charCodeAt(0));
    return new DataView(bytes.buffer);
  } catch {
    // Not base64: nothing is known about it.
    return new DataView(new ArrayBuffer(0));
  }
}

function sizeOf(view: DataView): Size | null {
  if (view.byteLength < 24) return null;
  if (view.getUint32(0) === 0x89504e47) return { width: view.getUint32(16), height: view.getUint32(20) };
  if (view.getUint32(0) === 0x47494638) {
    return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
  }
  return view.getUint16(0) === 0xffd8 ? jpegSize(view) : null;
}

/** Walks the segments of a JPEG to the one that opens its frame. */
function jpegSize(view: DataView): Size | null {
  let at = 2;
  while (at + 9 < view.byteLength) {
    if (view.getUint8(at) !== 0xff) return null;
    const marker = view.getUint8(at + 1);
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
    if (isFrame) return { height: view.getUint16(at + 5), width: view.getUint16(at + 7) };
    at += 2 + view.getUint16(at + 2);
  }
  return null;
}
