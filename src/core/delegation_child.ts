/**
 * One child from order to result (core.md I.1): a session of its own with the task as its only message, told step by
 * step on its parent's stream. `run` never throws, and whatever ends it, the session is closed and `complete` told.
 */
import { LONGEST_TIMER_MS } from "@/lib/abort.ts";
import type {
  ChildCall,
  ChildResult,
  ChildTask,
  SubagentState,
  SubagentStep,
  SubagentView,
} from "./delegation_api.ts";
import type { Desk, NewChild, OrderingTurn, RunningChild } from "./delegation.ts";
import { rootOf } from "./delegation.ts";
import { childEnd, type StopReason } from "./delegation_end.ts";
import { ChildWatch, cut } from "./delegation_watch.ts";
import type { TurnResult } from "./events.ts";
import type { ModelChoice, ResolvedModel } from "./ports.ts";
import type { LiveSession } from "./session.ts";
import { NOBODY_TO_ASK } from "./session_api.ts";

const HEARTBEAT_MS = 30_000;
const STALE_MS = 450_000;
const STALE_IN_TOOL_MS = 1_200_000;
/** A shorter limit would end what has hardly begun. */
const LEAST_TIMEOUT_S = 30;
const GOAL_CHARS = 2_000;

const BRIEF =
  "You are a subagent. Another agent has given you one task and reads nothing but your last message. You know " +
  "nothing of its conversation beyond the task. Nobody can be asked: what needs an approval is refused, so find " +
  "another way or report it. Do the task, then answer with a report: what you did and found, which files you " +
  "changed, and what is left open.";

export interface ChildOrder {
  readonly parent: LiveSession;
  readonly turn: OrderingTurn;
  readonly callId: string;
  readonly delegationId: string;
  readonly task: ChildTask;
  readonly index: number;
  readonly count: number;
  readonly mayDelegate: boolean;
  /** Runs on when the turn has ended. */
  readonly detached: boolean;
}

export class Child implements RunningChild {
  readonly id: string;
  readonly rootId: string;
  readonly detached: boolean;
  readonly #desk: Desk;
  readonly #order: ChildOrder;
  readonly #controller = new AbortController();
  readonly #watch: ChildWatch;
  readonly #goal: string;
  readonly #startedAt: number;
  readonly #startedMs: number;
  #session: LiveSession | null = null;
  #resolved: ResolvedModel | null = null;
  #toolsets: readonly string[] = [];
  #stopped: StopReason | null = null;
  #ended = false;
  /** Its session is closed; it is only told of. */
  #left = false;
  /** False as soon as the price of one call is unknown. */
  #isPriced = true;
  #usd = 0;

  constructor(desk: Desk, order: ChildOrder) {
    const { platform, guard } = desk.services;
    this.#desk = desk;
    this.#order = order;
    this.id = `sa-${order.index}-${platform.ids.hex(8)}`;
    this.rootId = rootOf(order.parent).id;
    this.detached = order.detached;
    this.#goal = cut(guard.redact(order.task.goal, "terminal"), GOAL_CHARS);
    this.#startedAt = platform.clock.now() / 1000;
    this.#startedMs = platform.clock.monotonic();
    this.#watch = new ChildWatch({
      now: () => platform.clock.monotonic(),
      tell: (step) => this.#tell(step),
      pass: ({ agent, step }) => this.#publish({ type: "subagent", agent, step }),
      called: (usage) => this.#called(usage),
    });
  }

  get sessionId(): string | null {
    return this.#left ? null : this.#session?.id ?? null;
  }

  state(): SubagentState {
    return {
      ...this.#view(),
      startedAt: this.#startedAt,
      lastTool: this.#watch.lastTool,
      status: this.#stopped === null ? "running" : "stopping",
      sessionId: this.rootId,
    };
  }

  stop(reason: StopReason = "interrupted"): void {
    this.#stopped ??= reason;
    this.#controller.abort();
  }

  steer(text: string): boolean {
    return this.#stopped === null && !this.#ended && (this.#session?.steer(text) ?? false);
  }

  /** Ends with `signal`. `keep`, which never rejects, has the result before anybody hears that it has ended. */
  async run(signal: AbortSignal, keep?: (result: ChildResult) => Promise<void>): Promise<ChildResult> {
    const onAbort = () => this.stop();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) this.stop();
    this.#desk.add(this);
    this.#tell({ kind: "spawn_requested" });
    const stopTimers = this.#startTimers();
    let outcome: TurnResult | Error;
    try {
      outcome = await this.#work();
    } catch (error) {
      outcome = error instanceof Error ? error : new Error(String(error));
    } finally {
      stopTimers();
      signal.removeEventListener("abort", onAbort);
      this.#left = true;
    }
    const result = this.#result(outcome);
    await keep?.(result);
    this.#desk.remove(this);
    this.#watch.flush();
    this.#tell({ kind: "complete", result });
    return result;
  }

  async #work(): Promise<TurnResult> {
    const { services } = this.#desk;
    const { task } = this.#order;
    const { delegation } = services.settings();
    const choice = this.#choice();
    const model = this.#resolved = services.models.resolve(choice);
    const session = this.#session = await this.#desk.createChild(this.#newChild(model));
    const unsubscribe = session.hub.subscribe((event) => this.#watch.onEvent(event));
    try {
      this.#toolsets = [...new Set(session.tools().map((tool) => tool.toolset))];
      this.#tell({ kind: "start" });
      const content = task.context.trim() === "" ? task.goal : `${task.goal}\n\nContext:\n${task.context}`;
      return await session.submit({ content }, {
        asks: NOBODY_TO_ASK,
        model: choice,
        systemExtra: BRIEF,
        maxSteps: delegation.max_iterations,
        signal: this.#controller.signal,
        ...(delegation.subagent_auto_approve ? { approveOnce: true } : {}),
      }).done;
    } finally {
      this.#ended = true;
      unsubscribe();
      await session.close("agent_close").catch((error) => {
        services.log.warn(`The session of subagent ${this.id} was not closed: ${String(error)}`);
      });
    }
  }

  #newChild({ model, provider, baseUrl, apiMode }: ResolvedModel): NewChild {
    const { parent, turn, mayDelegate } = this.#order;
    const { reasoning_effort } = this.#desk.services.settings().delegation;
    return {
      model: { model, provider, baseUrl, apiMode },
      reasoningEffort: reasoning_effort || (turn.options.reasoningEffort ?? parent.reasoningEffort),
      link: {
        parent,
        subagentId: this.id,
        depth: this.#depth,
        mayDelegate,
        turnId: parent.child?.turnId ?? turn.id,
        counted: (call) => this.#count(call),
      },
    };
  }

  get #depth(): number {
    return (this.#order.parent.child?.depth ?? -1) + 1;
  }

  /** The configuration's model for children, else the one of the ordering turn. */
  #choice(): ModelChoice {
    const { model, provider, base_url, api_mode } = this.#desk.services.settings().delegation;
    const { parent, turn } = this.#order;
    const inherited = turn.options.model ?? parent.modelChoice;
    if (!model && !provider && !base_url) return inherited;
    const mode = api_mode ? { apiMode: api_mode } : {};
    // A model alone is one of the parent's provider.
    if (!provider && !base_url) {
      return { ...inherited, provider: turn.model.provider, baseUrl: turn.model.baseUrl, model, ...mode };
    }
    return {
      delegation: true,
      ...(model ? { model } : {}),
      ...(provider ? { provider } : {}),
      ...(base_url ? { baseUrl: base_url } : {}),
      ...mode,
    };
  }

  /** The function that ends them. */
  #startTimers(): () => void {
    const { child_timeout_seconds } = this.#desk.services.settings().delegation;
    const beat = setInterval(() => this.#beat(), HEARTBEAT_MS);
    const limitMs = Math.min(LONGEST_TIMER_MS, Math.max(LEAST_TIMEOUT_S, child_timeout_seconds) * 1000);
    const limit = child_timeout_seconds > 0 ? setTimeout(() => this.stop("timeout"), limitMs) : undefined;
    return () => {
      clearInterval(beat);
      clearTimeout(limit);
    };
  }

  #beat(): void {
    const { ms, inTool } = this.#watch.idle();
    const stale = ms >= (inTool ? STALE_IN_TOOL_MS : STALE_MS);
    this.#tell({ kind: "heartbeat", idleSeconds: Math.round(ms / 1000), stale });
  }

  // ── Telling ───────────────────────────────────────────────────────────────────────────────────────────────

  #tell(step: SubagentStep): void {
    this.#publish({ type: "subagent", agent: this.#view(), step });
  }

  #publish(body: Parameters<LiveSession["publish"]>[1]): void {
    const { parent, turn } = this.#order;
    // One that outlives its turn, in the background or because it would not end, is told outside of it.
    const isInTurn = !this.detached && parent.inflight()?.turnId === turn.id;
    parent.publish(isInTurn ? turn.id : "", body);
  }

  #view(): SubagentView {
    const { parent, delegationId, callId, index, count } = this.#order;
    return {
      id: this.id,
      parentId: parent.child?.subagentId ?? null,
      delegationId,
      callId,
      taskIndex: index,
      taskCount: count,
      goal: this.#goal,
      depth: this.#depth,
      model: this.#resolved?.model ?? "",
      toolsets: this.#toolsets,
      childSessionId: this.#session?.id ?? null,
      toolCount: this.#watch.toolCount,
    };
  }

  // ── Counting ──────────────────────────────────────────────────────────────────────────────────────────────

  #called(usage: ChildCall["usage"]): void {
    const model = this.#resolved;
    if (!model) return;
    this.#count({ usage, model, cost: this.#desk.services.models.estimateCost(usage, model) });
  }

  /** Its own calls and those below it add to the parent, and on upwards from there. */
  #count(call: ChildCall): void {
    const { parent, turn } = this.#order;
    if (call.cost.usd === null) this.#isPriced = false;
    else this.#usd += call.cost.usd;
    parent.tally.countChildCall(call, { inTurn: !this.detached });
    if (this.detached) parent.child?.counted(call);
    else turn.counted(call);
  }

  #result(outcome: TurnResult | Error): ChildResult {
    const { platform, guard } = this.#desk.services;
    const { index } = this.#order;
    return {
      taskIndex: index,
      subagentId: this.id,
      goal: this.#goal,
      ...childEnd(outcome, this.#stopped, (text) => guard.redact(text, "full")),
      durationSeconds: Math.round(platform.clock.monotonic() - this.#startedMs) / 1000,
      model: (outcome instanceof Error ? "" : outcome.model) || (this.#resolved?.model ?? ""),
      costUsd: this.#isPriced ? this.#usd : null,
      trace: this.#watch.trace,
      filesRead: this.#watch.filesRead,
      filesWritten: this.#watch.filesWritten,
      outputTail: this.#watch.outputTail,
    };
  }
}
