/** Commands that are refused whatever anybody has allowed (core.md C.2): lost disks, lost homes, a stopped machine. */
import type { Analysis, Running } from "./look_through.ts";
import type { Redirect } from "./shell.ts";
import { UNKNOWN } from "./shell_words.ts";

const ROOTS = ["/", "/home", "/root", "/etc", "/usr", "/var", "/bin", "/sbin", "/boot", "/lib", "/lib64"];
const DEVICE = /^\/dev\/(?:sd|nvme|hd|mmcblk|vd|xvd)[a-z0-9]*$/i;
const POWER = new Set(["shutdown", "reboot", "halt", "poweroff"]);
/** `f(){ f|f& };f` under any name, blanks taken out. */
const FORK_BOMB = /(?:^|[\s;&|(){}]|function)([^\s;&|(){}]{1,40})(?:\(\))?\{[^}]{0,200}?\1[|&]+\1/;
const NAMES = [
  "rm",
  "dd",
  "mkfs",
  "shutdown",
  "reboot",
  "halt",
  "poweroff",
  "init",
  "telinit",
  "systemctl",
  "kill",
];

/** A way to the root through the table of processes. */
const ROOT_OF_PROCESS = /^\/+proc\/+(?:self|thread-self|\d+)(?:\/+task\/+\d+)?\/+root(?=\/|$)/;

/** `/a//b/../c/` as `/a/c`; relative paths stay relative. */
export function foldPath(given: string): string {
  if (!given.startsWith("/")) return given;
  const path = given.replace(ROOT_OF_PROCESS, "");
  const out: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") out.pop();
    else if (part !== "" && part !== ".") out.push(part);
  }
  return `/${out.join("/")}`;
}

function globToRegExp(glob: string): RegExp {
  const body = glob.replace(/\[!?[^\]/]{0,50}\]|[*?]|[.+^${}()|\\[\]]/g, (part) => {
    if (part === "*") return "[^/]*";
    if (part === "?") return "[^/]";
    if (part.length > 1) return part.replace("[!", "[^").replace(/\\/g, "\\\\");
    return `\\${part}`;
  });
  try {
    return new RegExp(`^${body}$`);
  } catch {
    // A bracket that is no valid class: the shell takes it literally.
    return /^(?!)/;
  }
}

function hasGlob(text: string): boolean {
  return /[*?[]/.test(text);
}

/** `~`, `~root` and `~name` of the user; relative operands stand in the directory a `cd` has led to. */
function expand(operand: string, home: string, cwd: string | null): string {
  const tilde = /^~([a-z_][\w-]*)?(?=\/|$)/.exec(operand);
  if (tilde) {
    const [whole, name] = tilde;
    const own = name === undefined || home.endsWith(`/${name}`);
    return (own ? home : name === "root" ? "/root" : `/home/${name}`) + operand.slice(whole.length);
  }
  return cwd === null || operand.startsWith("/") ? operand : `${cwd}/${operand}`;
}

function destroysRoot(operand: string, home: string, cwd: string | null): boolean {
  const path = foldPath(expand(operand, home, cwd));
  const roots = [...ROOTS, foldPath(home)];
  if (roots.includes(path)) return true;
  if (!hasGlob(path) || path.includes(UNKNOWN)) return false;
  if (/^(?:\/\*+)+$/.test(path)) return true;
  const parent = path.slice(0, path.lastIndexOf("/")) || "/";
  if (/\/(?:\*+|\.\*|\.\[!\.\]\*|\.\?\?\*)$/.test(path) && roots.includes(parent)) return true;
  const pattern = globToRegExp(path);
  return roots.some((root) => root !== "/" && pattern.test(root));
}

function checkRm(args: readonly string[], home: string, cwd: string | null): boolean {
  const dashes = args.indexOf("--");
  const operands = args.filter((word, at) =>
    word !== "--" && (!word.startsWith("-") || (dashes !== -1 && at > dashes))
  );
  return operands.some((operand) => destroysRoot(operand, home, cwd));
}

/** `-1` as a target means every process; as the first option it is a signal. */
function killsAll(args: readonly string[]): boolean {
  let signalGiven = false;
  const targets: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string;
    if (!signalGiven && /^(?:-s|-n|--signal)$/.test(word)) at++;
    else if (!signalGiven && /^-(?:[A-Za-z0-9+]+)$/.test(word)) {
      if (word === "-1" && args.length === 1) return true;
    } else targets.push(word);
    signalGiven = true;
  }
  return targets.some((word) => /^-0*1$/.test(word));
}

function stopsBySystemd(args: readonly string[], operands: readonly string[]): boolean {
  const remote = args.some((word) => /^(?:-[HM]|--host|--machine)$/.test(word));
  const [verb = "", ...units] = operands.slice(remote ? 1 : 0);
  if (/^(?:poweroff|reboot|halt|kexec)$/.test(verb)) return true;
  return /^(?:isolate|start)$/.test(verb) &&
    units.some((unit) => /^(?:poweroff|reboot|halt|kexec|shutdown)\.target$/.test(unit));
}

function checkProgram(name: string, { args, cwd }: Running, home: string): string | null {
  if (name === "rm" && checkRm(args, home, cwd)) {
    return "removes the root, a system directory or the home directory";
  }
  if (name === "mkfs" || name.startsWith("mkfs.")) return "formats a filesystem";
  if (name === "dd" && args.some((word) => word.startsWith("of=") && DEVICE.test(foldPath(word.slice(3))))) {
    return "overwrites a disk";
  }
  if (name === "kill" && killsAll(args)) return "kills every process";
  if (POWER.has(name)) return "stops the machine";
  const operands = args.filter((word) => !word.startsWith("-"));
  if ((name === "init" || name === "telinit") && /^[06]$/.test(operands[0] ?? "")) return "stops the machine";
  if (name === "loginctl" && /^(?:poweroff|reboot|halt)$/.test(operands[0] ?? "")) return "stops the machine";
  return name === "systemctl" && stopsBySystemd(args, operands) ? "stops the machine" : null;
}

function checkRunning(running: Running, home: string): string | null {
  if (!hasGlob(running.name)) return checkProgram(running.name, running, home);
  const pattern = globToRegExp(running.name);
  const hits = NAMES.filter((name) => pattern.test(name)).map((name) => checkProgram(name, running, home));
  return hits.find((hit) => hit !== null) ?? null;
}

function writesDevice({ operator, target }: Redirect): boolean {
  return operator.includes(">") && DEVICE.test(foldPath(target));
}

/** Why the command is refused for good, or `null`. `home` is the user's home directory, absolute. */
export function findHardBlock(analysis: Analysis, home: string): string | null {
  for (const running of analysis.running) {
    const why = checkRunning(running, home);
    if (why) return why;
    if (running.command.redirects.some(writesDevice)) return "overwrites a disk";
  }
  return analysis.skeletons.some((text) => FORK_BOMB.test(text)) ? "is a fork bomb" : null;
}
