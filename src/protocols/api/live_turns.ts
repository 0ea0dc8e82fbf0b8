/**
 * The agent work that this server has going, by its public id (of a completion, response or run), for approvals and
 * for shutdown. Ids that have ended are remembered for a while, so that a late answer hears "not active" and not
 * "unknown". Questions are found by turn: two turns of one session never see each other's. What another key has
 * started is not found at all.
 */
import type { Ask, AskPayload, Session, TurnHandle, TurnResult } from "@/core/contract.ts";
import { type Caller, FULL, sees } from "./callers.ts";

export interface LiveTurn {
  readonly session: Session;
  readonly handle: TurnHandle;
  /** False where nobody can be asked: there is no approval scope then. */
  readonly asks: boolean;
  /** True where questions other than approvals are asked as well. */
  readonly clarifies?: boolean;
}

interface Owned extends LiveTurn {
  readonly owner: string | null;
}

/** Shared by the views of all keys. */
interface State {
  readonly live: Map<string, Owned>;
  /** Oldest first, with their owners. */
  readonly ended: Map<string, string | null>;
  /** Told once per turn. */
  onEnd: (result: TurnResult) => void;
}

const REMEMBERED = 1000;

export class LiveTurns {
  readonly #caller: Caller;
  readonly #state: State;

  constructor(
    caller: Caller = FULL,
    state: State = { live: new Map(), ended: new Map(), onEnd: () => {/* nobody counts */} },
  ) {
    this.#caller = caller;
    this.#state = state;
  }

  /** The same turns, as far as they are the caller's. */
  as(caller: Caller): LiveTurns {
    return new LiveTurns(caller, this.#state);
  }

  /** For whoever counts. */
  whenEnded(tell: (result: TurnResult) => void): void {
    this.#state.onEnd = tell;
  }

  add(id: string, turn: LiveTurn): void {
    this.#state.live.set(id, { ...turn, owner: this.#caller.keyId });
    void turn.handle.done.then((result) => {
      this.#end(id);
      this.#state.onEnd(result);
    });
  }

  /** Of all keys. */
  get size(): number {
    return this.#state.live.size;
  }

  get(id: string): LiveTurn | undefined {
    const turn = this.#state.live.get(id);
    return turn && sees(this.#caller, turn.owner) ? turn : undefined;
  }

  hasEnded(id: string): boolean {
    return this.#state.ended.has(id) && sees(this.#caller, this.#state.ended.get(id));
  }

  /** Questions of exactly this turn and of these kinds, oldest first. */
  pending(turn: LiveTurn, kinds: readonly AskPayload["kind"][]): Ask[] {
    return turn.session.asks().filter((ask) =>
      ask.turnId === turn.handle.id && kinds.includes(ask.payload.kind)
    );
  }

  /** Those of all keys. */
  cancelAll(): void {
    for (const turn of this.#state.live.values()) turn.handle.cancel();
  }

  #end(id: string): void {
    const { live, ended } = this.#state;
    ended.set(id, live.get(id)?.owner ?? null);
    live.delete(id);
    if (ended.size <= REMEMBERED) return;
    const [oldest] = ended.keys();
    ended.delete(oldest!);
  }
}
