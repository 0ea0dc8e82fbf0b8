/**
 * Search by ripgrep where it is on PATH. Its output is read line by line as it comes and the program is stopped as
 * soon as there is enough, so neither memory nor time depends on how much it would print.
 */
import { basename, relative } from "node:path";
import type { Platform } from "@/platform/mod.ts";
import { ToolError } from "./args.ts";
import { globTest } from "./glob.ts";
import type { ContentQuery, SearchEnd, SearchScope, Sink } from "./search_types.ts";

/** Longer output lines are cut while reading. */
const MAX_LINE_CHARS = 20_000;
/** How long a ripgrep that was told to end is waited for. */
const LEAVE_MS = 1_000;

/** Splits chunks into lines of bounded length. */
class LineSplitter {
  readonly #decoder = new TextDecoder();
  #rest = "";

  *feed(chunk: Uint8Array | null): Generator<string> {
    const text = chunk ? this.#decoder.decode(chunk, { stream: true }) : this.#decoder.decode();
    const lines = text.split("\n");
    lines[0] = (this.#rest + lines[0]).slice(0, MAX_LINE_CHARS);
    this.#rest = lines.pop()!.slice(0, MAX_LINE_CHARS);
    for (const line of lines) yield line.slice(0, MAX_LINE_CHARS);
    if (!chunk && this.#rest) yield this.#rest;
  }
}

interface Run {
  readonly args: string[];
  readonly cwd: string;
  readonly env: Record<string, string>;
  /** False = enough. */
  onLine(line: string): boolean;
}

/** Runs ripgrep to its end, its deadline or the sink's "enough". `null` when there is no ripgrep. */
async function run(options: Run, platform: Platform, scope: SearchScope): Promise<SearchEnd | null> {
  const splitter = new LineSplitter();
  let stderr = "";
  let enough = false;
  let limitReason: SearchEnd["limitReason"] = null;
  const take = (chunk: Uint8Array | null) => {
    for (const line of splitter.feed(chunk)) {
      if (!enough && !options.onLine(line)) stop(null);
    }
  };
  let child: ReturnType<Platform["spawn"]>;
  const stop = (reason: SearchEnd["limitReason"]) => {
    enough = true;
    limitReason ??= reason;
    child.kill("SIGKILL");
    // What hangs in the kernel (a dead network disk) cannot be killed and is not waited for.
    leaving ??= setTimeout(() => given.resolve(null), LEAVE_MS);
  };
  const given = Promise.withResolvers<null>();
  let leaving: ReturnType<typeof setTimeout> | undefined;
  const onAbort = () => stop("cancelled");
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    child = platform.spawn("rg", options.args, {
      cwd: options.cwd,
      env: options.env,
      stdin: "null",
      onStdout: (chunk) => void (enough || take(chunk)),
      onStderr: (chunk) => void (stderr.length < 4_000 && (stderr += new TextDecoder().decode(chunk))),
    });
    timer = setTimeout(() => stop("timeout"), Math.max(1, scope.deadline - platform.clock.monotonic()));
    scope.signal.addEventListener("abort", onAbort, { once: true });
    if (scope.signal.aborted) onAbort();
    const exit = await Promise.race([child.exited, given.promise]);
    if (exit === null) return { limitReason };
    if (!enough) take(null);
    // 1 = no match; 2 = an error, which with matches may concern single files only.
    if (!enough && exit.code === 2 && /regex parse error|error parsing|unrecognized flag/.test(stderr)) {
      throw new ToolError(`Invalid search: ${stderr.trim().slice(0, 1_000)}`);
    }
    return { limitReason, ...(exit.code === 2 && !enough ? { warning: stderr.trim().slice(0, 300) } : {}) };
  } catch (error) {
    if (error instanceof ToolError) throw error;
    return null;
  } finally {
    clearTimeout(timer);
    clearTimeout(leaving);
    scope.signal.removeEventListener("abort", onAbort);
  }
}

/**
 * A glob as a file type: `--glob` would let git-ignored files in again. What a type cannot say (a path, a negation)
 * is sorted out afterwards.
 */
function typeArguments(glob: string | null): string[] {
  return glob && !/[!/:\\]/.test(glob) ? [`--type-add=hermes:${glob}`, "--type=hermes"] : [];
}

/** `path\0line:text` for a match, `path\0line-text` for context. */
const LINE = /^(.*?)\0(\d+)([:-])(.*)$/s;

function nameBelow(root: string, path: string): string {
  return (path === root ? basename(path) : relative(root, path)).replaceAll("\\", "/");
}

export async function searchByRipgrep(
  query: ContentQuery,
  env: Record<string, string>,
  sink: Sink,
  platform: Platform,
  scope: SearchScope,
): Promise<SearchEnd | null> {
  const args = [
    "--line-number",
    "--no-heading",
    "--with-filename",
    "--null",
    "--color=never",
    "--no-config",
    "--no-require-git",
    "--sort=path",
    ...(query.context > 0 ? [`--context=${query.context}`] : []),
    ...typeArguments(query.glob),
    "--regexp",
    query.pattern,
    "--",
    query.root,
  ];
  const inGlob = query.glob ? globTest(query.glob) : () => true;
  return await run(
    {
      args,
      cwd: "/",
      env,
      onLine: (line) => {
        const [, path, number, mark, text] = LINE.exec(line) ?? [];
        if (path === undefined || !inGlob(nameBelow(query.root, path)) || scope.isOmitted(path)) return true;
        return sink({ path, line: Number(number), text: text!.replace(/\r$/, ""), isMatch: mark === ":" });
      },
    },
    platform,
    scope,
  );
}

/** Paths of all files that are not hidden and not ignored. */
export async function listByRipgrep(
  root: string,
  env: Record<string, string>,
  onPath: (path: string) => boolean,
  platform: Platform,
  scope: SearchScope,
): Promise<SearchEnd | null> {
  const args = ["--files", "--no-config", "--no-require-git", "--color=never", "--", root];
  return await run(
    {
      args,
      cwd: "/",
      env,
      onLine: (path) => path === "" || scope.isOmitted(path) || onPath(path),
    },
    platform,
    scope,
  );
}
