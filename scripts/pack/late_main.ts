/** The compressed code beside this module: `late.bin`, made by `late.ts`. Loaded when the first of it is needed. */
import { inflateRawSync } from "node:zlib";
import { createLateCode, type LateSource } from "./late_code.ts";

const decoder = new TextDecoder();

function readAt(file: Deno.FsFile, at: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  file.seekSync(at, Deno.SeekMode.Start);
  for (let done = 0; done < length;) {
    const count = file.readSync(bytes.subarray(done));
    if (count === null) throw new Error("The program's file is cut short. Install it again.");
    done += count;
  }
  return bytes;
}

/** The length of the index as four bytes, the index (name → place and length), the members as raw deflate. */
function openArchive(path: string): Pick<LateSource, "has" | "read"> {
  const file = Deno.openSync(path);
  const length = new DataView(readAt(file, 0, 4).buffer).getUint32(0);
  const index: Record<string, [number, number]> = JSON.parse(decoder.decode(readAt(file, 4, length)));
  return {
    has: (name) => Object.hasOwn(index, name),
    // At once: a member takes less time than a turn of the event loop, and the stream of the web ten times as long.
    read: (name) => {
      const [at, size] = index[name]!;
      return decoder.decode(inflateRawSync(readAt(file, 4 + length + at, size)));
    },
  };
}

const directory = import.meta.dirname!;
const code = createLateCode({
  ...openArchive(`${directory}/late.bin`),
  importNative: (specifier) => import(specifier),
  meta: (name) => ({
    url: new URL(name, import.meta.url).href,
    dirname: directory,
    filename: `${directory}${Deno.build.os === "windows" ? "\\" : "/"}${name}`,
  }),
});

export const load = code.load;
