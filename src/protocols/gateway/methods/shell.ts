/**
 * `shell.exec` (tui-gateway.md B.17): the `!command` a user types. The guard judges it as it judges the model's
 * commands, but there is no question to ask: dangerous is refused. The whole process tree ends with the call.
 */
import { isAbort } from "@/lib/abort.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Gateway } from "../server.ts";

const TIMEOUT_MS = 30_000;
const MAX_STDOUT = 4000;
const MAX_STDERR = 2000;
/** Kept while it comes in; cut to what is shown only after redaction, so that no secret is cut in two. */
const MAX_KEPT = 64 << 10;

export async function execShell(
  gateway: Gateway,
  command: string,
  live: LiveSession | undefined,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { platform } = gateway.hermes;
  const cwd = live?.session.cwd ?? platform.cwd();
  refuseDangerous(gateway, command, cwd);
  const stdout = new Output();
  const stderr = new Output();
  const [program, ...args] = platform.os === "windows" ? ["cmd", "/c", command] : ["/bin/sh", "-c", command];
  const child = platform.spawn(program!, args, {
    cwd,
    env: gateway.hermes.childEnv(),
    stdin: "null",
    onStdout: (chunk) => stdout.add(chunk),
    onStderr: (chunk) => stderr.add(chunk),
  });
  const stop = new AbortController();
  const onAbort = () => stop.abort();
  signal.addEventListener("abort", onAbort, { once: true });
  const tooLate = platform.clock.delay(TIMEOUT_MS, { signal: stop.signal }).then(
    () => "timeout" as const,
    (error) => {
      if (isAbort(error)) return "stopped" as const;
      throw error;
    },
  );
  try {
    const ended = await Promise.race([child.exited, tooLate]);
    if (ended === "timeout") throw new RpcError(5002, "The command took longer than 30 s and was stopped");
    if (ended === "stopped") throw new RpcError(5003, "The command was stopped");
    const shown = (output: Output, limit: number) =>
      gateway.hermes.redact(output.text(), "terminal").slice(-limit);
    return { stdout: shown(stdout, MAX_STDOUT), stderr: shown(stderr, MAX_STDERR), code: ended.code ?? 128 };
  } catch (error) {
    if (error instanceof RpcError) throw error;
    throw new RpcError(
      5003,
      `The command could not be run: ${error instanceof Error ? error.message : String(error)}`,
    );
  } finally {
    stop.abort();
    signal.removeEventListener("abort", onAbort);
    child.kill("SIGKILL");
  }
}

/** Throws 4005 for what is blocked and for what would have to be asked about. */
function refuseDangerous(gateway: Gateway, command: string, cwd: string): void {
  const verdict = gateway.hermes.guard.reviewCommand(command, {
    scope: "shell.exec",
    sessionId: "",
    cwd,
    roots: [cwd],
    editPolicy: null,
    yolo: false,
    canAsk: true,
    settings: gateway.hermes.settings(),
  });
  if (verdict.type === "allow") return;
  const reason = verdict.type === "block"
    ? verdict.reason
    : "description" in verdict.payload
    ? verdict.payload.description
    : "it needs an approval";
  throw new RpcError(4005, `The command was not run, it is dangerous: ${reason}`);
}

/** The end of an output, bounded while it comes in. */
class Output {
  readonly #decoder = new TextDecoder();
  #text = "";

  add(chunk: Uint8Array): void {
    this.#text = (this.#text + this.#decoder.decode(chunk, { stream: true })).slice(-MAX_KEPT);
  }

  text(): string {
    return this.#text;
  }
}
