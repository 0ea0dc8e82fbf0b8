/**
 * One memory file (core.md B.7): a list of entries with a limit in characters. Changes are planned on a copy and made
 * as a whole or not at all, under a lock between processes, so that two sessions never lose each other's entries.
 */
import { dirname } from "node:path";
import { ENTRY_SEPARATOR, memoryUsage, parseEntries } from "@/core/mod.ts";
import { FileLockError, replaceFile, withFileLock } from "@/lib/file_lock.ts";
import { scanForInjection } from "@/lib/injection_scan.ts";
import { isNotFound, type Platform } from "@/platform/mod.ts";
import { shorten, ToolError } from "./args.ts";

export interface MemoryOperation {
  readonly action: "add" | "replace" | "remove";
  /** New text of `add` and `replace`. */
  readonly content: string;
  /** Part of the entry that `replace` and `remove` mean. */
  readonly oldText: string;
}

export interface MemoryChange {
  readonly entries: readonly string[];
  readonly usage: string;
}

/** Why nothing was changed, with what the file holds. */
export class MemoryError extends ToolError {
  constructor(message: string, entries: readonly string[], limit: number) {
    super(message, { current_entries: entries, usage: memoryUsage(entries, limit) });
    this.name = "MemoryError";
  }
}

/** Applies all operations or none. Throws `MemoryError`. */
export async function changeMemory(
  platform: Platform,
  path: string,
  limit: number,
  operations: readonly MemoryOperation[],
): Promise<MemoryChange> {
  await platform.files.mkdir(dirname(path), { mode: 0o700 });
  try {
    return await withFileLock(platform, path, async () => {
      const text = await readIfThere(platform, path);
      const before = parseEntries(text);
      await refuseUnreadable(platform, path, text, before, limit);
      const entries = applyOperations(before, operations, limit);
      await replaceFile(platform, path, entries.join(ENTRY_SEPARATOR) + (entries.length ? "\n" : ""));
      return { entries, usage: memoryUsage(entries, limit) };
    });
  } catch (error) {
    if (error instanceof FileLockError) throw new ToolError(error.message);
    throw error;
  }
}

async function readIfThere(platform: Platform, path: string): Promise<string> {
  try {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await platform.files.read(path));
  } catch (error) {
    if (isNotFound(error)) return "";
    throw error;
  }
}

/** A file that would lose something by being written again is copied and left to the user. */
async function refuseUnreadable(
  platform: Platform,
  path: string,
  text: string,
  entries: readonly string[],
  limit: number,
): Promise<void> {
  const same = text.trim() === entries.join(ENTRY_SEPARATOR) && !entries.some(hasDivider);
  if (same && !text.includes("\uFFFD")) return;
  const backup = `${path}.bak-${platform.clock.now()}`;
  await platform.files.write(backup, await platform.files.read(path), { mode: 0o600 });
  throw new MemoryError(
    `${path} was edited in a form that this tool cannot write back without loss (entries are divided by a line "§", ` +
      `in UTF-8, without blank entries). Nothing was changed; a copy is in ${backup}. Ask the user to put it right`,
    entries,
    limit,
  );
}

function hasDivider(entry: string): boolean {
  return entry.split("\n").some((line) => line.trim() === "§");
}

/** Pure: the entries after all operations. Only the final size counts. */
export function applyOperations(
  before: readonly string[],
  operations: readonly MemoryOperation[],
  limit: number,
): string[] {
  const entries = [...before];
  const refuse = (message: string): never => {
    throw new MemoryError(message, before, limit);
  };
  for (const { action, content, oldText } of operations) {
    const text = content.trim();
    if (action !== "remove") {
      if (text === "") refuse(`'content' is needed for ${action}`);
      if (hasDivider(text)) {
        refuse(`'content' must be one entry: a line "§" divides entries`);
      }
      const ids = scanForInjection(text, "strict");
      if (ids.length > 0) {
        refuse(`Refused: the content looks like orders to a model or a secret (${ids.join(", ")})`);
      }
    }
    const at = action === "add" ? -1 : indexOf(entries, oldText, action, refuse);
    if (action !== "remove" && entries.some((entry, i) => entry === text && i !== at)) {
      refuse(`This entry is there already: "${shorten(text)}"`);
    }
    if (action === "add") entries.push(text);
    else if (action === "replace") entries[at] = text;
    else entries.splice(at, 1);
  }
  const size = entries.join(ENTRY_SEPARATOR).length;
  const was = before.join(ENTRY_SEPARATOR).length;
  // A file that is too long already may still be made shorter.
  if (size > limit && size >= was) {
    refuse(
      `It would hold ${size} of ${limit} characters. Shorten, merge or remove entries in the same call ('operations')`,
    );
  }
  return entries;
}

function indexOf(
  entries: readonly string[],
  oldText: string,
  action: string,
  refuse: (message: string) => never,
): number {
  const wanted = oldText.trim();
  if (wanted === "") refuse(`'old_text' is needed for ${action}: a part of the entry that only it has`);
  const hits = entries.flatMap((entry, at) => entry.includes(wanted) ? [at] : []);
  const exact = hits.filter((at) => entries[at] === wanted);
  if (exact.length === 1) return exact[0]!;
  if (hits.length === 0) refuse(`No entry contains "${shorten(wanted)}"`);
  if (hits.length > 1) {
    refuse(`${hits.length} entries contain "${shorten(wanted)}": give a longer part of the one`);
  }
  return hits[0]!;
}
