/**
 * How `hermes setup` asks: one small set of questions, put by arrow keys on a terminal that can move its cursor
 * (`setup_keys.ts`), else by numbers, line by line. `null` is always "the user leaves".
 */
import type { LineInput } from "./line_input.ts";
import type { Terminal } from "./terminal.ts";

export interface Choice {
  readonly label: string;
  /** Shown beside it; may be empty. */
  readonly hint: string;
}

export interface Asker {
  /** The index of the choice. */
  choose(question: string, choices: readonly Choice[]): Promise<number | null>;
  /** Trimmed; may be empty. */
  text(question: string, example?: string): Promise<string | null>;
  /** Nothing of it is shown. */
  secret(question: string): Promise<string | null>;
  /** False is the default answer. */
  confirm(question: string): Promise<boolean>;
  close(): void;
}

export class LineAsker implements Asker {
  readonly #input: LineInput;
  readonly #terminal: Terminal;

  constructor(input: LineInput, terminal: Terminal) {
    this.#input = input;
    this.#terminal = terminal;
  }

  async choose(question: string, choices: readonly Choice[]): Promise<number | null> {
    const { paint } = this.#terminal;
    this.#terminal.line(paint.bold(question));
    choices.forEach(({ label, hint }, i) => {
      this.#terminal.line(`  ${String(i + 1).padStart(2)}. ${label}${hint ? paint.dim(`  ${hint}`) : ""}`);
    });
    for (;;) {
      const answer = await this.#ask(`Number (1-${choices.length}), or q to leave: `);
      if (answer === null || /^q(uit)?$/i.test(answer)) return null;
      const number = Number(answer);
      if (Number.isInteger(number) && number >= 1 && number <= choices.length) return number - 1;
      this.#terminal.line(`  please give a number from 1 to ${choices.length}`);
    }
  }

  async text(question: string, example?: string): Promise<string | null> {
    return await this.#ask(`${question}${example ? ` (for example ${example})` : ""}: `);
  }

  async secret(question: string): Promise<string | null> {
    return await this.#ask(`${question} (not shown): `, true);
  }

  async confirm(question: string): Promise<boolean> {
    return /^y(es)?$/i.test(await this.#ask(`${question} [y/N] `) ?? "");
  }

  close(): void {
    this.#input.close();
  }

  async #ask(prompt: string, hidden = false): Promise<string | null> {
    const answer = await this.#input.ask(prompt, { hidden });
    return answer.type === "line" ? answer.text.trim() : null;
  }
}
