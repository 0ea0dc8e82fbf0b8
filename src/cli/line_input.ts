/**
 * Lines from the person (or pipe) on stdin. On a terminal with line editing and history; in a pipe line by line.
 * What was typed ahead of a question that gives consent can be dropped, so that it never answers it.
 * End of input and Ctrl-C are answers of their own, never an empty line.
 */
import process from "node:process";
import { createInterface, type Interface } from "node:readline";
import { Writable } from "node:stream";
import { decodeLine, type Line, LineSplitter } from "@/lib/jsonl.ts";
import type { Platform } from "@/platform/mod.ts";
import { delay } from "@/lib/abort.ts";
import { readStdin, type Terminal } from "./terminal.ts";

export type Answer =
  | { readonly type: "line"; readonly text: string }
  /** Ctrl-C at the prompt. */
  | { readonly type: "interrupt" }
  /** Ctrl-D, or the pipe has ended. */
  | { readonly type: "end" };

export interface AskOptions {
  /** Nothing of it is shown. */
  readonly hidden?: boolean;
  /** On a terminal: what was typed before the question is dropped. */
  readonly fresh?: boolean;
  /** Text that stands in the line already. */
  readonly prefill?: string;
  /** Aborting it ends the waiting as `interrupt`. */
  readonly signal?: AbortSignal;
}

export interface LineInput {
  readonly isTty: boolean;
  ask(prompt: string, options?: AskOptions): Promise<Answer>;
  close(): void;
}

export function openLineInput(terminal: Terminal, platform: Platform): LineInput {
  return terminal.stdinIsTty && terminal.stdoutIsTty
    ? new TtyInput(terminal, platform)
    : new PipeInput(terminal);
}

const MAX_LINE = 8 << 20;
/** Long enough for what was typed to arrive, too short for anyone to have read a question. */
const DRAIN_MS = 60;

/** Reads only what it is asked for; a prompt is shown only where a person types. */
class PipeInput implements LineInput {
  readonly isTty = false;
  readonly #chunks = readStdin();
  readonly #splitter = new LineSplitter(MAX_LINE);
  readonly #lines: Line[] = [];
  #ended = false;
  /** A read that an abort left waiting; its chunk belongs to the next question. */
  #reading: Promise<IteratorResult<Uint8Array>> | null = null;
  readonly #terminal: Terminal;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  async ask(prompt: string, options: AskOptions = {}): Promise<Answer> {
    if (prompt !== "" && this.#terminal.stdinIsTty) this.#terminal.write(prompt);
    for (;;) {
      const line = this.#lines.shift();
      if (line?.type === "line") return { type: "line", text: decodeLine(line.bytes) ?? "" };
      if (line) continue;
      if (this.#ended) return { type: "end" };
      if (!await this.#read(options.signal)) return { type: "interrupt" };
    }
  }

  /** False when the signal fired first. */
  async #read(signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return false;
    this.#reading ??= this.#chunks.next();
    let stop: () => void = () => {};
    const aborted = new Promise<null>((resolve) => {
      stop = () => resolve(null);
      signal?.addEventListener("abort", stop, { once: true });
    });
    const next = await Promise.race([this.#reading, aborted]);
    signal?.removeEventListener("abort", stop);
    if (next === null) return false;
    this.#reading = null;
    if (next.done) {
      this.#ended = true;
      this.#lines.push(...this.#splitter.end());
    } else this.#lines.push(...this.#splitter.push(next.value));
    return true;
  }

  close(): void {
    void this.#chunks.return(undefined).catch(
      () => {/* a read is still waiting; the process is about to end */},
    );
  }
}

/** Line editing by the runtime's readline, over the terminal's own writer; raw mode only while a question is open. */
class TtyInput implements LineInput {
  readonly isTty = true;
  readonly #interface: Interface;
  readonly #terminal: Terminal;
  /** Lines typed (or pasted) before anyone asked. */
  #ahead: string[] = [];
  #waiting: ((answer: Answer) => void) | null = null;
  #hidden = false;
  #closed = false;
  /** False on a terminal too simple for line editing: the system edits the line, and input simply flows. */
  readonly #edits: boolean;

  constructor(terminal: Terminal, platform: Platform) {
    this.#terminal = terminal;
    this.#edits = platform.env().TERM !== "dumb";
    const output = new Writable({
      decodeStrings: false,
      write: (chunk: string | Uint8Array, _encoding, done) => {
        const text = typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
        if (!this.#hidden) terminal.write(text);
        done();
      },
    });
    Object.defineProperty(output, "columns", { get: () => terminal.columns });
    Object.assign(output, { isTTY: true });
    this.#interface = createInterface({
      input: process.stdin,
      output,
      terminal: this.#edits,
      historySize: 200,
      removeHistoryDuplicates: true,
    });
    this.#interface.on("line", (text) => this.#give({ type: "line", text }) || this.#ahead.push(text));
    this.#interface.on("SIGINT", () => void this.#give({ type: "interrupt" }));
    this.#interface.on("close", () => {
      this.#closed = true;
      this.#give({ type: "end" });
    });
    this.#rest();
  }

  async ask(prompt: string, options: AskOptions = {}): Promise<Answer> {
    if (options.fresh || options.hidden) await this.#drain();
    const ahead = this.#ahead.shift();
    if (ahead !== undefined) {
      this.#terminal.line(prompt + ahead);
      return { type: "line", text: ahead };
    }
    if (this.#closed) return { type: "end" };
    return await this.#question(prompt, options);
  }

  /** Takes in what was typed so far, also what the system still holds, and drops it. */
  async #drain(): Promise<void> {
    if (this.#closed) return;
    this.#hidden = true;
    this.#setRaw(true);
    this.#interface.resume();
    await delay(DRAIN_MS);
    this.#clearLine();
    this.#ahead = [];
  }

  async #question(prompt: string, options: AskOptions): Promise<Answer> {
    const answered = new Promise<Answer>((resolve) => this.#waiting = resolve);
    const onAbort = () => void this.#give({ type: "interrupt" });
    options.signal?.addEventListener("abort", onAbort, { once: true });
    this.#setRaw(this.#edits || options.hidden === true);
    this.#interface.resume();
    this.#interface.setPrompt(prompt);
    this.#hidden = false;
    this.#interface.prompt();
    if (options.prefill) this.#interface.write(options.prefill);
    this.#hidden = options.hidden ?? false;
    const answer = await answered;
    options.signal?.removeEventListener("abort", onAbort);
    this.#finish(answer);
    return answer;
  }

  #finish(answer: Answer): void {
    const wasHidden = this.#hidden;
    this.#hidden = false;
    if (wasHidden || answer.type !== "line") this.#terminal.write("\n");
    if (wasHidden) this.#forgetLast();
    // What stands half-written in the line belongs to the question that was left.
    if (answer.type === "interrupt" && !this.#closed) this.#clearLine();
    this.#rest();
  }

  #clearLine(): void {
    if (!this.#edits) return;
    this.#hidden = true;
    this.#interface.write(null, { ctrl: true, name: "e" });
    this.#interface.write(null, { ctrl: true, name: "u" });
    this.#hidden = false;
  }

  /** A secret does not stay in the history. */
  #forgetLast(): void {
    const history = (this.#interface as unknown as { history?: string[] }).history;
    history?.shift();
  }

  /**
   * Between questions the terminal is in its normal mode, so that Ctrl-C is a signal again. Input is never paused:
   * a pause can lose what a read that is already waiting brings. The system echoes what is typed meanwhile.
   */
  #rest(): void {
    if (this.#closed) return;
    this.#hidden = this.#edits;
    this.#setRaw(false);
  }

  #setRaw(on: boolean): void {
    if (this.#closed) return;
    try {
      process.stdin.setRawMode?.(on);
    } catch {
      // The terminal is gone.
    }
  }

  #give(answer: Answer): boolean {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.(answer);
    return waiting !== null;
  }

  close(): void {
    this.#interface.close();
  }
}
