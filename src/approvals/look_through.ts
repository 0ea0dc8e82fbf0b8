/**
 * From a simple command to what really runs: keywords, assignments and programs that only start another program
 * (`sudo`, `env`, `nohup`, `xargs`, `bash -c`, `find -exec`, …) are looked through (core.md C.2).
 */
import { plainOutput, type Reading, readShell, type SimpleCommand } from "./shell.ts";
import { UNKNOWN } from "./shell_words.ts";

/** What runs: the program's base name, and its arguments as the shell would pass them. */
export interface Running {
  readonly name: string;
  readonly args: readonly string[];
  readonly command: SimpleCommand;
  /** Names of the programs that were looked through, outermost first. */
  readonly through: readonly string[];
}

const KEYWORDS = new Set(
  ["if", "then", "elif", "else", "fi", "do", "done", "while", "until", "!", "{", "}", "coproc", "function"],
);
interface Wrapper {
  /** Options that take the next word as their value. */
  readonly valued: RegExp;
  /** Words of its own before the command. */
  readonly words?: number;
}

const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    valued:
      /^-[A-Za-z]*[ugpCTrtDRUh]$|^--(?:user|group|prompt|close-from|command-timeout|role|type|chdir|chroot|other-user|host)$/,
  },
  doas: { valued: /^-[uC]$/ },
  env: { valued: /^-[uC]$|^--(?:unset|chdir)$/ },
  exec: { valued: /^-a$/ },
  nohup: { valued: /^$/ },
  setsid: { valued: /^$/ },
  time: { valued: /^-[fo]$/ },
  command: { valued: /^$/ },
  builtin: { valued: /^$/ },
  nice: { valued: /^-n$|^--adjustment$/ },
  ionice: { valued: /^-[cnp]$/ },
  chrt: { valued: /^$/, words: 1 },
  taskset: { valued: /^-c$/, words: 1 },
  stdbuf: { valued: /^-[ioe]$/ },
  timeout: { valued: /^-[ks]$|^--(?:kill-after|signal)$/, words: 1 },
  xargs: { valued: /^-[InPLdEsa]$|^--(?:replace|max-args|max-procs|max-lines|delimiter|arg-file)$/ },
  busybox: { valued: /^$/ },
  toybox: { valued: /^$/ },
  chroot: { valued: /^$/, words: 1 },
  unshare: { valued: /^$/ },
  nsenter: { valued: /^-[tSG]$/ },
  caffeinate: { valued: /^-[tw]$/ },
  strace: { valued: /^-[eopsSu]$/ },
};
/** Programs that join their words into one text for a shell. */
const JOINERS: Readonly<Record<string, RegExp>> = {
  eval: /^$/,
  watch: /^-n$|^--interval$/,
  parallel: /^-[jnNI]$/,
};
/** Looking through more programs than this, or into deeper scripts, is done without minding options or quotes. */
const MAX_THROUGH = 20;
const SHELLS = /^(?:ba|z|k|da|a|fi)?sh$/;
const MAX_DEPTH = 8;

export function isShell(name: string): boolean {
  return SHELLS.test(name);
}

/** Base name in lower case, without what is only known at run time. */
export function programName(word: string): string {
  const clean = word.replaceAll(UNKNOWN, "");
  return clean.slice(clean.lastIndexOf("/") + 1).toLowerCase().replace(/\.exe$/, "");
}

interface Rest {
  readonly words: readonly string[];
  /** Texts that are commands themselves (`env -S`, `watch`). */
  readonly texts: readonly string[];
}

const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

function afterWrapper(
  name: string,
  words: readonly string[],
  wrapper: Wrapper,
): Rest {
  const texts: string[] = [];
  let at = 0;
  while (at < words.length) {
    const word = words[at] as string;
    if (word === "--") {
      at++;
      break;
    }
    if (name === "env" && /^(?:-S|--split-string)/.test(word)) {
      texts.push(word.replace(/^(?:-S|--split-string=?)/, "") || (words[at + 1] ?? ""));
    }
    if (ASSIGNMENT.test(word)) at++;
    else if (!word.startsWith("-")) break;
    else at += wrapper.valued.test(word) ? 2 : 1;
  }
  while (at < words.length && ASSIGNMENT.test(words[at] as string)) at++;
  return { words: words.slice(at + (wrapper.words ?? 0)), texts };
}

/** Scripts given as an argument: `bash -lc '…'`, `su -c '…'`, `eval …`, `trap '…' EXIT`. */
function scriptsOf(name: string, args: readonly string[]): string[] {
  if (name === "trap") return args.slice(0, 1);
  if (Object.hasOwn(JOINERS, name)) {
    return [afterWrapper(name, args, { valued: JOINERS[name] as RegExp }).words.join(" ")];
  }
  if (!isShell(name) && name !== "su" && name !== "script" && name !== "runuser") return [];
  const flag = args.findIndex((word) => /^-[A-Za-z]*c$/.test(word) || word === "--command");
  const script = flag === -1 ? undefined : args.slice(flag + 1).find((word) => !word.startsWith("-"));
  return script === undefined ? [] : [script];
}

/** The commands inside `find … -exec … ;`, none inside another. */
function findExecs(args: readonly string[]): string[][] {
  const execs: string[][] = [];
  for (let at = 0; at < args.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(args[at] as string)) continue;
    const end = args.findIndex((word, index) => index > at && (word === ";" || word === "+"));
    execs.push(args.slice(at + 1, end === -1 ? args.length : end));
    at = end === -1 ? args.length : end;
  }
  return execs;
}

/** The first word that neither starts another program nor belongs to one that does. */
function skipWrappers(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) =>
    !Object.hasOwn(WRAPPERS, programName(word)) && !word.startsWith("-") && !ASSIGNMENT.test(word)
  );
  return at === -1 ? [] : words.slice(at);
}

/** A shell that reads its script from its input rather than from a file. */
function readsInput(args: readonly string[]): boolean {
  return args.every((word) => word.startsWith("-") && !/^-[A-Za-z]*c$/.test(word));
}

/** Too deep to follow: everything inside counts as commands. */
function flatten(text: string): string {
  return text.replace(/[`()"'{}\\]/g, "\n").replace(
    /\b(?:eval|watch|(?:ba|z|k|da)?sh[ \t]+-\w*c)[ \t]+/g,
    "",
  );
}

class Walk {
  readonly running: Running[] = [];
  readonly skeletons: string[] = [];
  readonly readings: Reading[] = [];
  readonly #vars: ReadonlyMap<string, string>;

  constructor(vars: ReadonlyMap<string, string>) {
    this.#vars = vars;
  }

  script(text: string, depth: number): void {
    if (depth > MAX_DEPTH + 1) return;
    const reading = readShell(depth > MAX_DEPTH ? flatten(text) : text, this.#vars);
    this.readings.push(reading);
    this.skeletons.push(...reading.skeletons);
    let before: SimpleCommand | null = null;
    for (const command of reading.commands) {
      this.#command(command, before, depth);
      before = command;
    }
  }

  #command(command: SimpleCommand, before: SimpleCommand | null, depth: number): void {
    const last = this.#words(command.words, command, [], depth);
    if (!last || !isShell(last.name) || !readsInput(last.args)) return;
    for (const body of command.bodies) this.script(body, depth + 1);
    if (!command.piped || !before) return;
    for (const body of before.bodies) this.script(body, depth + 1);
    const printed = plainOutput(before);
    if (printed !== null) this.script(printed, depth + 1);
  }

  /** Records what `words` run; answers the innermost of it. */
  #words(
    given: readonly string[],
    command: SimpleCommand,
    through: readonly string[],
    depth: number,
  ): Running | null {
    let at = 0;
    while (at < given.length) {
      const word = given[at] as string;
      if (KEYWORDS.has(word)) at++;
      else if (ASSIGNMENT.test(word) || word.replaceAll(UNKNOWN, "") === "") at++;
      else break;
    }
    if (at >= given.length) {
      this.running.push({ name: "", args: [], command, through });
      return null;
    }
    const name = programName(given[at] as string);
    const args = given.slice(at + 1);
    const here: Running = { name, args, command, through };
    this.running.push(here);
    for (const script of scriptsOf(name, args)) this.script(script, depth + 1);
    if (name === "find") {
      for (const words of findExecs(args)) this.#words(words, command, [...through, name], depth);
    }
    if (!Object.hasOwn(WRAPPERS, name)) return here;
    if (name === "command" && args.some((word) => /^-[vV]/.test(word))) return here;
    if (through.length > MAX_THROUGH) {
      const inner = skipWrappers(args);
      return inner.length > 0 ? this.#words(inner, command, through, depth) : here;
    }
    const rest = afterWrapper(name, args, WRAPPERS[name] as Wrapper);
    for (const text of rest.texts) this.script(text, depth + 1);
    return rest.words.length > 0 ? this.#words(rest.words, command, [...through, name], depth) : here;
  }
}

export interface Analysis {
  readonly running: readonly Running[];
  readonly readings: readonly Reading[];
  readonly skeletons: readonly string[];
}

/** Everything that a command line would run, as far as its text tells. */
export function analyse(text: string, vars: ReadonlyMap<string, string>): Analysis {
  const walk = new Walk(vars);
  walk.script(text, 0);
  return walk;
}
