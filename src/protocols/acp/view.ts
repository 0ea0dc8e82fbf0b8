/**
 * One session as this client sees it: core events in, `session/update` frames out (acp.md C11). It owns the
 * subscription, the open messages and the announced calls; `prompts` owns the turns, `asks` the open questions.
 * Updates are written in the order of the events; nothing here waits, a full writer is reported back to the core.
 */
import {
  assertNever,
  type CoreEvent,
  type FileEdit,
  type Session,
  type SessionChange,
  type ToolCallView,
  type TurnResult,
  type Usage,
} from "@/core/contract.ts";
import { AskRelay } from "./asks.ts";
import type { ClientFiles } from "./client_files.ts";
import { clientFilesOf } from "./client_side.ts";
import type { Connection } from "./connection.ts";
import { AcpError, REQUEST_CANCELLED } from "./errors.ts";
import { configOptions } from "./options.ts";
import { PromptQueue } from "./prompts.ts";
import { provenanceMeta } from "./provenance.ts";
import { ChunkStream } from "./render/chunks.ts";
import { SubagentCards } from "./render/subagents.ts";
import {
  endUpdate,
  failedUpdate,
  planUpdate,
  startUpdate,
  textContent,
  wholeUpdate,
} from "./render/tool_calls.ts";
import type { SessionUpdate } from "./sdk.ts";

/** Costs are told in whole billionths of a dollar: sums of small prices would show their rounding errors. */
const COST_UNITS = 1e9;

type Severity = "info" | "warning" | "error";

export class SessionView {
  readonly id: string;
  readonly connection: Connection;
  readonly prompts: PromptQueue;
  readonly asks: AskRelay;
  /** Where the session reads and writes: the client's buffers when it offers them, else the disk. */
  readonly files: ClientFiles;
  readonly #text: ChunkStream;
  readonly #thought: ChunkStream;
  readonly #subagents = new SubagentCards();
  /** Announced calls that have not ended; empty between turns. */
  readonly #openCalls = new Map<string, ToolCallView>();
  /** Client terminals that open calls are shown in, by call id. */
  readonly #shownIn = new Map<string, string>();
  /** Reports for clients without notices: shown when the next turn starts (acp.md C5). */
  readonly #reports: string[] = [];
  #session: Session | null = null;
  #opening: Promise<Session> | null = null;
  #unsubscribe: (() => void) | null = null;
  #ended = false;
  /** True once the text of this turn's last answer has been streamed. */
  #streamed = false;
  /** A compaction that was announced and has not ended. */
  #compaction: string | null = null;
  /** What the calls of this session have cost; `null` as soon as the price of one is not known. */
  #cost: number | null = null;
  /** Frames so far; the keep-alive looks whether it moved. */
  #frames = 0;

  constructor(id: string, connection: Connection) {
    this.id = id;
    this.connection = connection;
    const newId = () => connection.hermes.platform.ids.uuid();
    this.#text = new ChunkStream(id, "agent_message_chunk", newId);
    this.#thought = new ChunkStream(id, "agent_thought_chunk", newId);
    this.prompts = new PromptQueue(this);
    this.asks = new AskRelay(this);
    this.files = clientFilesOf(this);
  }

  get frames(): number {
    return this.#frames;
  }

  /** The live session, when this client has opened it. */
  get session(): Session | null {
    return this.#session?.closed === false ? this.#session : null;
  }

  /** The live session, restored from the store when it is not in memory. Throws -32002 for an unknown id. */
  async open(place: { cwd?: string; additionalDirectories?: readonly string[] } = {}): Promise<Session> {
    this.requireOpen();
    if (this.session) return this.session;
    this.#opening ??= this.#restore(place).finally(() => this.#opening = null);
    return await this.#opening;
  }

  /** Throws -32800 once the close or the delete of this session has begun: it wins over what still opens it. */
  requireOpen(): void {
    if (this.#ended) throw new AcpError(REQUEST_CANCELLED, "Request cancelled: the session was closed");
  }

  /** True while the session is here, or on its way. */
  get isActive(): boolean {
    return this.session !== null || this.#opening !== null || this.prompts.busy;
  }

  /**
   * The session is about to be closed: whoever names its id from here on gets another view. What was asked of this
   * one before is cancelled and answered; its updates are still sent. Gives the session that is to be closed.
   */
  async end(): Promise<Session | null> {
    this.#ended = true;
    if (this.connection.views.get(this.id) === this) this.connection.views.delete(this.id);
    await this.prompts.cancelAll();
    await this.#opening?.catch(() => {/* told to who has asked for it */});
    return this.session;
  }

  async #restore(place: { cwd?: string; additionalDirectories?: readonly string[] }): Promise<Session> {
    const { hermes, sources, ending } = this.connection;
    await ending.get(this.id);
    const session = await hermes.sessions.open(this.id, {
      surface: "acp",
      editPolicy: "ask",
      files: this.files,
      ...(sources ? { sources } : {}),
      ...place,
    });
    this.adopt(session);
    this.listen();
    return session;
  }

  /** Takes a session that was just made; nothing is sent before `listen()`. */
  adopt(session: Session): void {
    this.#unsubscribe?.();
    this.#unsubscribe = null;
    this.#session = session;
    // What earlier calls of a stored conversation have cost is not kept.
    this.#cost = session.history().length === 0 ? 0 : null;
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

  isOpenCall(callId: string): boolean {
    return this.#openCalls.has(callId);
  }

  isBuiltin(name: string): boolean {
    return this.connection.hermes.tools.some((tool) =>
      tool.name === name && !tool.toolset.startsWith("mcp-")
    );
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

  /** An empty chunk that keeps quiet lines open (acp.md C10 "Keep-alive"). */
  keepAlive(): void {
    this.#raw(this.#text.frame(""));
  }

  #raw(frame: string): void {
    this.#frames++;
    this.connection.peer.writeRaw(frame);
  }

  /** Size of the next request and of the window; nothing when the window is unknown. */
  sendUsage(): void {
    const session = this.session;
    if (!session) return;
    const { contextUsed, contextMax } = session.usage();
    if (contextMax === null) return;
    const amount = Math.round((this.#cost ?? 0) * COST_UNITS) / COST_UNITS;
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
    if (this.#ended) return;
    const commands = this.connection.hermes.commands.list("acp");
    this.send({
      sessionUpdate: "available_commands_update",
      availableCommands: commands.map(({ name, description, argsHint }) => ({
        name,
        description,
        ...(argsHint ? { input: { hint: argsHint } } : {}),
      })),
    });
    this.sendUsage();
    this.flushReports();
  }

  // ── Reports (acp.md C5) ───────────────────────────────────────────────────────────────────────────────────

  /** Tells the user something that is not the model's text: a notice at once, else at the next turn. */
  report(text: string, severity: Severity = "warning"): void {
    if (this.connection.client.notices && this.#unsubscribe) this.#notice(text, severity);
    else if (this.prompts.inTurn) this.say(text);
    else this.#reports.push(text);
  }

  /** Called when a turn starts, and for clients with notices as soon as they know the session. */
  flushReports(): void {
    const { notices } = this.connection.client;
    if (!notices && !this.prompts.inTurn) return;
    for (const text of this.#reports.splice(0)) {
      if (notices) this.#notice(text, "warning");
      else this.say(text);
    }
  }

  #notice(text: string, severity: Severity): void {
    const [title = text, ...rest] = text.split("\n");
    const description = rest.join("\n").trim();
    this.send({ sessionUpdate: "notice", severity, title, ...(description ? { description } : {}) });
  }

  // ── Events ────────────────────────────────────────────────────────────────────────────────────────────────

  #onEvent(event: CoreEvent): void | Promise<void> {
    this.#render(event);
    return this.connection.peer.room() ?? undefined;
  }

  #render(event: CoreEvent): void {
    switch (event.type) {
      case "text.delta":
        this.#streamed = true;
        this.#thought.close();
        return this.#raw(this.#text.frame(event.text));
      case "reasoning.delta":
        return this.#raw(this.#thought.frame(event.text));
      case "reasoning.end":
        return this.#thought.close();
      case "text.end":
        return this.#text.close();
      case "turn.start":
        this.#streamed = false;
        return this.#closeMessages();
      case "tool.start":
        return this.#onToolStart(event.call, event.waiting, event.edits);
      case "tool.run":
        return this.send({
          sessionUpdate: "tool_call_update",
          toolCallId: event.callId,
          status: "in_progress",
        });
      case "tool.progress":
        return this.#onProgress(event.callId, event.text);
      case "tool.end":
        return this.#onToolEnd(event);
      case "ask.open":
        return this.asks.open(event.ask);
      case "ask.close":
        return this.asks.close(event.ask, event.outcome);
      case "status":
        return this.#onStatus(event.kind, event.text);
      case "session.change":
        return this.#onChange(event.what);
      case "session.rotated":
        return this.#onRotated(event.oldId);
      case "subagent":
        return this.#onSubagent(event);
      case "turn.end":
        return this.#onTurnEnd(event.turnId, event.result);
      // Not shown: they have no place on this wire, or their facts come with another event.
      case "usage":
        return this.#addCost(event.usage);
      case "step.start":
      case "tool.generating":
      case "steer.queued":
      case "steer.delivered":
        return;
      default:
        return assertNever(event);
    }
  }

  #addCost(usage: Usage): void {
    const model = this.session?.model;
    this.#addUsd(model ? this.connection.hermes.models.estimateCost(usage, model).usd : null);
  }

  #addUsd(usd: number | null): void {
    this.#cost = this.#cost === null || usd === null ? null : this.#cost + usd;
  }

  #closeMessages(): void {
    this.#text.close();
    this.#thought.close();
  }

  #onToolStart(call: ToolCallView, waiting: boolean, edits: readonly FileEdit[] = []): void {
    this.#closeMessages();
    this.#streamed = false;
    this.#openCalls.set(call.id, call);
    this.send(startUpdate(call, { waiting, builtin: this.isBuiltin(call.name), edits }));
  }

  /** The command of an open call runs in this terminal of the client. */
  showTerminal(callId: string, terminalId: string): void {
    if (!this.#openCalls.has(callId)) return;
    this.#shownIn.set(callId, terminalId);
    this.send({
      sessionUpdate: "tool_call_update",
      toolCallId: callId,
      content: [{ type: "terminal", terminalId }],
    });
  }

  #onProgress(callId: string, text: string): void {
    const call = this.#openCalls.get(callId);
    if (!call) return;
    const { startText } = call.description;
    const content = [...(startText ? [textContent(startText)] : []), textContent(text)];
    this.send({ sessionUpdate: "tool_call_update", toolCallId: callId, content });
  }

  #onToolEnd(event: Extract<CoreEvent, { type: "tool.end" }>): void {
    const builtin = this.isBuiltin(event.call.name);
    const announced = this.#openCalls.delete(event.call.id);
    if (!announced) this.#closeMessages();
    const terminalId = this.#shownIn.get(event.call.id);
    this.#shownIn.delete(event.call.id);
    this.send(announced ? endUpdate(event, builtin, terminalId) : wholeUpdate(event, builtin));
    if (event.todos) this.send(planUpdate(event.todos));
  }

  #onSubagent({ agent, step }: Extract<CoreEvent, { type: "subagent" }>): void {
    // The sum of the first level holds those below it.
    if (step.kind === "complete" && agent.depth === 0) this.#addUsd(step.result.costUsd);
    const update = this.#subagents.update(agent, step);
    if (update) this.send(update);
  }

  #onStatus(kind: Extract<CoreEvent, { type: "status" }>["kind"], text: string): void {
    switch (kind) {
      case "compacting":
        this.#beginCompaction();
        if (this.connection.client.notices) this.#notice(text, "info");
        return;
      case "retry":
        if (this.connection.client.notices) this.#notice(text, "info");
        return;
      case "lifecycle":
      case "warn":
        return this.report(text, "warning");
      case "error":
        return this.report(text, "error");
      default:
        return assertNever(kind);
    }
  }

  #onChange(what: SessionChange): void {
    switch (what) {
      case "title":
        return this.#sendInfo(false);
      case "model":
        this.sendConfigOptions();
        return this.sendUsage();
      case "effort":
        return this.sendConfigOptions();
      // `mode` is told by the method that changes it, the others are not on this wire.
      case "mode":
      case "cwd":
      case "yolo":
      case "tools":
      case "history":
      case "delegation":
      case "notices":
      case "closed":
        return;
      default:
        return assertNever(what);
    }
  }

  #onRotated(previousId: string): void {
    // `/compact` does not announce itself: its card begins where it ended.
    if (this.#compaction === null) this.#beginCompaction();
    this.#endCompaction("completed");
    this.#sendInfo(true, previousId);
  }

  #beginCompaction(): void {
    if (!this.connection.client.compaction) return;
    this.#endCompaction("failed");
    const compactionId = this.#compaction = this.connection.hermes.platform.ids.uuid();
    this.send({ sessionUpdate: "compaction_update", compactionId, status: "in_progress" });
  }

  #endCompaction(status: "completed" | "failed" | "cancelled"): void {
    const compactionId = this.#compaction;
    this.#compaction = null;
    if (compactionId !== null) this.send({ sessionUpdate: "compaction_update", compactionId, status });
  }

  #sendInfo(moved: boolean, previousId?: string): void {
    const session = this.session;
    if (!session) return;
    const { hermes } = this.connection;
    this.send({
      sessionUpdate: "session_info_update",
      title: session.title,
      updatedAt: new Date(hermes.platform.clock.now()).toISOString(),
      _meta: provenanceMeta(hermes, session, moved && previousId ? { previousId } : {}),
    });
  }

  #onTurnEnd(turnId: string, result: TurnResult): void {
    for (const callId of this.#openCalls.keys()) {
      this.send(failedUpdate(callId, "The turn ended before this call."));
    }
    this.#openCalls.clear();
    this.#shownIn.clear();
    for (const update of this.#subagents.close("The turn ended before this subagent.")) this.send(update);
    this.#endCompaction(result.outcome === "cancelled" ? "cancelled" : "failed");
    const isAnswer = result.outcome !== "cancelled" && result.outcome !== "failed";
    if (isAnswer && !this.#streamed && result.text) this.#raw(this.#text.frame(result.text));
    this.#closeMessages();
    if (result.warning) this.report(result.warning, "warning");
    this.prompts.onTurnEnd(turnId, result);
  }
}
