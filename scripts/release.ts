/**
 * Makes a release of the version in `deno.json`: one archive per target that can be built here, their checksums, and
 * the registry's manifest. `deno task release [--target <name>]… [--output <dir>] [--binary <file>] [--write]`.
 *
 * `--write` renews `acp_registry/agent.json` (without checksums: it is inside the binaries). `--binary` packs that
 * file for the one `--target` instead of building. Without `--target` every target is tried; one that cannot be built
 * is named on stderr and makes the exit code 1 when it was asked for.
 */
import { parseArgs } from "node:util";
import config from "../deno.json" with { type: "json" };
import { type ArchiveFile, tarGz, zip } from "./archive.ts";
import {
  archiveName,
  buildManifest,
  manifestProblems,
  manifestText,
  type Target,
  TARGETS,
} from "./manifest.ts";

const ROOT = new URL("../", import.meta.url).pathname;
const BESIDE = ["LICENSE", "README.md"];

function say(line: string): void {
  Deno.stderr.writeSync(new TextEncoder().encode(`release: ${line}\n`));
}

async function sha256(data: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", data as BufferSource);
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The program of a target; `null` when its base cannot be had here. */
async function build(target: Target, directory: string): Promise<Uint8Array | null> {
  const output = `${directory}/${target.name}/${target.windows ? "hermes.exe" : "hermes"}`;
  await Deno.mkdir(`${directory}/${target.name}`, { recursive: true });
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", `${ROOT}scripts/build.ts`, "--target", target.triple, "--output", output],
    cwd: ROOT,
    stdout: "null",
    stderr: "piped",
  }).output();
  if (success) return await Deno.readFile(output);
  const lines = new TextDecoder().decode(stderr).trim().split("\n");
  const reason = lines.find((line) => /error/i.test(line)) ?? lines[0] ?? "";
  say(`${target.name} cannot be built here: ${reason.slice(0, 300)}`);
  return null;
}

async function pack(target: Target, program: Uint8Array): Promise<Uint8Array> {
  const files: ArchiveFile[] = [
    { name: target.windows ? "hermes.exe" : "hermes", data: program, executable: true },
  ];
  for (const name of BESIDE) {
    files.push({ name, data: await Deno.readFile(`${ROOT}${name}`), executable: false });
  }
  return await (target.windows ? zip(files) : tarGz(files));
}

function wantedTargets(names: readonly string[] | undefined): readonly Target[] {
  if (!names) return TARGETS;
  return names.map((name) => {
    const target = TARGETS.find((one) => one.name === name);
    if (!target) {
      throw new Error(`There is no target "${name}": ${TARGETS.map((one) => one.name).join(", ")}`);
    }
    return target;
  });
}

async function release(): Promise<number> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      target: { type: "string", multiple: true },
      output: { type: "string" },
      binary: { type: "string" },
      write: { type: "boolean" },
    },
  });
  const { version } = config;
  const directory = values.output ?? `${ROOT}dist/release`;
  const targets = wantedTargets(values.target);
  if (values.binary !== undefined && targets.length !== 1) {
    throw new Error("--binary needs exactly one --target");
  }
  await Deno.mkdir(directory, { recursive: true });
  const sums: Record<string, string> = {};
  const lines: string[] = [];
  for (const target of targets) {
    const program = values.binary === undefined
      ? await build(target, directory)
      : await Deno.readFile(values.binary);
    if (!program) continue;
    const archive = await pack(target, program);
    const name = archiveName(version, target);
    await Deno.writeFile(`${directory}/${name}`, archive);
    const sum = sums[target.name] = await sha256(archive);
    lines.push(`${sum}  ${name}\n`);
    say(`${name}: ${(archive.length / 2 ** 20).toFixed(1)} MiB`);
  }
  const manifest = buildManifest(version, sums);
  const problems = manifestProblems(manifest);
  for (const problem of problems) say(`the manifest is wrong: ${problem}`);
  await Deno.writeTextFile(`${directory}/SHA256SUMS`, lines.join(""));
  await Deno.writeTextFile(`${directory}/agent.json`, manifestText(manifest));
  if (values.write) {
    await Deno.writeTextFile(`${ROOT}acp_registry/agent.json`, manifestText(buildManifest(version)));
  }
  const missing = values.target !== undefined && lines.length < targets.length;
  return problems.length > 0 || lines.length === 0 || missing ? 1 : 0;
}

if (import.meta.main) {
  Deno.exitCode = await release().catch((error) => {
    say(error instanceof Error ? error.message : String(error));
    return 1;
  });
}
