/**
 * The one place where prompts wait for the running turn (tui-gateway.md B.11). Lossless: plain texts that follow each
 * other become one prompt, anything else keeps a turn of its own.
 */
import type { Content, UserInput } from "@/core/contract.ts";

export class PromptSlot {
  #waiting: UserInput[] = [];

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  /** For people; `null` when nothing waits. */
  get text(): string | null {
    return this.isEmpty ? null : this.#waiting.map(shownText).join("\n\n");
  }

  add(input: UserInput): void {
    const last = this.#waiting.at(-1);
    if (last && canMerge(last) && canMerge(input)) {
      this.#waiting[this.#waiting.length - 1] = { content: `${last.content}\n\n${input.content}` };
    } else {
      this.#waiting.push(input);
    }
  }

  /** Before everything that waits. */
  putFirst(input: UserInput): void {
    this.#waiting.unshift(input);
  }

  take(): UserInput | undefined {
    return this.#waiting.shift();
  }

  clear(): void {
    this.#waiting = [];
  }
}

function canMerge(input: UserInput): input is UserInput & { content: string } {
  return typeof input.content === "string" && input.displayKind === undefined;
}

function shownText(input: UserInput): string {
  return input.displayText ?? textOfContent(input.content);
}

function textOfContent(content: Content): string {
  if (typeof content === "string") return content;
  return content.map((part) => part.type === "text" ? part.text : "[image]").join("\n");
}
