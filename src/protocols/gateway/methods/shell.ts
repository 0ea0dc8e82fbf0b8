/**
 * `shell.exec` (tui-gateway.md B.17): the `!command` a user types. The guard judges it as it judges the model's
 * commands, but there is no question to ask: dangerous is refused. The whole process tree ends with the call.
 */
import { runChild } from "../child_run.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Gateway } from "../server.ts";

const TIMEOUT_MS = 30_000;
const MAX_STDOUT = 4000;
const MAX_STDERR = 2000;

export interface ShellResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** Throws 4005 for a dangerous command, 5002 after 30 s, 5003. */
export async function runShell(
  gateway: Gateway,
  command: string,
  live: LiveSession | undefined,
  signal: AbortSignal,
  options: { readonly hardBlockOnly?: boolean } = {},
): Promise<ShellResult> {
  const { platform } = gateway.hermes;
  const cwd = live?.session.cwd ?? platform.cwd();
  refuseDangerous(gateway, command, cwd, options.hardBlockOnly ?? false);
  const [program, ...args] = platform.os === "windows" ? ["cmd", "/c", command] : ["/bin/sh", "-c", command];
  const done = await runChild(platform, {
    program: program!,
    args,
    cwd,
    env: gateway.hermes.childEnv(),
    timeoutMs: TIMEOUT_MS,
    signal,
  }).catch((error) => {
    throw new RpcError(5003, `The command could not be run: ${textOf(error)}`);
  });
  if (done.stopped === "timeout") {
    throw new RpcError(5002, "The command took longer than 30 s and was stopped");
  }
  if (done.code === null) throw new RpcError(5003, "The command was stopped");
  const shown = (text: string, limit: number) => gateway.hermes.redact(text, "terminal").slice(-limit);
  return { stdout: shown(done.stdout, MAX_STDOUT), stderr: shown(done.stderr, MAX_STDERR), code: done.code };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Throws 4005 for what is blocked and, unless the user has written it down, for what would have to be asked about. */
function refuseDangerous(gateway: Gateway, command: string, cwd: string, hardBlockOnly: boolean): void {
  const verdict = gateway.hermes.guard.reviewCommand(command, {
    scope: "shell.exec",
    sessionId: "",
    cwd,
    roots: [cwd],
    editPolicy: null,
    yolo: false,
    canAsk: true,
    settings: gateway.hermes.settings(),
    surface: "tui",
  });
  if (verdict.type === "allow" || (hardBlockOnly && verdict.type === "ask")) return;
  const reason = verdict.type === "block"
    ? verdict.reason
    : "description" in verdict.payload
    ? verdict.payload.description
    : "it needs an approval";
  throw new RpcError(4005, `The command was not run, it is dangerous: ${reason}`);
}
