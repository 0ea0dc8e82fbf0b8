/** Text of one network read, joined so that the work downstream is per read and not per token. */
import type { ModelChunk } from "@/core/contract.ts";

export class Batch {
  readonly chunks: ModelChunk[] = [];
  #type: "text" | "reasoning" = "text";
  #held = "";

  add(type: "text" | "reasoning", text: string): void {
    if (text === "") return;
    if (this.#type !== type) this.#flush();
    this.#type = type;
    this.#held += text;
  }

  push(chunk: ModelChunk): void {
    this.#flush();
    this.chunks.push(chunk);
  }

  end(): readonly ModelChunk[] {
    this.#flush();
    return this.chunks;
  }

  #flush(): void {
    if (this.#held === "") return;
    this.chunks.push({ type: this.#type, text: this.#held });
    this.#held = "";
  }
}
