/** Rough size of a request, for choosing time limits. */
import type { Message, ModelRequest } from "@/core/contract.ts";

/** Tokens, at four characters each; images at a flat rate. */
export function estimateTokens(request: ModelRequest): number {
  let characters = request.system.length;
  for (const message of request.messages) characters += sizeOf(message);
  return Math.ceil(characters / 4);
}

function sizeOf(message: Message): number {
  const { content } = message;
  const text = content === null
    ? 0
    : typeof content === "string"
    ? content.length
    : content.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 6_000), 0);
  if (message.role !== "assistant") return text;
  return (message.toolCalls ?? []).reduce((sum, call) => sum + call.arguments.length, text);
}
