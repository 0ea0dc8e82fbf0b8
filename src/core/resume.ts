/**
 * What a crash or a kill has left open is closed when a history is read again (core.md D.5 rule 4, FC-12): every
 * call gets a result that says it was interrupted. Memory only; stored rows stay as they are.
 */
import type { Message, ToolMessage } from "./messages.ts";

const INTERRUPTED = "[Tool call interrupted before a result was recorded]";

export function repairForResume(history: readonly Message[]): Message[] {
  const answered = new Set<string>();
  for (const message of history) if (message.role === "tool") answered.add(message.toolCallId);
  const out: Message[] = [];
  for (let i = 0; i < history.length; i++) {
    const message = history[i]!;
    out.push(message);
    if (message.role !== "assistant" || !message.toolCalls?.length) continue;
    while (history[i + 1]?.role === "tool") out.push(history[++i]!);
    for (const call of message.toolCalls) if (!answered.has(call.id)) out.push(stub(call.id, call.name));
  }
  return out;
}

/** Its row id 0 marks it as not to be written. */
function stub(toolCallId: string, toolName: string): ToolMessage {
  return {
    role: "tool",
    toolCallId,
    toolName,
    content: INTERRUPTED,
    effect: "unknown",
    meta: { isError: true },
    rowId: 0,
  };
}
