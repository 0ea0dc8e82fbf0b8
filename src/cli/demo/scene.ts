/**
 * The demo's picture of one door: the conversation on the left, the frames that made it on the right, in one time.
 *
 *   › replace Hello by Bonjour in …   │   31 → session/prompt
 *   I will change that file.          │   34 ← agent_message_chunk ×7
 *
 * Frames of a stream are gathered into one row. Draws on any width from 60 columns; knows no protocol.
 */
import type { Paint } from "../paint.ts";
import type { Terminal } from "../terminal.ts";
import { cut, pad, widthOf, withoutControls, wrap } from "../text_layout.ts";

export interface Frame {
  readonly sent: boolean;
  /** Milliseconds since the process was started. */
  readonly at: number;
  /** `session/prompt`, `message.delta`, `POST /v1/chat/completions`. */
  readonly name: string;
  /** What is in it, abridged to a line. */
  readonly detail?: unknown;
}

export type Speaker = "you" | "hermes" | "thought" | "tool" | "ask" | "added" | "removed" | "note" | "good";

export interface Said {
  readonly who: Speaker;
  readonly text: string;
}

const MARKS: Readonly<Record<Speaker, string>> = {
  you: "› ",
  hermes: "",
  thought: "",
  tool: "● ",
  ask: "? ",
  added: "+ ",
  removed: "- ",
  note: "",
  good: "✓ ",
};

interface Stream {
  readonly who: Speaker;
  text: string;
  readonly first: Frame;
  count: number;
  last: number;
}

export class Scene {
  readonly #terminal: Terminal;
  readonly #paint: Paint;
  readonly #left: number;
  readonly #right: number;
  #stream: Stream | null = null;
  #frames = 0;

  constructor(terminal: Terminal) {
    const width = Math.min(Math.max(terminal.columns, 60), 110);
    this.#terminal = terminal;
    this.#paint = terminal.paint;
    this.#left = Math.floor((width - 4) * 0.41);
    this.#right = width - 4 - this.#left;
  }

  /** Frames that passed, shown or not. */
  get frames(): number {
    return this.#frames;
  }

  title(number: number, command: string, text: string): void {
    const { bold, cyan, dim } = this.#paint;
    const plain = `${number}  ${command}  ${text}`;
    const rule = "─".repeat(Math.max(2, this.#left + this.#right + 2 - widthOf(plain)));
    this.#terminal.line();
    this.#terminal.line(` ${bold(`${number}  ${cyan(command)}`)}  ${text} ${dim(rule)}`);
  }

  /** Counts a frame that is not worth a row. */
  skip(): void {
    this.#frames++;
  }

  /** One frame and what it means to a person; either may be absent. */
  show(said: readonly Said[], frame?: Frame): void {
    this.flush();
    if (frame) this.#frames++;
    const left = said.flatMap((one) => this.#leftLines(one));
    this.#rows(left, frame ? this.#rightLines(frame, left.length) : []);
  }

  /** A piece of streamed text; the pieces of one kind make one row. */
  stream(who: Speaker, text: string, frame: Frame): void {
    this.#frames++;
    if (this.#stream && this.#stream.who !== who) this.flush();
    if (!this.#stream) this.#stream = { who, text, first: frame, count: 1, last: frame.at };
    else {
      this.#stream.text += text;
      this.#stream.count++;
      this.#stream.last = frame.at;
    }
  }

  flush(): void {
    const stream = this.#stream;
    this.#stream = null;
    if (!stream) return;
    const took = Math.max(1, Math.round(stream.last - stream.first.at));
    const count = stream.count > 1 ? ` ×${stream.count}, ${took} ms` : "";
    const frame = { ...stream.first, name: stream.first.name + count };
    this.#rows(this.#leftLines({ who: stream.who, text: stream.text.trim() }), this.#rightLines(frame, 1));
  }

  #rows(left: readonly string[], right: readonly string[]): void {
    const bar = this.#paint.dim("│");
    for (let i = 0; i < Math.max(left.length, right.length); i++) {
      this.#terminal.line(` ${pad(left[i] ?? "", this.#left)} ${bar} ${right[i] ?? ""}`.trimEnd());
    }
  }

  #leftLines({ who, text }: Said): string[] {
    const mark = MARKS[who];
    const room = this.#left - mark.length;
    const clean = withoutControls(text);
    const lines = who === "added" || who === "removed" ? [cut(clean, room)] : wrap(clean, room);
    return lines.map((line, i) => this.#colour(who, (i === 0 ? mark : " ".repeat(mark.length)) + line));
  }

  #colour(who: Speaker, line: string): string {
    const paint = this.#paint;
    switch (who) {
      case "you":
        return paint.bold(paint.cyan(line));
      case "hermes":
        return line;
      case "thought":
      case "note":
        return paint.dim(line);
      case "tool":
        return paint.magenta(line);
      case "ask":
        return paint.yellow(line);
      case "added":
      case "good":
        return paint.green(line);
      case "removed":
        return paint.red(line);
    }
  }

  /** The frame's name, then as much of what is in it as the left side leaves room for. */
  #rightLines(frame: Frame, height: number): string[] {
    const paint = this.#paint;
    const time = String(Math.round(frame.at)).padStart(5);
    const arrow = frame.sent ? paint.cyan("→") : paint.green("←");
    const room = this.#right - time.length - 3;
    const head = `${paint.dim(time)} ${arrow} ${cut(frame.name, room)}`;
    if (frame.detail === undefined) return [head];
    const lines = Math.min(Math.max(height - 1, 1), MOST_DETAIL_LINES);
    const indent = " ".repeat(time.length + 1);
    return [head, ...abridge(frame.detail, room + 2, lines).map((line) => paint.dim(indent + line))];
  }
}

const MOST_DETAIL_LINES = 3;
const LONG_TEXT = 28;

/** What is in a frame, without the noise of JSON: long texts and deep parts shortened, in at most so many lines. */
export function abridge(value: unknown, width: number, lines: number): string[] {
  const text = typeof value === "string"
    ? value
    : JSON.stringify(shorten(value, 0)).replace(/"([A-Za-z_]\w*)":/g, "$1: ").replaceAll(",", ", ");
  const whole = cut(withoutControls(text), width * lines).replace(/…+$/, "…");
  const wrapped = wrap(whole, width);
  if (wrapped.length <= lines) return wrapped;
  return [...wrapped.slice(0, lines - 1), cut(wrapped.slice(lines - 1).join(" "), width)];
}

function shorten(value: unknown, depth: number): unknown {
  if (typeof value === "string") {
    return value.length > LONG_TEXT ? value.slice(0, LONG_TEXT - 1) + "…" : value;
  }
  if (value === null || typeof value !== "object") return value;
  if (depth >= 3) return "…";
  if (Array.isArray(value)) return value.slice(0, 2).map((item) => shorten(item, depth + 1));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shorten(item, depth + 1)]));
}
