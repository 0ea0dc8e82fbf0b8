/**
 * The live sessions of this process by their short ids (tui-gateway.md A.8). One core session has at most one live
 * entry; who asks for an id that is not here gets 4001. Built and closed by `server.ts`.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Ask, Session } from "@/core/contract.ts";
import type { AskFamily } from "./asks.ts";
import { familyOf } from "./asks.ts";
import { Dialects } from "./audience.ts";
import { RpcError } from "./errors.ts";
import { LiveSession } from "./live.ts";
import type { Client } from "./peer.ts";
import { RingBudget } from "./ring.ts";
import { SkillIndex } from "./skill_index.ts";

export interface AttachOptions {
  readonly client: Client;
  readonly closeOnDisconnect: boolean;
  readonly cols: number;
  readonly title?: string;
}

export class LiveSessions {
  readonly budget = new RingBudget();
  readonly dialects = new Dialects();
  readonly skills: SkillIndex;
  /** Called after a session was added; a transport with several clients makes room here. */
  onAttached: (live: LiveSession) => void = () => {};
  readonly #hermes: Hermes;
  readonly #onFault: (where: string, error: unknown) => void;
  readonly #yolo: boolean;
  readonly #bySid = new Map<string, LiveSession>();
  /** Stored ids of the sessions that are being closed. */
  readonly #closing = new Map<string, Promise<void>>();
  /** Places that are promised to sessions being made, so that two racing requests cannot both take the last one. */
  #reserved = 0;

  constructor(hermes: Hermes, facts: { yolo: boolean; onFault(where: string, error: unknown): void }) {
    this.#hermes = hermes;
    this.skills = new SkillIndex(hermes);
    this.#yolo = facts.yolo;
    this.#onFault = facts.onFault;
  }

  /** In creation order. */
  all(): LiveSession[] {
    return [...this.#bySid.values()];
  }

  /** Throws 4001 for anything that is not the id of a live session. */
  require(sid: unknown): LiveSession {
    const live = typeof sid === "string" ? this.#bySid.get(sid) : undefined;
    if (!live || live.session.closed) throw new RpcError(4001, "session not found");
    return live;
  }

  maybe(sid: unknown): LiveSession | undefined {
    return typeof sid === "string" ? this.#bySid.get(sid) : undefined;
  }

  find(session: Session): LiveSession | undefined {
    return this.all().find((live) => live.session === session);
  }

  /** The live session that holds a stored conversation open. */
  findStored(id: string): LiveSession | undefined {
    return this.all().find((live) => live.session.id === id || live.session.headId === id);
  }

  /** Makes a session while a place for it is kept. Throws 4090 when there is none. */
  async withPlace<T>(make: () => Promise<T>): Promise<T> {
    const limit = this.#hermes.settings().max_concurrent_sessions;
    if (limit !== null && limit > 0 && this.#bySid.size + this.#reserved >= limit) {
      throw new RpcError(
        4090,
        `Cannot open another session: the limit of ${limit} is reached; close one first`,
      );
    }
    this.#reserved++;
    try {
      return await make();
    } finally {
      this.#reserved--;
    }
  }

  /** The entry of a core session; made when there is none. */
  attach(session: Session, options: AttachOptions): LiveSession {
    const known = this.find(session);
    if (known) return known;
    const live = new LiveSession({
      sid: this.#newSid(),
      session,
      hermes: this.#hermes,
      client: options.client,
      dialects: this.dialects,
      budget: this.budget,
      skills: this.skills,
      closeOnDisconnect: options.closeOnDisconnect,
      yolo: this.#yolo,
      ...(options.title === undefined ? {} : { title: options.title }),
      onClosed: (closed) => this.#drop(closed),
      onFault: this.#onFault,
    });
    live.cols = options.cols;
    this.#bySid.set(live.sid, live);
    this.onAttached(live);
    return live;
  }

  /** False for an unknown id. */
  async close(sid: unknown, reason: string): Promise<boolean> {
    const live = this.maybe(sid);
    if (!live) return false;
    this.#bySid.delete(live.sid);
    const stored = live.session.headId;
    const closing = live.close(reason).finally(() => this.#closing.delete(stored));
    this.#closing.set(stored, closing);
    await closing;
    return true;
  }

  /** Waits for a session that is just being closed, so that it is opened anew and not met half gone. */
  async whenClosed(stored: string): Promise<void> {
    await this.#closing.get(stored)?.catch(() => {/* its own caller hears of it */});
  }

  /** The open question with this short id, in whichever session it stands. */
  findAsk(requestId: unknown, family: AskFamily): { live: LiveSession; ask: Ask } | undefined {
    if (typeof requestId !== "string" || requestId === "") return undefined;
    for (const live of this.#bySid.values()) {
      const ask = live.findAsk(requestId);
      if (ask && familyOf(ask.payload) === family) return { live, ask };
    }
    return undefined;
  }

  /** The open question with this id of a request of ours. */
  findServerRequest(id: unknown): { live: LiveSession; ask: Ask } | undefined {
    if (typeof id !== "string") return undefined;
    for (const live of this.#bySid.values()) {
      const ask = live.findServerRequest(id);
      if (ask) return { live, ask };
    }
    return undefined;
  }

  #drop(live: LiveSession): void {
    if (this.#bySid.get(live.sid) === live) this.#bySid.delete(live.sid);
    live.forget();
  }

  #newSid(): string {
    for (;;) {
      const sid = this.#hermes.platform.ids.hex(8);
      if (!this.#bySid.has(sid)) return sid;
    }
  }
}
