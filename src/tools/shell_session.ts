/**
 * The shell of a session (core.md B.3): a fresh bash for every command, with the directory and the exported
 * environment of the one before. Promises: whatever a command started in its process group is gone when its call
 * ends, output is bounded while it is read, and a stop takes about a second at most.
 */
import { dirname, join } from "node:path";
import { within } from "@/lib/abort.ts";
import { makeCommandHome, type SessionScope, type ToolContext } from "@/core/contract.ts";
import type { Child, ChildExit, Platform, SpawnOptions } from "@/platform/mod.ts";
import { ToolError } from "./args.ts";
import { bashArguments, isTooLong, type LoginSetup, parseReport, quote } from "./shell_script.ts";
import { HeadTail, TextStream } from "./stream_text.ts";

const KILL_AFTER_MS = 1_000;
/** A login file that has not ended by then (a lock that nobody gives back) is done without. */
const LOGIN_MS = 15_000;
/** After SIGKILL; only a process stuck in the kernel needs longer, and nothing can be done about that. */
const GIVE_UP_AFTER_MS = 1_500;
const SPAWN_TRIES = 4;
const MAX_REPORT_CHARS = 4_000_000;
const PROGRESS_MS = 100;
const PROGRESS_CHARS = 2_000;

/** Never given back to a shell, even when a login file sets them again (core.md C.12). */
const KEYS_OF_LOGIN_FILES = ["*_API_KEY", "GH_TOKEN", "GITHUB_TOKEN", "SUDO_PASSWORD"];

export interface RunOptions {
  readonly command: string;
  /** Directory for this command only; the session's own when absent. */
  readonly workdir?: string;
  readonly timeoutMs: number;
  /** Names of provider keys, kept out of the environment even when a login file sets them. */
  readonly secretNames: readonly string[];
  /** Shell text that runs first and reads its own lines of input, which the command never sees. */
  readonly prelude?: { readonly script: string; readonly input: string };
}

export interface RunResult {
  readonly end: "exited" | "timeout" | "interrupted";
  readonly code: number;
  readonly output: HeadTail;
  /** The directory was gone; this one was used. */
  readonly movedTo?: string;
}

const SIGNALS: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

/** The code a shell would show. */
export function exitCodeOf(exit: ChildExit): number {
  return exit.code ?? 128 + (SIGNALS[exit.signal ?? ""] ?? 1);
}

export class ShellSession {
  readonly #platform: Platform;
  /** The cwd of the session the shell was last in step with. */
  #base: string;
  #cwd: string;
  /** `null` until a command has reported. */
  #env: Record<string, string> | null = null;
  /** Names that the program has given to this shell; what comes later (a skill's values) is added. */
  #given: ReadonlySet<string> | null = null;
  #loginDone = false;
  readonly #live = new Set<Child>();

  constructor(platform: Platform, cwd: string) {
    this.#platform = platform;
    this.#base = cwd;
    this.#cwd = cwd;
  }

  /** Environment and directory for something started beside the foreground; follows a change of the session's cwd. */
  async place(
    context: ToolContext,
    workdir?: string,
  ): Promise<{ cwd: string; env: Record<string, string>; moved: boolean }> {
    if (context.cwd !== this.#base) {
      this.#base = context.cwd;
      this.#cwd = context.cwd;
    }
    await makeCommandHome(this.#platform, context.settings, context.childEnv);
    const wanted = workdir ?? this.#cwd;
    const cwd = await this.#nearestDirectory(wanted);
    const env = {
      ...(this.#env ?? context.childEnv),
      ...this.#late(context.childEnv),
      HERMES_SESSION_ID: context.sessionId,
    };
    return { cwd, env, moved: cwd !== wanted };
  }

  #late(childEnv: Readonly<Record<string, string>>): Record<string, string> {
    const given = this.#given;
    const names = Object.keys(childEnv);
    if (given !== null && names.every((name) => given.has(name))) return {};
    this.#given = new Set([...given ?? [], ...names]);
    return given === null ? {} : Object.fromEntries(
      names.filter((name) => !given.has(name)).map((name) => [name, childEnv[name] as string]),
    );
  }

  get cwd(): string {
    return this.#cwd;
  }

  /** Where the next command would run; `sessionCwd` wins when it was changed. */
  whereabouts(sessionCwd: string): string {
    return sessionCwd === this.#base ? this.#cwd : sessionCwd;
  }

  /** A command that ran elsewhere has left the session in this directory. */
  moveTo(cwd: string): void {
    this.#cwd = cwd;
  }

  /** What the first command has to do before it runs; `null` later on. `secretNames` stay out of the environment. */
  login(context: ToolContext, secretNames: readonly string[]): LoginSetup | null {
    if (this.#loginDone || this.#platform.os === "windows") return null;
    const home = context.childEnv.HOME ?? this.#platform.homeDir();
    const { terminal } = context.settings;
    const own = terminal.auto_source_bashrc
      ? [".profile", ".bash_profile", ".bashrc"].map((name) => join(home, name))
      : [];
    const extra = terminal.shell_init_files.map((file) =>
      file.startsWith("~/") ? join(home, file.slice(2)) : file
    );
    const removed = Object.keys(this.#platform.env()).filter((name) => !(name in context.childEnv));
    const scrub = [...KEYS_OF_LOGIN_FILES, ...removed, ...secretNames]
      .filter((name) => !(name in context.childEnv));
    return { files: ["/etc/profile", ...own, ...extra], scrub };
  }

  async run(options: RunOptions, context: ToolContext): Promise<RunResult> {
    const login = this.login(context, options.secretNames);
    const result = await this.#runOnce(options, context, login);
    if (!login) return result.result;
    if (result.began || result.result.end !== "interrupted") this.#loginDone = true;
    if (result.began || result.result.end === "interrupted") return result.result;
    // A login file ended the shell, replaced it, or hangs: the command has not begun, and runs without them.
    return (await this.#runOnce(options, context, null)).result;
  }

  async #runOnce(
    options: RunOptions,
    context: ToolContext,
    login: LoginSetup | null,
  ): Promise<{ result: RunResult; began: boolean }> {
    const { cwd, env, moved } = await this.place(context, options.workdir);
    const output = new HeadTail(context.settings.tool_output.max_bytes);
    const text = new TextStream();
    let report = "";
    const reportDecoder = new TextDecoder();
    const progress = this.#progressOf(output, context);
    if (context.signal.aborted) return { result: { end: "interrupted", code: 130, output }, began: false };
    await using script = await this.#scriptFor(options.command);
    const child = await this.#spawn(
      bashArguments(script.command, { login, background: false, prelude: options.prelude?.script }),
      cwd,
      env,
      context,
      {
        stdin: options.prelude ? "pipe" : "null",
        onStdout: (chunk) => {
          output.push(text.push(chunk));
          progress();
        },
        onStderr: (chunk) => {
          if (report.length < MAX_REPORT_CHARS) report += reportDecoder.decode(chunk, { stream: true });
        },
      },
    );
    if (options.prelude) feed(child, options.prelude.input);
    const hasBegun = () => login === null || parseReport(report).began;
    const { end, exit } = await this.#wait(child, options.timeoutMs, context.signal, hasBegun);
    output.push(text.end());
    const { began, state } = parseReport(report);
    if (state) {
      this.#env = state.env;
      if (options.workdir === undefined) this.#cwd = state.cwd;
    }
    const result = { end, code: exit ? exitCodeOf(exit) : 137, output, ...(moved ? { movedTo: cwd } : {}) };
    return { result, began };
  }

  #progressOf(output: HeadTail, context: ToolContext): () => void {
    let last = -Infinity;
    return () => {
      const now = this.#platform.clock.monotonic();
      if (now - last < PROGRESS_MS) return;
      last = now;
      context.progress(output.last(PROGRESS_CHARS));
    };
  }

  /** Waits for the end, the timeout or the abort; then nothing of the group is left. */
  async #wait(child: Child, timeoutMs: number, signal: AbortSignal, hasBegun: () => boolean) {
    let end: RunResult["end"] = "exited";
    let killTimer: ReturnType<typeof setTimeout> | undefined;
    let giveUp!: (value: null) => void;
    const gaveUp = new Promise<null>((resolve) => giveUp = resolve);
    const stop = (why: "timeout" | "interrupted") => {
      if (end !== "exited") return;
      end = why;
      child.kill("SIGTERM");
      killTimer = setTimeout(() => {
        child.kill("SIGKILL");
        killTimer = setTimeout(() => giveUp(null), GIVE_UP_AFTER_MS);
      }, KILL_AFTER_MS);
    };
    const onAbort = () => stop("interrupted");
    const timer = setTimeout(() => stop("timeout"), timeoutMs);
    const loginTimer = setTimeout(() => hasBegun() || stop("timeout"), Math.min(LOGIN_MS, timeoutMs));
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    this.#live.add(child);
    try {
      const exit: ChildExit | null = await Promise.race([child.exited, gaveUp]);
      // Descendants that are still there were not started with background=true: they end with the command.
      child.kill("SIGKILL");
      return { end, exit };
    } finally {
      this.#live.delete(child);
      clearTimeout(timer);
      clearTimeout(loginTimer);
      clearTimeout(killTimer);
      signal.removeEventListener("abort", onAbort);
    }
  }

  /** A command too long for a command line is run from a file, which is gone afterwards. */
  async #scriptFor(command: string): Promise<{ command: string } & AsyncDisposable> {
    if (!isTooLong(command)) return { command, [Symbol.asyncDispose]: () => Promise.resolve() };
    const { files } = this.#platform;
    const path = join(this.#platform.tempDir(), `hermes-command-${this.#platform.ids.hex(16)}.sh`);
    await files.write(path, new TextEncoder().encode(command), { mode: 0o600 });
    return {
      command: `. ${quote(path)}`,
      [Symbol.asyncDispose]: () => files.remove(path).catch(() => {/* the command has removed it */}),
    };
  }

  async #spawn(
    args: string[],
    cwd: string,
    env: Record<string, string>,
    context: ToolContext,
    pipes: Pick<SpawnOptions, "stdin" | "onStdout" | "onStderr">,
  ): Promise<Child> {
    return await spawnBash(this.#platform, args, { cwd, env, ...pipes }, context.signal);
  }

  async #nearestDirectory(path: string): Promise<string> {
    for (let at = path;; at = dirname(at)) {
      if ((await this.#platform.files.stat(at).catch(() => null))?.isDirectory) return at;
      if (dirname(at) === at) return this.#platform.tempDir();
    }
  }

  /** The session closes: a command that still runs goes with it. */
  dispose(): Promise<void> {
    for (const child of this.#live) child.kill("SIGKILL");
    return Promise.resolve();
  }
}

/** Gives a prelude its input, and nothing more to whoever reads afterwards. */
function feed(child: Child, input: string): void {
  child.write(new TextEncoder().encode(input)).catch(() => {/* it has ended already */}).finally(() =>
    child.closeStdin()
  );
}

/** Starts bash; a shortage of the moment is waited out (2, 4, 8 s), a missing bash is said at once. */
export async function spawnBash(
  platform: Platform,
  args: string[],
  options: Parameters<Platform["spawn"]>[2],
  signal: AbortSignal,
): Promise<Child> {
  for (let tries = 1;; tries++) {
    try {
      const child = platform.spawn("bash", args, options);
      // A start that fails is told by `exited`; one that works goes on.
      if (child.pid <= 0) await within(child.exited, 1_000);
      return child;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const code = (error as { code?: string }).code ?? "";
      if (code === "ENOENT" || /ENOENT|not found/i.test(reason)) {
        throw new ToolError(
          "Cannot start the command: bash was not found on PATH. Install bash to use the terminal",
        );
      }
      if (tries >= SPAWN_TRIES || code === "E2BIG" || code === "EACCES") {
        throw new ToolError(`Cannot start the command: ${reason}`);
      }
      await platform.clock.delay(1_000 * 2 ** tries, { signal });
    }
  }
}

/** The shell of a session. */
export function shellOf(
  scope: SessionScope,
  context: Pick<ToolContext, "platform" | "cwd">,
): ShellSession {
  return scope.state("tools.shell", () => new ShellSession(context.platform, context.cwd));
}
