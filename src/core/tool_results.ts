/**
 * Results of calls that came to none of their own (core.md A.7): refused as malformed, skipped, interrupted while
 * running, thrown by the tool. `effect` says whether anything may have happened.
 */
import type { ToolOutcome } from "./ports.ts";

export function errorOutcome(body: Record<string, string>): ToolOutcome {
  return { content: JSON.stringify(body), isError: true, effect: "none" };
}

export function skipped(name: string): ToolOutcome {
  return {
    content: `[Tool execution cancelled — ${name} was skipped due to user interrupt]`,
    isError: true,
    effect: "none",
  };
}

export function interrupted(name: string): ToolOutcome {
  return {
    content: `[Tool execution cancelled — ${name} was interrupted while running]`,
    isError: true,
    effect: "unknown",
  };
}

/** What a tool throws, without what could pass for a message of somebody else. */
export function thrown(name: string, error: unknown): ToolOutcome {
  const message = (error instanceof Error ? error.message : String(error))
    .replace(/<\/?(system|user|assistant|tool)[^>]*>|<!\[CDATA\[|\]\]>|```/gi, "");
  const text = `[TOOL_ERROR] Error executing ${name}: ${message}`.slice(0, 2_000);
  return { content: JSON.stringify({ error: text }), isError: true, effect: "unknown" };
}
