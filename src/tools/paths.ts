/**
 * Paths of tool arguments: `~` and relative ones are resolved against the session's cwd (core.md B.5, FC-13), never
 * the process's. Both the written and the real path are known, since safety lists look at both.
 */
import { basename, dirname, isAbsolute, join, normalize, relative } from "node:path";
import type { Platform } from "@/platform/mod.ts";
import { ToolError } from "./args.ts";

/** Characters; no system opens a longer one, and to look at one of megabytes takes seconds. */
const MAX_PATH = 32_767;

export interface ResolvedPath {
  /** Absolute and normal, links unresolved. */
  readonly path: string;
  /** Links resolved; of a path that does not exist yet, those of its nearest existing ancestor. */
  readonly real: string;
}

/** Absolute form of a path as the model wrote it; a `file:` URL is understood. Throws for one that nothing can open. */
export function absolutePath(written: string, cwd: string, homeDir: string): string {
  if (written.length > MAX_PATH) {
    throw new ToolError(`The path is ${written.length} characters long; at most ${MAX_PATH} can be opened`);
  }
  let path = written;
  if (path.startsWith("file://")) {
    try {
      path = decodeURIComponent(new URL(path).pathname);
    } catch {
      // Not a URL after all: taken as a path.
    }
  }
  if (path === "~") path = homeDir;
  else if (path.startsWith("~/")) path = join(homeDir, path.slice(2));
  const full = normalize(isAbsolute(path) ? path : join(cwd, path));
  return full.length > 1 && /[\\/]$/.test(full) ? full.slice(0, -1) : full;
}

/** Without the file system: what `describe` and `paths` may use. */
export function absoluteOf(written: string | null, cwd: string): string | null {
  if (!written || written.startsWith("~") || written.length > MAX_PATH) return null;
  return absolutePath(written, cwd, cwd);
}

export async function realOf(path: string, platform: Platform): Promise<string> {
  const tail: string[] = [];
  for (let at = path;;) {
    // What may not be looked through cannot be opened either; its ancestors still tell where it lies.
    const real = await platform.files.realPath(at).catch(() => null);
    if (real !== null) return tail.length ? join(real, ...tail.reverse()) : real;
    const parent = dirname(at);
    if (parent === at) return path;
    tail.push(basename(at));
    at = parent;
  }
}

export async function resolvePath(written: string, cwd: string, platform: Platform): Promise<ResolvedPath> {
  const path = absolutePath(written, cwd, platform.homeDir());
  return { path, real: await realOf(path, platform) };
}

/** True when `path` is `root` or below it; both absolute and normal. */
export function isInside(path: string, root: string): boolean {
  const rest = relative(root, path);
  return rest === "" || (!isAbsolute(rest) && rest !== ".." && !/^\.\.[\\/]/.test(rest));
}

/** The path as shown to the model: relative inside `cwd`, else absolute. */
export function shownPath(path: string, cwd: string): string {
  return isInside(path, cwd) ? relative(cwd, path) || "." : path;
}
