/**
 * First pass over the bundle: chunks that a process always loads together become one file. Code splitting makes a file
 * of each set of modules that the same imports reach, a few hundred small ones; the runtime pays for each file it
 * embeds at each start, and again for each one it loads.
 *
 *   main       with every command
 *   part_xyz   when `acp`, `gateway` and `serve` load it: with the start, for the first session, or never
 *   the rest   as it was split
 *
 * `src/cli/first_run.ts` names what a first session needs.
 */
import { rollup } from "rollup";

const DOORS = ["acp", "gateway", "serve"];
const FIRST_RUN = "first_run";
const MAIN = "main.js";
const MAIN_PART = "main";
/** Characters of code beyond `soon`. */
const LIGHT = 6_000;

/** Nothing but imports, and exports of names that come from the first of them that gives any. */
const FACADE =
  /^\s*(?:import"[^"]+";)*import\{[^}]*\}from"\.\/([^"]+)";(?:import(?:\{[^}]*\}from)?"[^"]+";)*export\{[^}]*\};?\s*$/;

type Next = (file: string) => readonly string[];

function closure(roots: readonly string[], next: Next): ReadonlySet<string> {
  const seen = new Set<string>();
  const open = [...roots];
  for (let file = open.pop(); file !== undefined; file = open.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    open.push(...next(file));
  }
  return seen;
}

/** The only chunk that was made for the module of this name; throws when there are none or several. */
function chunkOf(name: string, files: readonly string[]): string {
  const found = files.filter((file) => new RegExp(`^${name}-[A-Z0-9]{8}\\.js$`).test(file));
  if (found.length !== 1) throw new Error(`One chunk was expected for ${name}; there are ${found.length}`);
  return found[0]!;
}

/** The group of each chunk that belongs to one. */
function groupsOf(text: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const files = [...text.keys()];
  const found = (file: string, pattern: RegExp) =>
    [...text.get(file)!.matchAll(pattern)].map(([, name]) => name!);
  const imported: Next = (file) => found(file, /\b(?:im|ex)port(?:[^;"'()]*?from)?\s*"\.\/([^"]+)"/g);
  const loadedLater: Next = (file) => found(file, /\bimport\("\.\/([^"]+)"\)/g);

  const soon = closure([chunkOf(FIRST_RUN, files)], imported);
  const isSoon = (file: string) => imported(file).every((other) => soon.has(other));
  const always = closure([MAIN], imported);
  const starts = DOORS.map((door) => closure([MAIN, chunkOf(door, files)], imported));
  const sessions = DOORS.map((door) =>
    closure([chunkOf(door, files)], (file) => [...imported(file), ...loadedLater(file).filter(isSoon)])
  );
  const groups = new Map<string, string>();
  for (const file of new Set([...soon, ...starts.flatMap((start) => [...start])])) {
    if (file.startsWith(`${FIRST_RUN}-`)) continue;
    const when = DOORS.map((_, door) =>
      starts[door]!.has(file) ? "s" : sessions[door]!.has(file) ? "f" : "n"
    );
    groups.set(file, always.has(file) ? MAIN_PART : `part_${when.join("")}`);
  }
  // What only passes on a name of a part is of that part: loading one more file takes longer than all it does.
  for (const [file, code] of text) {
    const origin = FACADE.exec(code)?.[1];
    const group = origin === undefined ? undefined : groups.get(origin);
    if (group && !groups.has(file) && isSoon(file)) groups.set(file, group);
  }
  return groups;
}

/** What the bundler gives to CommonJS code for Node's own modules is made when it is first called: half a millisecond. */
function requireLater(code: string): string {
  return code.replace("=createRequire(import.meta.url)", "=(id)=>createRequire(import.meta.url)(id)");
}

export interface Packed {
  /** The number of files before. */
  readonly before: number;
  readonly files: readonly string[];
  /** What a start or a first session of a door loads. */
  readonly soon: ReadonlySet<string>;
  /** What is loaded later, but is so little that it stays as it is. */
  readonly light: ReadonlySet<string>;
}

/** Packs the chunks in `directory`, in place; other files stay. */
export async function packChunks(directory: string): Promise<Packed> {
  const text = new Map<string, string>();
  for await (const { name } of Deno.readDir(directory)) {
    if (name.endsWith(".js")) text.set(name, await Deno.readTextFile(`${directory}/${name}`));
  }
  const groups = groupsOf(text);
  const bundle = await rollup({
    input: `${directory}/${MAIN}`,
    external: (id) => id.startsWith("node:"),
    treeshake: false,
    logLevel: "warn",
    onLog: (level, log) => {
      if (level === "warn") throw new Error(`Cannot pack the chunks: ${log.message}`);
    },
  });
  const { output } = await bundle.generate({
    format: "es",
    compact: true,
    chunkFileNames: "[name]-[hash].js",
    onlyExplicitManualChunks: true,
    hoistTransitiveImports: false,
    manualChunks: (id) => groups.get(id.slice(id.lastIndexOf("/") + 1)),
  });
  await bundle.close();
  for (const name of text.keys()) await Deno.remove(`${directory}/${name}`);
  const imports = new Map<string, readonly string[]>();
  for (const file of output) {
    if (file.type !== "chunk") throw new Error(`The bundle has an unexpected file: ${file.fileName}`);
    await Deno.writeTextFile(`${directory}/${file.fileName}`, requireLater(file.code));
    imports.set(file.fileName, file.imports.filter((id) => !id.startsWith("node:")));
  }
  const files = [...imports.keys()];
  const roots = files.filter((file) => file === MAIN || file.startsWith(`${FIRST_RUN}-`));
  const soon = closure(roots, (file) => imports.get(file)!);
  const light = new Set<string>();
  // What a command loads of these is less than what unpacking would take: the names that joined modules leave too.
  const size = new Map(output.map((file) => [file.fileName, file.type === "chunk" ? file.code.length : 0]));
  for (const file of files) {
    const more = [...closure([file], (name) => imports.get(name)!)].filter((name) => !soon.has(name));
    if (more.reduce((sum, name) => sum + size.get(name)!, 0) < LIGHT) more.forEach((name) => light.add(name));
  }
  return { before: text.size, files, soon, light };
}
