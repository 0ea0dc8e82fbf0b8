/**
 * The transport: this process's stdin, stdout and signals. Nothing else in `hermes acp` owns `Deno.stdout`
 * (acp.md B3). No business logic.
 */
import type { ByteSink } from "@/lib/frame_writer.ts";

export interface Stdio {
  readonly input: AsyncIterable<Uint8Array>;
  readonly output: ByteSink;
  /** Fires on SIGTERM and SIGINT. */
  readonly stop: AbortSignal;
}

/** Takes over stdin, stdout, the signals and stray errors; `report` gets the latter, one line each. */
export function openStdio(report: (line: string) => void): Stdio {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    if (Deno.build.os === "windows" && signal === "SIGTERM") continue;
    Deno.addSignalListener(signal, () => stop.abort());
  }
  globalThis.addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    report(`unhandled rejection: ${textOf(event.reason)}`);
  });
  globalThis.addEventListener("error", (event) => {
    event.preventDefault();
    report(`unhandled error: ${textOf(event.error)}`);
  });
  return { input: readStdin(), output: Deno.stdout, stop: stop.signal };
}

/** All chunks share one buffer. Plain reads: the stream object costs a millisecond of the start. */
async function* readStdin(): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(64 << 10);
  for (;;) {
    const n = await Deno.stdin.read(buffer);
    if (n === null) return;
    yield buffer.subarray(0, n);
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.stack ?? error.message : String(error);
}
