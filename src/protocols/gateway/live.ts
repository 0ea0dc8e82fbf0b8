/**
 * One live session of this process: a core session under its short id, and what the gateway knows of it beside: who
 * hears it (`wire.ts`), what is asked (`questions.ts`), when its turns run (`turns.ts`), its title, personality and
 * attachments. Handlers get this.
 */
import type { Hermes } from "@/app/mod.ts";
import type {
  Ask,
  AskOutcome,
  CoreEvent,
  Session,
  TurnHandle,
  TurnResult,
  UserInput,
} from "@/core/contract.ts";
import { HermesError } from "@/core/contract.ts";
import { requestIdOf, serverRequestIdOf } from "./asks.ts";
import type { Audience, Dialects } from "./audience.ts";
import { renderCompressions, renderCost, renderInfo, renderUsage } from "./info.ts";
import { LaterTurns } from "./later_turns.ts";
import type { Client } from "./peer.ts";
import { Questions } from "./questions.ts";
import { TurnRenderer } from "./render.ts";
import type { EventRing, RingBudget } from "./ring.ts";
import { PreloadedSkills } from "./preloaded_skills.ts";
import type { SkillIndex } from "./skill_index.ts";
import type { BusyMode, TurnHost } from "./turns.ts";
import { Turns } from "./turns.ts";
import { SessionWire } from "./wire.ts";

/** `starting`: not all is there that a turn waits for. `streaming`: this is a window on a subagent that runs. */
export type LiveStatus = "idle" | "starting" | "waiting" | "working" | "streaming";

export interface LiveOptions {
  readonly sid: string;
  readonly session: Session;
  readonly hermes: Hermes;
  readonly client: Client;
  readonly dialects: Dialects;
  readonly budget: RingBudget;
  readonly skills: SkillIndex;
  readonly closeOnDisconnect: boolean;
  /** Nothing is asked in this process. */
  readonly yolo: boolean;
  /** Applied after the first completed turn (B.1). */
  readonly title?: string;
  /** Called once when the core closed the session by itself. */
  onClosed(live: LiveSession): void;
  onFault(where: string, error: unknown): void;
}

export class LiveSession implements TurnHost {
  readonly sid: string;
  readonly createdAt: number;
  readonly questions: Questions;
  readonly #options: LiveOptions;
  readonly #hermes: Hermes;
  readonly #wire: SessionWire;
  readonly #turns: Turns;
  readonly preloaded: PreloadedSkills;
  /** Fires when this session is left. */
  readonly #left = new AbortController();
  readonly #renderer: TurnRenderer;
  #session: Session;
  #unsubscribe: () => void;
  #watches: boolean;
  /** Calls of a watched subagent, by their own ids. */
  readonly #mirrored = new Map<string, string>();
  #compressions = { headId: "", count: 0 };
  #pendingTitle: string | null;
  #titling = 0;
  #progress: string | null = null;
  #personality: string | null = null;
  #closingHere = false;
  /** Seconds since 1970. */
  lastActive: number;
  /** The same moment by the clock that nobody can set, in milliseconds. */
  usedAt: number;
  /** Paths of images that the next prompt takes along. */
  images: string[] = [];
  /** Detached agents that end with this session. */
  readonly tasks = new Set<Session>();
  readonly later: LaterTurns;
  /** Closed at once when its connection goes, instead of parked. */
  closeOnDisconnect: boolean;
  cols = 80;

  constructor(options: LiveOptions) {
    this.#options = options;
    this.#hermes = options.hermes;
    this.sid = options.sid;
    this.#session = options.session;
    this.preloaded = new PreloadedSkills(this.#hermes);
    this.#watches = this.#hermes.sessions.delegation.isChild(options.session.id);
    this.closeOnDisconnect = options.closeOnDisconnect;
    this.createdAt = this.#hermes.platform.clock.now() / 1000;
    this.lastActive = this.createdAt;
    this.usedAt = this.#hermes.platform.clock.monotonic();
    this.#wire = new SessionWire(this.sid, options);
    this.audience.add(options.client);
    this.questions = new Questions(this.#hermes, {
      sid: this.sid,
      audience: this.audience,
      asks: () => this.session.asks(),
      emitTo: (dialect, type, payload) => this.#wire.emitTo(dialect, type, payload),
      closing: () => this.#closingHere ? "session_closed" : this.session.closed ? "shutdown" : null,
    });
    this.later = new LaterTurns(this, this.#hermes.sessions.delegation);
    this.#pendingTitle = options.title ?? null;
    this.#turns = new Turns(this.#hermes, this);
    this.#renderer = new TurnRenderer(this.#hermes, this);
    this.#unsubscribe = this.session.subscribe((event) => this.#onEvent(event));
  }

  get session(): Session {
    return this.#session;
  }

  /** True for a window on the session of a subagent, which belongs to whoever has ordered it. */
  get watches(): boolean {
    return this.#watches;
  }

  /** The subagent has ended: its conversation is one like any other from now on. */
  adopt(session: Session): void {
    this.#unsubscribe();
    this.#watches = false;
    this.#session = session;
    this.#unsubscribe = session.subscribe((event) => this.#onEvent(event));
    this.emitInfo();
  }

  // ── Binding ───────────────────────────────────────────────────────────────────────────────────────────────

  get audience(): Audience {
    return this.#wire.audience;
  }

  get ring(): EventRing {
    return this.#wire.ring;
  }

  get attached(): boolean {
    return this.audience.clients.length > 0;
  }

  /**
   * Later events go to this client, too; in the default dialect it takes the place of the one before. True when it
   * is new here.
   */
  bind(client: Client): boolean {
    this.touch();
    return this.audience.add(client);
  }

  touch(): void {
    const { clock } = this.#hermes.platform;
    this.lastActive = clock.now() / 1000;
    this.usedAt = clock.monotonic();
  }

  findAsk(requestId: string): Ask | undefined {
    return this.session.asks().find((ask) => requestIdOf(ask) === requestId);
  }

  findServerRequest(id: string): Ask | undefined {
    return this.session.asks().find((ask) => serverRequestIdOf(ask) === id);
  }

  askOpened(ask: Ask): void {
    this.questions.opened(ask);
  }

  askClosed(ask: Ask, outcome: AskOutcome): void {
    this.questions.closed(ask, outcome);
  }

  // ── State ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** True while a turn runs or is about to start. */
  get busy(): boolean {
    return this.#turns.isBusy;
  }

  /** True while a turn runs here, be it a subagent's that is only watched. */
  get running(): boolean {
    return this.busy || this.#isWatching;
  }

  get #isWatching(): boolean {
    return this.#watches && (this.session.running || this.session.closed);
  }

  get status(): LiveStatus {
    if (this.session.asks().length > 0) return "waiting";
    if (this.#isWatching) return "streaming";
    if (this.busy) return "working";
    return this.#isStarting ? "starting" : "idle";
  }

  /** True while the rooms, or the skills of the program's start, are still being loaded. */
  get #isStarting(): boolean {
    return !this.session.modelError && !(this.#hermes.isReady && this.preloaded.isLoaded);
  }

  /** True while background subagents work for this session. */
  get awaitsResults(): boolean {
    return this.#hermes.sessions.delegation.detachedIn(this.session.id) > 0;
  }

  /** Text of the prompts that wait; `null` when none does. */
  get queuedText(): string | null {
    return this.#turns.queuedText;
  }

  info(): Record<string, unknown> {
    const { yolo, skills } = this.#options;
    const running = this.#turns.isRunning || this.#isWatching;
    const info = renderInfo(this.#hermes, this.session, {
      running,
      yolo,
      personality: this.personality,
      skills: skills.names,
    });
    const lazy = this.#isStarting ? { tools: {}, skills: {}, lazy: true } : {};
    return { ...info, ...lazy, usage: this.usage() };
  }

  /** Session-wide tool-progress mode; `null` follows the configuration. */
  setToolProgress(mode: string | null): void {
    this.#progress = mode;
  }

  /** Name of the personality in use; empty when there is none. */
  get personality(): string {
    return this.#personality ?? this.#hermes.settings().display.personality;
  }

  /** For this session; `null` follows the configuration. */
  setPersonality(name: string | null): void {
    this.#personality = name;
    this.emitInfo();
  }

  // ── Turns ─────────────────────────────────────────────────────────────────────────────────────────────────

  /** Runs it now; the caller has seen that the session is not busy. */
  start(input: UserInput): void {
    this.touch();
    this.#turns.start(input);
  }

  /** As it is: nothing in it is read as a reference. */
  startTurn(input: UserInput): TurnHandle {
    this.touch();
    return this.#turns.startWhole(input);
  }

  /** What a submit during a turn does, by policy. */
  submitBusy(input: UserInput, mode: BusyMode): "queued" | "steered" {
    this.touch();
    return this.#turns.submitBusy(input, mode);
  }

  /** Ends the running turn and forgets what waits; harmless when idle. */
  interrupt(): void {
    this.#turns.interrupt();
  }

  onIdle(): void {
    this.later.offer();
  }

  onFault(where: string, error: unknown): void {
    this.#options.onFault(where, error);
  }

  get clientName(): string | undefined {
    return this.audience.clients.at(-1)?.name;
  }

  #onEvent(event: CoreEvent): Promise<void> | void {
    this.#renderer.render(event);
    this.later.onEvent(event);
    if (event.type === "turn.end") this.#onTurnEnd(event.result);
    if (event.type === "session.change" && event.what === "closed") this.#options.onClosed(this);
    return this.audience.room() ?? undefined;
  }

  #onTurnEnd(result: TurnResult): void {
    this.#turns.onEnd(result);
    this.touch();
    this.emitInfo();
    if (result.outcome === "completed") void this.#applyTitle();
  }

  async #applyTitle(): Promise<void> {
    const title = this.#pendingTitle;
    this.#pendingTitle = null;
    if (title === null || this.session.title !== null) return;
    try {
      await this.setTitle(title);
    } catch (error) {
      if (!(error instanceof HermesError)) return this.#options.onFault("title", error);
      this.emit("status.update", { kind: "warn", text: `Title not set: ${error.message}` });
    }
  }

  async setTitle(title: string): Promise<string | null> {
    this.#titling++;
    try {
      return await this.session.setTitle(title);
    } finally {
      this.#titling--;
    }
  }

  /** Closes the core session; its last events still reach the client. A watched one runs on. */
  async close(reason: string): Promise<void> {
    this.#turns.forget();
    this.#closingHere = true;
    if (!this.#watches) await this.session.close(reason);
    this.forget();
  }

  /** Stops listening; the core session is gone or goes by itself. */
  forget(): void {
    this.#unsubscribe();
    this.#left.abort();
    this.#wire.close();
    for (const task of this.tasks) task.close("parent_closed").catch((e) => this.#options.onFault("task", e));
    this.tasks.clear();
  }

  // ── Frames ────────────────────────────────────────────────────────────────────────────────────────────────

  emit(type: string, payload?: Record<string, unknown>): void {
    this.#wire.emit(type, payload);
  }

  emitText(type: "message.delta" | "reasoning.delta", text: string): void {
    this.#wire.emitText(type, text);
  }

  emitInfo(): void {
    // Tools may still be loading behind the first answer.
    if (this.#hermes.isReady) this.emit("session.info", this.info());
    else this.#hermes.ready().then(() => this.emitInfo(), (error) => this.#sayNotReady(error));
  }

  /** All that a turn waits for is there afterwards, and what the info tells about besides. */
  async build(): Promise<void> {
    await this.#options.skills.load();
    await this.loadSkills();
  }

  /** The first of a session waits for its build. */
  async emitFirstInfo(): Promise<void> {
    await this.build();
    if (!this.session.closed) this.emitInfo();
  }

  async loadSkills(): Promise<void> {
    const missing = await this.preloaded.load(this.session, this.#left.signal);
    if (missing.length === 0 || this.session.closed) return;
    this.emit("error", { message: `HERMES_TUI_SKILLS: there is no skill ${missing.join(", ")}` });
  }

  #sayNotReady(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.emit("error", { message: this.#hermes.redact(`agent init failed: ${reason}`) });
  }

  // ── What the renderer asks ────────────────────────────────────────────────────────────────────────────────

  usage(): Record<string, string | number> {
    const { delegation } = this.#hermes.sessions;
    const children = delegation.active().filter((child) => child.sessionId === this.session.id).length;
    const compressions = this.#countCompressions();
    return {
      ...renderUsage(this.session),
      ...renderCost(this.#hermes, this.session),
      ...(compressions === 0 ? {} : { compressions }),
      ...(children === 0 ? {} : { active_subagents: children }),
    };
  }

  /** Each has left a row behind; looked up again when the conversation has moved to another row. */
  #countCompressions(): number {
    const { headId, stored } = this.session;
    if (stored && this.#compressions.headId !== headId) {
      this.#compressions = { headId, count: renderCompressions(this.#hermes, this.session) };
    }
    return this.#compressions.count;
  }

  toolProgress(): string {
    const { config } = this.#hermes;
    return this.#progress ?? config.env("HERMES_TUI_TOOL_PROGRESS") ??
      config.settings().display.tool_progress;
  }

  titling(): boolean {
    return this.#titling > 0;
  }

  storedId(): string {
    return this.session.headId;
  }

  title(): string | null {
    return this.session.title;
  }

  /** In a window on a subagent no id can be taken for one of the conversation that it works for (C.5). */
  toolId(callId: string): string {
    if (!this.#watches) return callId;
    const known = this.#mirrored.get(callId);
    if (known !== undefined) return known;
    const id = `submirror:${this.session.headId}:${this.#mirrored.size + 1}`;
    this.#mirrored.set(callId, id);
    return id;
  }
}
