/** Subagents among the events of a run (api-server.md B4.4): their beginning and their end, nothing in between. Pure. */
import type { SubagentStep, SubagentView } from "@/core/contract.ts";

type Fields = Readonly<Record<string, unknown>> & { readonly event: string };

const MAX_SUMMARY = 500;
const MAX_PREVIEW = 160;

export function subagentEvents(
  agent: SubagentView,
  step: SubagentStep,
  redact: (text: string) => string,
): Fields[] {
  if (step.kind !== "start" && step.kind !== "complete") return [];
  const common = {
    goal: redact(agent.goal),
    task_index: agent.taskIndex,
    task_count: agent.taskCount,
    subagent_id: agent.id,
    child_session_id: agent.childSessionId,
    delegation_id: agent.delegationId,
    parent_id: agent.parentId,
    depth: agent.depth,
    model: agent.model === "" ? null : agent.model,
    tool_count: agent.toolCount,
  };
  if (step.kind === "start") return [{ event: "subagent.start", ...withoutNulls(common) }];
  const { result } = step;
  const summary = redact(result.summary);
  const end = {
    status: result.status,
    summary: summary.slice(0, MAX_SUMMARY).toWellFormed(),
    preview: (summary || redact(result.error ?? "")).slice(0, MAX_PREVIEW).toWellFormed(),
    duration_seconds: result.durationSeconds,
    input_tokens: result.usage.input + result.usage.cacheRead + result.usage.cacheWrite,
    output_tokens: result.usage.output,
    reasoning_tokens: result.usage.reasoning,
    api_calls: result.apiCalls,
    cost_usd: result.costUsd,
    files_read: result.filesRead,
    files_written: result.filesWritten,
    output_tail: result.outputTail.map(({ tool, preview, isError }) => ({
      tool,
      preview: redact(preview),
      is_error: isError,
    })),
  };
  return [{ event: "subagent.complete", ...withoutNulls({ ...common, ...end }) }];
}

function withoutNulls(fields: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}
