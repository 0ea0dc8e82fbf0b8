/**
 * The memory files as the prompt shows them (core.md A.4 "volatile", B.7): entries divided by a line `§`, read once per
 * session and frozen. The `memory` tool writes the same files; what it wrote shows in the next session.
 */
import { join } from "node:path";
import { scanForInjection } from "@/lib/injection_scan.ts";
import type { Files } from "@/platform/mod.ts";
import type { Logger } from "./ports.ts";
import { isPresent, readPromptText } from "./prompt_files.ts";
import type { Settings } from "./settings.ts";

export type MemoryTarget = "memory" | "user";

/** What stands between two entries. */
export const ENTRY_SEPARATOR = "\n§\n";

/** The file of a target, below the data home. */
export function memoryPath(home: string, target: MemoryTarget): string {
  return join(home, "memories", target === "memory" ? "MEMORY.md" : "USER.md");
}

/** Characters a target may hold. */
export function memoryLimit(settings: Settings, target: MemoryTarget): number {
  return target === "memory" ? settings.memory.memory_char_limit : settings.memory.user_char_limit;
}

export function isMemoryEnabled(settings: Settings, target: MemoryTarget): boolean {
  return target === "memory" ? settings.memory.memory_enabled : settings.memory.user_profile_enabled;
}

/** The entries of a file's text, trimmed, blank ones left out. */
export function parseEntries(text: string): string[] {
  return text.split(ENTRY_SEPARATOR).map((entry) => entry.trim()).filter(Boolean);
}

/** `45% — 990/2200 chars`. */
export function memoryUsage(entries: readonly string[], limit: number): string {
  const used = entries.join(ENTRY_SEPARATOR).length;
  return `${Math.round(used * 100 / limit)}% — ${used}/${limit} chars`;
}

const HEADINGS: Readonly<Record<MemoryTarget, string>> = {
  memory: "# Memory (your notes from earlier sessions",
  user: "# User (what you know about the user",
};

/** How the blocks begin. */
export const MEMORY_HEADINGS: readonly string[] = Object.values(HEADINGS);

export interface MemoryQuery {
  readonly files: Files;
  readonly log: Pick<Logger, "warn">;
  readonly home: string;
  readonly settings: Settings;
}

/** Both snapshots as one text; empty when nothing is kept. Never throws. */
export async function memorySnapshot(query: MemoryQuery): Promise<string> {
  const blocks = await Promise.all((["memory", "user"] as const).map((target) => block(query, target)));
  return blocks.filter(Boolean).join("\n\n");
}

async function block(query: MemoryQuery, target: MemoryTarget): Promise<string> {
  if (!isMemoryEnabled(query.settings, target)) return "";
  const path = memoryPath(query.home, target);
  if (!isPresent(query.files, path)) return "";
  const text = await readPromptText(path, query);
  const entries = parseEntries(text ?? "");
  if (entries.length === 0) return "";
  const limit = memoryLimit(query.settings, target);
  const shown = entries.map((entry) => {
    const ids = scanForInjection(entry, "context");
    return ids.length === 0
      ? entry
      : `[BLOCKED: this entry looks like orders to the model (${ids.join(", ")})]`;
  });
  // A file that somebody else made too long is cut, so that it cannot fill the prompt.
  const body = shown.join(ENTRY_SEPARATOR).slice(0, 4 * limit);
  return `${HEADINGS[target]}; ${memoryUsage(entries, limit)})\n${body}`;
}
