/**
 * The whole proof in one command (`deno task test`): format, types, lint, layers, unit tests, the binary, and the
 * black-box suite against it. The last line is `N passed, N failed`. `--fast` leaves the binary out and runs the
 * black-box suite on the source; `--only <step>` runs one step.
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
): Promise<Counts> {
  say(`── ${name}`);
  return countTests(
    await run(["test", "--allow-all", "--no-check", "--quiet", "--parallel", ...paths], {
      DENO_JOBS: "2",
      ...env,
    }),
  );
}

const UNIT = [
  "app",
  "approvals",
  "cli",
  "commands",
  "config",
  "core",
  "lib",
  "mcp",
  "models",
  "pins",
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
      await existing(["binary", "torture", "field_cases"]),
      values.fast ? {} : { HERMES_BIN: BINARY },
    ),
};
if (values.fast) delete steps["build"];

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
