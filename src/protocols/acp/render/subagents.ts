/**
 * Subagents as cards of their own (acp.md C11): one per child, opened with its first step, changed in place, ended
 * with its last. It only draws; the call that ordered the child has its own card. At most 64 children per turn are
 * shown.
 */
import type { SubagentStep, SubagentView } from "@/core/contract.ts";
import type { SessionUpdate } from "../sdk.ts";
import { cut, oneLine } from "./text.ts";
import { failedUpdate, textContent } from "./tool_calls.ts";

const MAX_CARDS = 64;
const MAX_GOAL = 300;
const MAX_SUMMARY = 2_000;
/** Lines of what it did last. */
const MAX_LINES = 8;

interface Card {
  readonly lines: string[];
}

export class SubagentCards {
  readonly #open = new Map<string, Card>();
  #shown = 0;

  /** `null` = nothing to show. */
  update(agent: SubagentView, step: SubagentStep): SessionUpdate | null {
    const card = this.#open.get(agent.id);
    if (!card) {
      const isFirst = step.kind === "spawn_requested";
      return isFirst && this.#shown < MAX_CARDS ? this.#openCard(agent, step) : null;
    }
    const line = lineOf(step);
    if (line !== null) card.lines.push(line);
    if (card.lines.length > MAX_LINES) card.lines.shift();
    const isEnd = step.kind === "complete";
    if (isEnd) this.#open.delete(agent.id);
    else if (line === null && step.kind !== "heartbeat" && step.kind !== "start") return null;
    const text = isEnd ? endText(step.result) : [goalOf(agent), ...card.lines].join("\n");
    return {
      sessionUpdate: "tool_call_update",
      toolCallId: idOf(agent.id),
      status: !isEnd ? "in_progress" : step.result.status === "completed" ? "completed" : "failed",
      content: [textContent(text)],
      _meta: metaOf(agent, step),
    };
  }

  /** The ends of all that the turn has left open. */
  close(reason: string): SessionUpdate[] {
    const ends = [...this.#open.keys()].map((id) => failedUpdate(idOf(id), reason));
    this.#open.clear();
    this.#shown = 0;
    return ends;
  }

  #openCard(agent: SubagentView, step: SubagentStep): SessionUpdate {
    this.#shown++;
    this.#open.set(agent.id, { lines: [] });
    return {
      sessionUpdate: "tool_call",
      toolCallId: idOf(agent.id),
      title: agent.taskCount === 1 ? "Subagent" : `Subagent ${agent.taskIndex + 1} of ${agent.taskCount}`,
      kind: "other",
      status: "in_progress",
      content: [textContent(goalOf(agent))],
      _meta: metaOf(agent, step),
    };
  }
}

function idOf(id: string): string {
  return `hermes-subagent:${id}`;
}

function goalOf(agent: SubagentView): string {
  return oneLine(agent.goal, MAX_GOAL);
}

function lineOf(step: SubagentStep): string | null {
  switch (step.kind) {
    case "tool":
      return oneLine(step.preview === "" ? step.toolName : `${step.toolName}: ${step.preview}`, 120);
    case "text":
      return oneLine(step.text, 200);
    case "heartbeat":
      return step.stale ? `Nothing has happened for ${step.idleSeconds} s.` : null;
    case "spawn_requested":
    case "start":
    case "thinking":
    case "progress":
    case "complete":
      return null;
  }
}

function endText(result: Extract<SubagentStep, { kind: "complete" }>["result"]): string {
  const head = `${result.status}, ${result.durationSeconds.toFixed(1)} s`;
  const said = result.error === null ? result.summary : [result.error, result.summary].join("\n");
  return said.trim() === "" ? head : `${head}\n${cut(said.trim(), MAX_SUMMARY)}`;
}

function metaOf(agent: SubagentView, step: SubagentStep): { hermes: Record<string, unknown> } {
  const progress = {
    subagentId: agent.id,
    parentId: agent.parentId,
    toolCallId: agent.callId,
    taskIndex: agent.taskIndex,
    taskCount: agent.taskCount,
    depth: agent.depth,
    model: agent.model,
    toolCount: agent.toolCount,
    phase: step.kind,
    ...(agent.childSessionId === null ? {} : { childSessionId: agent.childSessionId }),
    ...(step.kind === "complete"
      ? { status: step.result.status, durationSeconds: step.result.durationSeconds }
      : {}),
  };
  return { hermes: { subagentProgress: progress } };
}
