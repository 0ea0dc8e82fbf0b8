/**
 * Which files a command line may change, guessed so widely that what was refused stays refused (FC-14): whatever it
 * writes, and every name it gives to a program that is not known to read only. The text first, then the disk, because
 * a link leads to the same file under another name.
 */
import type { Platform } from "@/platform/mod.ts";
import type { Running } from "./look_through.ts";
import { resolveSync } from "./real_paths.ts";
import { findNames, findWrites } from "./writes.ts";

const READERS: ReadonlySet<string> = new Set(
  (": [ ack ag awk bat basename cat cd cksum cmp comm cut diff dirname du echo egrep false fgrep file find grep head hexdump " +
    "jq less ls md5sum more nl od pr printf pwd readlink realpath rg sed sha1sum sha256sum sha512sum sort stat strings " +
    "tac tail test tr tree true uniq wc which xxd").split(" "),
);
const READING_OF_GIT = /^(?:add|blame|cat-file|diff|grep|log|ls-files|rev-parse|show|status)$/;
/** A file that is run is not changed by that. */
const RUNNERS = /^(?:python[\d.]*|node|deno|bun|ruby|perl|php|(?:ba|z|k|da)?sh)$/;
/** What makes readers write. */
const WRITING_FLAGS: Readonly<Record<string, RegExp>> = {
  awk: /^(?:-i|--include)/,
  find: /^-(?:delete|fprint|fls|exec|ok)/,
  sed: /^(?:-[a-zA-Z]*i|--in-place)/,
  sort: /^(?:-[a-zA-Z]*o|--output)/,
  tree: /^-o/,
};
const QUOTED = /["'`]([^"'`\n]{1,300})["'`]/g;

function isReader({ name, args }: Running): boolean {
  if (name === "git") return READING_OF_GIT.test(args[0] ?? "");
  const flag = WRITING_FLAGS[name];
  return READERS.has(name) && !(flag && args.some((word) => flag.test(word)));
}

/** Names in code, as arguments of their own: `open("a.txt", "w")`. */
function withQuoted(texts: readonly string[]): string[] {
  return texts.flatMap((text) => [text, ...[...text.matchAll(QUOTED)].map(([, name]) => name!)]);
}

function asGiven(run: Running): Running {
  if (run.name === "cd") return run;
  const { redirects } = run.command;
  const command = { ...run.command, redirects: redirects.filter(({ operator }) => operator.includes(">")) };
  if (isReader(run)) return { ...run, args: [], command };
  const script = RUNNERS.test(run.name) ? run.args.findIndex((word) => !word.startsWith("-")) : -1;
  const args = run.args.filter((word, at) => at !== script || /["'`\s]/.test(word));
  return { ...run, args: withQuoted([...args, ...run.command.bodies]), command };
}

/** Absolute paths, as given and as they really are. */
export function findTouched(
  running: readonly Running[],
  cwd: string,
  home: string,
  platform: Platform,
): string[] {
  const writes = findWrites(running, cwd, home).map(({ path }) => path);
  const names = findNames(running.map(asGiven), cwd, home);
  return withReal([...writes, ...names], platform);
}

/** Each path and where it leads. */
export function withReal(paths: readonly string[], platform: Platform): string[] {
  return [...new Set(paths.flatMap((path) => [path, resolveSync(platform, path).real]))];
}
