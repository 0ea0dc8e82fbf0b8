/** Sessions and their messages on the wire (api-server.md B10); never a prompt, a path or a key. */
import type { Message, SessionRow } from "@/core/contract.ts";

/** `id` is the public one; the row may be a later one of the same conversation. */
export function sessionView(id: string, row: SessionRow, preview: string): Record<string, unknown> {
  const { usage, config } = row;
  return {
    id,
    source: row.source,
    user_id: null,
    model: config.model ?? null,
    title: row.title,
    started_at: row.startedAt,
    ended_at: row.endedAt,
    end_reason: row.endReason,
    message_count: row.messageCount,
    tool_call_count: row.toolCallCount,
    input_tokens: usage.input,
    output_tokens: usage.output,
    cache_read_tokens: usage.cacheRead,
    cache_write_tokens: usage.cacheWrite,
    reasoning_tokens: usage.reasoning,
    estimated_cost_usd: inDollars(row.cost?.usd ?? null),
    actual_cost_usd: null,
    api_call_count: row.apiCallCount,
    parent_session_id: row.parentId,
    last_active: row.lastActivityAt,
    preview,
    has_system_prompt: row.systemPrompt !== null,
    has_model_config: config.model !== undefined,
  };
}

/** Sums of small prices would show their rounding errors. */
function inDollars(usd: number | null): number | null {
  return usd === null ? null : Math.round(usd * 1e9) / 1e9;
}

export function messageView(sessionId: string, message: Message): Record<string, unknown> {
  const assistant = message.role === "assistant" ? message : null;
  const calls = assistant?.toolCalls?.map(({ id, name, arguments: args }) => ({
    id,
    type: "function",
    function: { name, arguments: args },
  }));
  return {
    id: message.rowId ?? null,
    session_id: sessionId,
    role: message.role,
    content: message.content,
    tool_call_id: message.role === "tool" ? message.toolCallId : null,
    tool_calls: calls ?? null,
    tool_name: message.role === "tool" ? message.toolName : null,
    timestamp: message.timestamp ?? null,
    token_count: assistant?.tokenCount ?? null,
    finish_reason: assistant?.finishReason ?? null,
    reasoning: assistant?.reasoning ?? null,
    reasoning_content: assistant?.reasoningContent ?? null,
  };
}
