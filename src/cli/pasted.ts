/**
 * What was pasted at a prompt, told apart from what was typed: a terminal in bracketed-paste mode puts marks around
 * it. Pasted line ends never send anything; a long paste stands in the line as a short note until the line is sent.
 * Pure: knows no terminal and no timer.
 */
import { withoutControls } from "./text_layout.ts";

/** Written to the terminal, so that it marks what is pasted; terminals that do not know them ignore them. */
export const PASTE_MODE = { on: "\x1b[?2004h", off: "\x1b[?2004l" } as const;

const START = "\x1b[200~";
const END = "\x1b[201~";
/** Alt-Enter, and Shift-Enter of terminals that tell it apart. */
const NEW_LINE_KEYS = ["\x1b\r", "\x1b[13;2u"];
/** Bounds memory, not people. */
const MAX_PASTE = 8 << 20;
/** A paste longer than that is shown as a note. */
const SHOWN = { lines: 6, chars: 600 };
/** Stands for a line end inside the edited line; a code point that is no character. */
const LINE_END = "\ufdd0";
const LINE_END_SIGN = "⏎";

export interface Piece {
  readonly type: "keys" | "paste";
  readonly text: string;
}

/** Cuts the input of a terminal into keys and pastes, wherever its chunks are torn. */
export class PasteSplitter {
  #held = "";
  #isPasting = false;

  push(text: string): Piece[] {
    let rest = this.#held + text;
    this.#held = "";
    const pieces: Piece[] = [];
    while (rest !== "") {
      const mark = this.#isPasting ? END : START;
      const at = rest.indexOf(mark);
      if (at === -1) {
        this.#add(pieces, this.#isPasting ? this.#holdPaste(rest) : this.#holdMark(rest));
        break;
      }
      this.#add(pieces, rest.slice(0, at));
      rest = rest.slice(at + mark.length);
      this.#isPasting = !this.#isPasting;
    }
    return pieces;
  }

  /** True while keys are held back that may be the beginning of a mark; a lone Escape among them. */
  get isUndecided(): boolean {
    return !this.#isPasting && this.#held !== "";
  }

  /** The held keys were keys. */
  release(): Piece[] {
    if (!this.isUndecided) return [];
    const text = this.#held;
    this.#held = "";
    return [{ type: "keys", text }];
  }

  #add(pieces: Piece[], text: string): void {
    if (text !== "") pieces.push({ type: this.#isPasting ? "paste" : "keys", text });
  }

  #holdMark(text: string): string {
    for (let length = Math.min(START.length - 1, text.length); length > 0; length--) {
      if (!START.startsWith(text.slice(-length))) continue;
      this.#held = text.slice(-length);
      return text.slice(0, -length);
    }
    return text;
  }

  /** A paste is given on as a whole; one beyond all bounds in parts. */
  #holdPaste(text: string): string {
    const given = text.length > MAX_PASTE ? text.slice(0, -END.length) : "";
    this.#held = text.slice(given.length);
    return given;
  }
}

/** Turns text of several lines into what a line editor can hold, and back. One per input. */
export class PastedTexts {
  readonly #notes = new Map<string, string>();

  /** What to put into the edited line. */
  toLine(pasted: string): string {
    const text = withoutControls(pasted.replace(/\r\n?/g, "\n")).replaceAll(LINE_END, "").replace(/\n$/, "");
    const lines = text.split("\n").length;
    if (lines <= SHOWN.lines && text.length <= SHOWN.chars) return text.replaceAll("\n", LINE_END);
    const size = lines > 1 ? `${lines} lines` : `${text.length} characters`;
    const note = `[pasted ${this.#notes.size + 1}: ${size}]`;
    this.#notes.set(note, text);
    return note;
  }

  /** The text of a line that was sent. */
  toText(line: string): string {
    let text = line.replaceAll(LINE_END, "\n");
    for (const [note, pasted] of this.#notes) text = text.replaceAll(note, () => pasted);
    return text;
  }
}

/** Keys that mean "a new line here" become its mark. */
export function withNewLineKeys(keys: string): string {
  return NEW_LINE_KEYS.reduce((text, key) => text.replaceAll(key, LINE_END), keys);
}

/** What the line editor writes, as it is shown. */
export function showMarks(text: string): string {
  return text.includes(LINE_END) ? text.replaceAll(LINE_END, LINE_END_SIGN) : text;
}
