/** Names like the one that was not found, from the directory it was looked for in (core.md B.5). */
import { basename, dirname, join } from "node:path";
import type { Platform } from "@/platform/mod.ts";
import { similarity } from "./similarity.ts";

const MAX_NAMES = 5;
const MAX_ENTRIES = 5_000;

function score(wanted: string, name: string): number {
  const a = wanted.toLowerCase(), b = name.toLowerCase();
  if (a === b) return 1;
  const stem = (text: string) => text.replace(/\.[^.]*$/, "");
  if (stem(a) === stem(b)) return 0.95;
  if (a.length >= 3 && (b.includes(a) || a.includes(b))) return 0.8;
  return similarity(a, b);
}

/** At most five paths, the most alike first; none when the directory cannot be listed. */
export async function similarNames(path: string, platform: Platform): Promise<string[]> {
  const directory = dirname(path);
  const wanted = basename(path);
  try {
    const entries = (await platform.files.list(directory)).slice(0, MAX_ENTRIES);
    return entries
      .map((entry) => ({ name: entry.name, score: score(wanted, entry.name) }))
      .filter((entry) => entry.score >= 0.6)
      .sort((a, b) => b.score - a.score || (a.name < b.name ? -1 : 1))
      .slice(0, MAX_NAMES)
      .map((entry) => join(directory, entry.name));
  } catch {
    return []; // A missing or unreadable directory: there is nothing to suggest.
  }
}
