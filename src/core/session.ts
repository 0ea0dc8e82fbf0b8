/**
 * One live conversation: its queue of turns, the running turn's controller, its model choice and its questions.
 * At most one turn runs; the others wait, first in, first out. Owns every turn from submit to end and releases
 * all of it on close. `turn.ts` does the work; this file only decides what runs when, and with what.
 */
import { abortable, isAbort, throwIfAborted } from "@/lib/abort.ts";
import { type AnswerResult, type Ask, type AskAnswer, AskBroker } from "./asks.ts";
import { CallIds } from "./call_ids.ts";
import { HermesError } from "./errors.ts";
import { Resting } from "./failover.ts";
import { localDay } from "./budgets.ts";
import { CompressionGate } from "./compression_policy.ts";
import { TokenEstimator } from "./estimate.ts";
import type { ChildLink, Delegations } from "./delegation.ts";
import type { ChildCall } from "./delegation_api.ts";
import { childTools } from "./delegation_tools.ts";
import type { CoreEventBody, SessionChange, TurnResult } from "./events.ts";
import type { McpServerEntry, McpServerStatus } from "./external_tools.ts";
import { EventHub, type EventReader } from "./hub.ts";
import { addUsage, type Message, textOf, type Usage } from "./messages.ts";
import type {
  EditPolicy,
  FileAccess,
  ModelChoice,
  ResolvedModel,
  SessionConfig,
  SwitchResult,
  Tool,
  ToolSpec,
} from "./ports.ts";
import type { CoreServices } from "./services.ts";
import type {
  CompactionReport,
  Inflight,
  Session,
  SessionUsage,
  SubmitOptions,
  TurnHandle,
  UserInput,
} from "./session_api.ts";
import { modeOf, policyOf } from "./modes.ts";
import { OutsideTools } from "./outside.ts";
import { SessionState } from "./session_state.ts";
import { Steering } from "./steering.ts";
import { TitleWriter } from "./titles.ts";
import { Transcript } from "./transcript.ts";
import { cancelledResult } from "./turn_results.ts";

interface QueuedTurn {
  readonly id: string;
  readonly input: UserInput;
  readonly options: SubmitOptions;
  readonly controller: AbortController;
  readonly settle: (result: TurnResult) => void;
  unlink: () => void;
}

export interface SessionSeed {
  readonly id: string;
  readonly headId: string;
  readonly source: string;
  readonly surface: string;
  readonly stored: boolean;
  readonly createdAt: number;
  readonly cwd: string;
  readonly additionalDirectories: readonly string[];
  readonly config: SessionConfig;
  readonly title: string | null;
  readonly parentId: string | null;
  readonly sessionKey: string | null;
  readonly systemPrompt: string | null;
  readonly editPolicy: EditPolicy;
  readonly messages: readonly Message[];
  readonly usage: Usage;
  readonly calls: number;
  readonly files: FileAccess;
  /** Absent: nobody's child. */
  readonly child?: ChildLink;
}

export class LiveSession implements Session {
  readonly id: string;
  readonly source: string;
  readonly surface: string;
  readonly createdAt: number;
  readonly files: FileAccess;
  readonly services: CoreServices;
  readonly transcript: Transcript;
  readonly steering = new Steering();
  readonly callIds = new CallIds();
  readonly broker = new AskBroker();
  readonly resting: Resting;
  readonly compressionGate: CompressionGate;
  readonly titles: TitleWriter;
  readonly scope: SessionState;
  readonly hub: EventHub;
  readonly outside: OutsideTools;
  readonly parentId: string | null;
  readonly sessionKey: string | null;
  readonly delegation: Delegations;
  /** Whose work it does; `null` = nobody's but the user's. */
  readonly child: ChildLink | null;
  systemPrompt: string | null;
  config: SessionConfig;
  #cwd: string;
  #additional: readonly string[];
  #title: string | null;
  #stored: boolean;
  #hasEditPolicy: boolean;
  #yolo = false;
  #closed = false;
  #closing: Promise<void> | null = null;
  #lastActivityAt: number;
  #queue: QueuedTurn[] = [];
  #active: QueuedTurn | null = null;
  #inflight: Inflight | null = null;
  #idleWaiters: (() => void)[] = [];
  #usage: Usage;
  #calls: number;
  #lastPromptTokens: number | null = null;
  #estimator = new TokenEstimator();
  /** Model work outside turns (`/model`, `/compact`): the session is busy meanwhile. */
  #occupied: AbortController | null = null;

  constructor(seed: SessionSeed, services: CoreServices, delegation: Delegations) {
    this.id = seed.id;
    this.source = seed.source;
    this.surface = seed.surface;
    this.createdAt = seed.createdAt;
    this.files = seed.files;
    this.services = services;
    this.delegation = delegation;
    this.child = seed.child ?? null;
    this.parentId = seed.parentId;
    this.sessionKey = seed.sessionKey;
    this.systemPrompt = seed.systemPrompt;
    this.config = seed.config;
    this.#cwd = seed.cwd;
    this.#additional = seed.additionalDirectories;
    this.#title = seed.title;
    this.#stored = seed.stored;
    this.#hasEditPolicy = seed.editPolicy !== null;
    this.#lastActivityAt = services.platform.clock.now() / 1000;
    this.#usage = seed.usage;
    this.#calls = seed.calls;
    this.transcript = new Transcript(services.store, seed.headId, seed.messages);
    this.callIds.learn(seed.messages);
    this.titles = new TitleWriter(this);
    this.scope = new SessionState(seed.id);
    this.resting = new Resting(() => services.platform.clock.monotonic());
    this.compressionGate = new CompressionGate(() => services.platform.clock.monotonic());
    this.hub = new EventHub(
      seed.id,
      (error) => services.log.error(`An event reader failed: ${String(error)}`),
    );
    this.outside = new OutsideTools(this, this.child ? undefined : services.external);
  }

  // ── Facts ─────────────────────────────────────────────────────────────────────────────────────────────────

  get headId(): string {
    return this.transcript.headId;
  }
  get stored(): boolean {
    return this.#stored;
  }
  get lastActivityAt(): number {
    return this.#lastActivityAt;
  }
  get cwd(): string {
    return this.#cwd;
  }
  get roots(): readonly string[] {
    return [this.#cwd, ...this.#additional];
  }
  get title(): string | null {
    return this.#title;
  }
  get running(): boolean {
    return this.#active !== null || this.#occupied !== null;
  }
  get queued(): number {
    return this.#queue.length;
  }
  get closed(): boolean {
    return this.#closed;
  }
  /** A child has no mode of its own: what the user switches holds for it, too. */
  get mode(): string {
    return this.child?.parent.mode ?? modeOf(this.config.mode);
  }
  get worksFor(): { sessionId: string; turnId: string } | null {
    if (!this.child) return null;
    const { parent, turnId } = this.child;
    return { sessionId: parent.worksFor?.sessionId ?? parent.id, turnId };
  }
  get editPolicy(): EditPolicy {
    return this.#hasEditPolicy ? policyOf(this.mode) : null;
  }
  get yolo(): boolean {
    return this.#yolo;
  }
  get reasoningEffort(): string | null {
    return this.config.reasoningEffort ?? (this.services.settings().agent.reasoning_effort || null);
  }
  get model(): ResolvedModel | null {
    const resolved = this.#resolve();
    return resolved instanceof HermesError ? null : resolved;
  }
  get modelError(): HermesError | null {
    const resolved = this.#resolve();
    return resolved instanceof HermesError ? resolved : null;
  }

  /** Name of the program whose turn runs; `null` where it gave none, and between turns. */
  get client(): string | null {
    return this.#active?.options.client ?? null;
  }

  get modelChoice(): ModelChoice {
    const { model, provider, baseUrl, apiMode } = this.config;
    return {
      ...(model === undefined ? {} : { model }),
      ...(provider === undefined ? {} : { provider }),
      ...(baseUrl === undefined ? {} : { baseUrl }),
      ...(apiMode === undefined ? {} : { apiMode }),
    };
  }

  #resolve(): ResolvedModel | HermesError {
    try {
      return this.services.models.resolve(this.modelChoice);
    } catch (error) {
      if (error instanceof HermesError) return error;
      throw error;
    }
  }

  history(): readonly Message[] {
    return this.transcript.messages;
  }

  usage(): SessionUsage {
    return {
      usage: this.#usage,
      calls: this.#calls,
      contextUsed: this.contextTokens(),
      contextMax: this.model?.contextWindow ?? null,
    };
  }

  /** Tokens of the next request: estimated, and never fewer than the last one had. */
  contextTokens(): number {
    const estimated = this.#estimator.messages(this.transcript.messages) + this.fixedTokens();
    return Math.max(estimated, this.#lastPromptTokens ?? 0);
  }

  /** Of them those that no compression makes fewer: prompt and tools. */
  fixedTokens(): number {
    return Math.ceil((this.systemPrompt?.length ?? 3_000) / 4) + this.#estimator.tools(this.toolSpecs());
  }

  inflight(): Inflight | null {
    return this.#inflight;
  }

  toolNames(): readonly string[] {
    return this.toolSpecs().map((tool) => tool.name);
  }

  toolSpecs(): readonly ToolSpec[] {
    if (this.child) return this.tools();
    return this.outside.joinSpecs(this.services.toolSpecs(this.surface));
  }

  tools(): readonly Tool[] {
    if (this.child) return this.#childTools(this.child);
    return this.outside.joinTools(this.services.tools(this.surface));
  }

  #childTools({ parent, mayDelegate }: ChildLink): readonly Tool[] {
    const withMcp = this.services.settings().delegation.inherit_mcp_toolsets;
    return childTools(parent.tools(), { mayDelegate, withMcp });
  }

  setMcpServers(servers: readonly McpServerEntry[]): void {
    if (!this.#closed) this.outside.setServers(servers);
  }

  mcpStatus(): readonly McpServerStatus[] {
    return this.outside.status();
  }

  // ── Turns ─────────────────────────────────────────────────────────────────────────────────────────────────

  subscribe(reader: EventReader): () => void {
    const unsubscribe = this.hub.subscribe(reader);
    this.outside.heard();
    return unsubscribe;
  }

  submit(input: UserInput, options: SubmitOptions): TurnHandle {
    const id = this.services.platform.ids.hex(16);
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<TurnResult>();
    const onAbort = () => this.#cancel(queued);
    const queued: QueuedTurn = {
      id,
      input,
      options,
      controller,
      settle: resolve,
      unlink: () => options.signal?.removeEventListener("abort", onAbort),
    };
    options.signal?.addEventListener("abort", onAbort, { once: true });
    const position = this.#queue.length + (this.running ? 1 : 0);
    if (this.#closed || options.signal?.aborted) this.#settle(queued, cancelledResult());
    else {
      this.#queue.push(queued);
      this.#startNext();
    }
    return { id, position, done: promise, cancel: onAbort };
  }

  steer(text: string): boolean {
    if (!this.#active || this.#active.controller.signal.aborted) return false;
    if (!this.steering.push(text)) return false;
    this.publish(this.#active.id, { type: "steer.queued", text: text.trim() });
    return true;
  }

  interrupt(options: { keepQueue?: boolean } = {}): { running: boolean; dropped: number } {
    const running = this.running;
    const dropped = options.keepQueue ? [] : this.#queue.splice(0);
    for (const queued of dropped) {
      queued.controller.abort();
      this.#settle(queued, cancelledResult());
    }
    this.#active?.controller.abort();
    this.#occupied?.abort();
    return { running, dropped: dropped.length };
  }

  idle(): Promise<void> {
    if (!this.running) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #cancel(queued: QueuedTurn): void {
    queued.controller.abort();
    const at = this.#queue.indexOf(queued);
    if (at === -1) return;
    this.#queue.splice(at, 1);
    this.#settle(queued, cancelledResult());
  }

  #settle(queued: QueuedTurn, result: TurnResult): void {
    queued.unlink();
    queued.settle(result);
  }

  #startNext(): void {
    if (this.running) return;
    const next = this.#queue.shift();
    if (!next) {
      for (const resolve of this.#idleWaiters.splice(0)) resolve();
      return;
    }
    this.#active = next;
    void this.#run(next);
  }

  /** Owns one turn from start to `turn.end`; never throws. */
  async #run(turn: QueuedTurn): Promise<void> {
    this.#lastActivityAt = this.services.platform.clock.now() / 1000;
    this.#inflight = {
      turnId: turn.id,
      user: turn.input.displayText ?? textOf(turn.input.content),
      assistant: "",
      reasoning: "",
      startedAt: this.#lastActivityAt,
    };
    const engine = await loadEngine();
    let result: TurnResult;
    try {
      await this.services.ready?.();
      await this.#storeForTurn(turn.controller.signal);
      const prepared = await engine.prepareTurn(this, turn);
      result = prepared instanceof HermesError
        ? await engine.failedResult(this, turn, prepared)
        : await engine.runTurn(prepared);
    } catch (error) {
      result = await engine.failedResult(this, turn, this.#toldError(error));
    }
    result = this.#withLateSteer(result);
    this.#usage = addUsage(this.#usage, result.usage);
    this.#calls += result.apiCalls;
    this.#lastActivityAt = this.services.platform.clock.now() / 1000;
    this.#inflight = null;
    this.#active = null;
    if (turn.options.scope && turn.options.scope !== this.id) {
      this.services.guard.dropScope(turn.options.scope);
    }
    this.publish(turn.id, { type: "turn.end", result });
    this.#settle(turn, result);
    this.#startNext();
    this.titles.after(result);
  }

  /** While the store is locked a cancel does not wait, and a turn goes on in memory (core.md D.2). */
  /** What the turn ends with; a fault of ours is told in full in the log only. */
  #toldError(error: unknown): HermesError {
    if (error instanceof HermesError) return error;
    const text = error instanceof Error ? error.message : String(error);
    this.services.log.error(`A turn failed to start: ${text}`);
    return new HermesError("internal", "The turn failed to start");
  }

  async #storeForTurn(signal: AbortSignal): Promise<void> {
    try {
      await abortable(this.store(), signal);
    } catch (error) {
      const isLocked = error instanceof HermesError && error.code === "store_locked";
      if (!isLocked && !isAbort(error)) throw error;
    }
  }

  /** Guidance that came after the turn's last look: handed back with it, never left for another turn. */
  #withLateSteer(result: TurnResult): TurnResult {
    const late = this.steering.take();
    if (late === null || result.outcome === "cancelled") return result;
    return {
      ...result,
      pendingSteer: result.pendingSteer === null ? late : `${result.pendingSteer}\n${late}`,
    };
  }

  /** Called by the turn for every batch; keeps what late clients need. */
  setInflight(text: string, reasoning: string): void {
    if (this.#inflight) this.#inflight = { ...this.#inflight, assistant: text, reasoning };
  }

  noteUsage(promptTokens: number): void {
    this.#lastPromptTokens = promptTokens;
  }

  /** A model call beside the turns (summary, title) counts like any other. */
  async countSideCall(usage: Usage, model: ResolvedModel): Promise<void> {
    this.#usage = addUsage(this.#usage, usage);
    this.#calls++;
    const { models, platform } = this.services;
    const { usd } = models.estimateCost(usage, model);
    const day = localDay(platform.clock.now());
    await this.transcript.addUsage(usage, model, { day, usd, seconds: 0 });
  }

  /**
   * A model call of a child adds to what this session has used; the child counts for the day. A call that a turn waits
   * for comes into the sums with the turn.
   */
  countChildCall({ usage, model, cost }: ChildCall, { inTurn }: { inTurn: boolean }): void {
    if (!inTurn) {
      this.#usage = addUsage(this.#usage, usage);
      this.#calls++;
    }
    void this.transcript.addUsage(usage, model, { day: null, usd: cost.usd, seconds: 0 });
  }

  publish(turnId: string, body: CoreEventBody): void {
    this.hub.publish(turnId, body);
  }

  changed(what: SessionChange): void {
    this.publish(this.#active?.id ?? "", { type: "session.change", what });
  }

  // ── Questions ─────────────────────────────────────────────────────────────────────────────────────────────

  asks(): readonly Ask[] {
    return this.broker.pending();
  }

  answer(askId: string, answer: AskAnswer, by?: string): AnswerResult {
    const result = this.broker.answer(askId, answer, by);
    if (result === "accepted" && answer.type === "cancel") this.#active?.controller.abort();
    return result;
  }

  // ── Changes ───────────────────────────────────────────────────────────────────────────────────────────────

  async setModel(argument: string, options: { signal?: AbortSignal } = {}): Promise<SwitchResult> {
    return await this.occupy(options.signal, async (signal) => {
      const choosing = this.services.models.switchTo(argument, this.model, { signal });
      const result = await abortable(choosing, signal);
      await this.#applyModel(result);
      return result;
    });
  }

  async #applyModel(result: SwitchResult): Promise<void> {
    const { model, provider, baseUrl, apiMode } = result.model;
    const config = { ...this.config, model, provider, baseUrl, apiMode };
    if (this.#stored) {
      await this.services.store().updateSession(this.headId, { config, systemPrompt: null });
    }
    this.config = config;
    this.systemPrompt = null;
    this.#lastPromptTokens = null;
    if (this.transcript.messages.length > 0) {
      await this.transcript.append([{
        role: "user",
        content: `[System: The active model for this chat has changed to ${model} via provider ${provider}.]`,
        displayKind: "model_switch",
      }]);
    }
    if (result.global) await this.services.persistModel(result.model);
    this.changed("model");
  }

  async setMode(mode: string): Promise<void> {
    if (modeOf(mode) !== mode) throw new HermesError("invalid_argument", `Unknown mode "${mode}"`, { mode });
    await this.#updateConfig({ mode });
    this.changed("mode");
  }

  setYolo(on: boolean): void {
    this.#yolo = on;
    this.changed("yolo");
  }

  async setReasoningEffort(effort: string | null): Promise<void> {
    const { reasoningEffort: _, ...rest } = this.config;
    this.config = rest;
    await this.#updateConfig(effort === null ? {} : { reasoningEffort: effort });
    this.changed("effort");
  }

  async #updateConfig(patch: SessionConfig): Promise<void> {
    this.config = { ...this.config, ...patch };
    if (this.#stored) await this.services.store().updateSession(this.headId, { config: this.config });
  }

  async setCwd(cwd: string, additional?: readonly string[]): Promise<void> {
    this.#cwd = cwd;
    if (additional) this.#additional = additional;
    this.config = { ...this.config, additionalDirectories: this.#additional };
    if (this.#stored) await this.services.store().updateSession(this.headId, { cwd, config: this.config });
    this.changed("cwd");
  }

  /** A title that is refused leaves no row behind: a session that is not stored yet is stored with it or not at all. */
  async setTitle(title: string | null): Promise<string | null> {
    if (!this.#stored) await this.store(title);
    else this.#title = await this.services.store().setTitle(this.headId, title);
    this.changed("title");
    return this.#title;
  }

  /** For a conversation without a title; a number is added where the title is taken. */
  async adoptTitle(title: string): Promise<void> {
    const store = this.services.store();
    if (this.#closed || !this.#stored || this.#title !== null) return;
    if (store.getSession(this.headId)?.title !== null) return;
    const stored = await store.setTitle(this.headId, store.nextTitle(title));
    this.#title ??= stored;
    this.changed("title");
  }

  async reset(): Promise<void> {
    await this.occupy(undefined, async () => {
      const { forgetMemories } = await loadEngine();
      if (this.#stored) await this.services.store().clearMessages(this.headId);
      this.transcript.swap(this.headId, []);
      this.services.forgotten(this.scope);
      forgetMemories(this.scope);
      this.systemPrompt = null;
      this.#lastPromptTokens = null;
    });
    this.changed("history");
  }

  async rewindBefore(rowId: number): Promise<ReadonlyMap<number, number>> {
    const moved = await this.occupy(undefined, async () => (await loadEngine()).rewindSession(this, rowId));
    this.#lastPromptTokens = null;
    this.changed("history");
    return moved;
  }

  /** Summarises now (`/compact`); the numbers before and after, `null` when there was too little. */
  async compact(options: { focus?: string; signal?: AbortSignal } = {}): Promise<CompactionReport | null> {
    return await this.occupy(options.signal, async (signal) => {
      const { compactSession } = await loadEngine();
      return await compactSession(this, { cause: "manual", focus: options.focus ?? null, signal });
    });
  }

  /**
   * Runs `work` while no turn can start, and waits for its end: an interrupt reaches it through the signal, so what
   * it changes is never changed behind a later turn. Throws `session_busy`.
   */
  async occupy<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.running) {
      throw new HermesError("session_busy", "session busy: a turn is running", { sessionId: this.id });
    }
    const controller = new AbortController();
    this.#occupied = controller;
    const joined = signal ? AbortSignal.any([signal, controller.signal]) : controller.signal;
    try {
      throwIfAborted(joined);
      return await work(joined);
    } finally {
      this.#occupied = null;
      this.#startNext();
    }
  }

  /** The conversation moved to another row (compression); grants stay, they are kept under the session's own id. */
  noteRotation(title: string | null): void {
    this.#title = title;
    this.#lastPromptTokens = null;
  }

  async store(title: string | null = null): Promise<void> {
    if (this.#stored) return;
    this.#stored = true;
    try {
      const row = await this.services.store().createSession({
        id: this.headId,
        source: this.source,
        parentId: this.parentId,
        cwd: this.#cwd,
        config: this.config,
        systemPrompt: this.systemPrompt,
        sessionKey: this.sessionKey,
        startedAt: this.createdAt,
        ...(title === null ? {} : { title }),
      });
      this.#title ??= row.title;
    } catch (error) {
      this.#stored = false;
      throw error;
    }
    if (this.transcript.messages.length > 0) await this.transcript.flush();
  }

  close(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason: string): Promise<void> {
    this.#closed = true;
    this.interrupt();
    await this.idle();
    this.services.guard.dropScope(this.id);
    await Promise.all([this.scope.dispose(), this.outside.close(), this.titles.close()]);
    if (this.#stored) {
      try {
        await this.services.store().endSession(this.headId, reason);
      } catch (error) {
        this.services.log.warn(`Cannot mark session ${this.id} as ended: ${String(error)}`);
      }
    }
    this.changed("closed");
  }
}

/** The code of turns; the same module at every call. */
function loadEngine(): Promise<typeof import("./turn_engine.ts")> {
  return import("./turn_engine.ts");
}
