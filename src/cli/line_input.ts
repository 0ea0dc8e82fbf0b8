/**
 * Lines from the person (or pipe) on stdin. On a terminal with line editing and history; in a pipe line by line.
 * What was typed ahead of a question that gives consent can be dropped, so that it never answers it.
 * End of input and Ctrl-C are answers of their own, never an empty line.
 */
import { decodeLine, type Line, LineSplitter } from "@/lib/jsonl.ts";
import type { Platform } from "@/platform/mod.ts";
import { readStdin, type Terminal } from "./terminal.ts";
import { TtyInput } from "./tty_input.ts";

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
  /**
   * Between questions: what is typed ahead is not shown, so that it does not stand in the middle of an answer.
   * Only while somebody listens for Ctrl-C, because a process that dies by it leaves the terminal so.
   */
  keepSilent(on: boolean): void;
  /** Words that Tab completes when the line is the beginning of one. */
  offer(words: () => readonly string[]): void;
  close(): void;
}

export function openLineInput(terminal: Terminal, platform: Platform): LineInput {
  return terminal.stdinIsTty && terminal.stdoutIsTty
    ? new TtyInput(terminal, platform)
    : new PipeInput(terminal);
}

const MAX_LINE = 8 << 20;

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

  keepSilent(): void {}

  offer(): void {}

  close(): void {
    void this.#chunks.return(undefined).catch(
      () => {/* a read is still waiting; the process is about to end */},
    );
  }
}
