/** Subagents in the terminal: the JSON of `hermes run --json` and the lines of `chat` and of `run`'s progress. Pure. */
import type { SubagentStep, SubagentView } from "@/core/contract.ts";
import type { Paint } from "./paint.ts";
import { cut, withoutControls } from "./text_layout.ts";
import { seconds } from "./tool_lines.ts";

/** The fields of the event's line. */
export function subagentJson(agent: SubagentView, step: SubagentStep): Record<string, unknown> {
  return {
    phase: step.kind,
    subagent_id: agent.id,
    parent_id: agent.parentId,
    delegation_id: agent.delegationId,
    tool_call_id: agent.callId,
    task_index: agent.taskIndex,
    task_count: agent.taskCount,
    depth: agent.depth,
    goal: agent.goal,
    model: agent.model,
    toolsets: agent.toolsets,
    child_session_id: agent.childSessionId,
    tool_count: agent.toolCount,
    ...stepJson(step),
  };
}

function stepJson(step: SubagentStep): Record<string, unknown> {
  switch (step.kind) {
    case "spawn_requested":
    case "start":
      return {};
    case "thinking":
    case "text":
      return { text: step.text };
    case "tool":
      return { tool: step.toolName, preview: step.preview };
    case "progress":
      return { tools: step.tools };
    case "heartbeat":
      return { idle_seconds: step.idleSeconds, stale: step.stale };
    case "complete":
      return endJson(step.result);
  }
}

function endJson(result: Extract<SubagentStep, { kind: "complete" }>["result"]): Record<string, unknown> {
  return {
    status: result.status,
    exit_reason: result.exitReason,
    summary: result.summary,
    error: result.error,
    duration_seconds: result.durationSeconds,
    api_calls: result.apiCalls,
    input_tokens: result.usage.input + result.usage.cacheRead + result.usage.cacheWrite,
    output_tokens: result.usage.output,
    reasoning_tokens: result.usage.reasoning,
    cost_usd: result.costUsd,
    files_read: result.filesRead,
    files_written: result.filesWritten,
  };
}

/** One line for what a person wants to see of it; `null` for the rest. */
export function subagentLine(
  agent: SubagentView,
  step: SubagentStep,
  paint: Paint,
  width: number,
): string | null {
  const name = agent.taskCount === 1 ? "subagent" : `subagent ${agent.taskIndex + 1}/${agent.taskCount}`;
  const indent = "  ".repeat(agent.depth + 1);
  const room = width - indent.length - 2;
  const line = (mark: string, text: string) => `${indent}${mark} ${cut(withoutControls(text), room)}`;
  switch (step.kind) {
    case "start":
      return line(paint.cyan("◦"), `${name}: ${agent.goal}`);
    case "tool":
      return paint.dim(line("·", `${name}: ${[step.toolName, step.preview].filter(Boolean).join(" ")}`));
    case "heartbeat":
      return step.stale
        ? line(paint.yellow("!"), `${name}: nothing has happened for ${step.idleSeconds} s`)
        : null;
    case "complete": {
      const { status, error, durationSeconds } = step.result;
      const mark = status === "completed" ? paint.green("✓") : paint.red("✗");
      const why = error === null ? "" : `: ${error}`;
      return line(mark, `${name} ${status}, ${seconds(durationSeconds * 1000)}${why}`);
    }
    case "spawn_requested":
    case "thinking":
    case "text":
    case "progress":
      return null;
  }
}
