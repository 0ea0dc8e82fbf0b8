/**
 * The picture of an empty database as the built program carries it. A page of 4,096 bytes for each table and index is
 * nearly all zeros, and everything that the program carries is read at every start.
 *
 *   length of the whole (u32) │ zeros before (u32) │ bytes (u32) │ the bytes │ zeros before │ …
 */
const HEAD = 4;
const RUN = 8;

/** Pieces of `bytes` between runs of zeros that are longer than what it takes to say so. */
function pieces(bytes: Uint8Array): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  for (let at = 0; at < bytes.length; at++) {
    if (bytes[at] === 0) continue;
    const last = found.at(-1);
    if (last && at - last.end <= RUN) last.end = at + 1;
    else found.push({ start: at, end: at + 1 });
  }
  return found;
}

export function packPicture(bytes: Uint8Array): Uint8Array {
  const found = pieces(bytes);
  const size = found.reduce((sum, { start, end }) => sum + RUN + end - start, HEAD);
  const packed = new Uint8Array(size);
  const view = new DataView(packed.buffer);
  view.setUint32(0, bytes.length);
  let at = HEAD;
  let done = 0;
  for (const { start, end } of found) {
    view.setUint32(at, start - done);
    view.setUint32(at + 4, end - start);
    packed.set(bytes.subarray(start, end), at + RUN);
    at += RUN + end - start;
    done = end;
  }
  return packed;
}

/** The bytes that `packPicture` was given. */
export function unpackPicture(packed: Uint8Array): Uint8Array {
  const view = new DataView(packed.buffer, packed.byteOffset, packed.byteLength);
  const bytes = new Uint8Array(view.getUint32(0));
  let place = 0;
  for (let at = HEAD; at < packed.length;) {
    place += view.getUint32(at);
    const length = view.getUint32(at + 4);
    bytes.set(packed.subarray(at + RUN, at + RUN + length), place);
    place += length;
    at += RUN + length;
  }
  return bytes;
}
