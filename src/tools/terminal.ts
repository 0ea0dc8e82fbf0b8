/**
 * `terminal`: runs a shell command and returns its output, or starts it in the background (core.md B.3). What may run
 * is judged before; here are the rules of the tool itself, its limits and the shape of its results.
 */
import type { RedactMode, Tool, ToolContext, ToolOutcome } from "@/core/contract.ts";
import {
  type Args,
  maybeNumber,
  maybeString,
  readBoolean,
  readStrings,
  readText,
  ToolError,
} from "./args.ts";
import { terminal } from "./cards/work.ts";
import { exitMeaning } from "./exit_meaning.ts";
import { dumpsEnvironment, refuseInForeground } from "./foreground_rules.ts";
import { absolutePath } from "./paths.ts";
import { processesOf } from "./process_table.ts";
import type { NoticeLimiter } from "./process_watch.ts";
import { type RunOptions, type RunResult, shellOf, type ShellSession } from "./shell_session.ts";
import type { SudoHost, SudoPlan } from "./sudo.ts";

const WORKDIR = /^[A-Za-z0-9/\\:_\-.~ +@=,]*$/;
const MAX_FOREGROUND_S = 600;
const MAX_TIMEOUT_MS = 2_000_000_000;

/** What all terminals of the program share. */
export interface TerminalShared {
  readonly limiter: NoticeLimiter;
  /** Names of provider keys. */
  secretNames(): readonly string[];
  /** Absent: nobody is asked for passwords, `sudo` is left as it is. */
  readonly sudo?: SudoHost | undefined;
}

function blocked(error: string): ToolOutcome {
  const body = { output: "", exit_code: -1, error, status: "blocked" };
  return { content: JSON.stringify(body), isError: true, effect: "none" };
}

function redactMode(command: string): RedactMode {
  return dumpsEnvironment(command) ? "full" : "terminal";
}

/** Seconds; throws when it is no usable number, or too long for the foreground. */
function readTimeout(args: Args, { settings }: Pick<ToolContext, "settings">, background: boolean): number {
  const fallback = Math.max(1, settings.terminal.timeout);
  if (args.timeout === undefined || args.timeout === null) return fallback;
  const value = maybeNumber(args, "timeout");
  if (value === null || value < 1) {
    throw new ToolError("Argument 'timeout' must be a whole number of seconds, at least 1");
  }
  const most = settings.terminal.max_foreground_timeout ?? MAX_FOREGROUND_S;
  if (!background && value > most) {
    throw new ToolError(
      `A foreground timeout of ${value}s is over the limit of ${most}s. Start the command with background=true ` +
        "and wait for it with the process tool",
    );
  }
  return Math.trunc(value);
}

function readWorkdir(args: Args, shellCwd: string, context: ToolContext): string | undefined {
  const written = maybeString(args, "workdir");
  if (!written) return undefined;
  if (!WORKDIR.test(written)) {
    throw new ToolError(`workdir contains characters that are not allowed: '${written}'`);
  }
  return absolutePath(written, shellCwd, context.platform.homeDir());
}

function formatRun(command: string, timeoutS: number, result: RunResult, context: ToolContext): ToolOutcome {
  const mode = redactMode(command);
  let output = result.output.render((text) => context.redact(text, mode));
  const notes: string[] = [];
  let code = result.code;
  if (result.end === "timeout") {
    code = 124;
    notes.push(`[Command timed out after ${timeoutS}s]`);
  } else if (result.end === "interrupted") {
    code = 130;
    notes.push("[Command interrupted]");
  }
  output = output.trimEnd();
  if (notes.length > 0) output = output ? `${output}\n${notes.join("\n")}` : notes.join("\n");
  const meaning = result.end === "exited" ? exitMeaning(command, code) : null;
  const body = {
    output,
    exit_code: code,
    error: null,
    ...(meaning ? { exit_code_meaning: meaning.text } : {}),
    ...(result.movedTo
      ? { hint: `The working directory no longer exists; the command ran in ${result.movedTo}` }
      : {}),
  };
  return {
    content: JSON.stringify(body),
    isError: code !== 0 && !meaning?.harmless,
    ...(result.end === "exited" ? {} : { effect: "unknown" as const }),
  };
}

async function runForeground(args: Args, command: string, context: ToolContext, shared: TerminalShared) {
  const refusal = refuseInForeground(command);
  if (refusal) return blocked(refusal);
  const shell = shellOf(context.scope, context);
  const timeoutS = readTimeout(args, context, false);
  const workdir = readWorkdir(args, shell.cwd, context);
  const elsewhere = context.files.shell?.() ?? null;
  const sudo = elsewhere ? null : await sudoOf(command, shell, workdir, context, shared);
  if (sudo?.stopped) return sudo.stopped;
  const options = {
    command,
    timeoutMs: Math.min(timeoutS * 1_000, MAX_TIMEOUT_MS),
    secretNames: shared.secretNames(),
    ...(workdir === undefined ? {} : { workdir }),
    ...(sudo?.prelude ? { prelude: sudo.prelude } : {}),
  };
  const result = elsewhere
    ? await (await import("./workspace_shell.ts")).runInWorkspace(elsewhere, options, context)
    : await shell.run(options, sudo?.context ?? context);
  const outcome = formatRun(command, timeoutS, result, sudo?.context ?? context);
  const failed = sudo?.failed(outcome.content as string) ? { sudo_auth_failed: true } : {};
  return withHint(withFields(outcome, failed), foregroundHint(args));
}

/** How a command with `sudo` runs; `null` where nothing has to be done about it. */
interface SudoRun {
  /** It does not run: this is why. */
  readonly stopped: ToolOutcome | null;
  readonly prelude: RunOptions["prelude"];
  /** Texts of this command pass without the password. */
  readonly context: ToolContext;
  failed(result: string): boolean;
}

async function sudoOf(
  command: string,
  shell: ShellSession,
  workdir: string | undefined,
  context: ToolContext,
  { sudo: host }: TerminalShared,
): Promise<SudoRun | null> {
  if (!host || !command.includes("sudo")) return null;
  const { passwordFailed, planSudo, SUDO_PRELUDE, withoutPassword } = await import("./sudo.ts");
  const { cwd, env } = await shell.place(context, workdir);
  const plan: SudoPlan = await planSudo(command, { cwd, env }, context, host);
  if (plan.type === "plain") return null;
  const clean = (text: string) => withoutPassword(text, plan);
  return {
    stopped: plan.type === "stop" ? plan.outcome : null,
    prelude: plan.type === "stop" ? undefined : { script: SUDO_PRELUDE, input: `${plan.password}\n` },
    context: {
      ...context,
      redact: (text, mode) => context.redact(clean(text), mode),
      progress: (text) => context.progress(clean(text)),
    },
    failed: (result) => passwordFailed(result, plan, context.scope),
  };
}

function withFields(outcome: ToolOutcome, fields: Readonly<Record<string, unknown>>): ToolOutcome {
  if (Object.keys(fields).length === 0) return outcome;
  return {
    ...outcome,
    content: JSON.stringify({ ...JSON.parse(outcome.content as string), ...fields }),
  };
}

function foregroundHint(args: Args): string | null {
  if (readBoolean(args, "pty")) return "pty is not supported; the command ran with pipes";
  if (readBoolean(args, "notify_on_complete") || readStrings(args, "watch_patterns").length > 0) {
    return "notify_on_complete and watch_patterns only work with background=true; they were ignored";
  }
  return null;
}

function withHint(outcome: ToolOutcome, hint: string | null): ToolOutcome {
  if (!hint) return outcome;
  const body = JSON.parse(outcome.content as string) as Record<string, unknown>;
  return {
    ...outcome,
    content: JSON.stringify({ ...body, hint: body.hint ? `${body.hint}. ${hint}` : hint }),
  };
}

async function startBackground(args: Args, command: string, context: ToolContext, shared: TerminalShared) {
  const shell = shellOf(context.scope, context);
  readTimeout(args, context, true);
  const workdir = readWorkdir(args, shell.cwd, context);
  const sudo = await sudoOf(command, shell, workdir, context, shared);
  if (sudo?.stopped) return sudo.stopped;
  const place = await shell.place(context, workdir);
  const notify = readBoolean(args, "notify_on_complete");
  const patterns = readStrings(args, "watch_patterns");
  const mode = redactMode(command);
  const process = await processesOf(context.scope, context.platform, shared.limiter).start({
    command,
    cwd: place.cwd,
    env: place.env,
    login: shell.login(context, shared.secretNames()),
    ...(sudo?.prelude ? { prelude: sudo.prelude } : {}),
    notifyOnComplete: notify,
    watchPatterns: notify ? [] : patterns,
    signal: context.signal,
    home: context.home,
    redact: (text) => (sudo?.context ?? context).redact(text, mode),
  });
  const hints = [
    ...(notify && patterns.length > 0 ? ["watch_patterns is ignored together with notify_on_complete"] : []),
    ...(readBoolean(args, "pty") ? ["pty is not supported; the command runs with pipes"] : []),
    ...(place.moved ? [`The working directory no longer exists; the command runs in ${place.cwd}`] : []),
  ];
  const body = {
    output: "Background process started",
    session_id: process.id,
    pid: process.child.pid,
    exit_code: 0,
    error: null,
    ...(hints.length ? { hint: hints.join(". ") } : {}),
    ...(notify ? { notify_on_complete: true } : {}),
    // Its end is told only as long as this turn runs.
    ...(notify && context.hearsLater === false ? { notify_unsupported: true } : {}),
  };
  return { content: JSON.stringify(body), isError: false };
}

export function createTerminal(shared: TerminalShared): Tool {
  return {
    name: "terminal",
    toolset: "terminal",
    description:
      "Runs bash. Directory and exported variables stay from call to call (workdir: this call only); stdin " +
      "is empty. timeout: seconds, default 180, in the foreground at most 600. What a foreground command " +
      "leaves running is ended: start servers and long jobs with background=true, then use process; " +
      "notify_on_complete tells their end, watch_patterns output lines with one of these. Prefer " +
      "read_file, write_file, patch and search_files to cat, sed, grep, find and ls.",
    parameters: {
      type: "object",
      properties: {
        command: { type: "string" },
        background: { type: "boolean" },
        timeout: { type: "integer", minimum: 1 },
        workdir: { type: "string" },
        pty: { type: "boolean" },
        notify_on_complete: { type: "boolean" },
        watch_patterns: { type: "array", items: { type: "string" } },
      },
      required: ["command"],
    },
    parallel: "never",
    describe: terminal,
    command: (args) => maybeString(args, "command"),
    place(args, { cwd, scope, platform }) {
      const here = shellOf(scope, { cwd, platform }).whereabouts(cwd);
      const written = maybeString(args, "workdir");
      return written ? absolutePath(written, here, platform.homeDir()) : here;
    },
    limitSeconds: (args, settings) => readTimeout(args, { settings }, readBoolean(args, "background")),
    async execute(args, context) {
      try {
        const command = readText(args, "command");
        return readBoolean(args, "background")
          ? await startBackground(args, command, context, shared)
          : await runForeground(args, command, context, shared);
      } catch (error) {
        if (error instanceof ToolError) return blocked(error.message);
        throw error;
      }
    },
  };
}
