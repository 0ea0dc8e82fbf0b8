/** Token estimates: four characters a token, rounded up; an image is a flat 1,500 (core.md F.7). */
import type { Message } from "./messages.ts";
import type { ToolSpec } from "./ports.ts";

const IMAGE_TOKENS = 1_500;

function measure(message: Message): { chars: number; images: number } {
  let chars = 20;
  let images = 0;
  const content = message.content;
  if (typeof content === "string") chars += content.length;
  else if (content) {
    for (const part of content) {
      if (part.type === "text") chars += part.text.length;
      else images++;
    }
  }
  if (message.role === "assistant") {
    for (const call of message.toolCalls ?? []) chars += call.name.length + call.arguments.length + 60;
  }
  return { chars, images };
}

/** Remembers the size of each message and tool, so that a long history is measured once. */
export class TokenEstimator {
  readonly #sizes = new WeakMap<Message, { chars: number; images: number }>();
  readonly #tools = new WeakMap<ToolSpec, number>();

  messages(messages: readonly Message[]): number {
    let chars = 0;
    let images = 0;
    for (const message of messages) {
      let size = this.#sizes.get(message);
      if (!size) {
        size = measure(message);
        this.#sizes.set(message, size);
      }
      chars += size.chars;
      images += size.images;
    }
    return Math.ceil(chars / 4) + images * IMAGE_TOKENS;
  }

  tools(tools: readonly ToolSpec[]): number {
    let chars = 0;
    for (const tool of tools) {
      let size = this.#tools.get(tool);
      if (size === undefined) {
        size = JSON.stringify(tool).length;
        this.#tools.set(tool, size);
      }
      chars += size;
    }
    return Math.ceil(chars / 4);
  }
}
