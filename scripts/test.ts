/**
 * The whole proof in one command (`deno task test`): format, types, lint, layers, unit tests, the binary, the
 * black-box suite against it, and three minutes of mixed load, alone, since they are measured. The last line is
 * `N passed, N failed`. `--fast` leaves the binary out, runs the black-box suite on the source and the load for 20 s;
 * `--only <step>` runs one step.
 */
import { parseArgs } from "node:util";

const ROOT = new URL("../", import.meta.url).pathname;
const BINARY = `${ROOT}dist/hermes`;

interface Counts {
  passed: number;
  failed: number;
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

/** Longer than any step takes; a step that hangs is ended and has failed. */
const STEP_MS = 25 * 60_000;

/** Runs a step, passing its output on, and returns its text. */
async function run(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ ok: boolean; text: string }> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd: ROOT,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const timer = setTimeout(() => {
    say(`   ended after ${STEP_MS / 60_000} minutes`);
    child.kill("SIGKILL");
  }, STEP_MS);
  let text = "";
  const pass = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    for await (const chunk of stream) {
      Deno.stdout.writeSync(chunk);
      text += decoder.decode(chunk, { stream: true });
    }
  };
  const [status] = await Promise.all([child.status, pass(child.stdout), pass(child.stderr)]);
  clearTimeout(timer);
  return { ok: status.success, text };
}

/** Reads `ok | 12 passed (3 steps) | 0 failed`. A run without that line has failed. */
function countTests({ ok, text }: { ok: boolean; text: string }): Counts {
  const last = [...text.matchAll(/\| (\d+) passed(?: \(\d+ steps?\))? \| (\d+) failed/g)].at(-1);
  if (!last) return { passed: 0, failed: 1 };
  const failed = Number(last[2]);
  return { passed: Number(last[1]), failed: failed === 0 && !ok ? 1 : failed };
}

async function check(name: string, args: readonly string[]): Promise<Counts> {
  say(`── ${name}`);
  const { ok } = await run(args);
  return ok ? { passed: 1, failed: 0 } : { passed: 0, failed: 1 };
}

async function tests(
  name: string,
  paths: readonly string[],
  env: Record<string, string> = {},
  flags: readonly string[] = ["--quiet", "--parallel"],
): Promise<Counts> {
  say(`── ${name}`);
  return countTests(
    await run(["test", "--allow-all", "--no-check", ...flags, ...paths], {
      DENO_JOBS: "2",
      ...env,
    }),
  );
}

/** The compiled program is tested, or with `--fast` the source. */
async function programEnv(isFast = false): Promise<Record<string, string>> {
  return isFast ? { HERMES_SOAK_SECONDS: "20" } : { HERMES_BIN: BINARY, ...await makeCodeCache() };
}

/** A code cache of the compiled program for the tests, as its first start on a machine makes one. */
async function makeCodeCache(): Promise<Record<string, string>> {
  const directory = `${ROOT}dist/tmp`;
  await Deno.remove(directory, { recursive: true }).catch(() => {/* not there yet */});
  await Deno.mkdir(directory);
  await new Deno.Command(BINARY, { args: ["--version"], env: { TMPDIR: directory } }).output();
  const cache = `${directory}/deno-compile-hermes.cache`;
  return await Deno.stat(cache).then(() => ({ HERMES_TEST_CODE_CACHE: cache }), () => ({}));
}

const UNIT = [
  "app",
  "approvals",
  "build",
  "cli",
  "commands",
  "config",
  "core",
  "lib",
  "mcp",
  "models",
  "pins",
  "platform",
  "properties",
  "protocols",
  "security",
  "store",
  "tools",
];

async function existing(names: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) {
    if (await Deno.stat(`${ROOT}tests/${name}`).catch(() => null)) found.push(`tests/${name}`);
  }
  return found;
}

const BLACK_BOX = ["binary", "torture", "field_cases"];
/** What is no test by itself, or a step of its own. */
const OTHERS = ["fixtures", "soak", "support"];

/** A folder of tests that no step runs would go unnoticed. */
async function forgotten(): Promise<string[]> {
  const known = new Set([...UNIT, ...BLACK_BOX, ...OTHERS]);
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${ROOT}tests`)) {
    if (isDirectory && !known.has(name)) found.push(name);
  }
  return found;
}

const { values } = parseArgs({
  args: Deno.args,
  options: { fast: { type: "boolean" }, only: { type: "string" } },
});

const steps: Record<string, () => Promise<Counts>> = {
  format: () => check("format", ["fmt", "--check", "--quiet"]),
  types: () => check("types", ["check", "main.ts", "src", "tests", "scripts"]),
  lint: () => check("lint", ["lint", "--quiet"]),
  layers: () => check("layers", ["run", "--allow-all", "scripts/check_layers.ts"]),
  unit: async () => await tests("unit tests", await existing(UNIT)),
  build: () => check("build", ["run", "--allow-all", "scripts/build.ts"]),
  binary: async () =>
    await tests(
      "black-box tests",
      await existing(BLACK_BOX),
      await programEnv(values.fast),
    ),
  // Not quiet: the figures are to be seen.
  soak: async () => await tests("mixed load", ["tests/soak"], await programEnv(values.fast), []),
};
if (values.fast) delete steps["build"];

const unknown = await forgotten();
if (unknown.length > 0) throw new Error(`No step runs these folders of tests: ${unknown.join(", ")}`);

const total: Counts = { passed: 0, failed: 0 };
const start = performance.now();
for (const [name, step] of Object.entries(steps)) {
  if (values.only && values.only !== name) continue;
  const began = performance.now();
  const { passed, failed } = await step();
  say(`   ${name}: ${passed} passed, ${failed} failed, ${((performance.now() - began) / 1000).toFixed(1)} s`);
  total.passed += passed;
  total.failed += failed;
  if (name === "build" && failed > 0) break;
}
say(`── ${((performance.now() - start) / 1000).toFixed(0)} s in all`);
say(`${total.passed} passed, ${total.failed} failed`);
Deno.exit(total.failed > 0 || total.passed === 0 ? 1 : 0);
