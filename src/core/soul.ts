/**
 * `SOUL.md` of the data home (core.md A.4, D.1): who the agent is, for its user to change. A home without one gets the
 * built-in identity as its first text, so that the prompt says the same with the file as without it.
 */
import { join } from "node:path";
import type { Platform } from "@/platform/mod.ts";
import { IDENTITY } from "./prompt_guidance.ts";

export function soulPath(home: string): string {
  return join(home, "SOUL.md");
}

/** Leaves what is there as it is, also when it is empty. Throws the file system's own errors. */
export async function createDefaultSoul({ files }: Pick<Platform, "files">, home: string): Promise<void> {
  const path = soulPath(home);
  if (await files.lstat(path) !== null) return;
  await files.write(path, new TextEncoder().encode(`${IDENTITY}\n`), { fresh: true });
}
