/**
 * Which session a turn of `/v1/responses` or `/v1/runs` goes to, and with which context (api-server.md D1, D2). A
 * context that the request brings is used as it is; it is only then left to the session's own transcript when that
 * holds exactly the same, because a transcript can be compressed and a copy cannot.
 *
 *   id:  the client's ─► the chain's ─► the one a session key names ─► a new one
 */
import type { Hermes } from "@/app/mod.ts";
import type { Message, Session } from "@/core/contract.ts";
import { type Caller, FULL, privately } from "./callers.ts";
import { ApiError } from "./errors.ts";
import type { SessionPool } from "./session_pool.ts";
import { sha256 } from "./sha256.ts";

export interface PlaceWish {
  /** The client's own id. */
  readonly sessionId: string | null;
  readonly chain: { readonly sessionId: string; readonly at: TranscriptEnd | null } | null;
  readonly sessionKey: string | null;
  /** The context of the turn; `null` = the session's own transcript. */
  readonly history: readonly Message[] | null;
  /** The id of a new session. */
  readonly freshId: string;
}

/** Where a transcript stood. */
export interface TranscriptEnd {
  readonly headId: string;
  readonly lastRowId: number;
}

export interface TurnPlace {
  readonly session: Session;
  /** Made for this turn. */
  readonly isNew: boolean;
  /**
   * For `SubmitOptions.history`; to be asked for in the same step as the submit, since a turn that is ahead changes
   * the transcript.
   */
  context(): readonly Message[] | undefined;
  /** Call when the turn has ended. Idempotent. */
  release(): void;
}

export class TurnPlaces {
  readonly #hermes: Hermes;
  readonly #pool: SessionPool;
  readonly #caller: Caller;

  constructor(hermes: Hermes, pool: SessionPool, caller: Caller = FULL) {
    this.#hermes = hermes;
    this.#pool = pool;
    this.#caller = caller;
  }

  /** The id a turn would get, without opening anything; a session key is bound to it from now on. */
  async idOf(wish: PlaceWish): Promise<string> {
    if (wish.sessionId !== null) return wish.sessionId;
    // What a scoped key has begun is continued elsewhere: it would read the rest.
    if (wish.chain && !this.#pool.isForeign(wish.chain.sessionId)) return wish.chain.sessionId;
    if (wish.sessionKey === null) return wish.freshId;
    const name = `api.session_key.${await sha256(privately(this.#caller, wish.sessionKey))}`;
    const store = this.#hermes.store();
    const bound = store.getMeta(name);
    if (bound !== null) return bound;
    await store.setMeta(name, wish.freshId);
    return wish.freshId;
  }

  async take(id: string, wish: PlaceWish): Promise<TurnPlace> {
    const { sessionKey, history } = wish;
    this.#pool.refuseForeign(id);
    const found = await this.#pool.open(id);
    const made = found
      ? null
      : await this.#pool.create(id, { sessionKey, ...(history === null ? {} : { history }) });
    if (!found && !made) this.#pool.refuseForeign(id); // another server was faster
    const session = found ?? made ?? await this.#pool.open(id);
    if (!session) throw new ApiError(404, "session_not_found", `Session not found: ${id}`);
    const end = wish.chain?.at ?? null;
    return {
      session,
      isNew: made !== null,
      context: () => {
        if (history === null) return undefined;
        const isOwn = made !== null ? session.history().length === history.length : isAt(session, end);
        return isOwn && !session.running ? undefined : history;
      },
      release: this.#pool.use(session),
    };
  }
}

/** Where the transcript of a session stands now; `null` when its last row is not stored. */
export function endOf(session: Session): TranscriptEnd | null {
  const lastRowId = session.history().at(-1)?.rowId;
  return lastRowId === undefined ? null : { headId: session.headId, lastRowId };
}

function isAt(session: Session, end: TranscriptEnd | null): boolean {
  const now = endOf(session);
  return now !== null && end !== null && now.headId === end.headId && now.lastRowId === end.lastRowId;
}
