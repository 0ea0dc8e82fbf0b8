/**
 * `git` in a repository that may be a stranger's: its own settings can make git run any program (filters, external
 * diffs, monitors, hooks, transports). What can be switched off is switched off by arguments and environment; a
 * repository whose settings name programs that cannot be is left alone. Settings of the user are the user's.
 */
import { isAbsolute, join } from "node:path";

/** The part of a file system that is needed. */
interface ReadFiles {
  readHead(path: string, limit: number): Promise<Uint8Array>;
  stat(path: string): Promise<{ readonly isFile: boolean; readonly isDirectory: boolean } | null>;
}

export interface Repository {
  /** The folder with `.git` in it. */
  readonly root: string;
  /** In front of git's subcommand. Git looks for no other repository, and runs nothing that is named here. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Behind `diff` and `log -p`; a submodule has settings of its own, so it is not entered. */
export const PLAIN_DIFF: readonly string[] = [
  "--no-ext-diff",
  "--no-textconv",
  "--no-color",
  "--submodule=short",
  "--ignore-submodules=all",
];

const MAX_LEVELS = 40;
const MAX_CONFIG = 262_144;
/** What Git LFS writes into the settings of a repository. */
const LFS =
  /^[ \t]*(?:clean|smudge|process)[ \t]*=[ \t]*git-lfs (?:clean|smudge|filter-process)(?: --)?(?: %f)?[ \t\r]*$/gim;
/** Settings that make git run programs, or read more settings or data from places of the repository's choosing. */
const RUNS_PROGRAMS =
  /fsmonitor|\[\s*include|(?:^|[\n\]])[ \t]*(?:clean|smudge|process|partialclone|promisor|worktreeconfig)[ \t\r]*(?:=|\n|$)/i;

const ENV: Readonly<Record<string, string>> = {
  GIT_OPTIONAL_LOCKS: "0",
  GIT_TERMINAL_PROMPT: "0",
  GIT_NO_LAZY_FETCH: "1",
  // No transport has this name: nothing is fetched, whatever the settings allow.
  GIT_ALLOW_PROTOCOL: "none",
  LC_ALL: "C",
};

function argumentsFor(root: string, gitDir: string): string[] {
  const off = ["core.fsmonitor=false", "core.hooksPath=/dev/null", "log.showSignature=false"];
  return [
    "--no-pager",
    "--no-optional-locks",
    `--git-dir=${gitDir}`,
    `--work-tree=${root}`,
    ...off.flatMap((setting) => ["-c", setting]),
  ];
}

/** The repository around a folder; `null` when there is none or git must not be run in it. Never throws. */
export async function harmlessRepository(files: ReadFiles, cwd: string): Promise<Repository | null> {
  try {
    const root = await rootOf(files, cwd);
    const gitDir = root === null ? null : await gitDirOf(files, root);
    if (root === null || gitDir === null) return null;
    const common = await pointerAt(files, join(gitDir, "commondir"));
    const config = await textAt(files, join(common === null ? gitDir : at(gitDir, common), "config"));
    if (config === null || RUNS_PROGRAMS.test(config.replace(LFS, ""))) return null;
    return { root, args: argumentsFor(root, gitDir), env: ENV };
  } catch {
    return null; // What cannot be looked at cannot be trusted.
  }
}

async function rootOf(files: ReadFiles, cwd: string): Promise<string | null> {
  for (let dir = cwd, level = 0; level < MAX_LEVELS; level++) {
    const found = await files.stat(join(dir, ".git"));
    if (found && (found.isDirectory || found.isFile)) return dir;
    const parent = join(dir, "..");
    if (parent === dir) return null;
    dir = parent;
  }
  return null;
}

/** Of a worktree or a submodule `.git` is a file that says where. */
async function gitDirOf(files: ReadFiles, root: string): Promise<string | null> {
  const path = join(root, ".git");
  if ((await files.stat(path))?.isDirectory) return path;
  const named = /^gitdir:[ \t]*(.+)$/m.exec(await pointerAt(files, path) ?? "")?.[1]?.trim();
  return named === undefined ? null : at(root, named);
}

function at(folder: string, path: string): string {
  return isAbsolute(path) ? path : join(folder, path);
}

async function pointerAt(files: ReadFiles, path: string): Promise<string | null> {
  return await files.stat(path) === null ? null : (await textAt(files, path))?.trim() ?? null;
}

/** The whole text; `null` when it is absent or too long to be looked through. */
async function textAt(files: ReadFiles, path: string): Promise<string | null> {
  if (await files.stat(path) === null) return null;
  const bytes = await files.readHead(path, MAX_CONFIG);
  return bytes.length >= MAX_CONFIG ? null : new TextDecoder().decode(bytes);
}
