/**
 * One child process of a request, from start to end: no stdin, output kept up to a bound while it comes in, a time
 * limit, and the whole process tree gone afterwards. What may be run is decided by the caller.
 */
import { isAbort } from "@/lib/abort.ts";
import type { Platform } from "@/platform/mod.ts";

/** Kept per stream while it comes in; cut to what is shown only after redaction, so that no secret is cut in two. */
const MAX_KEPT = 64 << 10;

export interface ChildCommand {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Characters kept of each stream, its end; 64 Ki by default. */
  readonly keep?: number;
}

export interface ChildOutcome {
  /** `null` when it did not end by itself. */
  readonly code: number | null;
  readonly stopped: "timeout" | "aborted" | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Throws when the program cannot be started. */
export async function runChild(platform: Platform, command: ChildCommand): Promise<ChildOutcome> {
  const { signal } = command;
  const [stdout, stderr] = [new Output(command.keep), new Output(command.keep)];
  const child = platform.spawn(command.program, [...command.args], {
    cwd: command.cwd,
    env: command.env,
    stdin: "null",
    onStdout: (chunk) => stdout.add(chunk),
    onStderr: (chunk) => stderr.add(chunk),
  });
  const stop = new AbortController();
  const onAbort = () => stop.abort();
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) stop.abort();
  const tooLate = platform.clock.delay(command.timeoutMs, { signal: stop.signal }).then(
    () => "timeout" as const,
    (error) => {
      if (isAbort(error)) return "aborted" as const;
      throw error;
    },
  );
  try {
    const ended = await Promise.race([child.exited, tooLate]);
    const output = { stdout: stdout.text(), stderr: stderr.text() };
    if (typeof ended === "string") return { code: null, stopped: ended, ...output };
    return { code: ended.code ?? 128, stopped: null, ...output };
  } finally {
    stop.abort();
    signal.removeEventListener("abort", onAbort);
    child.kill("SIGKILL");
  }
}

/** The end of an output, bounded while it comes in. */
class Output {
  readonly #decoder = new TextDecoder();
  readonly #keep: number;
  #text = "";

  constructor(keep = MAX_KEPT) {
    this.#keep = keep;
  }

  add(chunk: Uint8Array): void {
    this.#text = (this.#text + this.#decoder.decode(chunk, { stream: true })).slice(-this.#keep);
  }

  text(): string {
    return this.#text;
  }
}
