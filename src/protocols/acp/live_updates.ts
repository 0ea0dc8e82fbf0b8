/**
 * Core events of one session as `session/update` frames (acp.md C11). It owns the open messages, the announced calls,
 * the cards of subagents and compactions, and the cost so far. Updates are written in the order of the events.
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
import type { SessionView } from "./view.ts";

export class LiveUpdates {
  readonly #view: SessionView;
  readonly #text: ChunkStream;
  readonly #thought: ChunkStream;
  readonly #subagents = new SubagentCards();
  /** Announced calls that have not ended; empty between turns. */
  readonly #openCalls = new Map<string, ToolCallView>();
  /** Client terminals that open calls are shown in, by call id. */
  readonly #shownIn = new Map<string, string>();
  /** True once the text of this turn's last answer has been streamed. */
  #streamed = false;
  /** A compaction that was announced and has not ended. */
  #compaction: string | null = null;
  #cost: number | null = null;
  /** Warnings that were told when they came up; the end of a turn may name one again. */
  readonly #warned = new Set<string>();

  constructor(view: SessionView) {
    this.#view = view;
    const newId = () => view.connection.hermes.platform.ids.uuid();
    this.#text = new ChunkStream(view.id, "agent_message_chunk", newId);
    this.#thought = new ChunkStream(view.id, "agent_thought_chunk", newId);
  }

  /** What the calls of this session have cost in US dollars; `null` as soon as the price of one is not known. */
  get cost(): number | null {
    return this.#cost;
  }

  /** What earlier calls of a stored conversation have cost is not kept. */
  begin(session: Session): void {
    this.#cost = session.history().length === 0 ? 0 : null;
  }

  isOpenCall(callId: string): boolean {
    return this.#openCalls.has(callId);
  }

  /** An empty chunk that keeps quiet lines open (acp.md C10 "Keep-alive"). */
  keepAlive(): void {
    this.#view.sendFrame(this.#text.frame(""));
  }

  /** Writes what one event means for the client; events come in their order. */
  render(event: CoreEvent): void {
    switch (event.type) {
      case "text.delta":
        this.#streamed = true;
        this.#thought.close();
        return this.#view.sendFrame(this.#text.frame(event.text));
      case "reasoning.delta":
        return this.#view.sendFrame(this.#thought.frame(event.text));
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
        return this.#view.send({
          sessionUpdate: "tool_call_update",
          toolCallId: event.callId,
          status: "in_progress",
        });
      case "tool.progress":
        return this.#onProgress(event.callId, event.text);
      case "tool.end":
        return this.#onToolEnd(event);
      case "ask.open":
        return this.#view.asks.open(event.ask);
      case "ask.close":
        return this.#view.asks.close(event.ask, event.outcome);
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
    const model = this.#view.session?.model;
    this.#addUsd(model ? this.#view.connection.hermes.models.estimateCost(usage, model).usd : null);
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
    const asks = waiting || this.#asksForChoice(call);
    this.#view.send(startUpdate(call, { waiting: asks, builtin: this.#view.isBuiltin(call.name), edits }));
  }

  /** A question with choices becomes a permission request for a client without forms (acp.md C8.4). */
  #asksForChoice({ name, args }: ToolCallView): boolean {
    if (name !== "clarify" || this.#view.connection.client.elicitationForm) return false;
    return Array.isArray(args["choices"]) && args["choices"].length > 0;
  }

  /** The command of an open call runs in this terminal of the client. */
  showTerminal(callId: string, terminalId: string): void {
    if (!this.#openCalls.has(callId)) return;
    this.#shownIn.set(callId, terminalId);
    this.#view.send({
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
    this.#view.send({ sessionUpdate: "tool_call_update", toolCallId: callId, content });
  }

  #onToolEnd(event: Extract<CoreEvent, { type: "tool.end" }>): void {
    const builtin = this.#view.isBuiltin(event.call.name);
    const announced = this.#openCalls.delete(event.call.id);
    if (!announced) this.#closeMessages();
    const terminalId = this.#shownIn.get(event.call.id);
    this.#shownIn.delete(event.call.id);
    this.#view.send(announced ? endUpdate(event, builtin, terminalId) : wholeUpdate(event, builtin));
    if (event.todos) this.#view.send(planUpdate(event.todos));
    this.#view.background.onToolEnd(event.call, event.result);
  }

  #onSubagent({ agent, step }: Extract<CoreEvent, { type: "subagent" }>): void {
    // The sum of the first level holds those below it.
    if (step.kind === "complete" && agent.depth === 0) this.#addUsd(step.result.costUsd);
    const update = this.#subagents.update(agent, step);
    if (update) this.#view.send(update);
  }

  #onStatus(kind: Extract<CoreEvent, { type: "status" }>["kind"], text: string): void {
    switch (kind) {
      case "compacting":
        this.#beginCompaction();
        if (this.#view.connection.client.notices) this.#view.notice(text, "info");
        return;
      case "retry":
        if (this.#view.connection.client.notices) this.#view.notice(text, "info");
        return;
      case "warn":
        this.#warned.add(text);
        return this.#view.report(text, "warning");
      case "lifecycle":
        return this.#view.report(text, "warning");
      case "error":
        return this.#view.report(text, "error");
      default:
        return assertNever(kind);
    }
  }

  #onChange(what: SessionChange): void {
    switch (what) {
      case "title":
        return this.#sendInfo(false);
      case "model":
        this.#view.sendConfigOptions();
        return this.#view.sendUsage();
      case "effort":
        return this.#view.sendConfigOptions();
      case "notices":
        return this.#view.onIdle();
      // `mode` is told by the method that changes it, the others are not on this wire.
      case "mode":
      case "cwd":
      case "yolo":
      case "tools":
      case "history":
      case "delegation":
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
    if (!this.#view.connection.client.compaction) return;
    this.#endCompaction("failed");
    const compactionId = this.#compaction = this.#view.connection.hermes.platform.ids.uuid();
    this.#view.send({ sessionUpdate: "compaction_update", compactionId, status: "in_progress" });
  }

  #endCompaction(status: "completed" | "failed" | "cancelled"): void {
    const compactionId = this.#compaction;
    this.#compaction = null;
    if (compactionId !== null) this.#view.send({ sessionUpdate: "compaction_update", compactionId, status });
  }

  #sendInfo(moved: boolean, previousId?: string): void {
    const session = this.#view.session;
    if (!session) return;
    const { hermes } = this.#view.connection;
    this.#view.send({
      sessionUpdate: "session_info_update",
      // `null` would clear what the client has got from the list (acp.md A5).
      ...(moved && session.title === null ? {} : { title: session.title }),
      updatedAt: new Date(hermes.platform.clock.now()).toISOString(),
      _meta: provenanceMeta(hermes, session, moved && previousId ? { previousId } : {}),
    });
  }

  #onTurnEnd(turnId: string, result: TurnResult): void {
    for (const callId of this.#openCalls.keys()) {
      this.#view.send(failedUpdate(callId, "The turn ended before this call."));
    }
    this.#openCalls.clear();
    this.#shownIn.clear();
    for (const update of this.#subagents.close("The turn ended before this subagent.")) {
      this.#view.send(update);
    }
    this.#endCompaction(result.outcome === "cancelled" ? "cancelled" : "failed");
    const isAnswer = result.outcome !== "cancelled" && result.outcome !== "failed";
    if (isAnswer && !this.#streamed && result.text) this.#view.sendFrame(this.#text.frame(result.text));
    this.#closeMessages();
    this.#tellWarning(result.warning);
    this.#view.prompts.onTurnEnd(turnId, result);
  }

  /** What could not be saved is told once until a turn ends without (acp.md D6). */
  #tellWarning(warning: string | undefined): void {
    if (!warning) return this.#warned.clear();
    if (this.#warned.has(warning)) return;
    this.#warned.add(warning);
    this.#view.report(warning, "warning");
  }
}
