/**
 * Lines typed at a terminal: line editing by the runtime's readline over the terminal's own writer. Every key is
 * ours only while a question is open; between questions keys are kept for the next one and Ctrl-C is a signal. What is pasted never sends itself. Leaves the terminal as it was found.
 */
import process from "node:process";
import { createInterface, type Interface } from "node:readline";
import { PassThrough, Writable } from "node:stream";
import { delay } from "@/lib/abort.ts";
import type { Platform } from "@/platform/mod.ts";
import type { Answer, AskOptions, LineInput } from "./line_input.ts";
import { PASTE_MODE, PastedTexts, PasteSplitter, type Piece, showMarks, withNewLineKeys } from "./pasted.ts";
import type { InputMode, Terminal } from "./terminal.ts";

/** Long enough for what was typed to arrive, too short for anyone to have read a question. */
const DRAIN_MS = 60;
/** A lone Escape is not the beginning of a mark when nothing follows for so long. */
const ESCAPE_MS = 40;
const CONTINUE_MS = 100;

/** What readline keeps and has no name for in its types. */
interface Insides {
  history?: string[];
  /** Rows between the cursor and the beginning of what is edited. */
  prevRows?: number;
}

export class TtyInput implements LineInput {
  readonly isTty = true;
  readonly #interface: Interface;
  readonly #terminal: Terminal;
  readonly #keys = new PassThrough();
  readonly #splitter = new PasteSplitter();
  readonly #pasted = new PastedTexts();
  readonly #decoder = new TextDecoder();
  /** Lines typed before anyone asked. */
  #ahead: string[] = [];
  #waiting: ((answer: Answer) => void) | null = null;
  #hidden = false;
  #closed = false;
  #escape: ReturnType<typeof setTimeout> | undefined;
  #continued: ReturnType<typeof setTimeout> | undefined;
  #mode: InputMode = "lines";
  #silent = false;
  #words: () => readonly string[] = () => [];
  /** False on a terminal too simple for line editing: the system edits the line, and input simply flows. */
  readonly #edits: boolean;
  readonly #canStop: boolean;
  readonly #isWindows: boolean;

  constructor(terminal: Terminal, platform: Platform) {
    this.#terminal = terminal;
    this.#edits = platform.env().TERM !== "dumb";
    this.#isWindows = platform.os === "windows";
    this.#canStop = this.#edits && platform.os !== "windows";
    this.#interface = createInterface({
      input: this.#edits ? this.#keys : process.stdin,
      output: this.#screen(),
      terminal: this.#edits,
      completer: (
        line: string,
      ) => [line === "" ? [] : this.#words().filter((word) => word.startsWith(line)), line],
      historySize: 200,
      removeHistoryDuplicates: true,
    });
    this.#interface.on("line", (line) => {
      const text = this.#pasted.toText(line);
      if (!this.#give({ type: "line", text })) this.#ahead.push(text);
    });
    this.#interface.on("SIGINT", () => void this.#give({ type: "interrupt" }));
    this.#interface.on("close", () => {
      this.#closed = true;
      this.#give({ type: "end" });
    });
    if (this.#edits) this.#readKeys();
    if (this.#canStop) {
      this.#interface.on("SIGTSTP", this.#stop);
      process.on("SIGCONT", this.#goOn);
    }
    this.#rest();
  }

  #screen(): Writable {
    const terminal = this.#terminal;
    const output = new Writable({
      decodeStrings: false,
      write: (chunk: string | Uint8Array, _encoding, done) => {
        const text = typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
        if (!this.#hidden) terminal.write(showMarks(text));
        done();
      },
    });
    Object.defineProperty(output, "columns", { get: () => terminal.columns });
    return Object.assign(output, { isTTY: true });
  }

  /** Input is never paused: a pause can lose what a read that is already waiting brings. */
  #readKeys(): void {
    this.#terminal.write(PASTE_MODE.on);
    process.stdin.on("data", this.#onData);
    process.stdin.once("end", this.#onGone);
    process.stdin.once("error", this.#onGone);
  }

  readonly #onGone = (): void => this.#interface.close();

  readonly #onData = (chunk: Uint8Array): void => {
    clearTimeout(this.#escape);
    this.#take(this.#splitter.push(this.#decoder.decode(chunk, { stream: true })));
    if (this.#splitter.isUndecided) {
      this.#escape = setTimeout(() => this.#take(this.#splitter.release()), ESCAPE_MS);
    }
  };

  #take(pieces: readonly Piece[]): void {
    for (const { type, text } of pieces) {
      if (this.#closed) return;
      // Given on at once, so that keys and pastes stay in order.
      if (type === "keys") this.#keys.emit("data", new TextEncoder().encode(withNewLineKeys(text)));
      else this.#interface.write(this.#pasted.toLine(text));
    }
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
    this.#setMode("keys");
    this.#interface.resume();
    await delay(DRAIN_MS);
    this.#clearLine();
    this.#ahead = [];
  }

  async #question(prompt: string, options: AskOptions): Promise<Answer> {
    const answered = new Promise<Answer>((resolve) => this.#waiting = resolve);
    const onAbort = () => void this.#give({ type: "interrupt" });
    options.signal?.addEventListener("abort", onAbort, { once: true });
    // Ended from outside: the terminal must not stay without line editing.
    const stopListening = this.#terminal.onInterrupt((isFinal) =>
      // Without line editing Ctrl-C is a signal here too.
      void (isFinal ? this.#give({ type: "end" }) : this.#edits || this.#give({ type: "interrupt" }))
    );
    const unseen: InputMode = this.#edits || this.#isWindows ? "keys" : "silent";
    this.#setMode(this.#edits || options.hidden === true ? unseen : "lines");
    this.#interface.setPrompt(prompt);
    this.#showPrompt();
    if (options.prefill) this.#interface.write(options.prefill);
    this.#hidden = options.hidden ?? false;
    const answer = await answered;
    stopListening();
    options.signal?.removeEventListener("abort", onAbort);
    this.#finish(answer);
    return answer;
  }

  /** With what was typed ahead, half a line for example. */
  #showPrompt(): void {
    this.#hidden = false;
    // Unseen keys have moved no cursor.
    (this.#interface as unknown as Insides).prevRows = 0;
    this.#interface.prompt(true);
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
    (this.#interface as unknown as Insides).history?.shift();
  }

  keepSilent(on: boolean): void {
    this.#silent = on && this.#edits;
    if (!this.#waiting) this.#rest();
  }

  offer(words: () => readonly string[]): void {
    this.#words = words;
  }

  /** Between questions Ctrl-C is a signal. */
  #rest(): void {
    if (this.#closed) return this.#setMode("lines");
    this.#hidden = this.#edits;
    this.#setMode(this.#silent ? "silent" : "lines");
  }

  #setMode(mode: InputMode): void {
    this.#mode = mode;
    this.#terminal.setInput(mode);
  }

  /** Ctrl-Z at the prompt, where the system does not see it: as the system would do it, for the whole job. */
  readonly #stop = (): void => {
    this.#terminal.write(PASTE_MODE.off);
    this.#terminal.setInput("lines");
    process.kill(0, "SIGTSTP");
    // Also where nobody could continue it, and the system has therefore not stopped it.
    this.#continued = setTimeout(this.#goOn, CONTINUE_MS);
  };

  readonly #goOn = (): void => {
    clearTimeout(this.#continued);
    if (this.#closed) return;
    this.#terminal.write(PASTE_MODE.on);
    this.#terminal.setInput(this.#mode);
    if (this.#waiting && !this.#hidden) this.#showPrompt();
  };

  #give(answer: Answer): boolean {
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.(answer);
    return waiting !== null;
  }

  close(): void {
    clearTimeout(this.#escape);
    clearTimeout(this.#continued);
    this.#interface.close();
    if (this.#canStop) process.off("SIGCONT", this.#goOn);
    if (this.#edits) {
      process.stdin.off("data", this.#onData);
      process.stdin.pause();
      this.#terminal.write(PASTE_MODE.off);
    }
    this.#terminal.setInput("lines");
  }
}
