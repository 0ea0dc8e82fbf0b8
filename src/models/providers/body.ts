/** Tells a stream of events from a whole answer by its first bytes, and gathers the whole one (bounded). */

import { isTooDeep } from "@/lib/json_depth.ts";

const MAX_BODY = 64 << 20;

export class WholeBody {
  readonly #decoder = new TextDecoder();
  #text = "";

  /** Throws `RangeError` when it never ends. */
  push(bytes: Uint8Array): void {
    this.#text += this.#decoder.decode(bytes, { stream: true });
    if (this.#text.length > MAX_BODY) throw new RangeError("The answer is too long");
  }

  get isEmpty(): boolean {
    return this.#text.trim() === "";
  }

  /** `null` when it is not a JSON object, or one that is nested too deep to be handled. */
  json(): Readonly<Record<string, unknown>> | null {
    try {
      const text = this.#text + this.#decoder.decode();
      const value: unknown = JSON.parse(text);
      if (isTooDeep(text)) return null;
      return typeof value === "object" && value !== null ? value as Record<string, unknown> : null;
    } catch {
      return null;
    }
  }
}

/**
 * A gatherer when the answer is not a stream of events. Content types lie in both directions, so what the first
 * bytes look like decides, and the type only when they do not tell.
 */
export function readWholeBody(
  contentType: string | null,
  first: Uint8Array,
  streams: boolean,
): WholeBody | null {
  const start = new TextDecoder().decode(first.subarray(0, 64)).trimStart();
  if (/^(data|event|id|retry|:)/.test(start)) return null;
  if (/^[{[<]/.test(start) || !streams) return new WholeBody();
  return contentType?.includes("event-stream") ? null : new WholeBody();
}
