/**
 * Which files a command line would write or remove, as absolute paths in the given spelling. Used for sensitive
 * targets of commands and for "what was refused stays refused" (FC-14). A guess from text, never from the disk.
 */
import { foldPath } from "./hard_block.ts";
import type { Running } from "./look_through.ts";
import { UNKNOWN } from "./shell_words.ts";

export type WriteVerb = "redirect" | "tee" | "copy" | "edit" | "remove" | "device";

export interface Write {
  readonly verb: WriteVerb;
  readonly path: string;
}

function operandsOf(args: readonly string[]): string[] {
  return args.filter((word) => !word.startsWith("-"));
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

function inFolder(folder: string, sources: readonly string[]): string[] {
  return sources.map((source) => `${folder.replace(/\/$/, "")}/${baseName(source)}`);
}

/** Where `cp a b target` writes. A target without a suffix may be a folder; the text cannot tell. */
function copyTargets(args: readonly string[]): string[] {
  const at = args.findIndex((word) => word === "-t" || word === "--target-directory");
  const long = args.find((word) => word.startsWith("--target-directory="))?.slice(
    "--target-directory=".length,
  );
  const folder = long ?? (at === -1 ? undefined : args[at + 1]);
  const operands = operandsOf(args);
  if (folder !== undefined) return [folder, ...inFolder(folder, operands)];
  const last = operands.at(-1);
  if (last === undefined || operands.length < 2) return [];
  const isFile = operands.length === 2 && /[^.]\.[^.]/.test(baseName(last));
  return isFile ? [last] : [last, ...inFolder(last, operands.slice(0, -1))];
}

function editsInPlace(name: string, args: readonly string[]): boolean {
  if (name === "sed") return args.some((word) => /^-[a-zA-Z]*i|^--in-place/.test(word));
  return /^(?:perl|ruby)/.test(name) && args.some((word) => /^-[a-zA-Z0-9]*i/.test(word));
}

function programWrites({ name, args }: Running): [WriteVerb, string][] {
  if (name === "tee") return operandsOf(args).map((path) => ["tee", path]);
  if (name === "cp" || name === "mv" || name === "install" || name === "ln") {
    const moved: [WriteVerb, string][] = name === "mv"
      ? operandsOf(args).slice(0, -1).map((path) => ["remove", path])
      : [];
    return [...copyTargets(args).map((path): [WriteVerb, string] => ["copy", path]), ...moved];
  }
  if (editsInPlace(name, args)) return operandsOf(args).map((path) => ["edit", path]);
  if (name === "dd") {
    return args.filter((word) => word.startsWith("of=")).map((word) => ["device", word.slice(3)]);
  }
  if (name === "rsync" || name === "scp") return copyTargets(args).map((path) => ["copy", path]);
  if (name === "curl" || name === "wget") {
    return args.flatMap((word, at): [WriteVerb, string][] => {
      const joined = /^(?:-o|-O|--output=|--output-document=)([^]+)$/.exec(word)?.[1];
      if (joined !== undefined && (name === "wget") !== word.startsWith("-o")) return [["redirect", joined]];
      const flag = name === "curl" ? /^(?:-[A-Za-z]*o|--output)$/ : /^(?:-[A-Za-z]*O|--output-document)$/;
      return flag.test(word) && args[at + 1] !== undefined ? [["redirect", args[at + 1] as string]] : [];
    });
  }
  if (/^(?:wipefs|blkdiscard|mke2fs|mkswap|parted|s[gf]disk|fdisk|badblocks)$/.test(name)) {
    return operandsOf(args).map((path) => ["device", path]);
  }
  if (name === "shred" || name === "truncate") {
    return operandsOf(args).map((path) => [path.startsWith("/dev/") ? "device" : "remove", path]);
  }
  if (/^(?:rm|rmdir|unlink|chmod|chown)$/.test(name)) {
    return operandsOf(args).map((path) => ["remove", path]);
  }
  return [];
}

function resolve(path: string, cwd: string, home: string): string {
  if (/^~(?:\/|$)/.test(path)) return foldPath(home + path.slice(1));
  return foldPath(path.startsWith("/") ? path : `${cwd}/${path}`);
}

/** Follows `cd` within the line; `cwd` is where the session believes the shell to be. */
export function findWrites(running: readonly Running[], cwd: string, home: string): Write[] {
  const writes: Write[] = [];
  let here = cwd;
  for (const run of running) {
    const known = ([, path]: [WriteVerb, string]) =>
      path !== "" && !path.includes(UNKNOWN) &&
      !/^\/dev\/(?:null|zero|stdout|stderr|tty|fd\/\d+)$/.test(path);
    const redirects = run.through.length > 0 ? [] : run.command.redirects
      .filter(({ operator, target }) => operator.includes(">") && !/^(?:\d+|-)$/.test(target))
      .map(({ target }): [WriteVerb, string] => ["redirect", target]);
    for (const [verb, path] of [...redirects, ...programWrites(run)].filter(known)) {
      writes.push({ verb, path: resolve(path, here, home) });
    }
    if (run.name === "cd") here = resolve(operandsOf(run.args)[0] ?? home, here, home);
  }
  return writes;
}

/** Words that name no file however they are read. */
const NO_PATH = /^$|^-[^=]*$|^[a-z][a-z0-9+.-]*:\/\//i;

/** Every word of the line that could be a path, read or written; a guess that rather takes too many. */
export function findNames(running: readonly Running[], cwd: string, home: string): string[] {
  const names = new Set<string>();
  let here = cwd;
  for (const run of running) {
    const words = [
      ...run.args.map((word) => word.replace(/^-[^=]*=/, "")),
      ...run.command.redirects.map(({ target }) => target),
    ];
    for (const word of words) {
      if (!NO_PATH.test(word) && !word.includes(UNKNOWN)) names.add(resolve(word, here, home));
    }
    if (run.name === "cd") here = resolve(operandsOf(run.args)[0] ?? home, here, home);
  }
  return [...names];
}
