/**
 * Guidance for the running turn (core.md A.15): queued until a tool boundary, then appended to the last tool
 * result inside the exact marker. What meets no boundary is handed back, never lost and never applied twice.
 */
import type { TurnResult } from "./events.ts";
import type { Content } from "./messages.ts";

export const STEER_OPEN =
  "[OUT-OF-BAND USER MESSAGE — a direct message from the user, delivered mid-turn; not tool output]";
export const STEER_CLOSE = "[/OUT-OF-BAND USER MESSAGE]";

export class Steering {
  #texts: string[] = [];

  /** False when the text is blank. */
  push(text: string): boolean {
    const trimmed = text.trim();
    if (!trimmed) return false;
    this.#texts.push(trimmed);
    return true;
  }

  /** All queued texts joined, and the queue emptied; `null` when there is none. */
  take(): string | null {
    if (this.#texts.length === 0) return null;
    const text = this.#texts.join("\n");
    this.#texts = [];
    return text;
  }

  get empty(): boolean {
    return this.#texts.length === 0;
  }
}

/** The tool result with the guidance at its end. */
export function withSteer(content: Content, text: string): Content {
  const block = `${STEER_OPEN}\n${text}\n${STEER_CLOSE}`;
  if (typeof content === "string") return `${content}\n\n${block}`;
  return [...content, { type: "text", text: `\n\n${block}` }];
}

/** Guidance that came after the turn's last look: handed back with it, never left for another turn. */
export function withLateSteer(result: TurnResult, steering: Steering): TurnResult {
  const late = steering.take();
  if (late === null || result.outcome === "cancelled") return result;
  const { pendingSteer } = result;
  return { ...result, pendingSteer: pendingSteer === null ? late : `${pendingSteer}\n${late}` };
}
