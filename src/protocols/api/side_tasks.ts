/**
 * Requests that a front end makes by itself beside a conversation: titles, tags, next questions (api-server.md C4).
 * Each is a turn of its own with a session of its own; lists of conversations stay free of them. Told by the frame
 * that Open WebUI puts around all of them: a task first, the conversation as a quotation in it. A person's own
 * message with documents has the first and not the second.
 */
import { type Content, type Message, textOf } from "@/core/contract.ts";

const TASK = /^### Task:\r?\n/;

export function isSideTask(opening: Content, history: readonly Message[]): boolean {
  if (history.length > 0) return false;
  const text = textOf(opening);
  return TASK.test(text) && hasQuotation(text);
}

/** No pattern: that would take minutes for a long text with many beginnings and no end. */
function hasQuotation(text: string): boolean {
  const start = text.indexOf("<chat_history>");
  return start !== -1 && text.includes("</chat_history>", start);
}
