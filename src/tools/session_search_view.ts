/** How stored sessions and messages are shown to a model by `session_search`: short, dated, calls by name. */
import { type Message, type SessionRow, textOf } from "@/core/contract.ts";

/** ISO 8601 of Unix seconds, without fractions. */
export function time(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}

export function metaOf(row: SessionRow): Record<string, unknown> {
  return {
    when: time(row.startedAt),
    source: row.source,
    model: row.config.model ?? null,
    title: row.title,
  };
}

/** One message, its text at most `chars` long; the one that was looked for carries `anchor`. */
export function shownMessage(
  message: Message,
  chars: number,
  anchor: number | null = null,
): Record<string, unknown> {
  const text = textOf(message.content);
  return {
    id: message.rowId ?? null,
    role: message.role,
    content: text.length <= chars
      ? text
      : `${text.slice(0, chars)}… (${text.length} characters)`.toWellFormed(),
    ...(message.role === "tool" ? { tool_name: message.toolName } : {}),
    ...(message.role === "assistant" && message.toolCalls?.length
      ? { tool_calls: message.toolCalls.map((call) => call.name) }
      : {}),
    ...(message.timestamp === undefined ? {} : { timestamp: time(message.timestamp) }),
    ...(anchor !== null && message.rowId === anchor ? { anchor: true } : {}),
  };
}
