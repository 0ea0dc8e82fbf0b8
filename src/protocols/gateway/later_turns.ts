/**
 * Turns that nobody typed, between the turns of the user and behind the prompts that wait: the results of background
 * subagents, one turn each (core.md I.4), and the news of background processes (core.md B.4). A result is settled when
 * its message is in the conversation; until then it stays in the store and survives the process.
 */
import {
  type CoreEvent,
  DELEGATION_KIND,
  type DelegationControl,
  isFreeSession,
  type LaterResult,
  refusedElsewhere,
  type Session,
  type TurnHandle,
  type TurnResult,
  type UserInput,
} from "@/core/contract.ts";

export interface LaterHost {
  readonly session: Session;
  /** A turn runs, is about to, or a prompt waits. */
  readonly busy: boolean;
  /** Only while not busy. */
  startTurn(input: UserInput): TurnHandle;
  onFault(where: string, error: unknown): void;
}

export class LaterTurns {
  readonly #host: LaterHost;
  readonly #delegation: DelegationControl;
  #taking = false;
  /** Something may have come in meanwhile. */
  #again = false;
  /** The turn that brings a result in, until it has begun. */
  #starting: { readonly id: string; readonly turnId: string; begun: boolean } | null = null;

  constructor(host: LaterHost, delegation: DelegationControl) {
    this.#host = host;
    this.#delegation = delegation;
  }

  /** Starts the next waiting result's turn, when there is one and nothing else is to be done. */
  offer(): void {
    this.#again = this.#taking;
    if (this.#taking || !this.#isFree()) return;
    this.#taking = true;
    this.#next().catch((error) => this.#host.onFault("delegation", error)).finally(() => {
      this.#taking = false;
      if (this.#again) this.offer();
    });
  }

  #isFree(): boolean {
    const { session, busy } = this.#host;
    const isIdle = !busy && session.stored && !session.closed && !session.running;
    return isIdle && this.#starting === null && isFreeSession(session);
  }

  async #next(): Promise<void> {
    const { headId } = this.#host.session;
    if (!this.#delegation.hasLater(headId)) return this.#bringNews();
    const result = await this.#delegation.takeLater(headId);
    if (result === null) return;
    if (this.#isFree()) this.#start(result);
    else await this.#delegation.settleLater(result.id, "unused");
  }

  /** No turn is running that would have brought them. */
  #bringNews(): void {
    const { session } = this.#host;
    if (!(session.notices > 0) || !this.#isFree()) return;
    const news = session.takeNotices();
    const content = news.map(({ text }) => text).join("\n\n");
    this.#host.startTurn({ content, displayKind: news[0]!.kind });
  }

  #start({ id, text }: LaterResult): void {
    const turn = this.#host.startTurn({ content: text, displayKind: DELEGATION_KIND });
    this.#starting = { id, turnId: turn.id, begun: false };
    turn.done.then((result) => this.#settle(turn.id, this.#outcomeOf(result)))
      .catch((error) => this.#host.onFault("delegation", error));
  }

  onEvent(event: CoreEvent): void {
    if (event.type === "turn.start" && this.#starting?.turnId === event.turnId) {
      this.#starting.begun = true;
      // Without a row it may yet be refused.
      if (event.userRowId === null) return;
      this.#settle(event.turnId, "stored").catch((error) => this.#host.onFault("delegation", error));
    }
    if (event.type !== "session.change") return;
    if (event.what === "delegation" || event.what === "notices") this.offer();
  }

  #outcomeOf(result: TurnResult): "stored" | "failed" | "unused" {
    if (refusedElsewhere(result)?.code === "session_busy") return "unused";
    return this.#starting?.begun ? "stored" : "failed";
  }

  /** Once per turn: what has begun is in the conversation, however it ends. */
  async #settle(turnId: string, outcome: "stored" | "failed" | "unused"): Promise<void> {
    const starting = this.#starting;
    if (starting?.turnId !== turnId) return;
    this.#starting = null;
    await this.#delegation.settleLater(starting.id, outcome);
  }
}
