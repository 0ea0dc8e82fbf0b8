/** A stable name for a prompt prefix, so that calls with the same one meet the same cache (core.md A.17). */
import type { ToolSpec } from "@/core/contract.ts";

/** `null` when there is no prefix. */
export function cacheKeyOf(instructions: string, tools: readonly ToolSpec[]): string | null {
  if (instructions === "" && tools.length === 0) return null;
  return `hermes-${hash(instructions + JSON.stringify(tools))}`;
}

/** 64 bits of FNV-1a as hex. */
function hash(text: string): string {
  let [low, high] = [0x811c9dc5, 0xcbf29ce4];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ (code + at), 0x01000193);
  }
  return (low >>> 0).toString(16).padStart(8, "0") + (high >>> 0).toString(16).padStart(8, "0");
}
