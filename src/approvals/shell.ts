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
  expandBraces,
  expandParameter,
  findClose,
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
}

const MAX_DEPTH = 10;
/** Good for one letter of them (`${PATH:0:1}`), never for their whole value. */
const LETTER_SOURCES: Readonly<Record<string, string>> = {
  PATH: "/usr/bin:/bin",
  PWD: "/",
  SHELL: "/bin/bash",
};
const ASSIGNMENT = /^([A-Za-z_]\w*)\+?=([^]*)$/;

interface Heredoc {
  readonly command: SimpleCommand;
  readonly quoted: boolean;
  readonly stripTabs: boolean;
  end: string;
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
    this.#add(char === "{" ? BRACE_OPEN : char === "," ? BRACE_COMMA : char === "}" ? BRACE_CLOSE : char);
    this.#at++;
  }

  #add(text: string): void {
    this.#word = (this.#word ?? "") + text;
  }

  #quoting(char: string): void {
    if (char === "\\") {
      this.#add(this.#text[this.#at + 1] ?? "");
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
        out += '$`"\\'.includes(next) ? next : `\\${next}`;
        this.#at += 2;
      } else if (char === "$") out += this.#readDollar();
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
  #readDollar(): string {
    const next = this.#text[this.#at + 1] ?? "";
    if (next === "(" || next === "{") {
      const close = next === "(" ? ")" : "}";
      const end = findClose(this.#text, this.#at + 2, next, close);
      const inner = this.#text.slice(this.#at + 2, end);
      this.#at = end + 1;
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
    readInto(inner, this.#vars, this.#reading, this.#depth + 1);
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
    this.#operator = operator;
    this.#skeleton += operator;
    this.#at += operator.length;
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
    const quoted = this.#wordQuoted;
    this.#word = null;
    this.#wordQuoted = false;
    if (this.#operator === null) this.#command.words.push(...words);
    else this.#addRedirect(words.join(" "), quoted);
  }

  #addRedirect(target: string, quoted: boolean): void {
    const operator = this.#operator as string;
    this.#operator = null;
    this.#command.redirects.push({ operator, target });
    if (operator === "<<" || operator === "<<-") {
      this.#heredocs.push({ command: this.#command, quoted, stripTabs: operator === "<<-", end: target });
    }
    if (operator === "<<<") this.#command.bodies.push(target);
  }

  #readHeredocs(): void {
    for (const heredoc of this.#heredocs) {
      const lines: string[] = [];
      while (this.#at < this.#text.length) {
        const end = this.#text.indexOf("\n", this.#at);
        const line = this.#text.slice(this.#at, end === -1 ? this.#text.length : end);
        this.#at = end === -1 ? this.#text.length : end + 1;
        if ((heredoc.stripTabs ? line.replace(/^\t+/, "") : line) === heredoc.end) break;
        lines.push(line);
      }
      const body = lines.join("\n");
      heredoc.command.bodies.push(body);
      // Substitutions in an unquoted body run, whoever reads it.
      if (!heredoc.quoted && /\$\(|`/.test(body)) this.#nested(`"${body.replace(/"/g, "")}"`);
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
    this.#learnFrom(first === -1 ? [] : command.words.slice(first), command.bodies);
  }

  #learnFrom(words: readonly string[], bodies: readonly string[]): void {
    const exporting = /^(?:export|declare|typeset|local|readonly)$/.test(words[0] ?? "");
    for (const word of exporting ? words.slice(1) : words) {
      const found = ASSIGNMENT.exec(word);
      if (found) this.#vars.set(found[1] as string, found[2] as string);
      else if (!exporting) break;
    }
    const [name, first, second, third] = words;
    if (name === "for" && second === "in" && third !== undefined) this.#vars.set(first as string, third);
    if (name === "printf" && first === "-v" && second !== undefined) {
      this.#vars.set(second, plainOutputs({ words: ["printf", ...words.slice(3)] })[0] ?? UNKNOWN);
    }
    if (name === "set" && first === "--") this.#setArguments(words.slice(2));
    if (name === "read" && bodies.length > 0) this.#vars.set(words.at(-1) as string, bodies[0] as string);
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

/** Reads a whole command line. `vars` are the values known beforehand (`HOME`). */
export function readShell(text: string, vars: ReadonlyMap<string, string>): Reading {
  const reading: Reading = { commands: [], skeletons: [] };
  readInto(text, new Map(vars), reading, 0);
  return reading;
}
