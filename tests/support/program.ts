/**
 * Starts the real program for black-box tests: the compiled binary named by `HERMES_BIN`, else the source.
 * Every start gets a throw-away home and an environment of its own, so nothing of the machine leaks in.
 */

import { patient } from "./patience.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** The command line that runs the program, without a subcommand. */
export function programCommand(): string[] {
  const binary = Deno.env.get("HERMES_BIN");
  if (binary) return [binary];
  return [Deno.execPath(), "run", "-A", "--no-check", `${ROOT}main.ts`];
}

/**
 * The compiled program's code cache, where `scripts/test.ts` had it made: every rig has a `TMPDIR` of its own, and
 * each start there would be a first one.
 */
async function shareCodeCache(tmp: string): Promise<void> {
  const binary = Deno.env.get("HERMES_BIN");
  const cache = Deno.env.get("HERMES_TEST_CODE_CACHE");
  if (!binary || !cache) return;
  await Deno.copyFile(cache, `${tmp}/deno-compile-${binary.slice(binary.lastIndexOf("/") + 1)}.cache`);
}

export interface Rig extends AsyncDisposable {
  /** `HERMES_HOME`. */
  readonly home: string;
  /** An empty directory for sessions, real path. */
  readonly workspace: string;
  /** Environment for children: minimal, with `HERMES_HOME` and an own `TMPDIR`. */
  readonly env: Record<string, string>;
  writeConfig(config: unknown): Promise<void>;
}

export interface RigOptions {
  /** Written as `config.jsonc`; an object or the text itself. */
  readonly config?: unknown;
  readonly env?: Record<string, string>;
}

/** A temp home, workspace and TMPDIR (three separate directories); removed on dispose. */
export async function makeRig(options: RigOptions = {}): Promise<Rig> {
  const base = await Deno.realPath(await Deno.makeTempDir({ prefix: "hermes-test-" }));
  const [home, workspace, tmp, userHome] = ["home", "workspace", "tmp", "user"].map((n) => `${base}/${n}`);
  for (const dir of [home!, workspace!, tmp!, userHome!]) await Deno.mkdir(dir, { mode: 0o700 });
  await shareCodeCache(tmp!);
  const rig: Rig = {
    home: home!,
    workspace: workspace!,
    env: {
      PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
      HOME: userHome!,
      LANG: "C.UTF-8",
      TMPDIR: tmp!,
      HERMES_HOME: home!,
      DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
      DENO_NO_UPDATE_CHECK: "1",
      NO_COLOR: "1",
      ...options.env,
    },
    writeConfig: (config) =>
      Deno.writeTextFile(
        `${home}/config.jsonc`,
        typeof config === "string" ? config : JSON.stringify(config, null, 2),
      ),
    [Symbol.asyncDispose]: () =>
      Deno.remove(base, { recursive: true }).catch(() => {/* a child still writes */}),
  };
  if (options.config !== undefined) await rig.writeConfig(options.config);
  return rig;
}

/** A config that names a scripted model server as the only provider, which is asked for nothing but turns. */
export function modelConfig(url: string, extra: Record<string, unknown> = {}): Record<string, unknown> {
  const { auxiliary = {}, ...others } = extra;
  return {
    model: {
      default: "scripted",
      provider: "custom",
      base_url: url,
      context_length: 128000,
      supports_vision: true,
    },
    auxiliary: { title_generation: { provider: "none" }, ...auxiliary as Record<string, unknown> },
    ...others,
  };
}

export interface StartOptions {
  readonly rig: Rig;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

/** Starts `hermes <args>` with all three streams piped. */
export function startProgram(args: readonly string[], options: StartOptions): Deno.ChildProcess {
  const [command, ...prefix] = programCommand();
  return new Deno.Command(command!, {
    args: [...prefix, ...args],
    cwd: options.cwd ?? options.rig.workspace,
    clearEnv: true,
    env: { ...options.rig.env, ...options.env },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

export interface Finished {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs to the end with `input` on stdin; killed after `timeoutMs` (default 20 s) of an idle machine. */
export async function runProgram(
  args: readonly string[],
  options: StartOptions & { readonly input?: string; readonly timeoutMs?: number },
): Promise<Finished> {
  const child = startProgram(args, options);
  const timer = setTimeout(() => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended already.
    }
  }, patient(options.timeoutMs ?? 20_000));
  const writer = child.stdin.getWriter();
  if (options.input) await writer.write(new TextEncoder().encode(options.input)).catch(() => {});
  await writer.close().catch(() => {});
  const [status, stdout, stderr] = await Promise.all([
    child.status,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  clearTimeout(timer);
  return { code: status.code, stdout, stderr };
}

/** Polls until `check` gives something other than undefined/false, at most `timeoutMs` of an idle machine. */
export async function eventually<T>(
  check: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 5_000,
  what = "condition",
): Promise<T> {
  const end = performance.now() + patient(timeoutMs);
  for (;;) {
    const value = await check();
    if (value !== undefined && value !== false) return value as T;
    if (performance.now() > end) {
      throw new Error(`Timed out after ${patient(timeoutMs)} ms waiting for ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
