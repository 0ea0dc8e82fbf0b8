/** Where a path really leads: links followed, also for files that do not exist yet (core.md C.8, FC-15). */
import type { Platform } from "@/platform/mod.ts";

export interface Target {
  /** Absolute, `.` and `..` taken out, links as given. */
  readonly given: string;
  /** With links followed; the existing part of a new path is resolved, the rest appended. */
  readonly real: string;
  /** A link on the way leads nowhere or in a circle: nobody can say what a write would change. */
  readonly broken: boolean;
}

function separatorOf(platform: Platform): string {
  return platform.os === "windows" ? "\\" : "/";
}

/** Absolute form against `cwd`, with `~`; no disk access. */
export function absolutePath(platform: Platform, path: string, cwd: string): string {
  const separator = separatorOf(platform);
  const native = platform.os === "windows" ? path.replaceAll("/", "\\") : path;
  const expanded = /^~(?:[\\/]|$)/.test(native) ? platform.homeDir() + native.slice(1) : native;
  const rooted = expanded.startsWith(separator) || (platform.os === "windows" && /^[A-Za-z]:/.test(expanded));
  const parts: string[] = [];
  for (const part of (rooted ? expanded : cwd + separator + expanded).split(separator)) {
    if (part === "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return platform.os === "windows" ? parts.join(separator) : separator + parts.join(separator);
}

async function isLink(platform: Platform, path: string): Promise<boolean> {
  return (await platform.files.lstat(path))?.isSymlink ?? false;
}

/** Follows every link. Never throws: what cannot be followed is `broken`. */
export async function resolveTarget(platform: Platform, path: string, cwd: string): Promise<Target> {
  const separator = separatorOf(platform);
  const given = absolutePath(platform, path, cwd);
  const rest: string[] = [];
  let here = given;
  try {
    for (;;) {
      const real = await platform.files.realPath(here);
      if (real !== null) {
        const base = real.endsWith(separator) ? real.slice(0, -1) : real;
        return { given, real: [base, ...rest].join(separator) || separator, broken: false };
      }
      if (await isLink(platform, here)) return { given, real: given, broken: true };
      const cut = here.lastIndexOf(separator);
      if (cut <= 0) return { given, real: given, broken: false };
      rest.unshift(here.slice(cut + 1));
      here = here.slice(0, cut);
    }
  } catch {
    // A circle of links, or a folder that may not be entered.
    return { given, real: given, broken: true };
  }
}

/** True when `path` is `folder` or below it; both absolute. */
export function isInside(path: string, folder: string): boolean {
  if (path === folder) return true;
  const base = /[\\/]$/.test(folder) ? folder : folder + (folder.includes("\\") ? "\\" : "/");
  return path.startsWith(base);
}

/** The same without waiting and without telling broken links, for what is only compared, never written. */
export function resolveSync(platform: Platform, given: string): Target {
  const separator = separatorOf(platform);
  const rest: string[] = [];
  let here = given;
  try {
    for (let cut = 1; cut > 0; here = here.slice(0, cut)) {
      const real = platform.files.realPathSync(here);
      if (real !== null) {
        const base = real.endsWith(separator) ? real.slice(0, -1) : real;
        return { given, real: [base, ...rest].join(separator) || separator, broken: false };
      }
      cut = here.lastIndexOf(separator);
      rest.unshift(here.slice(cut + 1));
    }
  } catch {
    // A circle of links, or a folder that may not be entered: its own name is all there is to compare.
  }
  return { given, real: given, broken: false };
}
