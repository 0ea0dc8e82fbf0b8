/**
 * Bounds on what tools hand to the model (core.md A.13): a result over the limit goes to a file and leaves a block
 * with size, path and preview; when the file cannot be written it is cut in place and says so.
 */
import type { Platform } from "@/platform/mod.ts";

const PREVIEW = 1_500;
/** Characters; shorter results are not worth a file and always stay whole. */
export const LEAST_SPILLED = 8_000;
const UNTRUSTED = "untrusted_tool_result";
const encoder = new TextEncoder();

/** Characters one result may have, by context window (tokens). */
export function resultLimit(window: number | null): number {
  return Math.max(LEAST_SPILLED, Math.min(100_000, Math.floor((window ?? 256_000) * 0.15 * 4)));
}

/** Characters all results of one batch may have together. */
export function batchLimit(window: number | null): number {
  return Math.max(16_000, Math.min(200_000, Math.floor((window ?? 256_000) * 0.3 * 4)));
}

export function spillDirectory(platform: Platform): string {
  return `${platform.tempDir()}/hermes-results`;
}

/** Writes `text` to a file of its own and returns what the model reads instead. */
export async function spillResult(platform: Platform, callId: string, text: string): Promise<string> {
  const directory = spillDirectory(platform);
  const path = `${directory}/${callId.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 100)}-${
    platform.ids.hex(6)
  }.txt`;
  try {
    await platform.files.mkdir(directory, { mode: 0o700 });
    await platform.files.write(path, encoder.encode(text), { mode: 0o600 });
  } catch {
    const half = PREVIEW * 2;
    return `${text.slice(0, half).toWellFormed()}\n[… ${
      text.length - 2 * half
    } of ${text.length} characters left out; ` +
      `the full result could not be saved …]\n${text.slice(-half).toWellFormed()}`;
  }
  return [
    "<persisted-output>",
    `The result is ${text.length} characters long and was saved to ${path}.`,
    `Read it in pages with read_file (path, offset, limit). It begins with:`,
    text.slice(0, PREVIEW).toWellFormed(),
    // What a stranger wrote stays wrapped when only its beginning is shown (A.13).
    ...(text.startsWith(`<${UNTRUSTED} `) ? [`</${UNTRUSTED}>`] : []),
    "</persisted-output>",
  ].join("\n");
}
