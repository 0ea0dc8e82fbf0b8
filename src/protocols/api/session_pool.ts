/**
 * The live sessions of this door: opened or created by id, counted while turns are in them, and closed when more
 * are idle than `max_live_sessions`. Routes decide which id they want; what a session holds is the core's.
 */
import { isAbsolute, resolve } from "node:path";
import type { Hermes } from "@/app/mod.ts";
import { HermesError, type Message, type ModelChoice, type Session } from "@/core/contract.ts";

const SOURCE = "api_server";

export interface NewSession {
  readonly sessionKey: string | null;
  readonly history?: readonly Message[];
  readonly fingerprint?: string;
  readonly title?: string;
  readonly model?: ModelChoice;
  /** Write the row at once. */
  readonly storeNow?: boolean;
}

export class SessionPool {
  readonly #hermes: Hermes;
  /** Least recently used first. */
  readonly #opened = new Map<string, Session>();
  /** How many of our turns are in a session; one that is in use is not closed. */
  readonly #uses = new Map<string, number>();
  /** Sessions on their way out: they can be opened again when they are closed. */
  readonly #closing = new Map<string, Promise<void>>();

  constructor(hermes: Hermes) {
    this.#hermes = hermes;
  }

  isUsed(id: string): boolean {
    return this.#uses.has(id);
  }

  /** `null` when there is no such session. */
  async open(id: string): Promise<Session | null> {
    await this.#closing.get(id);
    try {
      return await this.#hermes.sessions.open(id, { surface: SOURCE, editPolicy: null });
    } catch (error) {
      if (error instanceof HermesError && error.code === "session_not_found") return null;
      throw error;
    }
  }

  /** `null` when the id is taken. */
  async create(id: string, options: NewSession): Promise<Session | null> {
    const { sessionKey, history, fingerprint, title, model, storeNow } = options;
    try {
      return await this.#hermes.sessions.create({
        id,
        source: SOURCE,
        surface: SOURCE,
        cwd: this.#cwd(),
        editPolicy: null,
        ...(sessionKey === null ? {} : { sessionKey }),
        ...(history === undefined || history.length === 0 ? {} : { history }),
        ...(fingerprint === undefined ? {} : { fingerprint }),
        ...(title === undefined ? {} : { title }),
        ...(model === undefined ? {} : { model }),
        ...(storeNow === undefined ? {} : { storeNow }),
      });
    } catch (error) {
      if (error instanceof HermesError && error.code === "session_exists") return null;
      throw error;
    }
  }

  /** Marks a session as used by one turn; the result ends that and may be called again without effect. */
  use(session: Session): () => void {
    const { id } = session;
    this.#opened.delete(id);
    this.#opened.set(id, session);
    this.#uses.set(id, (this.#uses.get(id) ?? 0) + 1);
    let used = true;
    return () => {
      if (!used) return;
      used = false;
      const left = this.#uses.get(id)! - 1;
      if (left > 0) this.#uses.set(id, left);
      else this.#uses.delete(id);
      this.#trim();
    };
  }

  /** What a session holds, from memory when it is live and never rotated; `null` when there is no such session. */
  transcript(id: string): readonly Message[] | null {
    const live = this.#hermes.sessions.get(id);
    if (live && (!live.stored || live.headId === live.id)) return live.history();
    const store = this.#hermes.store();
    const tip = store.tipOf(id);
    return tip && store.loadLineage(tip.id);
  }

  /** Closes the idle ones that were not used for longest. */
  #trim(): void {
    const limit = this.#hermes.settings().max_live_sessions;
    for (const [id, session] of this.#opened) {
      if (this.#opened.size <= limit) return;
      if (this.#uses.has(id) || session.running) continue;
      this.#opened.delete(id);
      const closing = session.close("lru_evict")
        .catch((error) => this.#hermes.log.warn(`api: cannot close session ${id}: ${String(error)}`))
        .finally(() => this.#closing.delete(id));
      this.#closing.set(id, closing);
    }
  }

  /** Where tools work: the configured directory, taken from the process's own. */
  #cwd(): string {
    const configured = this.#hermes.settings().terminal.cwd;
    return isAbsolute(configured) ? configured : resolve(this.#hermes.platform.cwd(), configured);
  }
}
