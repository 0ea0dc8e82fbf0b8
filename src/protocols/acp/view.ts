/**
 * One session as this client sees it: its life here, and what is said of it. It owns the subscription; `updates` turns
 * core events into frames, `prompts` owns the turns, `asks` the open questions. Nothing here waits.
 */
import type { CoreEvent, Session } from "@/core/contract.ts";
import { commandsUpdate } from "./advertised_commands.ts";
import { AskRelay } from "./asks.ts";
import { BackgroundNews } from "./background.ts";
import type { ClientFiles } from "./client_files.ts";
import { clientFilesOf } from "./client_side.ts";
import type { Connection } from "./connection.ts";
import { AcpError, REQUEST_CANCELLED } from "./errors.ts";
import { LiveUpdates } from "./live_updates.ts";
import { configOptions } from "./options.ts";
import { PromptQueue } from "./prompts.ts";
import type { SessionUpdate } from "./sdk.ts";

/** Costs are told in whole billionths of a dollar: sums of small prices would show their rounding errors. */
const COST_UNITS = 1e9;

export type Severity = "info" | "warning" | "error";

export class SessionView {
  readonly id: string;
  readonly connection: Connection;
  readonly prompts: PromptQueue;
  readonly asks: AskRelay;
  /** Where the session reads and writes: the client's buffers when it offers them, else the disk. */
  readonly files: ClientFiles;
  readonly updates: LiveUpdates;
  readonly background: BackgroundNews;
  /** Reports for clients without notices: shown when the next turn starts (acp.md C5). */
  readonly #reports: string[] = [];
  #session: Session | null = null;
  #opening: Promise<Session> | null = null;
  #unsubscribe: (() => void) | null = null;
  readonly #end = new AbortController();
  /** The load under way, or the last one that waits. */
  #loading: Promise<void> | null = null;
  /** Frames so far; the keep-alive looks whether it moved. */
  #frames = 0;

  constructor(id: string, connection: Connection) {
    this.id = id;
    this.connection = connection;
    this.updates = new LiveUpdates(this);
    this.prompts = new PromptQueue(this);
    this.asks = new AskRelay(this);
    this.background = new BackgroundNews(this);
    this.files = clientFilesOf(this);
  }

  get frames(): number {
    return this.#frames;
  }

  /** The live session, when this client has opened it. */
  get session(): Session | null {
    return this.#session?.closed === false ? this.#session : null;
  }

  /** The live session, restored from the store when it is not in memory. Throws -32002 for an unknown or deleted id. */
  async open(place: { cwd?: string; additionalDirectories?: readonly string[] } = {}): Promise<Session> {
    this.requireOpen();
    if (this.session && !this.isGone) return this.session;
    this.#opening ??= this.#restore(place).finally(() => this.#opening = null);
    return await this.#opening;
  }

  /** Another process on the same home has deleted it: what runs goes on, nothing else begins (acp.md C3). */
  get isGone(): boolean {
    const { session } = this;
    if (session === null || session.running) return false;
    return this.connection.hermes.store().getSession(session.headId) === null;
  }

  /** Throws -32800 once the close or the delete of this session has begun: it wins over what still opens it. */
  requireOpen(): void {
    if (this.ended.aborted) {
      throw new AcpError(REQUEST_CANCELLED, "Request cancelled: the session was closed");
    }
  }

  /** Fires when the close or the delete of this session begins. */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  /** True while the session is here, or on its way. */
  get isActive(): boolean {
    const isComing = this.#opening !== null || this.#loading !== null;
    return this.session !== null || isComing || this.prompts.busy;
  }

  /** One load after the other, each with its answer: their replays must not mix. The first begins at once. */
  loadInTurn(load: () => Promise<void>): Promise<void> {
    const work = this.#loading === null ? load() : this.#loading.then(load);
    const mine = work.then(() => {
      if (this.#loading === mine) this.#loading = null;
    });
    return this.#loading = mine;
  }

  /**
   * The session is about to be closed: whoever names its id from here on gets another view. What was asked of this
   * one before is cancelled and answered; its updates are still sent. Gives the session that is to be closed.
   */
  async end(): Promise<Session | null> {
    this.#end.abort();
    if (this.connection.views.get(this.id) === this) this.connection.views.delete(this.id);
    await this.prompts.cancelAll();
    await this.#opening?.catch(() => {/* told to who has asked for it */});
    await this.#loading;
    return this.session;
  }

  async #restore(place: { cwd?: string; additionalDirectories?: readonly string[] }): Promise<Session> {
    const { hermes, sources, ending } = this.connection;
    await ending.get(this.id);
    await this.session?.close("deleted");
    const session = await hermes.sessions.open(this.id, {
      surface: "acp",
      editPolicy: "ask",
      files: this.files,
      ...(sources ? { sources } : {}),
      ...place,
    });
    const stat = hermes.platform.files.statSync(session.cwd);
    this.files.openedWithout(stat?.isDirectory ? null : session.cwd);
    this.adopt(session);
    this.listen();
    return session;
  }

  /** A session may be opened in a directory that is not there: it is told, and nothing works in it until it is. */
  lookAtCwd({ cwd }: Session): void {
    const isThere = this.connection.hermes.platform.files.statSync(cwd)?.isDirectory === true;
    this.files.openedWithout(isThere ? null : cwd);
    if (!isThere) this.report(`The directory ${cwd} does not exist: file and terminal tools will fail.`);
  }

  /** Takes a session that was just made; nothing is sent before `listen()`. */
  adopt(session: Session): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#session = session;
    this.updates.begin(session);
  }

  /** From here on its events become updates: the client knows the session. */
  listen(): void {
    this.#unsubscribe ??= this.#session?.subscribe((event) => this.#onEvent(event)) ?? null;
  }

  /** Ends the view; the session itself is the caller's business. */
  drop(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    if (this.connection.views.get(this.id) === this) this.connection.views.delete(this.id);
  }

  isBuiltin(name: string): boolean {
    return this.connection.hermes.cardOf(name) !== undefined;
  }

  // ── Updates ───────────────────────────────────────────────────────────────────────────────────────────────

  send(update: SessionUpdate): void {
    this.#frames++;
    this.connection.peer.notify("session/update", { sessionId: this.id, update });
  }

  /** One whole message of ours, apart from what the model is streaming. */
  say(text: string): void {
    const messageId = this.connection.hermes.platform.ids.uuid();
    this.send({ sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } });
  }

  /** A whole frame, built by the caller. */
  sendFrame(frame: string): void {
    this.#frames++;
    this.connection.peer.writeRaw(frame);
  }

  /** Tools and commands may still be loading behind the answer that opened the session. */
  #whenReady(run: () => void): void {
    if (this.connection.hermes.isReady) run();
    else this.connection.ready().then(run, () => {/* what needs it is refused, with the reason */});
  }

  /** Size of the next request and of the window; nothing when the window is unknown. */
  sendUsage(): void {
    this.#whenReady(() => this.#sendUsage());
  }

  #sendUsage(): void {
    const session = this.session;
    if (!session) return;
    const { contextUsed, contextMax } = session.usage();
    if (contextMax === null) return;
    const amount = Math.round((this.updates.cost ?? 0) * COST_UNITS) / COST_UNITS;
    const cost = amount > 0 ? { cost: { amount, currency: "USD" } } : {};
    this.send({ sessionUpdate: "usage_update", used: contextUsed, size: contextMax, ...cost });
  }

  sendConfigOptions(): void {
    const session = this.session;
    if (!session) return;
    const options = configOptions(session, this.connection.hermes);
    this.send({ sessionUpdate: "config_option_update", configOptions: options });
  }

  /** What every answer that opens a session is followed by (acp.md C3). */
  sendOpening(): void {
    this.#whenReady(() => this.#sendOpening());
  }

  #sendOpening(): void {
    if (this.ended.aborted) return;
    this.send(commandsUpdate(this.connection.hermes));
    this.sendUsage();
    for (const warning of this.connection.newWarnings()) this.report(warning);
    this.flushReports();
  }

  // ── Reports (acp.md C5) ───────────────────────────────────────────────────────────────────────────────────

  /** Tells the user something that is not the model's text: a notice at once, else at the next turn. */
  report(text: string, severity: Severity = "warning"): void {
    if (this.connection.client.notices && this.#unsubscribe) this.notice(text, severity);
    else if (this.prompts.inTurn) this.say(text);
    else this.#reports.push(text);
  }

  /** Called when a turn starts, and for clients with notices as soon as they know the session. */
  flushReports(): void {
    const { notices } = this.connection.client;
    if (!notices && !this.prompts.inTurn) return;
    for (const text of this.#reports.splice(0)) {
      if (notices) this.notice(text, "warning");
      else this.say(text);
    }
  }

  /** For clients that have notices. */
  notice(text: string, severity: Severity): void {
    const [title = "", ...rest] = text.trim().split("\n");
    if (title === "") return;
    const description = rest.join("\n").trim();
    this.send({ sessionUpdate: "notice", severity, title, ...(description ? { description } : {}) });
  }

  /** Also called when the last prompt was answered. */
  onIdle(): void {
    if (!this.prompts.busy) this.background.showWaiting();
  }

  // ── Events ────────────────────────────────────────────────────────────────────────────────────────────────

  /** A full writer is reported back to the core. */
  #onEvent(event: CoreEvent): void | Promise<void> {
    this.updates.render(event);
    return this.connection.peer.room() ?? undefined;
  }
}
