/**
 * A foreground command in the shell of the workspace's owner, such as an editor's terminals (acp.md C8.6), instead of
 * a bash of ours. The command stays readable there (`bash -c <command>`): directory and exported variables are handed
 * from one call to the next by a file that bash reads first, and by one that it leaves behind. Where the two machines
 * share no file system both are absent, and each command starts in the session's directory.
 */
import { join } from "node:path";
import type { SessionScope, ToolContext, WorkspaceShell } from "@/core/contract.ts";
import { parseReport, quote } from "./shell_script.ts";
import { type RunOptions, type RunResult, shellOf } from "./shell_session.ts";
import { HeadTail, TextStream } from "./stream_text.ts";

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Read by bash before the command; leaves directory and environment behind when the command has ended. */
function prelude(env: Readonly<Record<string, string>>, report: string): string {
  const exports = Object.entries(env).filter(([name]) => NAME.test(name))
    .map(([name, value]) => `export ${name}=${quote(value)}`);
  return `rm -f -- "$BASH_ENV"; unset BASH_ENV
{ ${[...exports, ":"].join("\n")}; } 2>/dev/null
__hermes_report() {
  umask 077
  { builtin printf '\\0hermes:state\\0%s\\0' "$(builtin pwd -P)"
    builtin compgen -e | while IFS= builtin read -r __hermes_name; do
      builtin printf '%s=%s\\0' "$__hermes_name" "\${!__hermes_name}"
    done
    builtin printf 'hermes:end\\0'; } 2>/dev/null >${quote(report)}
}
trap '__hermes_code=$?; __hermes_report; exit $__hermes_code' EXIT
`;
}

/** What earlier commands of the session have exported. */
class Carried {
  env: Readonly<Record<string, string>> = {};
}

function carriedOf(scope: SessionScope): Carried {
  return scope.state("tools.workspace_shell", () => new Carried());
}

export async function runInWorkspace(
  shell: WorkspaceShell,
  options: RunOptions,
  context: ToolContext,
): Promise<RunResult> {
  const { platform } = context;
  const local = shellOf(context.scope, context);
  const carried = carriedOf(context.scope);
  const { cwd, moved } = await local.place(context, options.workdir);
  const base = join(platform.tempDir(), `hermes-shell-${platform.ids.hex(16)}`);
  const report = `${base}.state`;
  const script = new TextEncoder().encode(prelude(carried.env, report));
  await platform.files.write(`${base}.sh`, script, { mode: 0o600 });
  try {
    const done = await shell.run({
      callId: context.callId,
      command: "bash",
      args: ["-c", options.command],
      cwd,
      env: { BASH_ENV: `${base}.sh`, HERMES_SESSION_ID: context.sessionId },
      timeoutMs: options.timeoutMs,
      outputBytes: context.settings.tool_output.max_bytes,
      signal: context.signal,
    });
    const output = new HeadTail(context.settings.tool_output.max_bytes);
    const text = new TextStream();
    if (done.truncated) output.push("[The beginning of the output was cut by the editor]\n");
    output.push(text.push(new TextEncoder().encode(done.output.replaceAll("\r\n", "\n"))) + text.end());
    const state = await takeReport(report, context);
    if (state) {
      carried.env = state.env;
      if (options.workdir === undefined) local.moveTo(state.cwd);
    }
    return { end: done.end, code: done.code, output, ...(moved ? { movedTo: cwd } : {}) };
  } finally {
    await platform.files.remove(`${base}.sh`).catch(() => {/* bash has removed it */});
  }
}

/** Reads what the shell has left behind and removes it: it holds the environment. */
async function takeReport(path: string, context: ToolContext) {
  const { files } = context.platform;
  try {
    return parseReport(new TextDecoder().decode(await files.read(path))).state;
  } catch {
    return null; // Killed, replaced by exec, or on another machine.
  } finally {
    await files.remove(path).catch(() => {/* there was none */});
  }
}
