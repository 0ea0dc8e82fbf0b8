/**
 * Newline-delimited JSON-RPC with a child in a process group of its own, so that closing takes its whole tree along
 * (core.md G.3, FC-19). Has the shape of the SDK's transports; the SDK's own stdio makes no group.
 */
import { within } from "@/lib/abort.ts";
import { decodeLine, encodeFrame, LineSplitter } from "@/lib/jsonl.ts";
import type { Child, ChildExit, Platform } from "@/platform/mod.ts";
import { McpFailure } from "./failure.ts";
import type { JSONRPCMessage, Transport } from "./sdk.ts";
import type { ServerLog } from "./server_log.ts";

const MAX_LINE = 64 << 20;
/** After its input has ended, and after each signal. */
const LEAVE_MS = 400;

export interface StdioOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly platform: Platform;
  readonly log: ServerLog;
  /** Checks a message's shape; throws when it is none. */
  readonly parse: (value: unknown) => JSONRPCMessage;
}

const encoder = new TextEncoder();

export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #options: StdioOptions;
  readonly #lines = new LineSplitter(MAX_LINE);
  #child: Child | null = null;
  #ended = false;
  #closing: Promise<void> | null = null;
  /** How the process ended; `null` while it runs. */
  exit: ChildExit | null = null;
  /** Why it could not be started; `null` when it could. */
  failure: McpFailure | null = null;

  constructor(options: StdioOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const { command, args, cwd, env, platform, log } = this.#options;
    if (!(await platform.files.stat(cwd))?.isDirectory) {
      throw new McpFailure("hopeless", `the directory ${cwd} does not exist`);
    }
    if (this.#closing) throw new McpFailure("aborted", "closed before it was started");
    log.started(command);
    try {
      this.#child = platform.spawn(command, [...args], {
        cwd,
        env,
        stdin: "pipe",
        onStdout: (chunk) => this.#read(chunk),
        onStderr: (chunk) => log.push(chunk),
      });
    } catch (error) {
      throw cannotStart(command, error);
    }
    const ended = this.#child.exited.then(
      (exit) => this.#onExit(exit),
      (error) => {
        this.failure = cannotStart(command, error);
        this.#onExit({ code: null, signal: null });
      },
    );
    // A program that cannot be started mostly says so at once.
    await within(ended, 5);
    if (this.failure) throw this.failure;
  }

  #onExit(exit: ChildExit): void {
    if (this.#ended) return;
    this.#ended = true;
    this.exit = exit;
    this.#child?.kill("SIGKILL"); // What it left behind in its group.
    this.onclose?.();
  }

  #read(chunk: Uint8Array): void {
    for (const line of this.#lines.push(chunk)) {
      if (line.type === "too_long") this.onerror?.(new Error("a line of the server is too long"));
      else this.#take(decodeLine(line.bytes));
    }
  }

  #take(text: string | null): void {
    if (text === "") return;
    let message: JSONRPCMessage;
    try {
      message = this.#options.parse(JSON.parse(text ?? ""));
    } catch {
      this.onerror?.(new Error("a line of the server is no JSON-RPC message"));
      return;
    }
    this.onmessage?.(message);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (!this.#child || this.#ended) throw new McpFailure("connection", "the server has ended");
    await this.#child.write(encoder.encode(encodeFrame(message)));
  }

  /** End of input first, then signals to the whole group; about a second at most. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child && !this.#ended) {
      const exited = child.exited.then(() => true, () => true);
      child.closeStdin();
      for (const signal of ["SIGTERM", "SIGKILL"] as const) {
        if (await within(exited, LEAVE_MS)) break;
        child.kill(signal);
      }
      await within(exited, LEAVE_MS);
      child.kill("SIGKILL");
    }
    await this.#options.log.idle();
    if (!this.#ended) this.#onExit({ code: null, signal: null });
  }
}

function cannotStart(command: string, error: unknown): McpFailure {
  const reason = error instanceof Error ? error.message : String(error);
  return new McpFailure("hopeless", `cannot start "${command}": ${reason}`);
}
