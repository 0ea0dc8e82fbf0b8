/**
 * The live sessions of this door: opened or created by id, counted while turns are in them, and closed when more
 * are idle than `max_live_sessions`. Routes decide which id they want; what a session holds is the core's. To a scoped
 * key only the sessions are there that it has made; what it makes is written down as its own first.
 */
import { isAbsolute, resolve } from "node:path";
import type { Hermes } from "@/app/mod.ts";
import { HermesError, type Message, type ModelChoice, type Session } from "@/core/contract.ts";
import { type Caller, FULL, privately, sees } from "./callers.ts";
import { ApiError } from "./errors.ts";
import { Lines } from "./lines.ts";

const SOURCE = "api_server";
/** Sessions of this source are in no list, unless one asks for it. */
const UNLISTED = "tool";

export interface NewSession {
  readonly sessionKey: string | null;
  readonly history?: readonly Message[];
  readonly fingerprint?: string;
  readonly title?: string;
  readonly model?: ModelChoice;
  /**
   * Write the row at once. Absent: at once unless the database is locked, so that another server on this home finds
   * the id taken.
   */
  readonly storeNow?: boolean;
  /** Never stored: needs no owner. */
  readonly passing?: boolean;
  /** Kept out of lists and searches. */
  readonly unlisted?: boolean;
}

/** Shared by the views of all keys. */
interface State {
  /** Least recently used first. */
  readonly opened: Map<string, Session>;
  /** How many of our turns are in a session; one that is in use is not closed. */
  readonly uses: Map<string, number>;
  /** Sessions on their way out: they can be opened again when they are closed. */
  readonly closing: Map<string, Promise<void>>;
  /** Who makes something under a new id. */
  readonly claims: Lines;
}

export class SessionPool {
  readonly #hermes: Hermes;
  readonly #caller: Caller;
  readonly #state: State;

  constructor(
    hermes: Hermes,
    caller: Caller = FULL,
    state: State = { opened: new Map(), uses: new Map(), closing: new Map(), claims: new Lines() },
  ) {
    this.#hermes = hermes;
    this.#caller = caller;
    this.#state = state;
  }

  /** The same sessions, as far as they are the caller's. */
  as(caller: Caller): SessionPool {
    return new SessionPool(this.#hermes, caller, this.#state);
  }

  /** Whether the caller may know of it. */
  isOwn(id: string): boolean {
    return this.#caller.keyId === null || sees(this.#caller, this.#hermes.store().owners.ofSession(id));
  }

  /**
   * For an id that a client has named: what a scoped key has taken is not written into by the way, since that key
   * would read it. Throws 409 to the full key; to a scoped one the session is not there anyway.
   */
  refuseForeign(id: string): void {
    if (!this.isForeign(id)) return;
    throw new ApiError(
      409,
      "session_exists",
      `Session "${id}" belongs to a scoped key; fork it, or use another id`,
    );
  }

  /** A scoped key has taken it, and the caller is not that key. */
  isForeign(id: string): boolean {
    return this.#caller.keyId === null && this.#hermes.store().owners.ofSession(id) !== null;
  }

  /** Makes something under a new id, which is the caller's before; `null` when it is taken. A failure leaves it free. */
  async claimFor<T>(id: string, make: () => Promise<T>): Promise<T | null> {
    const { keyId } = this.#caller;
    if (keyId === null) return this.isForeign(id) ? null : await make();
    // One at a time: who fails must not take the claim of one who does not.
    const leave = await this.#state.claims.enter(id);
    try {
      const store = this.#hermes.store();
      if (this.#hermes.sessions.get(id) || store.getSession(id)) return null;
      if (!(await store.owners.claimSession(id, keyId))) return null;
      try {
        return await make();
      } catch (error) {
        await store.owners.releaseSession(id, keyId)
          .catch((again) => this.#hermes.log.warn(`api: the id ${id} stays taken: ${String(again)}`));
        throw error;
      }
    } finally {
      leave();
    }
  }

  isUsed(id: string): boolean {
    return this.#state.uses.has(id);
  }

  /** `null` when there is no such session. */
  async open(id: string): Promise<Session | null> {
    await this.#state.closing.get(id);
    if (!this.isOwn(id)) return null;
    try {
      return await this.#hermes.sessions.open(id, { surface: SOURCE, editPolicy: null });
    } catch (error) {
      if (error instanceof HermesError && error.code === "session_not_found") return null;
      throw error;
    }
  }

  /** `null` when the id is taken. */
  async create(id: string, options: NewSession): Promise<Session | null> {
    const { sessionKey, history, fingerprint, title, model } = options;
    const storeNow = options.storeNow ?? (options.passing === true ? false : "unless_locked");
    const make = () =>
      this.#hermes.sessions.create({
        id,
        source: options.unlisted === true ? UNLISTED : SOURCE,
        surface: SOURCE,
        cwd: this.#cwd(),
        editPolicy: null,
        ...(sessionKey === null ? {} : { sessionKey: privately(this.#caller, sessionKey) }),
        ...(history === undefined || history.length === 0 ? {} : { history: history.map(unstored) }),
        ...(fingerprint === undefined ? {} : { fingerprint }),
        ...(title === undefined ? {} : { title }),
        ...(model === undefined ? {} : { model }),
        storeNow,
      });
    try {
      return options.passing === true ? await make() : await this.claimFor(id, make);
    } catch (error) {
      if (error instanceof HermesError && error.code === "session_exists") return null;
      throw error;
    }
  }

  /** Marks a session as used by one turn; the result ends that and may be called again without effect. */
  use(session: Session): () => void {
    const { id } = session;
    this.#state.opened.delete(id);
    this.#state.opened.set(id, session);
    this.#state.uses.set(id, (this.#state.uses.get(id) ?? 0) + 1);
    let used = true;
    return () => {
      if (!used) return;
      used = false;
      const left = this.#state.uses.get(id)! - 1;
      if (left > 0) this.#state.uses.set(id, left);
      else this.#state.uses.delete(id);
      // The next request with its id begins anew.
      if (left === 0 && session.deleted) this.#close(id, session, "deleted");
      this.#trim();
    };
  }

  /** What a session holds, from memory when it is live and never rotated; `null` when there is no such session. */
  transcript(id: string): readonly Message[] | null {
    if (!this.isOwn(id)) return null;
    const live = this.#hermes.sessions.get(id);
    if (live && (!live.stored || live.headId === live.id)) return live.history();
    const store = this.#hermes.store();
    const tip = store.tipOf(id);
    return tip && store.loadLineage(tip.id);
  }

  /** Closes the idle ones that were not used for longest. */
  #trim(): void {
    const limit = this.#hermes.settings().max_live_sessions;
    for (const [id, session] of this.#state.opened) {
      if (this.#state.opened.size <= limit) return;
      if (this.#state.uses.has(id) || session.running) continue;
      this.#close(id, session, "lru_evict");
    }
  }

  #close(id: string, session: Session, reason: string): void {
    this.#state.opened.delete(id);
    const closing = session.close(reason)
      .catch((error) => this.#hermes.log.warn(`api: cannot close session ${id}: ${String(error)}`))
      .finally(() => this.#state.closing.delete(id));
    this.#state.closing.set(id, closing);
  }

  /** Where tools work: the key's workspace, else the configured directory, taken from the process's own. */
  #cwd(): string {
    if (this.#caller.workspace !== null) return this.#caller.workspace;
    const configured = this.#hermes.settings().terminal.cwd;
    return isAbsolute(configured) ? configured : resolve(this.#hermes.platform.cwd(), configured);
  }
}

/** As a session begins with it: the rows of another one are not its own. */
function unstored({ rowId: _, ...message }: Message): Message {
  return message;
}
