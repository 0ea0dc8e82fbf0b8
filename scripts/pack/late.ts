/**
 * Third pass over the bundle: what neither a start nor a first session loads goes, compressed, into one file.
 * `late_code.ts` is the half that loads it again. Each `import("./x.js")` of such a file becomes a call there.
 */
import { deflateRawSync } from "node:zlib";
import { rollup } from "rollup";

export const ARCHIVE = "late.bin";
const LOADER = "late.js";

const LOADED_LATER = /\bimport\((["'])\.\/([^"']+)\1\)/g;

/** `import("./x.js")` of a late `x.js` asks the loader. */
function callsLoader(code: string, late: ReadonlySet<string>): string {
  return code.replace(
    LOADED_LATER,
    (whole, _quote, name) =>
      late.has(name) ? `import("./${LOADER}").then((late)=>late.load("${name}"))` : whole,
  );
}

/** The late files in the form that `late_code.ts` loads, by name. */
async function systemForm(
  directory: string,
  late: ReadonlySet<string>,
): Promise<ReadonlyMap<string, string>> {
  const isLate = (id: string) => late.has(id.slice(id.lastIndexOf("/") + 1));
  const bundle = await rollup({
    input: [...late].map((name) => `${directory}/${name}`),
    external: (id) => !isLate(id),
    makeAbsoluteExternalsRelative: false,
    preserveEntrySignatures: "strict",
    treeshake: false,
    logLevel: "warn",
    // Also where two import each other, which `late_code.ts` cannot load.
    onLog: (level, log) => {
      if (level === "warn") throw new Error(`Cannot pack the late code: ${log.message}`);
    },
  });
  const { output } = await bundle.generate({
    format: "system",
    compact: true,
    entryFileNames: "[name].js",
    hoistTransitiveImports: false,
    externalLiveBindings: false,
    systemNullSetters: true,
  });
  await bundle.close();
  const code = new Map<string, string>();
  for (const file of output) {
    if (file.type !== "chunk" || !late.has(file.fileName)) {
      throw new Error(`Unexpected file: ${file.fileName}`);
    }
    code.set(file.fileName, `${file.code}\n//# sourceURL=${file.fileName}`);
  }
  return code;
}

/** Length of the index, index, members: see `openArchive` in `late_main.ts`. */
function archive(code: ReadonlyMap<string, string>): Uint8Array<ArrayBuffer> {
  const encoder = new TextEncoder();
  const index: Record<string, [number, number]> = {};
  const members: Uint8Array[] = [];
  let at = 0;
  for (const [name, text] of code) {
    const member = deflateRawSync(encoder.encode(text), { level: 9 });
    index[name] = [at, member.length];
    members.push(member);
    at += member.length;
  }
  const head = encoder.encode(JSON.stringify(index));
  const bytes = new Uint8Array(4 + head.length + at);
  new DataView(bytes.buffer).setUint32(0, head.length);
  bytes.set(head, 4);
  let place = 4 + head.length;
  for (const member of members) {
    bytes.set(member, place);
    place += member.length;
  }
  return bytes;
}

/**
 * Moves the files of code in `directory` that are not `kept` into the archive, in place; `loader` is the text of
 * `late_main.ts` as one module.
 */
export async function packLate(directory: string, kept: ReadonlySet<string>, loader: string): Promise<void> {
  const late = new Set<string>();
  for await (const { name } of Deno.readDir(directory)) {
    if (name.endsWith(".js") && !kept.has(name)) late.add(name);
  }
  const code = await systemForm(directory, late);
  await Deno.writeFile(`${directory}/${ARCHIVE}`, archive(code));
  for (const name of late) await Deno.remove(`${directory}/${name}`);
  for (const name of kept) {
    const text = await Deno.readTextFile(`${directory}/${name}`);
    await Deno.writeTextFile(`${directory}/${name}`, callsLoader(text, late));
  }
  await Deno.writeTextFile(`${directory}/${LOADER}`, loader);
}
