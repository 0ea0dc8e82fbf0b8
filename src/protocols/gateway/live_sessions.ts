/**
 * The live sessions of this process by their short ids (tui-gateway.md A.8). One core session has at most one live
 * entry; who asks for an id that is not here gets 4001. Built and closed by `server.ts`.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Ask, Session } from "@/core/contract.ts";
import { HermesError } from "@/core/contract.ts";
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
  /** Sessions that are just being opened, by stored id. */
  readonly #opening = new Map<string, Promise<LiveSession>>();
  /** Windows on subagents that have just ended, until their conversation is open again. */
  readonly #takingUp = new Map<LiveSession, PromiseWithResolvers<void>>();
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
    const isHere = live && (!live.session.closed || live.watches);
    if (!isHere) throw new RpcError(4001, "session not found");
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
      onClosed: (closed) => this.#onClosed(closed),
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

  /** Racing calls for one stored session get the same one; it is new to the first (`cold`). */
  async openOnce(
    stored: string,
    open: () => Promise<LiveSession>,
  ): Promise<{ live: LiveSession; cold: boolean }> {
    const opening = this.#opening.get(stored);
    if (opening) return { live: await opening, cold: false };
    const promise = open();
    this.#opening.set(stored, promise);
    try {
      return { live: await promise, cold: true };
    } finally {
      this.#opening.delete(stored);
    }
  }

  /** A promise while a window on a subagent that has ended is not yet a session of its own (B.4 `lazy`). */
  takingUp(sid: unknown): Promise<void> | null {
    const live = this.maybe(sid);
    return live?.watches && live.session.closed ? this.#waitFor(live).promise : null;
  }

  #waitFor(live: LiveSession): PromiseWithResolvers<void> {
    const known = this.#takingUp.get(live) ?? Promise.withResolvers<void>();
    this.#takingUp.set(live, known);
    return known;
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

  #onClosed(live: LiveSession): void {
    if (!live.watches || this.#bySid.get(live.sid) !== live) return this.#drop(live);
    this.#takeUp(live).catch((error) => this.#onFault("watch window", error));
  }

  /** Who watched a subagent may go on with its conversation, under the same id. */
  async #takeUp(live: LiveSession): Promise<void> {
    const { resolve } = this.#waitFor(live);
    try {
      live.adopt(await this.#hermes.sessions.open(live.session.headId, { surface: "tui", editPolicy: null }));
    } catch (error) {
      this.#drop(live);
      if (!(error instanceof HermesError)) throw error;
    } finally {
      this.#takingUp.delete(live);
      resolve();
    }
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
