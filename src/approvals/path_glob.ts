/**
 * Globs over paths for the rules of a person: `**` is any number of folders, `*` and `?` stay within one name.
 * A glob without a slash is a name at any depth; one that does not begin at the root or at `~` is taken from the
 * folders of the session. What forbids or asks also covers everything below what it names; what allows does not,
 * and holds only for names inside the folders of the session unless it begins at the root or at `~`.
 */
import type { Platform } from "@/platform/mod.ts";
import { matchesExactly } from "./allow_list.ts";
import { absolutePath } from "./real_paths.ts";

export interface PathBase {
  readonly platform: Platform;
  /** Folders of the session, as given and as they really are; absolute. */
  readonly folders: readonly string[];
  readonly foldCase: boolean;
}

function segmentsOf(path: string, foldCase: boolean): string[] {
  const segments = path.split(/[\\/]/).filter((part) => part !== "");
  return foldCase ? segments.map((part) => part.toLowerCase()) : segments;
}

function splitPattern(glob: string, base: PathBase): string[] {
  const parts = base.platform.os === "windows" ? glob.split(/[\\/]/) : glob.split("/");
  const segments = parts.filter((part) => part !== "");
  return base.foldCase ? segments.map((part) => part.toLowerCase()) : segments;
}

/** `**` over whole names as `*` over letters: never slower than length × length. */
function matchesSegments(pattern: readonly string[], path: readonly string[]): boolean {
  let p = 0;
  let star = -1;
  let resume = 0;
  for (let s = 0; s < path.length;) {
    const part = pattern[p];
    if (part === "**") {
      star = p++;
      resume = s;
    } else if (part !== undefined && matchesExactly(part, path[s] as string)) {
      p++;
      s++;
    } else if (star !== -1) {
      p = star + 1;
      s = ++resume;
    } else return false;
  }
  while (pattern[p] === "**") p++;
  return p === pattern.length;
}

function isRooted(glob: string, platform: Platform): boolean {
  return /^(?:\/|~(?:\/|$))/.test(glob) || (platform.os === "windows" && /^(?:~?[\\]|[A-Za-z]:)/.test(glob));
}

/** The patterns, from the root, that one glob stands for. */
function patternsOf(glob: string, allows: boolean, base: PathBase): string[][] {
  const { platform } = base;
  if (isRooted(glob, platform)) return [splitPattern(absolutePath(platform, glob, "/"), base)];
  const isName = !/[\\/]/.test(glob);
  const inFolder = (folder: string) =>
    isName
      ? [...segmentsOf(folder, base.foldCase), "**", ...splitPattern(glob, base)]
      : splitPattern(absolutePath(platform, glob, folder), base);
  const inside = base.folders.map(inFolder);
  if (allows) return inside;
  const anywhere = isName || glob.startsWith("**");
  return anywhere ? [["**", ...splitPattern(glob, base)]] : inside;
}

/** True when the absolute `path` (no `.` or `..` in it) is named by `glob`. */
export function matchesPath(glob: string, path: string, allows: boolean, base: PathBase): boolean {
  const segments = segmentsOf(path, base.foldCase);
  return patternsOf(glob, allows, base).some((pattern) =>
    matchesSegments(allows ? pattern : [...pattern, "**"], segments)
  );
}
