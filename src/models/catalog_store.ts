/** The fetched catalogue on disk: `cache/model_catalog.json` in the data home (core.md F.6). */
import type { Platform } from "@/platform/mod.ts";
import type { RefreshedCatalog } from "./catalog.ts";
import { readOrNull, writeAtomically } from "./list_cache.ts";

interface Stored {
  readonly version: 1;
  readonly fetched_at: number;
  readonly source: string;
  readonly lines: string;
}

function pathIn(home: string): string {
  return `${home}/cache/model_catalog.json`;
}

/** `null` when there is none that can be read. */
export function readRefreshed(platform: Platform, home: string): RefreshedCatalog | null {
  const text = readOrNull(platform, pathIn(home));
  if (text === null) return null;
  try {
    const stored = JSON.parse(text) as Partial<Stored> | null;
    if (stored?.version !== 1 || typeof stored.lines !== "string") return null;
    return { fetchedAt: Number(stored.fetched_at) || 0, lines: stored.lines };
  } catch {
    // Cut off or written by something else: it is fetched again.
    return null;
  }
}

/** Rejects when it cannot be written. */
export async function writeRefreshed(
  platform: Platform,
  home: string,
  { fetchedAt, lines }: RefreshedCatalog,
  source: string,
): Promise<void> {
  const stored: Stored = { version: 1, fetched_at: fetchedAt, source, lines };
  await writeAtomically(platform, pathIn(home), JSON.stringify(stored));
}

/** True when it is older than the config wants, or absent. */
export function isStale(platform: Platform, home: string, ttlHours: number): boolean {
  const kept = readRefreshed(platform, home);
  return kept === null || platform.clock.now() - kept.fetchedAt > ttlHours * 3_600_000;
}
