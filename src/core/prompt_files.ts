/**
 * Reading files for the prompt (core.md A.4 "Context-file rules"): regular files only, at most five seconds, bounded
 * in size, scanned for orders to the model. A file that cannot be used is left out or replaced by a line that says so.
 */
import { dirname, extname, join } from "node:path";
import { within } from "@/lib/abort.ts";
import { SCAN_LIMIT, scanForInjection, type ScanScope } from "@/lib/injection_scan.ts";
import type { Files } from "@/platform/mod.ts";
import type { Logger } from "./ports.ts";

/** Longest wait for one file. */
export const READ_BOUND_MS = 5_000;
/** Bytes read of one file at most: four for each character of the largest cap. */
const MAX_BYTES = 2_000_000;
const MAX_LEVELS = 40;
const SEAM = 1_000;

export interface PromptFile {
  /** As it is named to the model. */
  readonly name: string;
  readonly text: string;
}

export interface ReadOptions {
  readonly files: Files;
  readonly log: Pick<Logger, "warn">;
  /** Shown to the model instead of the path. */
  readonly name: string;
  /** Characters at most. */
  readonly cap: number;
}

/** The text of a regular file, front matter and size untouched; `null` when absent, empty or unreadable. */
export async function readPromptText(
  path: string,
  { files, log }: Pick<ReadOptions, "files" | "log">,
): Promise<string | null> {
  const read = (async () => {
    try {
      const stat = await files.stat(path);
      if (!stat?.isFile || !await isOwnDocument(files, path)) return null;
      const bytes = await files.readHead(path, Math.min(stat.size, MAX_BYTES));
      return new TextDecoder().decode(bytes);
    } catch (error) {
      log.warn(
        `Cannot read ${path} for the prompt: ${error instanceof Error ? error.message : String(error)}`,
      );
      return null;
    }
  })();
  const text = await within(read, READ_BOUND_MS);
  if (text === undefined) log.warn(`Reading ${path} took over ${READ_BOUND_MS / 1000} s; it is left out`);
  return text?.trim() || null;
}

/** A link may lead to another document, never to a key or a device under the name of a project file. */
async function isOwnDocument(files: Files, path: string): Promise<boolean> {
  const real = await files.realPath(path);
  if (real === null) return false;
  if (dirname(real) === await files.realPath(dirname(path))) return true;
  return [".md", ".mdc", ".txt", ".cursorrules"].includes(extname(real)) || real.endsWith("/.cursorrules");
}

/** Reads, strips, scans and cuts one context file; `null` when there is nothing to show. */
export async function readContextFile(path: string, options: ReadOptions): Promise<PromptFile | null> {
  const raw = await readPromptText(path, options);
  const text = raw === null ? "" : stripFrontMatter(raw).trim();
  if (!text) return null;
  return { name: options.name, text: guarded(cutMiddle(text, options), options.name, "context") };
}

/** The text itself, or the line that stands for it when it gives the model orders. */
export function guarded(text: string, name: string, scope: ScanScope): string {
  const ids = new Set<string>();
  // Windows overlap, so that nothing hides on a seam.
  for (let at = 0; at === 0 || at + SEAM < text.length; at += SCAN_LIMIT - SEAM) {
    for (const id of scanForInjection(text.slice(at, at + SCAN_LIMIT), scope)) ids.add(id);
  }
  if (ids.size === 0) return text;
  return `[BLOCKED: ${name} contained potential prompt injection (${
    [...ids].join(", ")
  }). Content not loaded.]`;
}

/** Without the YAML block at the start. */
export function stripFrontMatter(text: string): string {
  const plain = text.replace(/^\uFEFF/, "");
  const block = /^---[ \t]*\r?\n[\s\S]*?\r?\n---[ \t]*(?:\r?\n|$)/.exec(plain);
  return block ? plain.slice(block[0].length) : plain;
}

/** 70 % from the start and 20 % from the end of a text over the cap, with a line about what is missing. */
function cutMiddle(text: string, { cap, name }: ReadOptions): string {
  if (text.length <= cap) return text;
  const head = Math.floor(cap * 0.7), tail = Math.floor(cap * 0.2);
  const marker = `[… ${name}: ${text.length - head - tail} of ${text.length} characters left out here; ` +
    `read the file for the rest …]`;
  return `${text.slice(0, head)}\n\n${marker}\n\n${text.slice(-tail)}`.toWellFormed();
}

/** The cap on one context file: the setting, or 6 % of the window in characters, between 20,000 and 500,000. */
export function contextFileCap(setting: number | null, window: number | null): number {
  if (setting !== null) return setting;
  return Math.min(500_000, Math.max(20_000, Math.floor((window ?? 0) * 0.06 * 4)));
}

/** `path` and its ancestors, nearest first. */
export function ancestorsOf(path: string): string[] {
  const found: string[] = [];
  for (let at = path; found.length < MAX_LEVELS; at = dirname(at)) {
    found.push(at);
    if (dirname(at) === at) break;
  }
  return found;
}

/** Without leaving the thread: for places that are known to answer, such as the data home. */
export function isPresent(files: Files, path: string): boolean {
  try {
    return files.lookSync(path) !== null;
  } catch {
    return true; // There, but not ours to look at: whoever reads it says so.
  }
}

/** The nearest directory with a `.git`; `null` outside a repository. `cwd` is known to answer. */
export function findGitRoot(files: Files, cwd: string): string | null {
  return ancestorsOf(cwd).find((dir) => isPresent(files, join(dir, ".git"))) ?? null;
}
