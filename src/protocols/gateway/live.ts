/**
 * One live session of this process: a core session under its short id, and who hears it. Owns what the
 * core does not have: the event numbers and their ring, the slot for prompts that wait (tui-gateway.md B.11), and
 * the order of things around a turn. The core runs turns; this decides when the next one is handed to it.
 *
 *   submit ──► idle: start ──turn.end──► session.info(running:false) ──done──► next of the slot, or idle
 *          └─► busy: the slot (texts merge), after an interrupt or a steer as the policy says
 */
import type { Hermes } from "@/app/mod.ts";
import type {
  Ask,
  AskOutcome,
  AskPolicy,
  CoreEvent,
  Session,
  TurnHandle,
  TurnResult,
  UserInput,
} from "@/core/contract.ts";
import { HermesError, textOf } from "@/core/contract.ts";
import { requestIdOf, serverRequestIdOf } from "./asks.ts";
import type { Dialect, Dialects } from "./audience.ts";
import { Audience } from "./audience.ts";
import { eventHead, toJson } from "./frame.ts";
import { renderInfo, renderUsage } from "./info.ts";
import { systemExtraOf } from "./personality.ts";
import { LaterTurns } from "./later_turns.ts";
import type { Client } from "./peer.ts";
import { mayRefer } from "./reference_text.ts";
import { PromptSlot } from "./prompt_slot.ts";
import { Questions } from "./questions.ts";
import type { RenderTarget } from "./render.ts";
import { NEVER_STARTED, renderCompletion, TurnRenderer } from "./render.ts";
import type { RingBudget } from "./ring.ts";
import { EventRing } from "./ring.ts";
import { maxTurns } from "./launch.ts";
import type { SkillIndex } from "./skill_index.ts";

/** A gateway session always has a human to ask, also while its client is away. */
const ASKS: AskPolicy = { approval: true, edit: true, clarify: true, secret: true };

export type BusyMode = "interrupt" | "queue" | "steer";
export type LiveStatus = "idle" | "waiting" | "working";

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

export class LiveSession implements RenderTarget {
  readonly sid: string;
  readonly session: Session;
  readonly createdAt: number;
  readonly ring: EventRing;
  /** Empty while parked: its clients have gone. */
  readonly audience: Audience;
  readonly questions: Questions;
  readonly #options: LiveOptions;
  readonly #hermes: Hermes;
  readonly #renderer: TurnRenderer;
  readonly #unsubscribe: () => void;
  readonly #deltaHeads: Record<string, string>;
  #turn: TurnHandle | null = null;
  /** References of the next prompt are being read. */
  #preparing: AbortController | null = null;
  readonly #slot = new PromptSlot();
  #pendingTitle: string | null;
  #titling = 0;
  #progress: string | null = null;
  #personality: string | null = null;
  #closingHere = false;
  lastActive: number;
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
    this.session = options.session;
    this.closeOnDisconnect = options.closeOnDisconnect;
    this.createdAt = this.#hermes.platform.clock.now() / 1000;
    this.lastActive = this.createdAt;
    this.ring = new EventRing(options.budget);
    this.audience = new Audience(options.dialects);
    this.audience.add(options.client);
    this.questions = new Questions(this.#hermes, {
      sid: this.sid,
      audience: this.audience,
      asks: () => this.session.asks(),
      emitTo: (dialect, type, payload) => this.#emitTo(dialect, type, payload),
      closing: () => this.#closingHere ? "session_closed" : this.session.closed ? "shutdown" : null,
    });
    this.later = new LaterTurns(this, this.#hermes.sessions.delegation);
    this.#pendingTitle = options.title ?? null;
    this.#deltaHeads = {
      "message.delta": eventHead("message.delta", this.sid),
      "reasoning.delta": eventHead("reasoning.delta", this.sid),
    };
    this.#renderer = new TurnRenderer(this.#hermes, this);
    this.#unsubscribe = this.session.subscribe((event) => this.#onEvent(event));
  }

  // ── Binding ───────────────────────────────────────────────────────────────────────────────────────────────

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
    this.lastActive = this.#hermes.platform.clock.now() / 1000;
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
    return this.#turn !== null || this.#preparing !== null || !this.#slot.isEmpty;
  }

  get status(): LiveStatus {
    if (this.session.asks().length > 0) return "waiting";
    return this.busy ? "working" : "idle";
  }

  /** True while background subagents work for this session. */
  get awaitsResults(): boolean {
    return this.#hermes.sessions.delegation.detachedIn(this.session.id) > 0;
  }

  /** Text of the prompts that wait; `null` when none does. */
  get queuedText(): string | null {
    return this.#slot.text;
  }

  info(): Record<string, unknown> {
    const { yolo, skills } = this.#options;
    const running = this.#turn !== null || this.#preparing !== null;
    const info = renderInfo(this.#hermes, this.session, {
      running,
      yolo,
      personality: this.personality,
      skills: skills.names,
    });
    return { ...info, usage: this.usage() };
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
    if (!mayRefer(textOf(input.content))) return void this.#submit(input);
    this.#preparing = new AbortController();
    this.#prepare(input, this.#preparing.signal).catch((error) => this.#options.onFault("references", error));
  }

  /** Reads what the prompt refers to; a refused one is a turn that fails without having reached the model. */
  async #prepare(input: UserInput, signal: AbortSignal): Promise<void> {
    const { prepareInput, tellNotStarted } = await import("./prepared_input.ts");
    const prepared = await prepareInput(this.#hermes, this.session, input, signal);
    this.#preparing = null;
    if (this.session.closed) return;
    if (prepared.type === "input") {
      for (const text of prepared.warnings) this.emit("status.update", { kind: "warn", text });
      return void this.#submit(prepared.input);
    }
    tellNotStarted(this, prepared.type === "refused" ? prepared.reason : null);
    this.#startNext();
  }

  /** As it is: nothing in it is read as a reference. */
  startTurn(input: UserInput): TurnHandle {
    this.touch();
    return this.#submit(input);
  }

  onFault(where: string, error: unknown): void {
    this.#options.onFault(where, error);
  }

  #submit(input: UserInput): TurnHandle {
    const systemExtra = systemExtraOf(this.#hermes, this.personality);
    const client = this.audience.clients.at(-1)?.name;
    const maxSteps = maxTurns(this.#hermes);
    const turn = this.session.submit(input, {
      asks: ASKS,
      detach: true,
      ...(maxSteps === null ? {} : { maxSteps }),
      ...(client === undefined ? {} : { client }),
      ...(systemExtra === null ? {} : { systemExtra }),
    });
    this.#turn = turn;
    turn.done.then((result) => this.#afterTurn(turn, result)).catch((error) =>
      this.#options.onFault("turn", error)
    );
    return turn;
  }

  /** What a submit during a turn does, by policy. The slot is lossless. */
  submitBusy(input: UserInput, mode: BusyMode): "queued" | "steered" {
    this.touch();
    if (mode === "steer" && typeof input.content === "string" && this.session.steer(input.content)) {
      return "steered";
    }
    this.#slot.add(input);
    if (mode === "interrupt") this.#stopTurn();
    return "queued";
  }

  /** Ends the running turn and forgets what waits; harmless when idle. */
  interrupt(): void {
    this.#slot.clear();
    this.#preparing?.abort();
    this.session.interrupt();
  }

  #stopTurn(): void {
    this.#preparing?.abort();
    if (this.#turn !== null) this.session.interrupt();
  }

  #startNext(): void {
    const next = this.#slot.take();
    if (next) this.start(next);
    else this.later.offer();
  }

  #afterTurn(turn: TurnHandle, result: TurnResult): void {
    if (this.#turn === turn) this.#neverStarted(result);
    if (this.#turn !== null || this.#preparing !== null || this.session.closed) return;
    this.#startNext();
  }

  /** Cancelled while it waited behind other work: the host was told "streaming" and is told the end, too. */
  #neverStarted(result: TurnResult): void {
    this.#turn = null;
    this.emit("error", { message: NEVER_STARTED });
    this.emit("message.complete", renderCompletion(result, this.usage()));
    this.emitInfo();
  }

  #onEvent(event: CoreEvent): Promise<void> | void {
    this.#renderer.render(event);
    this.later.onEvent(event);
    if (event.type === "turn.end") this.#onTurnEnd(event.result);
    if (event.type === "session.change" && event.what === "closed") this.#options.onClosed(this);
    return this.audience.room() ?? undefined;
  }

  #onTurnEnd(result: TurnResult): void {
    this.#turn = null;
    this.touch();
    if (result.pendingSteer !== null) this.#slot.putFirst({ content: result.pendingSteer });
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

  /** Closes the core session; its last events still reach the client. */
  async close(reason: string): Promise<void> {
    this.#slot.clear();
    this.#preparing?.abort();
    this.#closingHere = true;
    await this.session.close(reason);
    this.forget();
  }

  /** Stops listening; the core session is gone or goes by itself. */
  forget(): void {
    this.#unsubscribe();
    this.#options.budget.remove(this.ring);
    for (const task of this.tasks) task.close("parent_closed").catch((e) => this.#options.onFault("task", e));
    this.tasks.clear();
  }

  // ── Frames ────────────────────────────────────────────────────────────────────────────────────────────────

  emit(type: string, payload?: Record<string, unknown>): void {
    const head = eventHead(type, this.sid);
    this.#push(payload === undefined ? head : `${head},"payload":${toJson(payload)}`);
  }

  emitText(type: "message.delta" | "reasoning.delta", text: string): void {
    this.#push(`${this.#deltaHeads[type]},"payload":{"text":${toJson(text)}}`);
  }

  emitInfo(): void {
    // Tools may still be loading behind the first answer.
    if (this.#hermes.isReady) this.emit("session.info", this.info());
    else this.#hermes.ready().then(() => this.emitInfo(), (error) => this.#sayNotReady(error));
  }

  /** The first of a session waits for all that it tells about. */
  async emitFirstInfo(): Promise<void> {
    await this.#options.skills.load();
    if (!this.session.closed) this.emitInfo();
  }

  #sayNotReady(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.emit("error", { message: this.#hermes.redact(`agent init failed: ${reason}`) });
  }

  #push(open: string): void {
    const frame = `${open},"seq":${this.ring.latest + 1}}}\n`;
    this.ring.push(frame);
    this.audience.send(frame);
  }

  /** Left out altogether where only connections of the other dialect listen. */
  #emitTo(dialect: Dialect, type: string, payload: Record<string, unknown>): void {
    const listeners = this.audience.speaking(dialect);
    const parked = dialect === "events" && !this.attached;
    if (listeners.length === 0 && !parked) return;
    const open = `${eventHead(type, this.sid)},"payload":${toJson(payload)}`;
    const frame = `${open},"seq":${this.ring.latest + 1}}}\n`;
    this.ring.push(frame);
    for (const client of listeners) client.send(frame);
  }

  // ── What the renderer asks ────────────────────────────────────────────────────────────────────────────────

  usage(): Record<string, string | number> {
    const { delegation } = this.#hermes.sessions;
    const children = delegation.active().filter((child) => child.sessionId === this.session.id).length;
    return { ...renderUsage(this.session), ...(children === 0 ? {} : { active_subagents: children }) };
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
}
