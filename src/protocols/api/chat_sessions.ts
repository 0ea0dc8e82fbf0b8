/**
 * Which session a chat turn belongs to (api-server.md D1, D2; FC-09). A client's own id is used as it is and brings
 * the server's transcript. Without one the id is derived from how the conversation opened, the client's history is
 * the context, and a session whose transcript that history does not continue is left alone: the turn gets a session
 * with a random id of the same form, which later turns find by their history. A history that fits several only by
 * the beginning of a stopped answer continues none of them.
 *
 *   header id ──► open, else create ──► server transcript
 *   no header ──► hash ──► base id, then the others of that hash ──► one that the history continues, else a new one
 */
import type { Hermes } from "@/app/mod.ts";
import { type Content, isFreeSession, type Message, type Session } from "@/core/contract.ts";
import { ApiError } from "./errors.ts";
import type { SessionHeaders } from "./session_headers.ts";
import type { SessionPool } from "./session_pool.ts";
import { sha256 } from "./sha256.ts";
import { isSideTask } from "./side_tasks.ts";
import { fitOf, isUntouched } from "./transcript.ts";

/** Sessions of one opening that are looked through; older ones are no longer continued. */
const MAX_SIBLINGS = 64;

export interface ChatPlace {
  readonly session: Session;
  /** Made for this turn. */
  readonly isNew: boolean;
  /** The id for the answer's header: the client's own, else the session's public one. */
  readonly echoId: string;
  /** The context of the turn; `undefined` = the session's own transcript. */
  readonly history: readonly Message[] | undefined;
  /** Lets other turns continue the session; call when this turn has ended. Idempotent. */
  release(): void;
}

export interface Conversation {
  readonly system: string;
  readonly opening: Content;
  readonly history: readonly Message[];
}

export class ChatSessions {
  readonly #hermes: Hermes;
  readonly #pool: SessionPool;
  readonly #key: string;
  #principal: Promise<string> | null = null;
  /** One search at a time per opening, so that two strangers cannot both find the same untouched session. */
  readonly #searches = new Map<string, Promise<unknown>>();

  constructor(hermes: Hermes, pool: SessionPool, key: string) {
    this.#hermes = hermes;
    this.#pool = pool;
    this.#key = key;
  }

  async find(conversation: Conversation, headers: SessionHeaders): Promise<ChatPlace> {
    const { sessionId, sessionKey } = headers;
    if (sessionId !== null) {
      const session = await this.#named(sessionId, sessionKey);
      return {
        session,
        isNew: false,
        echoId: sessionId,
        history: undefined,
        release: this.#pool.use(session),
      };
    }
    const fingerprint = await this.#fingerprint(conversation, sessionKey);
    return await this.#alone(fingerprint, async () => {
      const { history } = conversation;
      const continued = await this.#continued(fingerprint, history);
      const session = continued ?? await this.#fresh(fingerprint, conversation, sessionKey);
      const isNew = continued === null;
      return { session, isNew, echoId: session.id, history, release: this.#pool.use(session) };
    });
  }

  async #named(id: string, sessionKey: string | null): Promise<Session> {
    this.#pool.refuseForeign(id);
    let session = await this.#pool.open(id) ?? await this.#pool.create(id, { sessionKey });
    if (!session) {
      // It exists after all: another request, or another server, has created it meanwhile.
      this.#pool.refuseForeign(id);
      session = await this.#pool.open(id);
    }
    if (!session) throw new ApiError(404, "session_not_found", `Session not found: ${id}`);
    return session;
  }

  /** The session of this opening that the history continues; `null` when there is none, or several may be meant. */
  async #continued(fingerprint: string, history: readonly Message[]): Promise<Session | null> {
    if (isUntouched(history)) return null;
    const parts: string[] = [];
    for (const id of [baseId(fingerprint), ...this.#siblings(fingerprint)]) {
      const stored = this.#pool.isUsed(id) ? null : this.#pool.transcript(id);
      const fit = stored ? fitOf(stored, history) : "none";
      const session = fit === "whole" ? await this.#idle(id) : null;
      if (session) return session;
      if (fit === "part") parts.push(id);
    }
    return parts.length === 1 ? await this.#idle(parts[0]!) : null;
  }

  async #idle(id: string): Promise<Session | null> {
    const session = await this.#pool.open(id);
    return session?.running === false && isFreeSession(session) ? session : null;
  }

  async #fresh(
    fingerprint: string,
    conversation: Conversation,
    sessionKey: string | null,
  ): Promise<Session> {
    const base = baseId(fingerprint);
    const { history, opening } = conversation;
    const unlisted = isSideTask(opening, history);
    const options = { sessionKey, history, fingerprint, unlisted };
    const isTaken = this.#pool.isUsed(base) || this.#pool.transcript(base) !== null;
    const first = isTaken ? null : await this.#pool.create(base, options);
    if (first) return first;
    const id = `api-${this.#hermes.platform.ids.hex(16)}`;
    const session = await this.#pool.create(id, options);
    if (!session) throw new ApiError(409, "session_exists", `Session "${id}" exists already`);
    const siblings = [id, ...this.#siblings(fingerprint)].slice(0, MAX_SIBLINGS);
    await this.#hermes.store().setMeta(metaKey(fingerprint), JSON.stringify(siblings));
    return session;
  }

  /** Newest first. */
  #siblings(fingerprint: string): string[] {
    const text = this.#hermes.store().getMeta(metaKey(fingerprint));
    if (text === null) return [];
    try {
      const ids: unknown = JSON.parse(text);
      return Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [];
    } catch {
      this.#hermes.log.warn("api: a damaged list of chat sessions was dropped");
      return [];
    }
  }

  async #fingerprint(conversation: Conversation, sessionKey: string | null): Promise<string> {
    const { system, opening } = conversation;
    const first = typeof opening === "string" ? opening : JSON.stringify(opening);
    // Names who asks; no key can be read back from it.
    this.#principal ??= sha256(`default\0${this.#key}`).then((digest) => digest.slice(0, 32));
    const principal = await this.#principal;
    return await sha256(`${system}\n${first}\0${principal}${sessionKey === null ? "" : `\0${sessionKey}`}`);
  }

  async #alone<T>(fingerprint: string, search: () => Promise<T>): Promise<T> {
    const before = this.#searches.get(fingerprint) ?? Promise.resolve();
    const mine = before.then(search, search);
    this.#searches.set(fingerprint, mine);
    try {
      return await mine;
    } finally {
      if (this.#searches.get(fingerprint) === mine) this.#searches.delete(fingerprint);
    }
  }
}

function baseId(fingerprint: string): string {
  return `api-${fingerprint.slice(0, 16)}`;
}

function metaKey(fingerprint: string): string {
  return `api.chat.${fingerprint}`;
}
