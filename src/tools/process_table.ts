/**
 * Background processes of one session (core.md B.4). They belong to it alone and end with it; each keeps the last
 * 200,000 characters of its output, a finished one for half an hour.
 */
import { within } from "@/lib/abort.ts";
import type { SessionNotice, SessionScope } from "@/core/contract.ts";
import type { Child, Platform } from "@/platform/mod.ts";
import { ToolError } from "./args.ts";
import { type CheckpointEntry, ProcessCheckpoint } from "./process_checkpoint.ts";
import { type NoticeLimiter, OutputWatch, type WatchFinding } from "./process_watch.ts";
import { bashArguments, type LoginSetup } from "./shell_script.ts";
import { exitCodeOf, spawnBash } from "./shell_session.ts";
import { RollingText, TextStream } from "./stream_text.ts";

const MAX_PROCESSES = 64;
const MAX_OUTPUT = 200_000;
const KEEP_FINISHED_MS = 1_800_000;
const KILL_AFTER_MS = 1_000;
const NOTICE_TAIL = 2_000;
/** Of the row that tells the model what a process did while it was not looking. */
const NOTICE_KIND = "process_complete";

export type CompletionReason = "exited" | "killed" | "failed_start" | "lost";

export interface StartOptions {
  readonly command: string;
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly login: LoginSetup | null;
  /** Shell text that runs first and reads its own lines of input. */
  readonly prelude?: { readonly script: string; readonly input: string };
  readonly notifyOnComplete: boolean;
  readonly watchPatterns: readonly string[];
  readonly signal: AbortSignal;
  /** Data home, for the checkpoint. */
  readonly home: string;
  redact(text: string): string;
}

export interface ProcessInfo {
  readonly session_id: string;
  readonly command: string;
  readonly status: "running" | "exited";
  readonly pid: number;
  readonly cwd: string;
  readonly uptime_seconds: number;
  readonly exit_code?: number;
  readonly completion_reason?: CompletionReason;
  readonly termination_source?: string;
}

export class BackgroundProcess {
  readonly id: string;
  readonly command: string;
  readonly cwd: string;
  readonly child: Child;
  readonly output: RollingText;
  /** Settles at the end; never rejects. */
  readonly ended: Promise<void>;
  readonly #platform: Platform;
  readonly #startedAt: number;
  #endedAt: number | null = null;
  #exitCode: number | null = null;
  #reason: CompletionReason | null = null;
  #source: string | null = null;
  #seenEnded = false;

  constructor(id: string, child: Child, output: RollingText, options: StartOptions, platform: Platform) {
    this.id = id;
    this.command = options.command;
    this.cwd = options.cwd;
    this.child = child;
    this.output = output;
    this.#platform = platform;
    this.#startedAt = platform.clock.monotonic();
    this.ended = child.exited.then(
      (exit) => this.#finish(exitCodeOf(exit), "exited"),
      () => this.#finish(-1, "failed_start"),
    );
  }

  get running(): boolean {
    return this.#endedAt === null;
  }

  get exitCode(): number | null {
    return this.#exitCode;
  }

  #finish(code: number, reason: CompletionReason): void {
    this.#endedAt = this.#platform.clock.monotonic();
    this.#exitCode = this.#source ? -15 : code;
    this.#reason = this.#source ? "killed" : reason;
    // Whatever it has left behind in its group goes too.
    this.child.kill("SIGKILL");
  }

  /** Its end was in the result of a call: nobody need be told of it once more. */
  markSeen(): void {
    if (!this.running) this.#seenEnded = true;
  }

  /** Somebody has ended it. */
  get wasStopped(): boolean {
    return this.#source !== null;
  }

  get seenEnded(): boolean {
    return this.#seenEnded;
  }

  isStale(): boolean {
    return this.#endedAt !== null && this.#platform.clock.monotonic() - this.#endedAt > KEEP_FINISHED_MS;
  }

  info(): ProcessInfo {
    const until = this.#endedAt ?? this.#platform.clock.monotonic();
    return {
      session_id: this.id,
      command: this.command,
      status: this.running ? "running" : "exited",
      pid: this.child.pid,
      cwd: this.cwd,
      uptime_seconds: Math.round((until - this.#startedAt) / 100) / 10,
      ...(this.#exitCode !== null ? { exit_code: this.#exitCode } : {}),
      ...(this.#reason ? { completion_reason: this.#reason } : {}),
      ...(this.#source ? { termination_source: this.#source } : {}),
    };
  }

  /** SIGTERM to the group, SIGKILL after a second; resolves when it is gone. */
  async kill(source: string): Promise<void> {
    if (!this.running) return;
    this.#source ??= source;
    this.child.kill("SIGTERM");
    await within(this.ended, KILL_AFTER_MS);
    if (!this.running) return;
    this.child.kill("SIGKILL");
    await within(this.ended, KILL_AFTER_MS);
  }
}

export class ProcessTable {
  readonly #platform: Platform;
  readonly #limiter: NoticeLimiter;
  readonly #owner: string;
  readonly #tell: (notice: SessionNotice) => void;
  readonly #processes = new Map<string, BackgroundProcess>();
  /** Processes of an earlier run of the program that did not come to its orderly end. */
  #lost: readonly CheckpointEntry[] = [];
  #checkpoint: ProcessCheckpoint | null = null;
  #closed = false;

  constructor(platform: Platform, limiter: NoticeLimiter, scope: SessionScope) {
    this.#platform = platform;
    this.#limiter = limiter;
    this.#owner = scope.sessionId;
    this.#tell = (notice) => scope.tell?.(notice);
  }

  /** Opens the checkpoint and looks, once, for processes that were lost. */
  async recover(home: string): Promise<ProcessCheckpoint> {
    if (!this.#checkpoint) {
      this.#checkpoint = new ProcessCheckpoint(this.#platform, home);
      this.#lost = await this.#checkpoint.takeLost(this.#owner);
    }
    return this.#checkpoint;
  }

  /** What is known of processes that were lost with an earlier run. */
  lost(): ProcessInfo[] {
    return this.#lost.map((entry) => ({
      session_id: entry.id,
      command: entry.command,
      status: "exited",
      pid: entry.pid,
      cwd: entry.cwd,
      uptime_seconds: 0,
      completion_reason: "lost",
    }));
  }

  list(): BackgroundProcess[] {
    this.#sweep();
    return [...this.#processes.values()];
  }

  get(id: string): BackgroundProcess | null {
    this.#sweep();
    return this.#processes.get(id) ?? null;
  }

  async start(options: StartOptions): Promise<BackgroundProcess> {
    this.#sweep();
    const running = [...this.#processes.values()].filter((process) => process.running);
    if (running.length >= MAX_PROCESSES) {
      throw new ToolError(
        `This session already has ${MAX_PROCESSES} background processes. End some with process kill`,
      );
    }
    const id = `proc_${this.#platform.ids.hex(12)}`;
    const output = new RollingText(MAX_OUTPUT);
    const text = new TextStream();
    const watch = new OutputWatch(options.watchPatterns, this.#platform.clock, this.#limiter);
    const take = (piece: string) => {
      output.push(piece);
      for (const found of watch.feed(piece)) this.#noteFinding(found, id, options);
    };
    const receive = (chunk: Uint8Array) => take(text.push(chunk));
    const { login, prelude } = options;
    const args = bashArguments(options.command, { login, background: true, prelude: prelude?.script });
    const child = await spawnBash(this.#platform, args, {
      cwd: options.cwd,
      env: options.env,
      stdin: "pipe",
      onStdout: receive,
      onStderr: receive,
    }, options.signal);
    if (prelude) {
      const input = new TextEncoder().encode(prelude.input);
      child.write(input).catch(() => {/* it has ended already */});
    }
    const process = new BackgroundProcess(id, child, output, options, this.#platform);
    this.#processes.set(id, process);
    if (this.#closed) {
      await process.kill("session_close");
      throw new ToolError("The session is closed");
    }
    const checkpoint = await this.recover(options.home);
    await checkpoint.add(this.#entryOf(process, options));
    process.ended.then(() => {
      void checkpoint.remove(id);
      take(text.end());
      // Whoever watched too noisy a process is told of its end instead.
      if (options.notifyOnComplete || watch.disabled) this.#noteEnd(process, options);
    });
    return process;
  }

  #entryOf(process: BackgroundProcess, options: StartOptions): CheckpointEntry {
    return {
      id: process.id,
      owner: this.#owner,
      command: options.redact(options.command),
      cwd: options.cwd,
      pid: process.child.pid,
      host_pid: this.#platform.pid,
      started_at: this.#platform.clock.now() / 1000,
    };
  }

  #noteEnd(process: BackgroundProcess, options: StartOptions): void {
    const tail = process.output.text().slice(-NOTICE_TAIL);
    const text = `[IMPORTANT: Background process ${process.id} completed (exit code ${process.exitCode}).\n` +
      `Command: ${options.command}\nOutput:\n${tail}]`;
    this.#note(options.redact(text), {
      quiet: process.wasStopped,
      isKnown: () => process.seenEnded,
    });
  }

  #noteFinding({ kind, text }: WatchFinding, id: string, options: StartOptions): void {
    const what = kind === "match" ? "has written a line that was watched for" : "is no longer watched";
    this.#note(
      options.redact(
        `[IMPORTANT: Background process ${id} ${what}.\nCommand: ${options.command}\n${text}]`,
      ),
    );
  }

  #note(text: string, more: Pick<SessionNotice, "quiet" | "isKnown"> = {}): void {
    if (!this.#closed) this.#tell({ kind: NOTICE_KIND, text, ...more });
  }

  /** Ends every running one; the number of them. */
  async killAll(source: string): Promise<number> {
    const running = [...this.#processes.values()].filter((process) => process.running);
    await Promise.all(running.map((process) => process.kill(source)));
    return running.length;
  }

  #sweep(): void {
    for (const [id, process] of this.#processes) if (process.isStale()) this.#processes.delete(id);
    // Finished ones make room, the oldest first.
    for (const [id, process] of this.#processes) {
      if (this.#processes.size < MAX_PROCESSES) break;
      if (!process.running) this.#processes.delete(id);
    }
  }

  /** The session closes: nothing it started is left. */
  async dispose(): Promise<void> {
    this.#closed = true;
    await this.killAll("session_close");
    await this.#checkpoint?.settled();
  }
}

const KEY = "tools.processes";

/** The background processes of a session. */
export function processesOf(scope: SessionScope, platform: Platform, limiter: NoticeLimiter): ProcessTable {
  return scope.state(KEY, () => new ProcessTable(platform, limiter, scope));
}
