/**
 * The agent work that this server has going, by its public id (of a completion, response or run), for approvals and
 * for shutdown. Ids that have ended are remembered for a while, so that a late answer hears "not active" and not
 * "unknown". Questions are found by turn: two turns of one session never see each other's.
 */
import type { Ask, Session, TurnHandle } from "@/core/contract.ts";

export interface LiveTurn {
  readonly session: Session;
  readonly handle: TurnHandle;
  /** False where nobody can be asked: there is no approval scope then. */
  readonly asks: boolean;
}

const REMEMBERED = 1000;

export class LiveTurns {
  readonly #live = new Map<string, LiveTurn>();
  /** Oldest first. */
  readonly #ended = new Set<string>();

  add(id: string, turn: LiveTurn): void {
    this.#live.set(id, turn);
    void turn.handle.done.then(() => this.#end(id));
  }

  get size(): number {
    return this.#live.size;
  }

  get(id: string): LiveTurn | undefined {
    return this.#live.get(id);
  }

  hasEnded(id: string): boolean {
    return this.#ended.has(id);
  }

  /** Questions of exactly this turn, oldest first. */
  pending(turn: LiveTurn): Ask[] {
    return turn.session.asks().filter((ask) => ask.turnId === turn.handle.id);
  }

  cancelAll(): void {
    for (const turn of this.#live.values()) turn.handle.cancel();
  }

  #end(id: string): void {
    this.#live.delete(id);
    this.#ended.add(id);
    if (this.#ended.size <= REMEMBERED) return;
    const [oldest] = this.#ended;
    this.#ended.delete(oldest!);
  }
}
