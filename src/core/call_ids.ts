/**
 * Ids of tool calls: unique in their session, so that a host can tell every call from all others, whatever the
 * model does (FC-27). A missing id is derived from name, arguments and index: random ids would break the
 * provider's prompt cache (core.md A.1 rule 7).
 */
import type { RawToolCall } from "./ports.ts";
import type { Message, ToolCall } from "./messages.ts";

/** 64 bits of FNV-1a as hex; stable across runs. */
function hash(text: string): string {
  let low = 0x811c9dc5;
  let high = 0xcbf29ce4;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ (code + i), 0x01000193);
  }
  return (low >>> 0).toString(16).padStart(8, "0") + (high >>> 0).toString(16).padStart(8, "0");
}

/** Knows every id a session has used. */
export class CallIds {
  readonly #used = new Set<string>();

  /** Remembers the ids of a stored history. */
  learn(history: readonly Message[]): void {
    for (const message of history) {
      if (message.role === "assistant") message.toolCalls?.forEach((call) => this.#used.add(call.id));
    }
  }

  /** Gives a call its id; `providerId` is kept when it differs. */
  assign(raw: RawToolCall, index: number): ToolCall {
    const wanted = raw.id || `call_${hash(`${raw.name}\n${raw.arguments}\n${index}`)}`;
    let id = wanted;
    for (let n = 2; this.#used.has(id); n++) id = `${wanted}_${n}`;
    this.#used.add(id);
    const call = { id, name: raw.name, arguments: raw.arguments };
    return raw.id && raw.id !== id ? { ...call, providerId: raw.id } : call;
  }
}
