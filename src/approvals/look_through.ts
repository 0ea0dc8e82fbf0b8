/**
 * From a simple command to what really runs: keywords, assignments and programs that only start another program
 * (`sudo`, `env`, `nohup`, `xargs`, `bash -c`, `find -exec`, …) are looked through (core.md C.2), scripts are read
 * wherever they come from as text: arguments, here-documents, pipes, functions. The reading that does harm counts.
 */
import { type Reading, readShell, type SimpleCommand } from "./shell.ts";
import { UNKNOWN } from "./shell_words.ts";
import {
  afterWrapper,
  ASSIGNMENT,
  findExecs,
  flatten,
  passedOn,
  programName,
  runsInput,
  type Script,
  scriptsOf,
  skipWrappers,
  type Wrapper,
  WRAPPERS,
} from "./wrappers.ts";

export { CODE_FLAG, isShell } from "./wrappers.ts";

/** What runs: the program's base name, and its arguments as the shell would pass them. */
export interface Running {
  readonly name: string;
  readonly args: readonly string[];
  readonly command: SimpleCommand;
  /** Names of the programs that were looked through, outermost first. */
  readonly through: readonly string[];
  /** Where a `cd` before it has led, absolute; `null` = wherever the shell is. */
  readonly cwd: string | null;
}

/** Looking through more programs than this, or into deeper scripts, is done without minding options or quotes. */
const MAX_THROUGH = 20;
const MAX_DEPTH = 8;
/** Calls of functions that are followed with their arguments, in all. */
const MAX_FUNCTION_CALLS = 32;
const KEYWORDS = new Set(
  ["if", "then", "elif", "else", "fi", "do", "done", "while", "until", "!", "{", "}", "coproc"],
);
const CLOSING = /^(?:\}|done|fi|esac)$/;
const FUNCTIONS = /(?:^|[\s;&|({])([A-Za-z_][\w-]{0,80})[ \t]*\(\)|\bfunction[ \t]+([A-Za-z_][\w-]{0,80})/g;

/** `$0`, `$1`, …, `$@` and `$*` of a script or a function. */
function positional(name: string, args: readonly string[]): Map<string, string> {
  const vars = new Map([["0", name], ["@", args.join(" ")], ["*", args.join(" ")]]);
  args.slice(0, 9).forEach((arg, at) => vars.set(`${at + 1}`, arg));
  return vars;
}

class Walk {
  readonly running: Running[] = [];
  readonly skeletons: string[] = [];
  readonly readings: Reading[] = [];
  readonly #vars: ReadonlyMap<string, string>;
  /** Values that scripts inside what is being read would find. */
  #known: ReadonlyMap<string, string>;
  #cwd: string | null;
  #callsLeft = MAX_FUNCTION_CALLS;

  constructor(vars: ReadonlyMap<string, string>, cwd: string | null) {
    this.#vars = vars;
    this.#known = vars;
    this.#cwd = cwd;
  }

  script(text: string, depth: number, given: ReadonlyMap<string, string> = new Map()): void {
    if (depth > MAX_DEPTH + 1) return;
    const vars = given.size === 0 ? this.#known : new Map([...this.#known, ...given]);
    const start = this.#cwd;
    const reading = this.#commands(depth > MAX_DEPTH ? flatten(text) : text, depth, vars);
    this.readings.push(reading);
    this.skeletons.push(...reading.skeletons);
    const end = this.#cwd;
    for (let round = 1; round < reading.rounds && this.#callsLeft-- > 0; round++) {
      this.#cwd = start;
      this.readings.push(this.#commands(text, depth + 1, vars, round));
    }
    this.#cwd = start;
    this.#functions(text, reading, depth);
    this.#cwd = end;
  }

  #commands(text: string, depth: number, vars: ReadonlyMap<string, string>, round = 0): Reading {
    const known = this.#known;
    const reading = readShell(text, vars, round);
    this.#known = reading.vars;
    this.#walk(reading, depth);
    this.#known = known;
    return reading;
  }

  #walk(reading: Reading, depth: number): void {
    let passed: readonly string[] = [];
    for (const command of reading.commands) {
      const given = command.piped ? [...command.bodies, ...passed] : command.bodies;
      this.#command(command, given, depth);
      // What a group has printed comes out behind its end.
      if (!CLOSING.test(command.words.join(" "))) passed = passedOn(command, given);
    }
  }

  /** The text once more for each call of a function of its own, with the arguments of that call. */
  #functions(text: string, reading: Reading, depth: number): void {
    const names = new Set([...text.matchAll(FUNCTIONS)].map(([, a, b]) => a ?? b));
    const calls = reading.commands.filter(({ words }) => words.length > 1 && names.has(words[0]));
    for (const { words } of calls) {
      if (this.#callsLeft-- <= 0) return;
      this.#commands(text, depth + 1, new Map([...this.#known, ...positional("", words.slice(1))]));
    }
  }

  /** `given` are the texts on its input. */
  #command(command: SimpleCommand, given: readonly string[], depth: number): void {
    const last = this.#words(command.words, command, [], depth);
    if (!last) return;
    if (last.name === "cd" || last.name === "pushd") this.#changeDirectory(last.args);
    const isScript = runsInput(last.name, last.args);
    for (const text of given) {
      if (isScript) this.script(text, depth + 1);
      else if (last.through.includes("xargs")) this.#fromInput(last, text, depth);
    }
  }

  /** What `xargs` makes of its input: words behind the others, or in place of `{}`. */
  #fromInput({ name, args, command, through }: Running, text: string, depth: number): void {
    if (depth > MAX_DEPTH) return;
    const words = text.split(/[\s\0]+/).filter((word) => word !== "");
    const behind = through.filter((program) => program !== "xargs");
    this.#words([name, ...args, ...words], command, behind, depth + 1);
    if (args.some((arg) => arg.includes("{}"))) {
      this.#words(
        [name, ...args.map((arg) => arg.replaceAll("{}", text.trim()))],
        command,
        behind,
        depth + 1,
      );
    }
  }

  #changeDirectory(args: readonly string[]): void {
    const to = args.find((word) => !/^-[LPe@]+$|^--$/.test(word)) ?? this.#vars.get("HOME") ?? UNKNOWN;
    if (to.startsWith("/") && !to.includes(UNKNOWN)) this.#cwd = to;
    else if (this.#cwd === null || to === "-" || to.includes(UNKNOWN)) this.#cwd = null;
    else this.#cwd = `${this.#cwd}/${to}`;
  }

  /** Records what `words` run; answers the innermost of it. */
  #words(
    given: readonly string[],
    command: SimpleCommand,
    through: readonly string[],
    depth: number,
  ): Running | null {
    const cwd = this.#cwd;
    const at = skipWords(given);
    if (at >= given.length) {
      this.running.push({ name: "", args: [], command, through, cwd });
      return null;
    }
    const name = programName(given[at] as string);
    const args = given.slice(at + 1);
    const here: Running = { name, args, command, through, cwd };
    this.running.push(here);
    this.#unknown(given.slice(0, at), here);
    for (const script of scriptsOf(name, args)) this.#argument(script, depth);
    if (name === "find") {
      for (const words of findExecs(args)) this.#words(words, command, [...through, name], depth);
    }
    if (name === "ip" && args[0] === "netns" && args[1] === "exec") {
      return this.#words(args.slice(3), command, [...through, name], depth);
    }
    if (!Object.hasOwn(WRAPPERS, name)) return here;
    if (name === "command" && args.some((word) => /^-[vV]/.test(word))) return here;
    if (through.length > MAX_THROUGH) {
      const inner = skipWrappers(args);
      return inner.length > 0 ? this.#words(inner, command, through, depth) : here;
    }
    const rest = afterWrapper(name, args, WRAPPERS[name] as Wrapper);
    for (const text of rest.texts) this.script(text, depth + 1);
    if (rest.words.length === 0) return here;
    if (rest.folder !== undefined) this.#changeDirectory([rest.folder]);
    const inner = this.#words(rest.words, command, [...through, name], depth);
    this.#cwd = cwd;
    return inner;
  }

  /** What only shows at run time could be `rm`: recorded as that where its arguments would fit. */
  #unknown(before: readonly string[], { name, args, ...rest }: Running): void {
    const isOpen = before.some((word) => word !== "" && word.replaceAll(UNKNOWN, "") === "");
    if (isOpen && /^-[a-z]*r/.test(name)) this.running.push({ name: "rm", args: [name, ...args], ...rest });
  }

  #argument({ text, args }: Script, depth: number): void {
    this.script(
      text,
      depth + 1,
      args.length === 0 ? undefined : positional(args[0] as string, args.slice(1)),
    );
  }
}

/** Index of the first word that is a program: behind keywords, assignments and what is only known at run time. */
function skipWords(words: readonly string[]): number {
  let at = 0;
  while (at < words.length) {
    const word = words[at] as string;
    if (KEYWORDS.has(word) || ASSIGNMENT.test(word) || word.replaceAll(UNKNOWN, "") === "") at++;
    else break;
  }
  return at;
}

export interface Analysis {
  readonly running: readonly Running[];
  readonly readings: readonly Reading[];
  readonly skeletons: readonly string[];
}

/**
 * Everything that a command line would run, as far as its text tells. `cwd` is where the shell is believed to be,
 * absolute, `null` where nobody knows.
 */
export function analyse(text: string, vars: ReadonlyMap<string, string>, cwd: string | null): Analysis {
  const walk = new Walk(vars, cwd);
  walk.script(text, 0);
  return walk;
}
