/**
 * The built-in search, used where there is no ripgrep: walks the tree in order of path, leaves out hidden and
 * git-ignored files, gives the event loop its turn, and ends at its deadline.
 */
import { basename, dirname, join, relative } from "node:path";
import type { DirEntry, Platform } from "@/platform/mod.ts";
import { ToolError } from "./args.ts";
import { globTest } from "./glob.ts";
import type { ContentQuery, SearchEnd, SearchScope, Sink } from "./search_types.ts";
import { decodeText, isBinaryPath } from "./text_file.ts";

const MAX_FILE_BYTES = 20 * 1024 * 1024;
/** Longer lines are searched in their first part only, so that one pattern cannot hold the program. */
const MAX_LINE_CHARS = 20_000;
const MAX_DEPTH = 100;
/** Milliseconds of work between two pauses for others. */
const SLICE_MS = 15;

interface IgnoreRules {
  /** Directory the rules count from. */
  readonly base: string;
  /** `undefined` = they say nothing about it. Directories end with a slash. */
  ignores(relativePath: string): boolean | undefined;
}

/** Gives way to other work now and then, and says when time is up. */
class Pacer {
  readonly #platform: Platform;
  readonly #scope: SearchScope;
  #sliceEnd: number;

  constructor(platform: Platform, scope: SearchScope) {
    this.#platform = platform;
    this.#scope = scope;
    this.#sliceEnd = platform.clock.monotonic() + SLICE_MS;
  }

  /** Why to stop, or `null`. */
  async step(): Promise<"timeout" | "cancelled" | null> {
    const now = this.#platform.clock.monotonic();
    if (now >= this.#sliceEnd) {
      if (!this.#scope.signal.aborted) await this.#platform.clock.delay(0);
      this.#sliceEnd = this.#platform.clock.monotonic() + SLICE_MS;
    }
    if (this.#scope.signal.aborted) return "cancelled";
    return now > this.#scope.deadline ? "timeout" : null;
  }
}

async function readRules(directory: string, platform: Platform): Promise<IgnoreRules[]> {
  const rules: IgnoreRules[] = [];
  for (const name of [".git/info/exclude", ".gitignore", ".ignore"]) {
    const path = join(directory, name);
    if (!(await platform.files.stat(path))?.isFile) continue;
    const text = new TextDecoder().decode(await platform.files.readHead(path, 256 * 1024));
    const { default: ignore } = await import("ignore");
    const matcher = ignore().add(text);
    rules.push({
      base: directory,
      ignores(relativePath) {
        const { ignored, unignored } = matcher.test(relativePath);
        return ignored ? true : unignored ? false : undefined;
      },
    });
  }
  return rules;
}

/** Rules of the directories above, up to the root of the repository. */
async function inheritedRules(root: string, platform: Platform): Promise<IgnoreRules[]> {
  const above: string[] = [];
  for (let at = root;; at = dirname(at)) {
    if (at !== root) above.unshift(at);
    if (await platform.files.stat(join(at, ".git"))) break;
    if (dirname(at) === at) return [];
  }
  const rules = await Promise.all(above.map((directory) => readRules(directory, platform)));
  return rules.flat();
}

/** The rules nearest to the file decide. */
function isIgnored(path: string, isDirectory: boolean, rules: readonly IgnoreRules[]): boolean {
  for (let i = rules.length - 1; i >= 0; i--) {
    const relativePath = relative(rules[i]!.base, path).replaceAll("\\", "/");
    if (relativePath === "") continue;
    const verdict = rules[i]!.ignores(isDirectory ? `${relativePath}/` : relativePath);
    if (verdict !== undefined) return verdict;
  }
  return false;
}

interface OpenDirectory {
  readonly path: string;
  readonly entries: readonly DirEntry[];
  readonly rules: readonly IgnoreRules[];
  next: number;
}

/** Regular files below `root` in order of path; links are not followed. */
export async function* walkFiles(
  root: string,
  platform: Platform,
  scope: SearchScope,
): AsyncGenerator<string, SearchEnd["limitReason"]> {
  const pacer = new Pacer(platform, scope);
  const open = async (path: string, inherited: readonly IgnoreRules[]): Promise<OpenDirectory> => {
    const entries = await platform.files.list(path).catch(() => []);
    entries.sort((a, b) => a.name < b.name ? -1 : 1);
    return { path, entries, rules: [...inherited, ...await readRules(path, platform)], next: 0 };
  };
  const stack = [await open(root, await inheritedRules(root, platform))];
  while (stack.length > 0) {
    const reason = await pacer.step();
    if (reason) return reason;
    const directory = stack.at(-1)!;
    const entry = directory.entries[directory.next++];
    if (!entry) {
      stack.pop();
      continue;
    }
    const path = join(directory.path, entry.name);
    if (entry.name.startsWith(".") || isIgnored(path, entry.isDirectory, directory.rules)) continue;
    if (entry.isDirectory && stack.length < MAX_DEPTH) stack.push(await open(path, directory.rules));
    else if (entry.isFile && !scope.isOmitted(path)) yield path;
  }
  return null;
}

/** An expression as far as searching needs one. */
export interface Pattern {
  test(text: string): boolean;
}

/** A group that repeats, or a second repetition without an end: backtracking over a line could take for ever. */
const MAY_BACKTRACK = /\)(?:[+*?]|\{\d)|(?:[*+]|\{\d+,\})(?:[^]*?)(?:[*+]|\{\d+,\})|\\[1-9k]|\(\?/;

/**
 * The pattern, compiled. What could backtrack is run by an engine that does not, with the syntax of ripgrep; the rest
 * by the one of the runtime, which is faster. Throws for what is no pattern.
 */
export async function compilePattern(pattern: string): Promise<Pattern> {
  if (!MAY_BACKTRACK.test(pattern)) {
    const plain = plainPattern(pattern);
    if (plain) return plain;
  }
  const { RE2JS } = await import("re2js");
  try {
    const compiled = RE2JS.compile(pattern);
    return { test: (text) => compiled.matcher(text).find() };
  } catch (error) {
    throw new ToolError(
      `Invalid regular expression '${pattern}': ${error instanceof Error ? error.message : error}`,
    );
  }
}

function plainPattern(pattern: string): Pattern | null {
  for (const flags of ["u", ""]) { // Escapes such as `\-` are errors only in unicode mode.
    try {
      return new RegExp(pattern, flags);
    } catch {
      // Tried otherwise.
    }
  }
  return null;
}

interface FileSearch {
  readonly expression: Pattern;
  readonly context: number;
  readonly sink: Sink;
  cutLines: number;
}

/** False when the sink has enough. */
async function searchFile(
  path: string,
  search: FileSearch,
  platform: Platform,
  pacer: Pacer,
): Promise<boolean | "timeout" | "cancelled"> {
  const file = decodeText(await platform.files.read(path));
  if (!file) return true;
  const lines = file.text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  let told = 0; // Lines up to this number were handed out.
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!;
    if (i % 500 === 499 || line.length > 1_000) {
      const reason = await pacer.step();
      if (reason) return reason;
    }
    if (line.length > MAX_LINE_CHARS) search.cutLines++;
    const part = (line.length > MAX_LINE_CHARS ? line.slice(0, MAX_LINE_CHARS) : line).replace(/\r$/, "");
    if (!search.expression.test(part)) continue;
    const from = Math.max(told, i - search.context), to = Math.min(lines.length - 1, i + search.context);
    for (let n = from; n <= to; n++) {
      if (n > i && search.expression.test(lines[n]!.slice(0, MAX_LINE_CHARS))) break;
      const found = { path, line: n + 1, text: lines[n]!.replace(/\r$/, ""), isMatch: n === i };
      if (!search.sink(found)) return false;
      told = n + 1;
    }
  }
  return true;
}

/** Hands every match below the root to the sink. */
export async function searchByWalking(
  query: ContentQuery,
  sink: Sink,
  platform: Platform,
  scope: SearchScope,
): Promise<SearchEnd> {
  const search: FileSearch = {
    expression: await compilePattern(query.pattern),
    context: query.context,
    sink,
    cutLines: 0,
  };
  const inGlob = query.glob ? globTest(query.glob) : () => true;
  const pacer = new Pacer(platform, scope);
  const single = (await platform.files.stat(query.root))?.isFile === true;
  let skipped = 0;
  let limitReason: SearchEnd["limitReason"] = null;
  const files = single ? oneFile(query.root, scope) : walkFiles(query.root, platform, scope);
  for (;;) {
    const next = await files.next();
    if (next.done) {
      limitReason = next.value;
      break;
    }
    const path = next.value;
    const name = single ? basename(path) : relative(query.root, path).replaceAll("\\", "/");
    if (!inGlob(name) || isBinaryPath(path)) continue;
    const size = (await platform.files.stat(path))?.size ?? 0;
    if (size > MAX_FILE_BYTES) {
      skipped++;
      continue;
    }
    const more = await searchFile(path, search, platform, pacer).catch(() => true as const);
    if (more !== true) {
      if (more !== false) limitReason = more;
      break;
    }
  }
  const warnings = [
    ...(skipped > 0 ? [`${skipped} file(s) over ${MAX_FILE_BYTES} bytes were not searched`] : []),
    ...(search.cutLines > 0
      ? [`${search.cutLines} line(s) were searched in their first ${MAX_LINE_CHARS} characters only`]
      : []),
  ];
  return { limitReason, ...(warnings.length ? { warning: warnings.join("; ") } : {}) };
}

async function* oneFile(path: string, scope: SearchScope): AsyncGenerator<string, SearchEnd["limitReason"]> {
  if (!scope.isOmitted(path)) yield path;
  return null;
}
