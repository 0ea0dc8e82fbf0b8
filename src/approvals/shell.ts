/**
 * Reads a shell command into its simple commands: words as the shell would see them after quotes, escapes,
 * variables that are known, braces and `~`; redirections; everything inside `$(…)`, backticks, `<(…)`.
 * It is a judge's reader, not a shell: it never fails, whatever it is given, and prefers the reading that does harm.
 */
import { OPENING, plainOutputs } from "./shell_output.ts";
import {
  BRACE_CLOSE,
  BRACE_COMMA,
  BRACE_OPEN,
  decodeAnsiC,
  type Delimiter,
  expandBraces,
  expandParameter,
  findClose,
  lineEnd,
  readBody,
  readDelimiter,
  UNKNOWN,
} from "./shell_words.ts";

export interface Redirect {
  /** `>`, `>>`, `<`, `<<`, `<<<`, … without the number of the stream. */
  readonly operator: string;
  readonly target: string;
}

export interface SimpleCommand {
  readonly words: string[];
  readonly redirects: Redirect[];
  /** Its input comes from the command before it. */
  readonly piped: boolean;
  /** Texts given to it as here-documents. */
  readonly bodies: string[];
  /** How many substitutions it stands in. */
  readonly depth: number;
}

export interface Reading {
  readonly commands: SimpleCommand[];
  /** The source without what stands in quotes and without blanks, for shapes like a fork bomb. */
  readonly skeletons: string[];
  /** Values known at its end. */
  readonly vars: ReadonlyMap<string, string>;
  /** The most values a `for` of it goes through. */
  rounds: number;
  /** How often what is no shell made it begin anew at the next line. */
  restarts: number;
}

const MAX_DEPTH = 10;
const MAX_RESTARTS = 16;
/** Good for one letter of them (`${PATH:0:1}`), never for their whole value. */
const LETTER_SOURCES: Readonly<Record<string, string>> = {
  PATH: "/usr/bin:/bin",
  PWD: "/",
  SHELL: "/bin/bash",
};
const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=([^]*)$/;
const READING = /^(?:read|mapfile|readarray)$/;
/** Under this name stands which value of a `for` is taken; no shell has such a variable. */
const ROUND = " round";

interface Heredoc {
  readonly command: SimpleCommand;
  readonly delimiter: Delimiter;
}

class Reader {
  readonly #text: string;
  readonly #vars: Map<string, string>;
  readonly #reading: Reading;
  readonly #depth: number;
  #at = 0;
  #word: string | null = null;
  #wordQuoted = false;
  #operator: string | null = null;
  #command: SimpleCommand;
  #heredocs: Heredoc[] = [];
  #skeleton = "";
  /** The word so far has a quote or a value in it; before its `=` that makes it no assignment. */
  #isTouched = false;
  #isAssignment = false;
  /** Words of this text that only look like assignments. */
  readonly #lookalikes = new Set<string>();
  /** Up to here `<<` is a shift of bits. */
  #arithmeticEnd = -1;

  constructor(text: string, vars: Map<string, string>, reading: Reading, depth: number) {
    this.#text = text;
    this.#vars = vars;
    this.#reading = reading;
    this.#depth = depth;
    this.#command = { words: [], redirects: [], piped: false, bodies: [], depth };
  }

  run(): void {
    while (this.#at < this.#text.length) this.#step();
    this.#endCommand(false);
    this.#reading.skeletons.push(this.#skeleton);
  }

  #step(): void {
    const char = this.#text[this.#at] as string;
    if (char === "'" || char === '"' || char === "\\" || char === "$" || char === "`") {
      return this.#quoting(char);
    }
    if (char === " " || char === "\t") {
      this.#endWord();
      this.#at++;
      return;
    }
    if (char === "#" && this.#word === null) {
      const end = this.#text.indexOf("\n", this.#at);
      this.#at = end === -1 ? this.#text.length : end;
      return;
    }
    if (char === "(" && this.#word !== null && /^[A-Za-z_]\w*\+?=$/.test(this.#word) && this.#array()) return;
    if (char === "(" && this.#word === null && this.#text[this.#at + 1] === "(") this.#arithmetic();
    if (char === "<" && this.#at < this.#arithmeticEnd && this.#text[this.#at + 1] === "<") {
      this.#endWord();
      this.#at += 2;
      return;
    }
    if (char === "<" || char === ">" || (char === "&" && this.#text[this.#at + 1] === ">")) {
      return this.#redirect();
    }
    if ("\n;&|()".includes(char)) return this.#separator(char);
    this.#skeleton += char;
    if (char === "~" && this.#word === null && /^[\s/;&|()<>]?$/.test(this.#text[this.#at + 1] ?? "")) {
      this.#add(this.#vars.get("HOME") ?? char);
      this.#at++;
      return;
    }
    if (char === "=" && !this.#isTouched) this.#isAssignment = true;
    this.#add(char === "{" ? BRACE_OPEN : char === "," ? BRACE_COMMA : char === "}" ? BRACE_CLOSE : char);
    this.#at++;
  }

  #add(text: string): void {
    this.#word = (this.#word ?? "") + text;
  }

  /** `((…))`, unless it turns out to be two brackets. */
  #arithmetic(): void {
    const end = findClose(this.#text, this.#at + 2, "(", ")");
    if (this.#text[end + 1] === ")") this.#arithmeticEnd = Math.max(this.#arithmeticEnd, end + 1);
  }

  /** What is no array stops the line only: the shell goes on with the next one. */
  #nextLine(fault: number): void {
    const next = lineEnd(this.#text, fault);
    if (next >= this.#text.length || this.#reading.restarts++ >= MAX_RESTARTS) return;
    readInto(this.#text.slice(next), this.#vars, this.#reading, this.#depth + 1);
  }

  /**
   * `name=(…)`: its values by number, all of them, and as one text. What stands in it is read as commands, too.
   * False when it never closes.
   */
  #array(): boolean {
    const name = (this.#word as string).replace(/\+?=$/, "");
    const end = findClose(this.#text, this.#at + 1, "(", ")");
    const fault = this.#text.slice(this.#at, end).search(/[;&|<>]/);
    if (fault !== -1 || end >= this.#text.length) this.#nextLine(this.#at + Math.max(0, fault));
    if (end >= this.#text.length) return false;
    const before = this.#reading.commands.length;
    // There are no here-documents in it.
    readInto(`((${this.#text.slice(this.#at + 1, end)}))`, this.#vars, this.#reading, this.#depth + 1);
    const values = this.#reading.commands.slice(before).filter(({ depth }) => depth === this.#depth + 1)
      .flatMap(({ words }) => words.map((word) => word.replace(/^\[[^\]]{0,40}\]=/, "")));
    values.slice(0, 20).forEach((value, at) => this.#vars.set(`${name}[${at}]`, value));
    for (const all of ["@", "*"]) this.#vars.set(`${name}[${all}]`, values.join(" "));
    this.#add(values.join(" "));
    this.#at = end + 1;
    return true;
  }

  #quoting(char: string): void {
    this.#isTouched = true;
    if (char === "\\") {
      const next = this.#text[this.#at + 1] ?? "";
      if (next !== "\n") this.#add(next);
      this.#at += 2;
    } else if (char === "'") {
      const end = this.#text.indexOf("'", this.#at + 1);
      const stop = end === -1 ? this.#text.length : end;
      this.#quotedText(this.#text.slice(this.#at + 1, stop));
      this.#at = stop + 1;
    } else if (/^"\$(?:@|\{@\})"/.test(this.#text.slice(this.#at, this.#at + 6))) {
      // All the arguments, each a word of its own.
      this.#at++;
      this.#dollar();
      this.#at++;
    } else if (char === '"') {
      this.#at++;
      this.#wordQuoted = true;
      this.#add(this.#readDouble());
    } else if (char === "`") this.#add(this.#readBackticks());
    else this.#dollar();
  }

  #quotedText(text: string): void {
    this.#wordQuoted = true;
    this.#add(text);
  }

  /** `$…` outside quotes. */
  #dollar(): void {
    const next = this.#text[this.#at + 1];
    if (next === "'") {
      let end = this.#at + 2;
      while (end < this.#text.length && this.#text[end] !== "'") end += this.#text[end] === "\\" ? 2 : 1;
      this.#quotedText(decodeAnsiC(this.#text.slice(this.#at + 2, end)));
      this.#at = end + 1;
    } else if (next === '"') this.#at++;
    else {
      const value = this.#readDollar();
      const parts = value.split(/[ \t\n]+/);
      // An unquoted value falls apart into words, as in the shell.
      parts.forEach((part, index) => {
        if (index > 0) this.#endWord();
        if (part !== "" || value === "") this.#add(part);
      });
    }
  }

  /** After an opening `"`; ends after the closing one. */
  #readDouble(): string {
    let out = "";
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] as string;
      if (char === '"') {
        this.#at++;
        break;
      }
      if (char === "\\") {
        const next = this.#text[this.#at + 1] ?? "";
        if (next !== "\n") out += '$`"\\'.includes(next) ? next : `\\${next}`;
        this.#at += 2;
      } else if (char === "$") out += this.#readDollar(true);
      else if (char === "`") out += this.#readBackticks();
      else {
        out += char;
        this.#at++;
      }
    }
    return out;
  }

  #readBackticks(): string {
    let end = this.#at + 1;
    while (end < this.#text.length && this.#text[end] !== "`") end += this.#text[end] === "\\" ? 2 : 1;
    const inner = this.#text.slice(this.#at + 1, end).replace(/\\([`\\$])/g, "$1");
    this.#at = end + 1;
    return this.#substitute(inner);
  }

  /** `$name`, `${…}`, `$(…)`; a lone `$` is itself. */
  #readDollar(inDouble = false): string {
    const next = this.#text[this.#at + 1] ?? "";
    if (next === "(" || next === "{" || next === "[") {
      const close = next === "(" ? ")" : next === "{" ? "}" : "]";
      const end = findClose(this.#text, this.#at + 2, next, close, inDouble);
      const inner = this.#text.slice(this.#at + 2, end);
      this.#at = end + 1;
      if (next === "[") return this.#depth >= MAX_DEPTH ? UNKNOWN : (this.#nested(`"${inner}"`), UNKNOWN);
      return next === "(" ? this.#substitute(inner) : this.#parameter(inner);
    }
    const name = /^(?:[A-Za-z_]\w*|[@*#?$!0-9-])/.exec(this.#text.slice(this.#at + 1, this.#at + 200))?.[0];
    this.#at += 1 + (name?.length ?? 0);
    if (name === undefined) return "$";
    return this.#vars.get(name) ?? (/^[@*0-9]$/.test(name) ? "" : UNKNOWN);
  }

  #parameter(inner: string): string {
    if (this.#depth >= MAX_DEPTH) return UNKNOWN;
    const body = /[$`"'\\]/.test(inner) ? this.#nested(`"${inner.replace(/"/g, "")}"`).words : inner;
    const assigned = /^([A-Za-z_]\w*):?=([^]*)$/.exec(body);
    if (assigned && !this.#vars.get(assigned[1] as string)) {
      this.#vars.set(assigned[1] as string, assigned[2] as string);
    }
    const indirect = /^!([A-Za-z_]\w*)$/.exec(body);
    if (indirect) return this.#vars.get(this.#vars.get(indirect[1] as string) ?? "") ?? UNKNOWN;
    return expandParameter(
      body,
      (name) => this.#vars.get(name),
      (name) => LETTER_SOURCES[name],
    );
  }

  /** Reads quoted text for its value; commands inside it are collected as well. */
  #nested(text: string): { words: string } {
    const reader = new Reader(text, this.#vars, this.#reading, this.#depth + 1);
    reader.#at = 1;
    return { words: reader.#readDouble() };
  }

  /** The commands inside a substitution, and its value where that is plain: `$(echo rm)`. */
  #substitute(inner: string): string {
    return this.#printedBy(inner)[0]?.replace(/\n+$/, "") ?? UNKNOWN;
  }

  /** Reads the commands inside; what they may print, nothing where that is not known. */
  #printedBy(inner: string): readonly string[] {
    const before = this.#reading.commands.length;
    const isArithmetic = inner.startsWith("(") && inner.endsWith(")");
    readInto(isArithmetic ? `(${inner})` : inner, this.#vars, this.#reading, this.#depth + 1);
    const made = this.#reading.commands.slice(before).filter(({ depth, words }) =>
      depth === this.#depth + 1 && !words.every((word) => ASSIGNMENT.test(word))
    );
    const [only] = made;
    if (only === undefined) return [""];
    if (made.length > 1) return [];
    const isCat = only.words.length === 1 && only.words[0] === "cat" && only.bodies.length > 0;
    return isCat ? [only.bodies.join("\n")] : plainOutputs(only);
  }

  #redirect(): void {
    const rest = this.#text.slice(this.#at, this.#at + 3);
    if (/^[<>]\(/.test(rest)) {
      const end = findClose(this.#text, this.#at + 2, "(", ")");
      const printed = this.#printedBy(this.#text.slice(this.#at + 2, end));
      if (rest.startsWith("<")) this.#command.bodies.push(...printed);
      this.#add(UNKNOWN);
      this.#at = end + 1;
      return;
    }
    const operator = /^(?:<<<|<<-?|<>|<&|<|&>>|&>|>>|>\||>&|>)/.exec(rest)?.[0] ?? ">";
    const isStream = /^(?:\d+|\uE001\w+\uE003)$/.test(this.#word ?? "") && !this.#wordQuoted;
    if (isStream) this.#word = null;
    this.#endWord();
    this.#skeleton += operator;
    this.#at += operator.length;
    if (operator === "<<" || operator === "<<-") this.#heredoc(operator);
    else this.#operator = operator;
  }

  #heredoc(operator: string): void {
    const delimiter = readDelimiter(this.#text, this.#at - operator.length + 2);
    this.#at = delimiter.next;
    this.#command.redirects.push({ operator, target: delimiter.end });
    this.#heredocs.push({ command: this.#command, delimiter });
  }

  #separator(char: string): void {
    this.#endWord();
    this.#skeleton += char;
    this.#at++;
    const double = (char === "|" || char === "&") && this.#text[this.#at] === char;
    if (double) this.#at++;
    if (char === "|" && this.#text[this.#at] === "&") this.#at++;
    this.#endCommand(char === "|" && !double);
    if (char === "\n") this.#readHeredocs();
  }

  #endWord(): void {
    if (this.#word === null) return;
    const words = expandBraces(this.#word);
    if (!this.#isAssignment) {
      for (const word of words) {
        if (ASSIGNMENT.test(word)) this.#lookalikes.add(word);
      }
    }
    this.#isTouched = this.#isAssignment = false;
    this.#word = null;
    this.#wordQuoted = false;
    if (this.#operator === null) this.#command.words.push(...words);
    else this.#addRedirect(words.join(" "));
  }

  #addRedirect(target: string): void {
    const operator = this.#operator as string;
    this.#operator = null;
    this.#command.redirects.push({ operator, target });
    if (operator === "<<<") this.#command.bodies.push(target);
  }

  #readHeredocs(): void {
    for (const { command, delimiter } of this.#heredocs) {
      const { body, next } = readBody(this.#text, this.#at, delimiter);
      this.#at = next;
      command.bodies.push(body);
      // Substitutions in an unquoted body run, whoever reads it.
      if (!delimiter.quoted && /\$\(|`/.test(body)) this.#nested(`"${body.replace(/"/g, "")}"`);
    }
    this.#heredocs = [];
  }

  #endCommand(nextIsPiped: boolean): void {
    this.#endWord();
    this.#operator = null;
    const done = this.#command;
    // `function name` says what the commands behind it are, and is none.
    for (let at = 0; OPENING.test(done.words[at] ?? "") || done.words[at] === "function";) {
      if (done.words[at] === "function") done.words.splice(at, 2);
      else at++;
    }
    const empty = done.words.length === 0 && done.redirects.length === 0;
    if (!empty) {
      this.#learn(done);
      this.#reading.commands.push(done);
    }
    this.#command = {
      words: [],
      redirects: [],
      piped: nextIsPiped || (empty && done.piped),
      bodies: [],
      depth: this.#depth,
    };
  }

  /** Remembers plain assignments and what gives a value as they do, so that `x=rm; $x` is seen. */
  #learn(command: SimpleCommand): void {
    const first = command.words.findIndex((word) => !OPENING.test(word));
    const words = first === -1 ? [] : command.words.slice(first);
    const inner = words.findIndex((word) => !/^(?:eval|command|builtin)$/.test(word));
    this.#learnFrom(inner === -1 ? [] : words.slice(inner), command.bodies);
  }

  #learnFrom(words: readonly string[], bodies: readonly string[]): void {
    const exporting = /^(?:export|declare|typeset|local|readonly|eval)$/.test(words[0] ?? "");
    for (const word of exporting ? words.slice(1) : words) {
      const found = exporting || !this.#lookalikes.has(word) ? ASSIGNMENT.exec(word) : null;
      if (found) this.#vars.set(found[1] as string, found[2] as string);
      else if (!exporting) break;
    }
    const [name, first, second, third] = words;
    if (name === "for" && second === "in" && third !== undefined) {
      const values = words.slice(3);
      this.#reading.rounds = Math.max(this.#reading.rounds, values.length);
      this.#vars.set(first as string, values[Number(this.#vars.get(ROUND) ?? 0)] ?? third);
    }
    if (name === "printf" && first === "-v" && second !== undefined) {
      this.#vars.set(second, plainOutputs({ words: ["printf", ...words.slice(3)] })[0] ?? UNKNOWN);
    }
    if (name === "set" && /^--?$/.test(first ?? "")) this.#setArguments(words.slice(2));
    else if (name === "set" && !/^[-+]/.test(first ?? "-")) this.#setArguments(words.slice(1));
    if (READING.test(name ?? "") && bodies.length > 0) this.#readNames(words.slice(1), bodies[0] as string);
  }

  /** `read a b`: a field for each name, the last takes the rest. */
  #readNames(words: readonly string[], text: string): void {
    const names = words.filter((word) => /^[A-Za-z_]\w*$/.test(word));
    const fields = text.trim().split(/\s+/);
    names.forEach((name, at) =>
      this.#vars.set(name, (at === names.length - 1 ? fields.slice(at) : fields.slice(at, at + 1)).join(" "))
    );
  }

  #setArguments(words: readonly string[]): void {
    for (const all of ["@", "*"]) this.#vars.set(all, words.join(" "));
    words.slice(0, 9).forEach((word, at) => this.#vars.set(`${at + 1}`, word));
  }
}

function readInto(text: string, vars: Map<string, string>, reading: Reading, depth: number): void {
  // Too deep to follow: everything inside counts as commands.
  const source = depth > MAX_DEPTH ? text.replace(/\$\(|[`()"'{}]/g, "\n") : text;
  new Reader(source, vars, reading, depth).run();
}

/** Reads a whole command line. `given` are the values known beforehand (`HOME`); `round`: which value of a `for`. */
export function readShell(text: string, given: ReadonlyMap<string, string>, round = 0): Reading {
  const vars = new Map(given);
  if (round > 0) vars.set(ROUND, `${round}`);
  const reading: Reading = { commands: [], skeletons: [], vars, rounds: 0, restarts: 0 };
  readInto(text, vars, reading, 0);
  vars.delete(ROUND);
  return reading;
}
