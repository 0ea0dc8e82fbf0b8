/** The chunks of a PNG, as far as pixels need them. Checksums are not looked at: the inflated data has its own. */
import { MAX_PIXELS } from "@/lib/image_head.ts";
import { Unreadable } from "./pixels.ts";

export interface Header {
  readonly width: number;
  readonly height: number;
  /** Bits of a sample. */
  readonly depth: number;
  readonly colour: number;
  readonly interlaced: boolean;
}

export interface Parts {
  readonly header: Header;
  readonly palette: Uint8Array;
  /** Opacities of the palette, or the one colour that is transparent. */
  readonly transparency: Uint8Array;
  readonly data: readonly Uint8Array<ArrayBuffer>[];
}

/** Samples of a pixel by colour type: grey, -, RGB, palette, grey and opacity, -, RGB and opacity. */
export const CHANNELS: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 };

/** Throws `Unreadable`. */
export function partsOf(bytes: Uint8Array<ArrayBuffer>): Parts {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let header: Header | null = null;
  let [palette, transparency] = [new Uint8Array(), new Uint8Array()];
  const data: Uint8Array<ArrayBuffer>[] = [];
  for (let at = 8; at + 12 <= bytes.length;) {
    const length = view.getUint32(at);
    const type = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    // What was cut off ends the rows too early, which is told then.
    const body = bytes.subarray(at + 8, Math.min(at + 8 + length, bytes.length));
    if (type === "IHDR") header ??= headerOf(body);
    else if (type === "PLTE") palette = body;
    else if (type === "tRNS") transparency = body;
    else if (type === "IDAT") data.push(body);
    else if (type === "IEND") break;
    at += 12 + length;
  }
  if (header === null) throw new Unreadable("The PNG has no header");
  if (header.colour === 3 && palette.length < 3) throw new Unreadable("The PNG has no palette");
  return { header, palette, transparency, data };
}

function headerOf(body: Uint8Array): Header {
  if (body.length < 13) throw new Unreadable("The header of the PNG is cut off");
  const view = new DataView(body.buffer, body.byteOffset, body.byteLength);
  const [depth, colour] = [body[8]!, body[9]!];
  const channels = CHANNELS[colour];
  const fits = depth === 8 || (depth === 16 && colour !== 3) ||
    ([1, 2, 4].includes(depth) && (colour === 0 || colour === 3));
  if (channels === undefined || !fits || body[12]! > 1) throw new Unreadable("The PNG is of an unknown kind");
  const [width, height] = [view.getUint32(0), view.getUint32(4)];
  // Whoever asked has looked at the head of the file, where something else may stand.
  if (width === 0 || height === 0 || width * height > MAX_PIXELS) {
    throw new Unreadable(`A PNG of ${width}×${height} pixels`);
  }
  return { width, height, depth, colour, interlaced: body[12] === 1 };
}
