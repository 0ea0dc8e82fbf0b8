/**
 * The desk of all subagents of a process (core.md I): which children run, who may stop or steer them, whether new
 * ones may start, and the way for a turn to order some. Light: what runs a child is loaded with the first order.
 */
import type {
  ChildCall,
  DelegationControl,
  DelegationOrder,
  DelegationReply,
  Delegator,
  LaterOutcome,
  LaterResult,
  SubagentState,
} from "./delegation_api.ts";
import type { ModelChoice, ResolvedModel } from "./ports.ts";
import type { CoreServices } from "./services.ts";
import type { LiveSession } from "./session.ts";
import type { SubmitOptions } from "./session_api.ts";
import type { Settings } from "./settings.ts";

/** How a session hangs on the one it works for. */
export interface ChildLink {
  readonly parent: LiveSession;
  readonly subagentId: string;
  /** 0 = first level. */
  readonly depth: number;
  readonly mayDelegate: boolean;
  /** The turn of the root that it works for. */
  readonly turnId: string;
  /** A model call in the tree below it, its own calls not among them. */
  counted(call: ChildCall): void;
}

export interface NewChild {
  readonly link: ChildLink;
  readonly model: ModelChoice;
  readonly reasoningEffort: string | null;
}

/** A running child as the desk knows it. */
export interface RunningChild {
  readonly id: string;
  /** The session at the root of its tree. */
  readonly rootId: string;
  /** Of its own session while that is open. */
  readonly sessionId: string | null;
  readonly detached: boolean;
  state(): SubagentState;
  stop(): void;
  steer(text: string): boolean;
}

/** The turn that orders children. */
export interface OrderingTurn {
  readonly id: string;
  readonly options: SubmitOptions;
  readonly model: ResolvedModel;
  /** Model calls of children that the turn waits for. */
  counted(call: ChildCall): void;
}

/** What the runner of children needs of this desk. */
export interface Desk {
  readonly services: CoreServices;
  /** Names this process in what is kept. */
  readonly owner: string;
  createChild(child: NewChild): Promise<LiveSession>;
  add(child: RunningChild): void;
  remove(child: RunningChild): void;
  detachedIn(sessionId: string): number;
}

export class Delegations implements DelegationControl, Desk {
  readonly services: CoreServices;
  readonly owner: string;
  readonly createChild: (child: NewChild) => Promise<LiveSession>;
  readonly #children = new Map<string, RunningChild>();
  #paused = false;

  constructor(services: CoreServices, createChild: (child: NewChild) => Promise<LiveSession>) {
    this.services = services;
    this.owner = `${services.platform.pid}-${services.platform.ids.hex(8)}`;
    this.createChild = createChild;
  }

  add(child: RunningChild): void {
    this.#children.set(child.id, child);
  }

  remove(child: RunningChild): void {
    this.#children.delete(child.id);
  }

  // ── Control ───────────────────────────────────────────────────────────────────────────────────────────────

  active(): readonly SubagentState[] {
    return [...this.#children.values()].map((child) => child.state());
  }

  get paused(): boolean {
    return this.#paused;
  }

  pause(on: boolean): void {
    this.#paused = on;
  }

  interrupt(subagentId: string): boolean {
    const child = this.#children.get(subagentId);
    child?.stop();
    return child !== undefined;
  }

  steer(sessionId: string, subagentId: string, text: string): boolean {
    const child = this.#children.get(subagentId);
    return child !== undefined && child.rootId === sessionId && child.steer(text);
  }

  isChild(sessionId: string): boolean {
    return [...this.#children.values()].some((child) => child.sessionId === sessionId);
  }

  detachedIn(sessionId: string): number {
    return [...this.#children.values()].filter((child) => child.detached && child.rootId === sessionId)
      .length;
  }

  // ── Results that come later ───────────────────────────────────────────────────────────────────────────────

  hasLater(headId: string): boolean {
    return this.services.delegations?.().hasWaiting(headId) ?? false;
  }

  async takeLater(headId: string): Promise<LaterResult | null> {
    return await this.services.delegations?.().take(headId, this.#now()) ?? null;
  }

  async settleLater(id: string, outcome: LaterOutcome): Promise<void> {
    await this.services.delegations?.().settle(id, outcome, this.#now());
  }

  #now(): number {
    return this.services.platform.clock.now() / 1000;
  }

  // ── Orders ────────────────────────────────────────────────────────────────────────────────────────────────

  /** What a turn of `session` may do with children; `null` where it may start none. */
  delegatorOf(session: LiveSession, turn: OrderingTurn): Delegator | null {
    const { max_spawn_depth } = this.services.settings().delegation;
    if (max_spawn_depth < 1 || session.child?.mayDelegate === false) return null;
    const below = () => this.#below(session);
    const find = (id: string) => below().find((child) => child.id === id);
    return {
      order: (order) => this.#order(session, turn, order),
      active: () => below().map((child) => child.state()),
      stop: (id) => {
        const child = find(id);
        child?.stop();
        return child !== undefined;
      },
      steer: (id, text) => find(id)?.steer(text) ?? false,
    };
  }

  async #order(session: LiveSession, turn: OrderingTurn, order: DelegationOrder): Promise<DelegationReply> {
    if (this.#paused) throw new Error("New subagents are paused by the user. Do the work yourself, or wait");
    const { max_concurrent_children } = this.services.settings().delegation;
    if (order.tasks.length > max_concurrent_children) {
      throw new Error(
        `${order.tasks.length} tasks are more than the ${max_concurrent_children} that may run at the same time ` +
          "(delegation.max_concurrent_children). Send fewer",
      );
    }
    const { runOrder } = await import("./delegation_run.ts");
    return await runOrder(this, session, turn, order);
  }

  /** Children in the tree below a session, however deep. */
  #below(session: LiveSession): readonly RunningChild[] {
    const all = [...this.#children.values()];
    if (!session.child) return all.filter((child) => child.rootId === session.id);
    const inside = new Set([session.child.subagentId]);
    // Children are started after their parents, and the map keeps that order.
    return all.filter((child) => {
      const { parentId } = child.state();
      if (parentId === null || !inside.has(parentId)) return false;
      inside.add(child.id);
      return true;
    });
  }
}

/** The session whose event stream shows a child. */
export function rootOf(session: LiveSession): LiveSession {
  let at = session;
  while (at.child) at = at.child.parent;
  return at;
}

/** A subagent knows its task only: no files of instructions, no memories (core.md I.1 "Child prompt"). */
export function settingsOf(session: LiveSession): Settings {
  const settings = session.services.settings();
  return session.child ? { ...settings, agent: { ...settings.agent, ignore_rules: true } } : settings;
}
