/**
 * Streamed text on a terminal, broken between words. Each piece is shown as it comes; a word that turns out not to
 * fit is taken back from the end of the line and goes on in the next. Fenced code is left as it is. Knows no colours.
 */
import { widthOf } from "./text_layout.ts";

export class WordFlow {
  readonly #columns: () => number;
  /** Where the cursor stands, from 0. */
  #column = 0;
  /** The word that the cursor stands behind. */
  #word = "";
  /** The line so far, as long as it can still become a fence. */
  #lineStart = "";
  #isFenced = false;

  constructor(columns: () => number) {
    this.#columns = columns;
  }

  /** The cursor stands at the start of a line that somebody else began. */
  reset(): void {
    this.#column = 0;
    this.#word = "";
    this.#lineStart = "";
    this.#isFenced = false;
  }

  /** What to write for the next piece. */
  push(text: string): string {
    let out = "";
    for (const char of text) {
      if (char === "\n") out += this.#endLine();
      else if (this.#isFence(char) || this.#isFenced) out += char;
      else out += this.#add(char);
    }
    return out;
  }

  #endLine(): string {
    if (this.#lineStart.startsWith("```")) this.#isFenced = !this.#isFenced;
    this.#column = 0;
    this.#word = "";
    this.#lineStart = "";
    return "\n";
  }

  /** Keeps the first characters of a line; true once they are a fence. */
  #isFence(char: string): boolean {
    if (this.#lineStart.length < 3) this.#lineStart += char;
    return this.#lineStart.startsWith("```");
  }

  #add(char: string): string {
    const width = Math.max(20, this.#columns());
    const own = widthOf(char);
    if (char === " ") {
      this.#word = "";
      if (this.#column >= width) return this.#newLine("");
      this.#column++;
      return char;
    }
    if (this.#column + own > width) return this.#carry(char, width);
    this.#word += char;
    this.#column += own;
    return char;
  }

  #carry(char: string, width: number): string {
    const begun = widthOf(this.#word);
    const start = this.#column - begun;
    // A word that fills its line alone cannot be helped.
    if (this.#word === "" || start <= 0 || begun + widthOf(char) > width) return this.#newLine(char);
    return `\r\x1b[${start}C\x1b[K${this.#newLine(this.#word + char)}`;
  }

  #newLine(word: string): string {
    this.#word = word;
    this.#column = widthOf(word);
    return `\n${word}`;
  }
}
