/**
 * All live sessions of a process: created, restored from the store, forked, closed. Racing calls for one id get the
 * same session. The map belongs to this object; nothing is module state.
 */
import { within } from "@/lib/abort.ts";
import { Delegations, type NewChild } from "./delegation.ts";
import { HermesError } from "./errors.ts";
import { tierOf } from "./fast_mode.ts";
import { HomeCare } from "./home_care.ts";
import { type Message, NO_USAGE } from "./messages.ts";
import { modeOf } from "./modes.ts";
import type { FileAccess, NewSessionRow, SessionConfig, SessionRow } from "./ports.ts";
import { repairForResume } from "./resume.ts";
import type { CoreServices } from "./services.ts";
import { LiveSession } from "./session.ts";
import type { SessionSeed } from "./session_seed.ts";
import type { CreateOptions, OpenOptions, Session, Sessions } from "./session_api.ts";
import { newSessionId } from "./session_ids.ts";

type ForkOptions = OpenOptions & { id?: string; title?: string; count?: number; allowEmpty?: boolean };

export class LiveSessions implements Sessions {
  readonly delegation: Delegations;
  readonly #services: CoreServices;
  readonly #disk: FileAccess;
  readonly #care: HomeCare;
  readonly #live = new Map<string, LiveSession>();
  readonly #opening = new Map<string, Promise<LiveSession>>();
  /** Being stored for the first time: who opens one waits for its end. Never rejects. */
  readonly #creating = new Map<string, Promise<void>>();
  #closing = false;

  constructor(services: CoreServices, disk: FileAccess) {
    this.#services = services;
    this.#disk = disk;
    this.#care = new HomeCare(services, (id) => this.#find(id) !== undefined);
    this.delegation = new Delegations(services, (child) => this.#createChild(child));
  }

  get(id: string): Session | undefined {
    return this.#live.get(id);
  }

  live(): readonly Session[] {
    return [...this.#live.values()];
  }

  async create(options: CreateOptions): Promise<Session> {
    const asking = this.#services.models.settling?.(options.model);
    if (asking) await asking;
    this.#refuseWhenClosing();
    const id = options.id ?? newSessionId(this.#services.platform);
    if (this.#live.has(id) || this.#creating.has(id)) {
      throw new HermesError("session_exists", `Session "${id}" exists already`, { sessionId: id });
    }
    const session = new LiveSession(
      {
        id,
        headId: id,
        source: options.source,
        surface: options.surface,
        stored: false,
        createdAt: this.#services.platform.clock.now() / 1000,
        cwd: options.cwd,
        additionalDirectories: options.additionalDirectories ?? [],
        config: configOf(options),
        title: null,
        parentId: options.parentId ?? null,
        sessionKey: options.sessionKey ?? null,
        systemPrompt: null,
        editPolicy: options.editPolicy ?? null,
        messages: options.history ?? [],
        usage: NO_USAGE,
        calls: 0,
        files: options.files ?? this.#disk,
      },
      this.#services,
      this.delegation,
    );
    const { promise: stored, resolve: settle } = Promise.withResolvers<void>();
    this.#creating.set(id, stored);
    try {
      if (options.title) await session.setTitle(options.title);
      else if (options.storeNow === "unless_locked") await session.storeUnlessLocked();
      else if (options.storeNow) await session.store();
      this.#live.set(id, session);
    } finally {
      this.#creating.delete(id);
      settle();
    }
    if (options.mcpServers) session.setMcpServers(options.mcpServers);
    this.#warm(session);
    return session;
  }

  /** The session of a subagent: a row of its own from the start, with its parent's place, files and mode. */
  async #createChild({ link, model, reasoningEffort }: NewChild): Promise<LiveSession> {
    this.#refuseWhenClosing();
    const { parent } = link;
    const id = newSessionId(this.#services.platform);
    const session = new LiveSession(
      {
        id,
        headId: id,
        source: "subagent",
        surface: parent.surface,
        stored: false,
        createdAt: this.#services.platform.clock.now() / 1000,
        cwd: parent.cwd,
        additionalDirectories: parent.roots.slice(1),
        config: {
          ...model,
          ...(reasoningEffort === null ? {} : { reasoningEffort }),
          delegateFrom: parent.headId,
        },
        title: null,
        parentId: parent.headId,
        sessionKey: parent.sessionKey,
        systemPrompt: null,
        editPolicy: parent.editPolicy,
        messages: [],
        usage: NO_USAGE,
        calls: 0,
        files: parent.files,
        child: link,
      },
      this.#services,
      this.delegation,
    );
    await session.store();
    this.#live.set(id, session);
    this.#warm(session);
    return session;
  }

  async open(id: string, options: OpenOptions): Promise<Session> {
    this.#refuseWhenClosing();
    await this.#creating.get(id);
    const live = this.#find(id);
    if (live?.closed) await live.close("closed");
    else if (live && isVisible(live.source, options)) {
      if (options.mcpServers) live.setMcpServers(options.mcpServers);
      return live;
    }
    const opening = this.#opening.get(id);
    if (opening) return await opening;
    const promise = Promise.resolve().then(() => this.#restore(id, options));
    this.#opening.set(id, promise);
    try {
      return await promise;
    } finally {
      this.#opening.delete(id);
    }
  }

  /** By handle, or by the stored row a live session is in. */
  #find(id: string): LiveSession | undefined {
    const live = this.#live.get(id);
    if (live) return live;
    for (const session of this.#live.values()) if (session.headId === id) return session;
    return undefined;
  }

  async #restore(id: string, options: OpenOptions): Promise<LiveSession> {
    const store = this.#services.store();
    const root = store.getSession(id) ?? store.tipOf(id);
    if (!root || !isVisible(root.source, options)) throw notFound(id);
    const headId = (options.followTip === false ? root : store.resumedFrom(id) ?? root).id;
    const known = this.#find(headId);
    if (known) return known;
    const messages = repairForResume(await store.fetchMessages(headId));
    // Reading takes a while: what was true before it is looked at again.
    this.#refuseWhenClosing();
    const live = this.#find(headId);
    if (live) return live;
    const row = store.getSession(headId);
    if (!row) throw notFound(id);
    const session = new LiveSession(
      this.#seedOf(id, row, options, messages),
      this.#services,
      this.delegation,
    );
    if (row.endReason !== null) await store.reopenSession(row.id);
    if (options.cwd !== undefined && options.cwd !== row.cwd) {
      await session.setCwd(options.cwd, options.additionalDirectories ?? []);
    }
    this.#services.restored(session.scope, session.history());
    this.#live.set(id, session);
    if (options.mcpServers) session.setMcpServers(options.mcpServers);
    this.#warm(session);
    return session;
  }

  #seedOf(
    handle: string,
    row: SessionRow,
    options: OpenOptions,
    messages: readonly Message[],
  ): SessionSeed {
    return {
      id: handle,
      headId: row.id,
      source: row.source,
      surface: options.surface,
      stored: true,
      createdAt: row.startedAt,
      cwd: options.cwd ?? row.cwd ?? this.#services.platform.cwd(),
      additionalDirectories: options.additionalDirectories ?? [],
      config: row.config,
      title: row.title,
      parentId: row.parentId,
      sessionKey: row.sessionKey,
      systemPrompt: row.systemPrompt,
      editPolicy: options.editPolicy ?? null,
      messages,
      usage: row.usage,
      calls: row.apiCallCount,
      files: options.files ?? this.#disk,
    };
  }

  async fork(sourceId: string, options: ForkOptions): Promise<Session> {
    this.#refuseWhenClosing();
    const store = this.#services.store();
    const live = this.#find(sourceId);
    if (live && !live.stored && live.history().length === 0) {
      if (!options.allowEmpty) throw new HermesError("empty_history", "There is nothing to branch from yet");
      await live.store();
    }
    const root = live ? store.getSession(live.headId) : store.getSession(sourceId) ?? store.tipOf(sourceId);
    if (!root || !isVisible(root.source, options)) throw notFound(sourceId);
    const source = live ? root : store.tipOf(sourceId) ?? root;
    if (!options.allowEmpty && source.messageCount === 0) {
      throw new HermesError("empty_history", "There is nothing to branch from yet", { sessionId: sourceId });
    }
    const id = options.id ?? newSessionId(this.#services.platform);
    const row: NewSessionRow = {
      id,
      source: source.source,
      parentId: source.id,
      cwd: options.cwd ?? source.cwd,
      ...((options.cwd ?? source.cwd) === source.cwd ? { git: source.git } : {}),
      config: { ...source.config, ...(live?.config ?? {}), branchedFrom: source.id },
      ...(options.title === undefined ? {} : { title: options.title }),
    };
    await store.branch(source.id, row, options.count === undefined ? {} : { count: options.count });
    return await this.open(id, { ...options, followTip: false });
  }

  async delete(id: string): Promise<boolean> {
    const live = this.#find(id);
    if (live) await this.#close(live, "deleted");
    return await this.#services.store().deleteSession(live?.headId ?? id);
  }

  async closeAll(reason: string, options: { deadlineMs?: number } = {}): Promise<void> {
    this.#closing = true;
    const all = [...this.#live.values()].map((session) => this.#close(session, reason));
    await within(Promise.all([...all, this.#care.settled()]), options.deadlineMs ?? 2_000);
  }

  /** Closes and forgets one session; used by `Session.close` too, through the subscription below. */
  async #close(session: LiveSession, reason: string): Promise<void> {
    await session.close(reason);
    this.#forget(session);
  }

  #forget(session: LiveSession): void {
    if (this.#live.get(session.id) === session) this.#live.delete(session.id);
  }

  /** Loads the model's library while the host prepares its first prompt, and forgets the session when it closes. */
  #warm(session: LiveSession): void {
    this.#services.onSession?.(session);
    session.hub.subscribe((event) => {
      if (event.type === "turn.end" && !this.#closing) this.#care.turnEnded();
      if (event.type === "session.change" && event.what === "closed") this.#forget(session);
    });
    const model = session.model;
    if (model) this.#services.models.warm(model);
  }

  #refuseWhenClosing(): void {
    if (this.#closing) throw new HermesError("shutting_down", "The program is shutting down");
  }
}

function configOf(options: CreateOptions): SessionConfig {
  const { model, reasoningEffort, fast, mode, additionalDirectories, fingerprint } = options;
  return {
    ...(model ?? {}),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...(fast === undefined ? {} : { serviceTier: tierOf(fast) }),
    ...(mode === undefined ? {} : { mode: modeOf(mode) }),
    ...(additionalDirectories?.length ? { additionalDirectories } : {}),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  };
}

function isVisible(source: string, options: OpenOptions): boolean {
  return options.sources === undefined || options.sources.includes(source);
}

function notFound(id: string): HermesError {
  return new HermesError("session_not_found", `Session "${id}" does not exist`, { sessionId: id });
}
