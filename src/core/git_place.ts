/**
 * Where a directory is in a git repository (core.md D.3 `git_branch`, `git_repo_root`): read from the files of git, no
 * process is started. Worktrees and submodules, whose `.git` is a file, included.
 */
import { isAbsolute, join } from "node:path";
import { within } from "@/lib/abort.ts";
import type { Files } from "@/platform/mod.ts";
import type { DirectoryLooks } from "./directory_looks.ts";
import type { GitPlace } from "./ports.ts";
import { findGitRoot } from "./prompt_files.ts";

/** A file system that answers late goes without. */
const BOUND_MS = 250;
/** Bytes; what git writes into such files is a line. */
const MAX_FILE = 4_096;

/** Never throws. */
export async function gitPlaceOf(files: Files, cwd: string, looks: DirectoryLooks): Promise<GitPlace> {
  if (!await within(looks.answers(cwd), BOUND_MS)) return { branch: null, root: null };
  const root = findGitRoot(files, cwd);
  return { branch: root === null ? null : branchOf(files, root), root };
}

/** Name of the branch or twelve digits of a detached commit; `null` where that cannot be read. `root` answers. */
export function branchOf(files: Files, root: string): string | null {
  const git = join(root, ".git");
  const link = /^gitdir: (.+)$/m.exec(lineAt(files, git) ?? "")?.[1]?.trim();
  const directory = link === undefined ? git : isAbsolute(link) ? link : join(root, link);
  const head = lineAt(files, join(directory, "HEAD"))?.trim() || null;
  const branch = "ref: refs/heads/";
  return head?.startsWith(branch) ? head.slice(branch.length) : head?.slice(0, 12) ?? null;
}

function lineAt(files: Files, path: string): string | null {
  try {
    const stat = files.statSync(path);
    return stat?.isFile && stat.size <= MAX_FILE ? files.readTextSync(path) : null;
  } catch {
    return null; // not ours to read
  }
}
