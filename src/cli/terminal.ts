/**
 * The terminal (or pipe) this program was started from: the command line's transport and, like the servers'
 * transports, allowed to touch `Deno.*`. Answers go to stdout, notes for people to stderr; colour only where it
 * is wanted. Everything written is flushed by `withTerminal` before the command's exit code is returned.
 */
import { FrameWriter } from "@/lib/frame_writer.ts";
import type { Platform } from "@/platform/mod.ts";
import { createPaint, type Paint, wantsColour } from "./paint.ts";
import { wrapIndented } from "./text_layout.ts";

/**
 * `lines`: the system edits and shows lines, as a shell leaves it. `keys`: every key is ours, Ctrl-C too. `silent`:
 * keys are neither shown nor edited, but Ctrl-C is a signal.
 */
export type InputMode = "lines" | "keys" | "silent";

export interface Terminal {
  readonly stdinIsTty: boolean;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  /** Of stdout; 80 where it is no terminal. */
  readonly columns: number;
  readonly paint: Paint;
  /** Colours of stderr. */
  readonly notePaint: Paint;
  /** Text as it is. */
  write(text: string): void;
  /** One line on stdout. */
  line(text?: string): void;
  /** One line on stderr. */
  note(text: string): void;
  /** `null` when stdout has room, else a promise for when it has. */
  room(): Promise<void> | null;
  /** True once nobody reads stdout any more. */
  readonly broken: boolean;
  /** Runs when stdout breaks. */
  onBroken(run: () => void): void;
  /** All of stdin as text. */
  readAll(): Promise<string>;
  /** What the terminal does with keys before they are read; without effect where there is no terminal. */
  setInput(mode: InputMode): void;
  /** Ctrl-C, and with `isFinal` SIGTERM and SIGHUP, which ask to end; returns the function that stops listening. */
  onInterrupt(run: (isFinal: boolean) => void): () => void;
  /** Waits until all is handed over; gives the error that lost output, if any. A reader that left is none. */
  flush(): Promise<unknown>;
}

const MINIMUM_COLUMNS = 40;

function columnsOf(isTty: boolean): number {
  if (!isTty) return 80;
  try {
    return Math.max(MINIMUM_COLUMNS, Deno.consoleSize().columns);
  } catch {
    return 80;
  }
}

/** One line of a message for people, broken at words where stderr is a screen. */
export function fitToStderr(line: string): string {
  return Deno.stderr.isTerminal() ? wrapIndented(line, columnsOf(Deno.stdout.isTerminal()), 2) : line;
}

function listenForSignals(platform: Platform, run: (isFinal: boolean) => void): () => void {
  const onInterrupt = () => run(false);
  const onEnd = () => run(true);
  const listeners: [Deno.Signal, () => void][] = platform.os === "windows"
    ? [["SIGINT", onInterrupt], ["SIGBREAK", onEnd]]
    : [["SIGINT", onInterrupt], ["SIGTERM", onEnd], ["SIGHUP", onEnd]];
  for (const [signal, listener] of listeners) Deno.addSignalListener(signal, listener);
  return () => {
    for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
  };
}

const encoder = new TextEncoder();

function setInput(mode: InputMode): void {
  try {
    // Windows has no such middle way: there the system shows what is typed.
    const isSilent = mode === "silent" && Deno.build.os !== "windows";
    if (isSilent) Deno.stdin.setRaw(true, { cbreak: true });
    else Deno.stdin.setRaw(mode === "keys");
  } catch {
    // The terminal is gone.
  }
}

function writeToScreen(text: string, screen: { writeSync(bytes: Uint8Array): number } = Deno.stdout): void {
  let rest = encoder.encode(text);
  try {
    while (rest.length > 0) rest = rest.subarray(screen.writeSync(rest));
  } catch {
    // The terminal is gone; SIGHUP ends the command.
  }
}

/** Text as it is, for a question that must not stand on stdout. */
export function writeToStderr(text: string): void {
  writeToScreen(text, Deno.stderr);
}

export function openTerminal(platform: Platform): Terminal {
  const env = platform.env();
  const [stdinIsTty, stdoutIsTty, stderrIsTty] = [Deno.stdin, Deno.stdout, Deno.stderr].map((s) =>
    s.isTerminal()
  ) as [boolean, boolean, boolean];
  let onBroken: (() => void)[] = [];
  let failure: unknown = null;
  const writer = new FrameWriter(Deno.stdout, {
    onError: (error) => {
      if (!(error instanceof Deno.errors.BrokenPipe)) failure = error;
      const all = onBroken;
      onBroken = [];
      for (const run of all) run();
    },
  });
  // On a screen text and notes must appear in the order they were written, so nothing is queued there.
  const write = stdoutIsTty ? (text: string) => writeToScreen(text) : (text: string) => writer.write(text);
  return {
    stdinIsTty,
    stdoutIsTty,
    stderrIsTty,
    get columns() {
      return columnsOf(stdoutIsTty);
    },
    paint: createPaint(wantsColour(stdoutIsTty, env)),
    notePaint: createPaint(wantsColour(stderrIsTty, env)),
    write,
    line: (text = "") => write(text + "\n"),
    note: (text) => platform.stderr(text),
    room: () => writer.room(),
    get broken() {
      return writer.broken;
    },
    onBroken: (run) => void onBroken.push(run),
    readAll: () => new Response(Deno.stdin.readable).text(),
    setInput,
    onInterrupt: (run) => listenForSignals(platform, run),
    flush: async () => {
      await writer.idle();
      return failure;
    },
  };
}

/**
 * Runs a command with the terminal of this process and hands over all its output before it returns. Output that
 * could not be written (a full disk) turns success into failure.
 */
export async function withTerminal(
  platform: Platform,
  run: (terminal: Terminal) => Promise<number>,
): Promise<number> {
  const terminal = openTerminal(platform);
  let exitCode = 1;
  try {
    exitCode = await run(terminal);
  } finally {
    const failure = await terminal.flush();
    if (failure) {
      const message = failure instanceof Error ? failure.message : String(failure);
      terminal.note(`hermes: cannot write to stdout: ${message}`);
      exitCode ||= 1;
    }
  }
  return exitCode;
}

/** Chunks of stdin until its end; reading stops when the consumer leaves. */
export async function* readStdin(): AsyncGenerator<Uint8Array> {
  const buffer = new Uint8Array(64 * 1024);
  for (;;) {
    const n = await Deno.stdin.read(buffer);
    if (n === null) return;
    yield buffer.slice(0, n);
  }
}

/** Where the program's source starts, for a process that runs it with `deno`; `null` in a compiled binary. */
export function sourceEntry(platform: Platform): string | null {
  const name = platform.execPath().replace(/^.*[/\\]/, "").replace(/\.exe$/i, "");
  return name === "deno" ? new URL("../../main.ts", import.meta.url).href : null;
}
