/**
 * One live conversation: its facts, its turns, its questions, and the changes that a door may make to it. It owns what
 * lives as long as the conversation is open and releases all of it on close. The floor is `turn_queue.ts`'s, a turn's
 * work `session_turn.ts`'s, the row `session_record.ts`'s.
 */
import { abortable } from "@/lib/abort.ts";
import { type AnswerResult, type Ask, type AskAnswer, AskBroker } from "./asks.ts";
import { CallIds } from "./call_ids.ts";
import { CompressionGate } from "./compression_policy.ts";
import { type Deferral, shownSpecs } from "./deferred_tools.ts";
import type { ChildLink, Delegations } from "./delegation.ts";
import { childTools } from "./delegation_tools.ts";
import { HermesError } from "./errors.ts";
import type { CoreEventBody, SessionChange } from "./events.ts";
import type { McpServerEntry, McpServerStatus } from "./external_tools.ts";
import { tierOf } from "./fast_mode.ts";
import { Resting } from "./failover.ts";
import { EventHub, type EventReader } from "./hub.ts";
import { type Message, textOf } from "./messages.ts";
import { choiceOf } from "./model_choice.ts";
import { modeOf, policyOf } from "./modes.ts";
import { usableTools } from "./offered_tools.ts";
import { OutsideTools } from "./outside.ts";
import { Patience } from "./patience.ts";
import type {
  EditPolicy,
  FileAccess,
  GitPlace,
  ModelChoice,
  NewSessionRow,
  ResolvedModel,
  SessionConfig,
  SessionNotice,
  SwitchResult,
  Tool,
  ToolSpec,
} from "./ports.ts";
import type { CoreServices } from "./services.ts";
import type {
  CompactionPreview,
  CompactionReport,
  CompactOptions,
  Inflight,
  Session,
  SessionUsage,
  SubmitOptions,
  TurnHandle,
  UserInput,
} from "./session_api.ts";
import { effortOf, resolveFor, wantsFast } from "./session_model.ts";
import { SessionRecord } from "./session_record.ts";
import type { SessionSeed } from "./session_seed.ts";
import { SessionSettings } from "./session_settings.ts";
import { SessionState } from "./session_state.ts";
import { SessionTally } from "./session_tally.ts";
import { Steering, withLateSteer } from "./steering.ts";
import { TitleWriter } from "./titles.ts";
import { Transcript } from "./transcript.ts";
import { type QueuedTurn, TurnQueue } from "./turn_queue.ts";
import type { TurnSilence } from "./turn_silence.ts";

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
  readonly patience: Patience;
  readonly compressionGate: CompressionGate;
  readonly titles: TitleWriter;
  readonly scope: SessionState;
  readonly tally: SessionTally;
  readonly record: SessionRecord;
  readonly hub: EventHub;
  readonly outside: OutsideTools;
  readonly parentId: string | null;
  readonly sessionKey: string | null;
  readonly delegation: Delegations;
  /** Whose work it does; `null` = nobody's but the user's. */
  readonly child: ChildLink | null;
  systemPrompt: string | null;
  /** What the model is not shown, as of the last turn that began; `null` where it has no such tools. */
  deferral: Deferral | null = null;
  /** Of its directory; looked up when its prompt is made. */
  git: GitPlace | null = null;
  /** To another directory, whose repository the row does not name yet. */
  hasMoved = false;
  /** Of the turn that runs. */
  silence: TurnSilence | null = null;
  readonly #settings: SessionSettings;
  readonly #turns: TurnQueue;
  readonly #hasEditPolicy: boolean;
  #yolo = false;
  #closed = false;
  #closing: Promise<void> | null = null;
  #lastActivityAt: number;
  #inflight: Inflight | null = null;

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
    const place = { cwd: seed.cwd, additional: seed.additionalDirectories };
    this.#settings = new SessionSettings(this, seed.config, place);
    this.#hasEditPolicy = seed.editPolicy !== null;
    this.#lastActivityAt = services.platform.clock.now() / 1000;
    this.transcript = new Transcript(services.store, seed.headId, seed.messages, () => this.stored);
    this.callIds.learn(seed.messages);
    this.record = new SessionRecord(this, seed);
    this.tally = new SessionTally(this, seed.usage, seed.calls);
    this.#turns = new TurnQueue(this);
    this.titles = new TitleWriter(this);
    this.scope = new SessionState(seed.id, () => {
      if (!this.#closed) this.changed("notices");
    });
    this.resting = new Resting(() => services.platform.clock.monotonic());
    this.patience = new Patience((name) => services.env?.(name));
    this.compressionGate = new CompressionGate(() => services.platform.clock.monotonic());
    this.compressionGate.restore(seed.config, services.platform.clock.now() / 1000);
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
    return this.record.stored;
  }
  get lastActivityAt(): number {
    return this.#lastActivityAt;
  }
  get config(): SessionConfig {
    return this.#settings.config;
  }
  set config(config: SessionConfig) {
    this.#settings.config = config;
  }
  get cwd(): string {
    return this.#settings.place.cwd;
  }
  get roots(): readonly string[] {
    return [this.cwd, ...this.#settings.place.additional];
  }
  get title(): string | null {
    return this.record.title;
  }
  get running(): boolean {
    return this.#turns.running;
  }
  get queued(): number {
    return this.#turns.waiting;
  }
  get notices(): number {
    return this.scope.notices;
  }
  get closed(): boolean {
    return this.#closed;
  }
  get deleted(): boolean {
    return this.transcript.isGone;
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
    return this.#yolo && !this.execAsk;
  }
  get execAsk(): boolean {
    return this.services.execAsk ?? false;
  }
  get reasoningEffort(): string | null {
    return effortOf(this, () => this.model);
  }
  get wantsFast(): boolean {
    return wantsFast(this);
  }
  get fast(): boolean {
    return this.wantsFast && this.model?.fastFactor !== undefined;
  }
  get model(): ResolvedModel | null {
    const resolved = resolveFor(this);
    return resolved instanceof HermesError ? null : resolved;
  }
  get modelError(): HermesError | null {
    const resolved = resolveFor(this);
    return resolved instanceof HermesError ? resolved : null;
  }

  /** Name of the program whose turn runs; `null` where it gave none, and between turns. */
  get client(): string | null {
    return this.#turns.active?.options.client ?? null;
  }

  get modelChoice(): ModelChoice {
    return choiceOf(this.config);
  }

  history(): readonly Message[] {
    return this.transcript.messages;
  }

  usage(): SessionUsage {
    return {
      usage: this.tally.usage,
      calls: this.tally.calls,
      contextUsed: this.tally.contextTokens(),
      contextMax: this.model?.contextWindow ?? null,
    };
  }

  waitingNotices(): readonly SessionNotice[] {
    return this.scope.waitingNotices();
  }

  takeNotices(): readonly SessionNotice[] {
    return this.scope.takeNotices();
  }

  inflight(): Inflight | null {
    return this.#inflight;
  }

  toolNames(): readonly string[] {
    const { platform, models } = this.services;
    // Whether a turn has somebody to ask is not known before it; surfaces without anybody do not list that tool.
    const at = {
      platform,
      models,
      settings: this.services.settings(),
      model: this.model,
      canClarify: !this.child,
    };
    return usableTools(this.tools(), at).map((tool) => tool.name);
  }

  toolSpecs(): readonly ToolSpec[] {
    const all = this.child ? this.tools() : this.outside.joinSpecs(this.services.toolSpecs(this.surface));
    return shownSpecs(all, this.deferral);
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
    return this.#turns.submit(input, options);
  }

  newTurnId(): string {
    return this.services.platform.ids.hex(16);
  }

  steer(text: string): boolean {
    const { active } = this.#turns;
    if (!active || active.controller.signal.aborted) return false;
    if (!this.steering.push(text)) return false;
    this.publish(active.id, { type: "steer.queued", text: text.trim() });
    return true;
  }

  interrupt(options: { keepQueue?: boolean } = {}): { running: boolean; dropped: number } {
    return this.#turns.interrupt(options);
  }

  idle(): Promise<void> {
    return this.#turns.idle();
  }

  runTurn(turn: QueuedTurn): void {
    void this.#run(turn);
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
    const { runQueuedTurn } = await loadEngine();
    const result = withLateSteer(await runQueuedTurn(this, turn), this.steering);
    this.transcript.forgetRefusal();
    this.tally.add(result);
    this.#lastActivityAt = this.services.platform.clock.now() / 1000;
    this.#inflight = null;
    const { scope } = turn.options;
    this.#turns.finish(turn, result, () => {
      if (scope && scope !== this.id) this.services.guard.dropScope(scope);
      this.publish(turn.id, { type: "turn.end", result });
    });
    this.titles.after(result, turn.options);
  }

  /** Called by the turn for every batch; keeps what late clients need. */
  setInflight(text: string, reasoning: string): void {
    this.silence?.touch();
    if (this.#inflight) this.#inflight = { ...this.#inflight, assistant: text, reasoning };
  }

  publish(turnId: string, body: CoreEventBody): void {
    this.silence?.touch();
    this.hub.publish(turnId, body);
  }

  changed(what: SessionChange): void {
    this.publish(this.#turns.active?.id ?? "", { type: "session.change", what });
  }

  // ── Questions ─────────────────────────────────────────────────────────────────────────────────────────────

  asks(): readonly Ask[] {
    return this.broker.pending();
  }

  answer(askId: string, answer: AskAnswer, by?: string): AnswerResult {
    const result = this.broker.answer(askId, answer, by);
    if (result === "accepted" && answer.type === "cancel") this.#turns.active?.controller.abort();
    return result;
  }

  // ── Changes ───────────────────────────────────────────────────────────────────────────────────────────────

  async setModel(argument: string, options: { signal?: AbortSignal } = {}): Promise<SwitchResult> {
    return await this.occupy(options.signal, async (signal) => {
      const choosing = this.services.models.switchTo(argument, this.model, { signal });
      const result = await abortable(choosing, signal);
      const { applyModel } = await abortable(loadEngine(), signal);
      await applyModel(this, result);
      return result;
    });
  }

  async setMode(mode: string): Promise<void> {
    if (modeOf(mode) !== mode) throw new HermesError("invalid_argument", `Unknown mode "${mode}"`, { mode });
    await this.#settings.change({ mode });
    this.changed("mode");
  }

  setYolo(on: boolean): void {
    this.#yolo = on;
    this.changed("yolo");
  }

  async setReasoningEffort(effort: string | null): Promise<void> {
    await this.#settings.change({ reasoningEffort: effort ?? undefined });
    this.changed("effort");
  }

  async setFast(on: boolean): Promise<void> {
    if (on && this.model?.fastFactor === undefined) {
      throw new HermesError("invalid_argument", `The model ${this.model?.model ?? ""} has no fast mode`);
    }
    await this.#settings.change({ serviceTier: tierOf(on) });
    this.changed("effort");
  }

  async setCwd(cwd: string, additional?: readonly string[]): Promise<void> {
    await this.#settings.move(cwd, additional);
    this.git = null;
    this.hasMoved = true;
    this.changed("cwd");
  }

  async setTitle(title: string | null): Promise<string | null> {
    await this.record.setTitle(title);
    this.changed("title");
    return this.title;
  }

  /** For a conversation without a title; a number is added where the title is taken. */
  async adoptTitle(title: string): Promise<void> {
    if (await this.record.adoptTitle(title)) this.changed("title");
  }

  async reset(): Promise<void> {
    await this.occupy(undefined, async () => (await loadEngine()).resetSession(this));
    this.changed("history");
  }

  async rewindBefore(rowId: number): Promise<ReadonlyMap<number, number>> {
    const moved = await this.occupy(undefined, async () => (await loadEngine()).rewindSession(this, rowId));
    this.tally.forgetPrompt();
    this.changed("history");
    return moved;
  }

  async dropFrom(rowId: number): Promise<void> {
    await this.occupy(undefined, async () => (await loadEngine()).dropFrom(this, rowId));
    this.tally.forgetPrompt();
    this.changed("history");
  }

  /** Summarises now (`/compact`); the numbers before and after, `null` when there was too little. */
  async compact(options: CompactOptions = {}): Promise<CompactionReport | null> {
    return await this.occupy(options.signal, async (signal) => {
      const { compactSession } = await loadEngine();
      const { focus = null, keepTurns } = options;
      const kept = keepTurns === undefined ? {} : { keepTurns };
      const work = () => compactSession(this, { cause: "manual", focus, ...kept, signal });
      // It takes long: no other program begins a turn meanwhile.
      return this.stored ? await this.transcript.alone(work) : await work();
    });
  }

  async previewCompaction(options: CompactOptions = {}): Promise<CompactionPreview | null> {
    return (await loadEngine()).previewCompaction(this, options.keepTurns);
  }

  /** Runs `work` while no turn can start. Throws `session_busy`, also where another program runs one. */
  async occupy<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return await this.#turns.occupy(signal, async (signal) => {
      this.requireFree();
      return await work(signal);
    });
  }

  requireFree(): void {
    if (this.stored) this.services.store().requireFree(this.headId);
  }

  /** The conversation moved to another row (compression); grants stay, they are kept under the session's own id. */
  noteRotation(title: string | null): void {
    this.record.moved(title);
    this.tally.forgetPrompt();
  }

  async store(): Promise<void> {
    await this.record.store();
  }

  async storeUnlessLocked(): Promise<void> {
    await this.record.storeUnlessLocked();
  }

  newRow(): NewSessionRow {
    return {
      id: this.headId,
      source: this.source,
      parentId: this.parentId,
      cwd: this.cwd,
      ...(this.git === null ? {} : { git: this.git }),
      config: this.config,
      systemPrompt: this.systemPrompt,
      sessionKey: this.sessionKey,
      startedAt: this.createdAt,
    };
  }

  close(reason: string): Promise<void> {
    this.#closing ??= this.#close(reason);
    return this.#closing;
  }

  async #close(reason: string): Promise<void> {
    this.#closed = true;
    this.interrupt();
    await this.idle();
    void this.transcript.giveBack();
    this.services.guard.dropScope(this.id);
    await Promise.all([this.scope.dispose(), this.outside.close(), this.titles.close()]);
    await this.record.end(reason);
    this.changed("closed");
  }
}

/** The code of turns; the same module at every call. */
function loadEngine(): Promise<typeof import("./turn_engine.ts")> {
  return import("./turn_engine.ts");
}
