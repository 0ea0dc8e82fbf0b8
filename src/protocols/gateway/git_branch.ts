/** The checked-out branch of a directory, read from the files of git; no process is started. */
import type { Files } from "@/platform/mod.ts";

const MAX_LEVELS = 40;

/** Name of the branch, twelve digits of a detached commit, or `""` outside a repository. Never throws. */
export function gitBranch(files: Files, cwd: string): string {
  try {
    const head = findHead(files, cwd);
    const text = head === null ? null : files.readTextSync(head)?.trim();
    if (!text) return "";
    return text.startsWith("ref: refs/heads/") ? text.slice("ref: refs/heads/".length) : text.slice(0, 12);
  } catch {
    return ""; // unreadable repository: shown as none
  }
}

function findHead(files: Files, cwd: string): string | null {
  let dir = cwd;
  for (let level = 0; level < MAX_LEVELS; level++) {
    const git = `${dir === "/" ? "" : dir}/.git`;
    const stat = files.statSync(git);
    if (stat?.isDirectory) return `${git}/HEAD`;
    if (stat?.isFile) return linkedHead(files, dir, git);
    const parent = dir.slice(0, Math.max(dir.lastIndexOf("/"), dir.startsWith("/") ? 1 : 0));
    if (parent === dir || parent === "") return null;
    dir = parent;
  }
  return null;
}

/** A worktree or submodule: `.git` is a file that names the real directory. */
function linkedHead(files: Files, dir: string, git: string): string | null {
  const target = /^gitdir: (.+)$/m.exec(files.readTextSync(git) ?? "")?.[1]?.trim();
  if (!target) return null;
  return `${target.startsWith("/") ? target : `${dir}/${target}`}/HEAD`;
}
