/**
 * The bounds of folders that only ever grow (FC-18): whole texts of pages, files of MCP servers, long summaries and
 * tool results, kept for as long as somebody may read on in them.
 */
import type { FileStat, Platform } from "@/platform/mod.ts";
import { spillDirectory } from "./result_limits.ts";

const DAY_MS = 24 * 3_600_000;
/** Files are kept this long. */
const KEEP_MS = 7 * DAY_MS;
/** Bytes of one folder; over it the oldest files go first. */
const MAX_BYTES = 256 << 20;
/** Younger ones stay whatever the folder holds: a turn of some program may be about to read them. */
const FRESH_MS = 3_600_000;
/** Files of other programs in a directory that all share are none of ours. */
const SPILLED = /^[\w-]{1,100}-[0-9a-f]{6}\.txt$/;

interface Folder {
  readonly path: string;
  /** Of the names that may be removed; absent: all. */
  readonly names?: RegExp;
}

interface CachedFile {
  readonly path: string;
  readonly stat: FileStat;
}

/** Removes what is too old or too much from every such folder. Never throws: what cannot be removed stays. */
export async function boundCaches(platform: Platform, home: string): Promise<void> {
  const folders: Folder[] = [
    { path: `${home}/cache/web` },
    { path: `${home}/cache/mcp` },
    { path: `${home}/cache/delegation` },
    { path: spillDirectory(platform), names: SPILLED },
  ];
  for (const folder of folders) await boundFolder(folder, platform);
}

async function boundFolder(folder: Folder, platform: Platform): Promise<void> {
  const { files, clock } = platform;
  const found = await readFolder(folder, platform);
  found.sort((a, b) => a.stat.mtimeMs - b.stat.mtimeMs);
  const now = clock.now();
  let total = found.reduce((sum, { stat }) => sum + stat.size, 0);
  for (const { path, stat } of found) {
    const age = now - stat.mtimeMs;
    // The rest is younger.
    if (age < FRESH_MS || (age <= KEEP_MS && total <= MAX_BYTES)) return;
    await files.remove(path).catch(() => {/* somebody else was faster, or it is not ours */});
    total -= stat.size;
  }
}

/** Its plain files; none where it is no directory of its own, and links are not followed. */
async function readFolder({ path, names }: Folder, { files }: Platform): Promise<CachedFile[]> {
  const found: CachedFile[] = [];
  try {
    if (!(await files.lstat(path))?.isDirectory) return [];
    for (const { name, isFile } of await files.list(path)) {
      if (!isFile || names?.test(name) === false) continue;
      const stat = await files.lstat(`${path}/${name}`);
      if (stat?.isFile) found.push({ path: `${path}/${name}`, stat });
    }
  } catch {
    // Not readable, or it went meanwhile: what was seen of it counts.
  }
  return found;
}
