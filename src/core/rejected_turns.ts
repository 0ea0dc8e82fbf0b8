/**
 * Turns that a provider refused with 400 in a huge session (core.md A.11): sent again with every later request they
 * would fail again on every resume. A hidden row marks such a turn's end; requests leave the turn out, its rows stay
 * stored and shown.
 */
import type { AssistantMessage, Message } from "./messages.ts";

const REJECTED = "request_rejected";
const HUGE_TOKENS = 50_000;
const HUGE_MESSAGES = 80;

export function isHuge(session: { readonly tokens: number; readonly messages: number }): boolean {
  return session.tokens > HUGE_TOKENS || session.messages > HUGE_MESSAGES;
}

export function rejectionMark(timestamp: number): AssistantMessage {
  return { role: "assistant", content: null, displayKind: "hidden", finishReason: REJECTED, timestamp };
}

function isMark(message: Message): boolean {
  return message.role === "assistant" && message.finishReason === REJECTED;
}

/** What a request may carry; the list itself when nothing was rejected. */
export function withoutRejected(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(isMark)) return messages;
  const kept: Message[] = [];
  for (const message of messages) {
    if (!isMark(message)) kept.push(message);
    else kept.length = Math.max(kept.findLastIndex(({ role }) => role === "user"), 0);
  }
  return kept;
}
