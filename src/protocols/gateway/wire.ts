/**
 * What one session sends (tui-gateway.md A.3, E.3): event frames with their numbers, kept for hosts that reconnect, to
 * whoever listens now. Texts of a stream go out by concatenation. Knows no turn and no question.
 */
import type { Dialect, Dialects } from "./audience.ts";
import { Audience } from "./audience.ts";
import { eventHead, toJson } from "./frame.ts";
import type { RingBudget } from "./ring.ts";
import { EventRing } from "./ring.ts";

export class SessionWire {
  readonly ring: EventRing;
  /** Empty while the session is parked. */
  readonly audience: Audience;
  readonly #sid: string;
  readonly #budget: RingBudget;
  readonly #deltaHeads: Readonly<Record<"message.delta" | "reasoning.delta", string>>;

  constructor(sid: string, { dialects, budget }: { dialects: Dialects; budget: RingBudget }) {
    this.#sid = sid;
    this.#budget = budget;
    this.ring = new EventRing(budget);
    this.audience = new Audience(dialects);
    this.#deltaHeads = {
      "message.delta": eventHead("message.delta", sid),
      "reasoning.delta": eventHead("reasoning.delta", sid),
    };
  }

  emit(type: string, payload?: Record<string, unknown>): void {
    this.audience.send(this.#numbered(this.#open(type, payload)));
  }

  emitText(type: "message.delta" | "reasoning.delta", text: string): void {
    this.audience.send(this.#numbered(`${this.#deltaHeads[type]},"payload":{"text":${toJson(text)}}`));
  }

  /** Left out altogether where only connections of the other dialect listen. */
  emitTo(dialect: Dialect, type: string, payload: Record<string, unknown>): void {
    const listeners = this.audience.speaking(dialect);
    const isParked = this.audience.clients.length === 0;
    if (listeners.length === 0 && !(dialect === "events" && isParked)) return;
    const frame = this.#numbered(this.#open(type, payload));
    for (const client of listeners) client.send(frame);
  }

  /** Nothing is kept any more. */
  close(): void {
    this.#budget.remove(this.ring);
  }

  #open(type: string, payload: Record<string, unknown> | undefined): string {
    const head = eventHead(type, this.#sid);
    return payload === undefined ? head : `${head},"payload":${toJson(payload)}`;
  }

  /** The whole frame; it is in the ring then. */
  #numbered(open: string): string {
    const frame = `${open},"seq":${this.ring.latest + 1}}}\n`;
    this.ring.push(frame);
    return frame;
  }
}
