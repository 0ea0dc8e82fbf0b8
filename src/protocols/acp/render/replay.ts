/**
 * A stored conversation as updates, oldest first (acp.md C12), through the same cards as live calls. Message ids
 * are made of the row ids, so that a second load gives the same ones. Pure; a row that cannot be shown becomes a
 * visible placeholder.
 */
import { type Message, textOf, type ToolCall, type ToolCallView, type UserMessage } from "@/core/contract.ts";
import type { ContentBlock, SessionUpdate } from "../sdk.ts";
import { mixedUpdates, type Speaker, summaryUpdate } from "./summary.ts";
import { endUpdate, failedUpdate, planUpdate, startUpdate, todosOfResult } from "./tool_calls.ts";

export interface ReplayContext {
  readonly sessionId: string;
  /** A stored call as hosts see it; never throws. */
  describe(call: ToolCall): ToolCallView;
  isBuiltin(name: string): boolean;
  /** The client shows compactions as such. */
  readonly compaction: boolean;
  /** True for a call that is running now: it is left open. */
  isLive(callId: string): boolean;
  /** True for one that waits for an answer of the user. */
  isWaiting(callId: string): boolean;
}

const SUMMARY_KIND = "compaction_summary";
const NO_RESULT = "No result was stored: the call was interrupted.";

/** Yields the updates of one message at a time, so that the caller can pause between them. */
export function* replay(messages: readonly Message[], context: ReplayContext): Generator<SessionUpdate[]> {
  /** Announced calls without a result yet. */
  const open = new Map<string, ToolCallView>();
  for (const [index, message] of messages.entries()) {
    const isSummary = message.displayKind === SUMMARY_KIND;
    if (message.displayKind !== undefined && !isSummary) continue;
    const updates = message.role === "tool" ? [] : closeOpen(open, context);
    const messageId = `${context.sessionId}-${message.rowId ?? `n${index}`}`;
    try {
      if (isSummary) updates.push(summaryUpdate(textOf(message.content), messageId, context.compaction));
      else updates.push(...renderMessage(message, messageId, open, context));
    } catch {
      updates.push(
        chunk("agent_message_chunk", `${context.sessionId}-x${index}`, "[This message cannot be shown]"),
      );
    }
    yield updates;
  }
  yield closeOpen(open, context);
}

function closeOpen(open: Map<string, ToolCallView>, context: ReplayContext): SessionUpdate[] {
  const updates: SessionUpdate[] = [];
  for (const id of open.keys()) if (!context.isLive(id)) updates.push(failedUpdate(id, NO_RESULT));
  open.clear();
  return updates;
}

type ChunkUpdate = "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk";

function chunk(sessionUpdate: ChunkUpdate, messageId: string, text: string): SessionUpdate {
  return { sessionUpdate, messageId, content: { type: "text", text } };
}

function renderMessage(
  message: Message,
  messageId: string,
  open: Map<string, ToolCallView>,
  context: ReplayContext,
): SessionUpdate[] {
  switch (message.role) {
    case "user":
      return renderUser(message, messageId, context);
    case "assistant":
      return [
        ...(message.reasoning ? [chunk("agent_thought_chunk", `${messageId}-t`, message.reasoning)] : []),
        ...renderText("agent_message_chunk", messageId, message.content ?? "", context),
        ...(message.toolCalls ?? []).map((call) => {
          const view = context.describe(call);
          open.set(call.id, view);
          return startUpdate(view, {
            waiting: context.isWaiting(call.id),
            builtin: context.isBuiltin(call.name),
          });
        }),
      ];
    case "tool": {
      const call = open.get(message.toolCallId);
      if (!call) return [];
      open.delete(message.toolCallId);
      const result = textOf(message.content);
      const isError = message.meta?.isError ?? message.effect !== undefined;
      const done = { call, result, isError, edits: message.meta?.edits ?? [] };
      const todos = message.toolName === "todo" ? message.meta?.todos ?? todosOfResult(result) : null;
      return [endUpdate(done, context.isBuiltin(message.toolName)), ...(todos ? [planUpdate(todos)] : [])];
    }
  }
}

/** A text that was said; it may have a summary in it. */
function renderText(
  speaker: Speaker,
  messageId: string,
  text: string,
  { compaction }: ReplayContext,
): SessionUpdate[] {
  if (text === "") return [];
  return mixedUpdates(text, messageId, compaction, speaker) ?? [chunk(speaker, messageId, text)];
}

function renderUser(message: UserMessage, messageId: string, context: ReplayContext): SessionUpdate[] {
  const { content } = message;
  const text = message.displayText ?? textOf(content);
  const updates = renderText("user_message_chunk", messageId, text, context);
  if (typeof content === "string") return updates;
  for (const part of content) {
    const image = part.type === "image_url" ? imageBlock(part.image_url.url) : null;
    if (image) updates.push({ sessionUpdate: "user_message_chunk", messageId, content: image });
  }
  return updates;
}

function imageBlock(url: string): ContentBlock | null {
  const match = /^data:([^;,]+);base64,(.*)$/s.exec(url);
  return match ? { type: "image", mimeType: match[1]!, data: match[2]! } : null;
}
