/**
 * Cuts a batch of calls into ordered segments (core.md A.7): calls of a segment run side by side, segments one
 * after the other. Path-scoped calls share a segment only while their paths do not overlap.
 */
import type { Tool } from "./ports.ts";

export interface Placed {
  readonly tool: Tool | null;
  readonly paths: readonly string[];
}

const MAX_PARALLEL = 8;

function overlap(a: string, b: string): boolean {
  return a === b || a.startsWith(b.endsWith("/") ? b : b + "/") ||
    b.startsWith(a.endsWith("/") ? a : a + "/");
}

function fits(call: Placed, segment: readonly Placed[]): boolean {
  if (segment.length === 0) return true;
  if (segment.length >= MAX_PARALLEL || !call.tool || call.tool.parallel === "never") return false;
  if (segment.some((other) => !other.tool || other.tool.parallel === "never")) return false;
  if (call.tool.parallel === "safe") return true;
  if (call.paths.length === 0) return false;
  return segment.every((other) =>
    other.tool!.parallel === "safe" ||
    other.paths.every((path) => call.paths.every((mine) => !overlap(path, mine)))
  );
}

export function cutIntoSegments<T extends Placed>(calls: readonly T[]): T[][] {
  const segments: T[][] = [];
  for (const call of calls) {
    const current = segments.at(-1);
    if (current && fits(call, current)) current.push(call);
    else segments.push([call]);
  }
  return segments;
}
