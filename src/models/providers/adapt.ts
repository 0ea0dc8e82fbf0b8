/**
 * Changes a request to what its server is known to take. Works on copies; every lesson is one small change that is
 * the same in all wires.
 */
import type { Content, JsonSchema, Message, ModelRequest, ToolSpec } from "@/core/contract.ts";
import { isOversized } from "./image_size.ts";
import type { Contents, Lesson } from "./refusals.ts";

const TOOL_IMAGE_NOTE = "[An image was left out: this provider takes only text as the result of a tool]";
const LARGE_IMAGE_NOTE = "[An earlier image was left out: it is too large for this provider]";

export function contentsOf(request: ModelRequest, summaries: boolean): Contents {
  const { messages } = request;
  return {
    asksForLongContext: false,
    hasImages: messages.some(hasImage),
    hasToolImages: messages.some((message) => message.role === "tool" && typeof message.content !== "string"),
    hasThoughts: messages.some((message) => message.role === "assistant" && message.reasoningDetails?.length),
    hasPatterns: request.tools.some((tool) => /"(pattern|format)":/.test(JSON.stringify(tool.parameters))),
    asksForSummaries: summaries && request.reasoningEffort !== undefined,
    asksForEffort: request.reasoningEffort !== undefined,
    asksForFast: request.fast === true,
  };
}

/** The request as this server takes it. */
export function adaptRequest(
  request: ModelRequest,
  lessons: ReadonlySet<Lesson>,
  cap: number | null,
): ModelRequest {
  let changed = request;
  if (lessons.has("no_thought_replay")) {
    changed = { ...changed, messages: changed.messages.map(withoutThoughts) };
  }
  if (lessons.has("plain_tool_content")) {
    changed = { ...changed, messages: changed.messages.map(plainResult) };
  }
  if (lessons.has("image_too_large")) changed = { ...changed, messages: withoutOldImages(changed.messages) };
  if (lessons.has("plain_schemas")) changed = { ...changed, tools: changed.tools.map(plainSchema) };
  if (lessons.has("no_effort")) {
    const { reasoningEffort: _, ...rest } = changed;
    changed = rest;
  }
  if (lessons.has("no_fast")) changed = { ...changed, fast: false };
  return cap === null ? changed : { ...changed, maxTokens: Math.min(cap, changed.maxTokens ?? cap) };
}

/** True when leaving out the older images changes the request: the user's newest ones are never dropped silently. */
export function hasOldLargeImage(request: ModelRequest): boolean {
  return withoutOldImages(request.messages).some((message, at) => message !== request.messages[at]);
}

function hasImage({ content }: Message): boolean {
  return content !== null && typeof content !== "string" && content.some((part) => part.type === "image_url");
}

function withoutThoughts(message: Message): Message {
  if (message.role !== "assistant" || !message.reasoningDetails) return message;
  const { reasoningDetails: _, ...rest } = message;
  return rest;
}

function plainResult(message: Message): Message {
  if (message.role !== "tool" || typeof message.content === "string") return message;
  const texts = message.content.map((part) => part.type === "text" ? part.text : TOOL_IMAGE_NOTE);
  return { ...message, content: texts.join("\n") };
}

function withoutOldImages(messages: readonly Message[]): readonly Message[] {
  const newest = messages.findLastIndex((message) => message.role === "user");
  return messages.map((message, at) => {
    if (at >= newest || message.role === "assistant" || !hasImage(message)) return message;
    const content = withNotes(message.content);
    return content === message.content ? message : { ...message, content };
  });
}

function withNotes(content: Content): Content {
  if (typeof content === "string") return content;
  if (!content.some((part) => part.type === "image_url" && isOversized(part.image_url.url))) return content;
  return content.map((part) =>
    part.type === "image_url" && isOversized(part.image_url.url)
      ? { type: "text" as const, text: LARGE_IMAGE_NOTE }
      : part
  );
}

function plainSchema(tool: ToolSpec): ToolSpec {
  return { ...tool, parameters: stripped(tool.parameters) as JsonSchema };
}

/** Keywords only: a parameter may itself be called `pattern` or `format`. */
function stripped(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(stripped);
  if (typeof schema !== "object" || schema === null) return schema;
  const out: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if ((key === "pattern" || key === "format") && typeof value === "string") continue;
    if (key === "properties" && typeof value === "object" && value !== null) {
      out[key] = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, stripped(inner)]));
    } else out[key] = key === "enum" || key === "default" ? value : stripped(value);
  }
  return out;
}
