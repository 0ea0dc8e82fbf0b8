/**
 * Programs that only start another program, and how to find it in their words (core.md C.2): options that take a
 * value, words of their own before the command, texts that are commands themselves. Knows no rule of the guard.
 */
import type { SimpleCommand } from "./shell.ts";
import { OPENING, plainOutputs } from "./shell_output.ts";
import { UNKNOWN } from "./shell_words.ts";

export const ASSIGNMENT = /^[A-Za-z_]\w*\+?=/;

export interface Wrapper {
  /** Options that take the next word as their value. */
  readonly valued: RegExp;
  /** Words of its own before the command. */
  readonly words?: number;
}

export const WRAPPERS: Readonly<Record<string, Wrapper>> = {
  sudo: {
    valued:
      /^-[A-Za-z]*[ugpCTrtDRUh]$|^--(?:user|group|prompt|close-from|command-timeout|role|type|chdir|chroot|other-user|host)$/,
  },
  doas: { valued: /^-[uC]$/ },
  env: { valued: /^-[uCS]$|^--(?:unset|chdir|split-string)$/ },
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
  ltrace: { valued: /^-[aAeFlnopsuwx]$/ },
  flock: { valued: /^-[wE]$|^--(?:timeout|wait|conflict-exit-code)$/, words: 1 },
  setpriv: { valued: /^$/ },
  "systemd-run": { valued: /^-[HMpEut]$|^--(?:host|machine|property|setenv|unit|slice|uid|gid)$/ },
  "systemd-inhibit": { valued: /^$/ },
  pkexec: { valued: /^--user$|^-u$/ },
  runuser: { valued: /^-[ugGsw]$|^--(?:user|group|supp-group|shell|whitelist-environment)$/ },
  fakeroot: { valued: /^-[ilsb]$/ },
  faketime: { valued: /^$/, words: 1 },
  prlimit: { valued: /^-[po]$/ },
  numactl: { valued: /^-[mNCiplH]$/ },
  valgrind: { valued: /^$/ },
  "xvfb-run": { valued: /^-[efnpsw]$/ },
  "dbus-run-session": { valued: /^$/ },
  unbuffer: { valued: /^$/ },
  rlwrap: { valued: /^-[bcDefHlmOpPqsSStwz]$/ },
  eatmydata: { valued: /^$/ },
  firejail: { valued: /^$/ },
  proxychains: { valued: /^-f$/ },
  proxychains4: { valued: /^-f$/ },
  torsocks: { valued: /^-[aPup]$/ },
  screen: { valued: /^-[ceEhpsStTX]$/ },
  setarch: { valued: /^$/, words: 1 },
  linux64: { valued: /^$/ },
  linux32: { valued: /^$/ },
  gosu: { valued: /^$/, words: 1 },
  "su-exec": { valued: /^$/, words: 1 },
  tini: { valued: /^-[pe]$/ },
  "dumb-init": { valued: /^-r$/ },
  sshpass: { valued: /^-[pfdP]$/ },
  "ssh-agent": { valued: /^-[aEOPt]$/ },
  entr: { valued: /^$/ },
  sem: { valued: /^-[jnNI]$/ },
};
/** Programs that join their words into one text for a shell. */
const JOINERS: Readonly<Record<string, RegExp>> = {
  eval: /^$/,
  watch: /^-n$|^--interval$/,
  parallel: /^-[jnNI]$/,
};
/** `-c` of a shell, also among other letters. */
export const CODE_FLAG = /^-[A-Za-z]*c[A-Za-z]*$/;
const SHELLS = /^(?:r?ba|z|k|da|a|fi|mk|pdk|ok|lok|c|tc|ya|po|pw)?sh$/;

export function isShell(name: string): boolean {
  return SHELLS.test(name);
}

/** Base name in lower case, without what is only known at run time. */
export function programName(word: string): string {
  if (/^\/proc\/(?:self|\d+)\/exe$/.test(word)) return "bash";
  const clean = word.replaceAll(UNKNOWN, "");
  return clean.slice(clean.lastIndexOf("/") + 1).toLowerCase().replace(/\.exe$/, "");
}

export interface Rest {
  readonly words: readonly string[];
  /** Texts that are commands themselves (`env -S`, `watch`). */
  readonly texts: readonly string[];
  /** Where it runs (`env -C`). */
  readonly folder?: string;
}

/** In `-nu` the last letter decides; in `-uroot` the value stands behind its letter. */
function takesNext(word: string, { valued }: Wrapper): boolean {
  if (valued.test(word)) return word.startsWith("--") || !hasValueInside(word, valued);
  if (!/^-[A-Za-z0-9]{2,}$/.test(word)) return false;
  const first = [...word.slice(1)].findIndex((letter) => valued.test(`-${letter}`));
  return first !== -1 && first === word.length - 2;
}

function hasValueInside(word: string, valued: RegExp): boolean {
  return [...word.slice(1, -1)].some((letter) => valued.test(`-${letter}`));
}

const FOLDER = /^(?:-C|--chdir=|-D)([^]*)$/;

/** What a wrapper starts. */
export function afterWrapper(name: string, words: readonly string[], wrapper: Wrapper): Rest {
  const texts: string[] = [];
  let folder: string | undefined;
  let at = 0;
  while (at < words.length) {
    const word = words[at] as string;
    if (word === "--") {
      at++;
      break;
    }
    if (name === "env" && /^(?:-[a-zA-Z]*S|--split-string)/.test(word)) {
      texts.push(word.replace(/^(?:-[a-zA-Z]*?S|--split-string=?)/, "") || (words[at + 1] ?? ""));
    }
    if (name === "env" || name === "sudo") {
      const found = word === "--chdir" ? "" : FOLDER.exec(word)?.[1];
      if (found !== undefined && (name === "env" || !word.startsWith("-C"))) folder = found || words[at + 1];
    }
    if (ASSIGNMENT.test(word) || word.replaceAll(UNKNOWN, "") === "") at++;
    else if (!word.startsWith("-")) break;
    else at += takesNext(word, wrapper) ? 2 : 1;
  }
  while (at < words.length && ASSIGNMENT.test(words[at] as string)) at++;
  const rest = { words: words.slice(at + (wrapper.words ?? 0)), texts };
  return folder === undefined ? rest : { ...rest, folder };
}

/** A text for a shell, and the words that are `$0`, `$1`, … in it. */
export interface Script {
  readonly text: string;
  readonly args: readonly string[];
}

/** Programs that take a script as the value of an option. */
const SCRIPTED = new Set(["su", "script", "runuser", "flock", "sg"]);

/** Scripts given as an argument: `bash -lc '…' $0 $1`, `su -c '…'`, `eval …`, `trap '…' EXIT`, `tmux new '…'`. */
export function scriptsOf(name: string, args: readonly string[]): Script[] {
  if (name === "trap") return alone(args.filter((word) => word !== "--").slice(0, 1));
  if (name === "alias") return alone(args.map((word) => word.replace(/^[^=]*=?/, "")));
  if (name === "tmux" || name === "sudo") return alone(args.filter((word) => /\s/.test(word)));
  if (Object.hasOwn(JOINERS, name)) {
    return alone([withoutOptions(args, JOINERS[name] as RegExp).join(" ")]);
  }
  if (!isShell(name) && !SCRIPTED.has(name)) return [];
  const attached = isShell(name) ? /^(?:--command=|-c(?=\s*\S+\s))([^]+)$/ : /^(?:--command=|-c)([^]+)$/;
  const joined = args.flatMap((word) => attached.exec(word)?.[1] ?? []);
  const isFlag = isShell(name) ? CODE_FLAG : /^-[A-Za-z]*c$/;
  const flag = args.findIndex((word) => isFlag.test(word) || word === "--command");
  if (flag === -1) return alone(name === "sg" && joined.length === 0 ? args.slice(1, 2) : joined);
  const behind = args.slice(flag + 1);
  const at = behind.findIndex((word, index) =>
    !/^[-+]/.test(word) && !/^[-+][A-Za-z]*[oO]$/.test(behind[index - 1] ?? "")
  );
  return at === -1 ? [] : [{ text: behind[at] as string, args: behind.slice(at + 1) }];
}

/** An assignment stays: it is part of the text. */
function withoutOptions(args: readonly string[], valued: RegExp): readonly string[] {
  let at = 0;
  while (args[at]?.startsWith("-")) at += valued.test(args[at] as string) ? 2 : 1;
  return args.slice(at);
}

function alone(texts: readonly string[]): Script[] {
  return texts.map((text) => ({ text, args: [] }));
}

/** The commands inside `find … -exec … ;`, none inside another. */
export function findExecs(args: readonly string[]): string[][] {
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
export function skipWrappers(words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) =>
    !OPENING.test(word) && !Object.hasOwn(WRAPPERS, programName(word)) && !word.startsWith("-") &&
    !ASSIGNMENT.test(word)
  );
  return at === -1 ? [] : words.slice(at);
}

/** Where a script comes from when it is none of the files: the input, or what stands for a `<(…)`. */
function isStream(word: string | undefined): boolean {
  return word === "-" || /^\/(?:dev\/stdin|dev\/fd\/\d+|proc\/self\/fd\/\d+)$/.test(word ?? "") ||
    (word !== undefined && word !== "" && word.replaceAll(UNKNOWN, "") === "");
}

/** True for a program that runs the text it is given on its input. */
export function runsInput(name: string, args: readonly string[]): boolean {
  if (name === "at" || name === "batch") return true;
  const operand = args.find((word) => !word.startsWith("-") || word === "-");
  if (name === "source" || name === ".") return isStream(operand);
  if (!isShell(name) || args.some((word) => CODE_FLAG.test(word))) return false;
  return operand === undefined || isStream(operand) || args.some((word) => /^-[A-Za-z]*s$/.test(word));
}

/** What the next command of a pipe gets to read, as far as the text tells; `given` is what this one reads. */
export function passedOn(command: SimpleCommand, given: readonly string[]): readonly string[] {
  const words = skipWrappers(command.words);
  const name = programName(words[0] ?? "");
  if (name === "cat" || name === "tee") return given;
  return [...new Set([command, { words }].flatMap((one) => [...plainOutputs(one)]))];
}

/** Too deep to follow: everything inside counts as commands. */
export function flatten(text: string): string {
  return text.replace(/[`()"'{}\\]/g, "\n").replace(
    /\b(?:eval|watch|(?:ba|z|k|da)?sh[ \t]+-\w*c)[ \t]+/g,
    "",
  );
}
