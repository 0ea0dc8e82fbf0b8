/**
 * Carries out one order (core.md I.1 "Who waits"): its children side by side inside the turn, or in the background
 * with the results kept for a later turn. Loaded with the first order of a process.
 */
import type { ChildTask, DelegationOrder, DelegationReply } from "./delegation_api.ts";
import type { Desk, OrderingTurn } from "./delegation.ts";
import { Background } from "./delegation_background.ts";
import { Child } from "./delegation_child.ts";
import { boundAll } from "./delegation_summary.ts";
import type { LiveSession } from "./session.ts";

export async function runOrder(
  desk: Desk,
  session: LiveSession,
  turn: OrderingTurn,
  order: DelegationOrder,
): Promise<DelegationReply> {
  const { platform } = desk.services;
  const id = `deleg_${platform.ids.hex(8)}`;
  const notes: string[] = [];
  const roles = rolesOf(desk, session, order.tasks, notes);
  const make = (detached: boolean) =>
    order.tasks.map((task, index) =>
      new Child(desk, {
        parent: session,
        turn,
        callId: order.callId,
        delegationId: id,
        task,
        index,
        count: order.tasks.length,
        mayDelegate: roles[index] === "orchestrator",
        detached,
      })
    );
  if (wantsBackground(desk, session, turn, order, notes)) {
    const goals = order.tasks.map((task) => task.goal);
    if (await keepForLater(desk, session, id, goals)) {
      Background.of(session, desk).start(id, make(true));
      return { type: "dispatched", id, goals };
    }
    notes.push("The results could not have been kept for later, so the tasks ran inside this turn.");
  }
  const startedMs = platform.clock.monotonic();
  const results = await Promise.all(make(false).map((child) => child.run(order.signal)));
  return {
    type: "results",
    results: await boundAll(desk, session, id, results),
    seconds: Math.round(platform.clock.monotonic() - startedMs) / 1000,
    notes,
  };
}

function rolesOf(
  desk: Desk,
  session: LiveSession,
  tasks: readonly ChildTask[],
  notes: string[],
): readonly ChildTask["role"][] {
  const { max_spawn_depth, orchestrator_enabled } = desk.services.settings().delegation;
  const depth = (session.child?.depth ?? -1) + 1;
  const mayLead = orchestrator_enabled && depth + 1 < max_spawn_depth;
  if (!mayLead && tasks.some((task) => task.role === "orchestrator")) {
    notes.push("Subagents may not start others here, so all ran as leaves (delegation.max_spawn_depth).");
  }
  return tasks.map((task) => mayLead ? task.role : "leaf");
}

function wantsBackground(
  desk: Desk,
  session: LiveSession,
  turn: OrderingTurn,
  order: DelegationOrder,
  notes: string[],
): boolean {
  const possible = turn.options.detach === true && !session.child && desk.services.delegations !== undefined;
  if (!possible) {
    if (order.background === true) {
      notes.push("Nothing outlives the turn here, so the tasks ran inside of it.");
    }
    return false;
  }
  if (order.background === false) return false;
  const { max_concurrent_children: max } = desk.services.settings().delegation;
  const running = desk.detachedIn(session.id);
  if (running + order.tasks.length <= max) return true;
  notes.push(`${running} of ${max} background subagents run already, so these tasks ran inside this turn.`);
  return false;
}

/** False when it cannot be written: then nothing may be promised for later. */
async function keepForLater(
  desk: Desk,
  session: LiveSession,
  id: string,
  goals: readonly string[],
): Promise<boolean> {
  const { services, owner } = desk;
  const at = services.platform.clock.now() / 1000;
  try {
    await services.delegations!().insert({ id, sessionId: session.headId, goals, owner, at });
    return true;
  } catch (error) {
    services.log.warn(`A background delegation cannot be stored: ${String(error)}`);
    return false;
  }
}
