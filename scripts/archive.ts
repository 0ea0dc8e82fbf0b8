/**
 * Archives of a release, byte for byte the same for the same files: no owner, no time of the day. tar (ustar) with
 * gzip, and zip with deflate.
 */

export interface ArchiveFile {
  readonly name: string;
  readonly data: Uint8Array;
  readonly executable: boolean;
}

const encoder = new TextEncoder();

async function pipe(data: Uint8Array, through: CompressionStream): Promise<Uint8Array> {
  const stream = new Blob([data as BlobPart]).stream().pipeThrough(through);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

// ── tar ─────────────────────────────────────────────────────────────────────────────────────────────────────

const BLOCK = 512;

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0") + "\0";
}

function tarHeader(file: ArchiveFile): Uint8Array {
  const header = new Uint8Array(BLOCK);
  const put = (at: number, text: string) => header.set(encoder.encode(text), at);
  put(0, file.name);
  put(100, octal(file.executable ? 0o755 : 0o644, 7));
  put(108, octal(0, 7));
  put(116, octal(0, 7));
  put(124, octal(file.data.length, 11));
  put(136, octal(0, 11));
  put(148, " ".repeat(8)); // The checksum counts as blanks while it is worked out.
  put(156, "0");
  put(257, "ustar\x0000");
  put(148, octal(header.reduce((sum, byte) => sum + byte, 0), 6) + " ");
  return header;
}

export async function tarGz(files: readonly ArchiveFile[]): Promise<Uint8Array> {
  const parts = files.flatMap((file) => [
    tarHeader(file),
    file.data,
    new Uint8Array((BLOCK - file.data.length % BLOCK) % BLOCK),
  ]);
  return await pipe(join([...parts, new Uint8Array(2 * BLOCK)]), new CompressionStream("gzip"));
}

// ── zip ─────────────────────────────────────────────────────────────────────────────────────────────────────

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let bit = 0; bit < 8; bit++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c;
});

function crc32(data: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of data) crc = CRC_TABLE[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Little-endian fields of 2 or 4 bytes. */
function fields(...values: readonly (readonly [bytes: 2 | 4, value: number])[]): Uint8Array {
  const out: number[] = [];
  for (const [bytes, value] of values) for (let i = 0; i < bytes; i++) out.push((value >>> (8 * i)) & 0xff);
  return Uint8Array.from(out);
}

/** 1 January 1980, the first day zip knows. */
const DATE = (0 << 9) | (1 << 5) | 1;
const UNIX = 3 << 8;

export async function zip(files: readonly ArchiveFile[]): Promise<Uint8Array> {
  const bodies: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const file of files) {
    const name = encoder.encode(file.name);
    const packed = await pipe(file.data, new CompressionStream("deflate-raw"));
    const common: [2 | 4, number][] = [
      [2, 20],
      [2, 0x0800],
      [2, 8],
      [2, 0],
      [2, DATE],
      [4, crc32(file.data)],
      [4, packed.length],
      [4, file.data.length],
      [2, name.length],
      [2, 0],
    ];
    const body = join([fields([4, 0x04034b50], ...common), name, packed]);
    const mode = ((file.executable ? 0o100755 : 0o100644) << 16) >>> 0;
    directory.push(
      fields([4, 0x02014b50], [2, UNIX | 20], ...common, [2, 0], [2, 0], [2, 0], [4, mode], [4, offset]),
      name,
    );
    bodies.push(body);
    offset += body.length;
  }
  const index = join(directory);
  const end = fields(
    [4, 0x06054b50],
    [2, 0],
    [2, 0],
    [2, files.length],
    [2, files.length],
    [4, index.length],
    [4, offset],
    [2, 0],
  );
  return join([...bodies, index, end]);
}
