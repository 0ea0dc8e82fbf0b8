/** Every configured credential in one cached list, for redaction (core.md C.9). Reads `auth.json` beside the rest. */
import type { Platform } from "@/platform/mod.ts";
import { collectFromEnv, collectFromTree } from "./secrets.ts";

function readAuth(platform: Platform, path: string): unknown {
  try {
    return JSON.parse(platform.files.readTextSync(path) ?? "null");
  } catch {
    // A broken or unreadable auth.json holds no key that could be used.
    return null;
  }
}

/** Longest first, so that a key that contains another one is masked as a whole. */
export function collectSecrets(
  platform: Platform,
  sources: {
    trees: readonly unknown[];
    envs: readonly Iterable<readonly [string, string]>[];
    authPath: string;
  },
): readonly string[] {
  const found = new Set<string>();
  for (const tree of sources.trees) collectFromTree(found, tree);
  for (const env of sources.envs) collectFromEnv(found, env);
  collectFromTree(found, readAuth(platform, sources.authPath));
  return [...found].sort((a, b) => b.length - a.length);
}
