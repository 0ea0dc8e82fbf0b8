/**
 * Steps of subagents as the `subagent.*` events of their session (tui-gateway.md C.5), and the running ones as rows of
 * `delegation.status`. Pure; what is not on this wire is `null`.
 */
import type { SubagentState, SubagentStep, SubagentView } from "@/core/contract.ts";

export interface WireEvent {
  readonly type: string;
  readonly payload: Record<string, unknown>;
}

const MAX_SUMMARY = 500;
const MAX_PREVIEW = 160;

export function renderSubagent(agent: SubagentView, step: SubagentStep): WireEvent | null {
  const common = commonOf(agent);
  switch (step.kind) {
    case "spawn_requested":
      return { type: "subagent.spawn_requested", payload: common };
    case "start":
      return { type: "subagent.start", payload: { ...common, text: agent.goal } };
    case "thinking":
      return { type: "subagent.thinking", payload: { ...common, text: step.text } };
    case "tool": {
      const text = step.preview === "" ? step.toolName : `${step.toolName}: ${step.preview}`;
      const tool = { tool_name: step.toolName, tool_preview: step.preview, preview: step.preview };
      return { type: "subagent.tool", payload: { ...common, ...tool, text } };
    }
    case "progress":
      return { type: "subagent.progress", payload: { ...common, text: step.tools.join(", ") } };
    case "heartbeat": {
      if (!step.stale) return null;
      const text = `Nothing has happened for ${step.idleSeconds} s; it may hang`;
      return { type: "subagent.progress", payload: { ...common, text, stale: true } };
    }
    case "complete":
      return { type: "subagent.complete", payload: { ...common, ...completion(step.result) } };
    case "text":
      return null; // its words come with the end
  }
}

function commonOf(agent: SubagentView): Record<string, unknown> {
  return {
    goal: agent.goal,
    task_index: agent.taskIndex,
    task_count: agent.taskCount,
    subagent_id: agent.id,
    parent_id: agent.parentId,
    depth: agent.depth,
    tool_count: agent.toolCount,
    delegation_id: agent.delegationId,
    ...(agent.model === "" ? {} : { model: agent.model }),
    ...(agent.childSessionId === null
      ? {}
      : { child_session_id: agent.childSessionId, toolsets: agent.toolsets }),
  };
}

function completion(result: Extract<SubagentStep, { kind: "complete" }>["result"]): Record<string, unknown> {
  const { usage } = result;
  const said = result.summary || result.error || "";
  return {
    status: result.status,
    summary: result.summary.slice(0, MAX_SUMMARY).toWellFormed(),
    preview: said.slice(0, MAX_PREVIEW).toWellFormed(),
    text: said.slice(0, MAX_SUMMARY).toWellFormed(),
    duration_seconds: result.durationSeconds,
    input_tokens: usage.input + usage.cacheRead + usage.cacheWrite,
    output_tokens: usage.output,
    reasoning_tokens: usage.reasoning,
    api_calls: result.apiCalls,
    files_read: result.filesRead,
    files_written: result.filesWritten,
    output_tail: result.outputTail.map(({ tool, preview, isError }) => ({
      tool,
      preview,
      is_error: isError,
    })),
    ...(result.costUsd === null ? {} : { cost_usd: result.costUsd }),
    ...(result.error === null ? {} : { error: result.error }),
  };
}

/** A row of `delegation.status` (B.16). */
export function renderActive(child: SubagentState): Record<string, unknown> {
  return {
    subagent_id: child.id,
    parent_id: child.parentId,
    depth: child.depth,
    goal: child.goal,
    model: child.model,
    started_at: child.startedAt,
    status: child.status,
    tool_count: child.toolCount,
    delegation_id: child.delegationId,
    ...(child.childSessionId === null ? {} : { child_session_id: child.childSessionId }),
    ...(child.lastTool === null ? {} : { last_tool: child.lastTool }),
  };
}
