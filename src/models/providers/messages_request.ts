/**
 * A request in the Anthropic Messages wire (core.md A.1, A.12, A.17): the system prompt apart, content in blocks,
 * results of tools as blocks of the user's next message.
 */
import type { AssistantMessage, Content, ModelRequest, ResolvedModel, ToolMessage } from "@/core/contract.ts";
import { cacheMark, markNative, marksNative } from "./cache_marks.ts";
import { thinkingFields } from "./efforts.ts";
import { messagesOutputCap } from "./output_caps.ts";
import { speedFields } from "./speed.ts";
import { inOrder } from "./thought_places.ts";
import type { BodyOptions } from "./wire.ts";
import { wireIds } from "./wire_ids.ts";

type Json = Record<string, unknown>;

export function buildMessagesBody(request: ModelRequest, model: ResolvedModel, options: BodyOptions): Json {
  const mark = marksNative(model) ? cacheMark(options.cacheTtl) : null;
  const messages = wireMessages(request);
  const cap = messagesOutputCap(request.maxTokens, model, options.maxOutput);
  return {
    model: model.model,
    max_tokens: cap,
    ...thinkingFields(model, request.reasoningEffort, cap, messages),
    ...speedFields(request, model),
    ...(request.system === ""
      ? {}
      : { system: [{ type: "text", text: request.system, ...(mark ? { cache_control: mark } : {}) }] }),
    messages: mark ? markNative(messages, mark) : messages,
    ...toolFields(request),
    ...options.extraBody,
    ...(options.stream ? { stream: true } : {}),
  };
}

/** A history with calls is refused without tools: where none is offered, those of the history stand in, forbidden. */
function toolFields({ tools, messages }: ModelRequest): Json {
  if (tools.length > 0) {
    return {
      tools: tools.map(({ name, description, parameters }) => ({
        name,
        description,
        input_schema: parameters,
      })),
    };
  }
  const used = new Set(
    messages.flatMap((message) =>
      message.role === "assistant" ? (message.toolCalls ?? []).map((call) => call.name) : []
    ),
  );
  if (used.size === 0) return {};
  return {
    tools: [...used].map((name) => ({ name, input_schema: { type: "object" } })),
    tool_choice: { type: "none" },
  };
}

/** Alternating messages of blocks; the results of one batch and the user's words after them are one message. */
export function wireMessages(request: ModelRequest): Json[] {
  const out: { role: string; content: Json[] }[] = [];
  const add = (role: string, blocks: readonly Json[]) => {
    if (blocks.length === 0) return;
    const last = out.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else out.push({ role, content: [...blocks] });
  };
  let ids = new Map<string, string>();
  for (const message of request.messages) {
    if (message.role === "assistant") {
      ids = safeIds(message);
      add("assistant", assistantBlocks(message, ids));
    } else if (message.role === "tool") add("user", [resultBlock(message, ids)]);
    else add("user", userBlocks(message.content));
  }
  // The wire wants the user to begin.
  if (out[0]?.role === "assistant") out.unshift({ role: "user", content: [textBlock("(continue)")] });
  return out;
}

function userBlocks(content: Content): Json[] {
  const blocks = contentBlocks(content);
  return blocks.length > 0 ? blocks : [textBlock("(empty)")];
}

/** The wire allows fewer characters in an id than others do. */
function safeIds(message: AssistantMessage): Map<string, string> {
  const seen = new Set<string>();
  return new Map([...wireIds(message)].map(([ours, given]) => {
    const base = given.replace(/[^a-zA-Z0-9_-]/g, "_").slice(0, 60) || "call";
    let id = base;
    for (let n = 2; seen.has(id); n++) id = `${base}_${n}`;
    seen.add(id);
    return [ours, id];
  }));
}

function assistantBlocks(message: AssistantMessage, ids: ReadonlyMap<string, string>): Json[] {
  const thoughts = ((message.reasoningDetails ?? []) as readonly (Json | null)[]).flatMap((stored) => {
    const wire = blockOf(stored);
    return stored && wire ? [{ stored, wire }] : [];
  });
  const calls = (message.toolCalls ?? []).map((call) => ({
    type: "tool_use",
    id: ids.get(call.id),
    name: call.name,
    input: inputOf(call.arguments),
  }));
  return inOrder(thoughts, message.content?.trim() ? textBlock(message.content) : null, calls);
}

/** Only what this wire has given, unchanged; an unsigned thought would be refused. */
function blockOf(item: Json | null): Json | null {
  if (item?.["type"] === "redacted_thinking") return { type: item["type"], data: item["data"] };
  if (item?.["type"] !== "thinking" || !item["signature"]) return null;
  return { type: "thinking", thinking: item["thinking"], signature: item["signature"] };
}

function inputOf(text: string): Json {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Json : {};
  } catch {
    return {};
  }
}

function resultBlock(message: ToolMessage, ids: ReadonlyMap<string, string>): Json {
  const { content } = message;
  return {
    type: "tool_result",
    tool_use_id: ids.get(message.toolCallId) ?? message.toolCallId.replace(/[^a-zA-Z0-9_-]/g, "_"),
    content: typeof content === "string" ? content : contentBlocks(content),
    ...(message.meta?.isError ? { is_error: true } : {}),
  };
}

/** Empty texts are refused by the wire, so they are left out. */
function contentBlocks(content: Content): Json[] {
  if (typeof content === "string") return content.trim() === "" ? [] : [textBlock(content)];
  return content.flatMap((part) => {
    if (part.type === "text") return part.text.trim() === "" ? [] : [textBlock(part.text)];
    return [{ type: "image", source: imageSource(part.image_url.url) }];
  });
}

function textBlock(text: string): Json {
  return { type: "text", text };
}

function imageSource(url: string): Json {
  const data = /^data:([^;,]+);base64,/.exec(url);
  if (!data) return { type: "url", url };
  return { type: "base64", media_type: data[1], data: url.slice(data[0].length) };
}
