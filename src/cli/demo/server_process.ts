/**
 * One server of the demo: this very program, started as a real process, spoken to over its pipes. Lines come out
 * in order with the time they arrived; every wait has an end. Knows no protocol.
 */
import { decodeLine, encodeFrame, LineSplitter } from "@/lib/jsonl.ts";
import type { Child, ChildExit, Platform } from "@/platform/mod.ts";
import { within } from "@/lib/abort.ts";
import { selfCommand } from "@/lib/self_command.ts";
import type { Stage } from "./stage.ts";

/** A step of the demo did not happen as promised. */
export class DemoFailure extends Error {
  constructor(message: string) {
    super(message);
    this.name = "DemoFailure";
  }
}

export interface WireLine {
  readonly text: string;
  /** Milliseconds since the process was started. */
  readonly at: number;
}

/** Started from source, the runtime itself has to compile first. */
const WAIT_MS = 15_000;
const MAX_LINE = 8 << 20;
const STDERR_LINES = 12;

export class ServerProcess {
  readonly #child: Child;
  readonly #platform: Platform;
  readonly #startedAt: number;
  readonly #splitter = new LineSplitter(MAX_LINE);
  readonly #lines: WireLine[] = [];
  #wake: () => void = () => {};
  #stderr = "";
  #exit: ChildExit | null = null;

  constructor(stage: Stage, args: readonly string[]) {
    const [command, ...prefix] = selfCommand(stage.platform.execPath());
    this.#platform = stage.platform;
    this.#startedAt = stage.platform.clock.monotonic();
    this.#child = stage.platform.spawn(command, [...prefix, ...args], {
      cwd: stage.work,
      env: stage.env,
      stdin: "pipe",
      onStdout: (chunk) => this.#take(chunk),
      onStderr: (chunk) => this.#stderr = (this.#stderr + new TextDecoder().decode(chunk)).slice(-8_000),
    });
    this.#child.exited.then((exit) => {
      this.#exit = exit;
      this.#wake();
    }, () => {
      this.#exit = { code: null, signal: null };
      this.#wake();
    });
  }

  /** Milliseconds since the start. */
  elapsed(): number {
    return this.#platform.clock.monotonic() - this.#startedAt;
  }

  /** The last lines of its log, for failures. */
  stderrTail(): string[] {
    return this.#stderr.trim().split("\n").filter((line) => line !== "").slice(-STDERR_LINES);
  }

  async send(frame: unknown): Promise<void> {
    await this.#child.write(new TextEncoder().encode(encodeFrame(frame)));
  }

  /** The next line of stdout. Throws `DemoFailure` when none comes in time or the process has ended. */
  async next(what: string): Promise<WireLine> {
    const deadline = this.#platform.clock.monotonic() + WAIT_MS;
    for (;;) {
      const line = this.#lines.shift();
      if (line) return line;
      if (this.#exit) {
        throw new DemoFailure(`the server ended (exit code ${this.#exit.code}) before ${what} came`);
      }
      const left = deadline - this.#platform.clock.monotonic();
      if (left <= 0) throw new DemoFailure(`${what} did not come within ${WAIT_MS / 1000} s`);
      await within(new Promise<void>((resolve) => this.#wake = resolve), left);
    }
  }

  /** Ends stdin and waits for the process; the exit code and how long that took. */
  async finish(): Promise<{ code: number | null; ms: number }> {
    const before = this.#platform.clock.monotonic();
    this.#child.closeStdin();
    return await this.#waitForExit(before);
  }

  /** Asks a server that does not live by its stdin to end. */
  async terminate(): Promise<{ code: number | null; ms: number }> {
    const before = this.#platform.clock.monotonic();
    this.#child.kill("SIGTERM");
    return await this.#waitForExit(before);
  }

  async #waitForExit(before: number): Promise<{ code: number | null; ms: number }> {
    const exit = await within(this.#child.exited, 3_000);
    if (!exit) {
      this.kill();
      throw new DemoFailure("the server did not end within 3 s");
    }
    return { code: exit.code, ms: this.#platform.clock.monotonic() - before };
  }

  /** For every way out that is not the normal one. */
  kill(): void {
    if (!this.#exit) this.#child.kill("SIGKILL");
  }

  #take(chunk: Uint8Array): void {
    const at = this.elapsed();
    for (const line of this.#splitter.push(chunk)) {
      const text = line.type === "line" ? decodeLine(line.bytes) : null;
      if (text) this.#lines.push({ text, at });
    }
    this.#wake();
  }
}
