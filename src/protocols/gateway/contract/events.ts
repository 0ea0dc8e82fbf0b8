/** Payloads of the events (tui-gateway.md C); `null` = the event has none. */
import * as z from "zod/mini";
import { ApprovalRequest, SessionInfo, Usage } from "./shapes.ts";

const text = z.string();
const open = z.record(z.string(), z.unknown());
const call = { tool_name: z.optional(text), tool_id: z.optional(text) };
const said = z.looseObject({ text });
const agent = {
  goal: text,
  task_index: z.int(),
  task_count: z.int(),
  subagent_id: text,
  parent_id: z.nullable(text),
  delegation_id: text,
  depth: z.int(),
  tool_count: z.int(),
  model: z.optional(text),
  child_session_id: z.optional(text),
  toolsets: z.optional(z.array(text)),
};
/** Which limit ended a turn and what raises it. */
const Limit = z.looseObject({
  kind: z.enum(["iterations", "model_calls", "tokens", "usd", "seconds", "guardrail"]),
  setting: text,
  text,
});
const agentSaid = z.looseObject({ ...agent, text });
const expired = z.looseObject({ request_id: text });

export const EVENTS: Readonly<Record<string, z.ZodMiniType | null>> = {
  "gateway.ready": z.looseObject({
    skin: open,
    change_events: z.boolean(),
    replay_epoch: text,
    heartbeat: z.optional(z.boolean()),
    protocol: z.looseObject({ version: z.int() }),
    capabilities: z.record(z.string(), z.boolean()),
  }),
  "message.start": null,
  "thinking.delta": said,
  "reasoning.delta": said,
  "reasoning.available": said,
  "message.delta": said,
  "message.complete": z.looseObject({
    text,
    usage: Usage,
    status: z.enum(["complete", "interrupted", "error"]),
    reasoning: z.optional(text),
    warning: z.optional(text),
    error: z.optional(text),
    recoverable: z.optional(z.boolean()),
    failure_reason: z.optional(text),
    partial: z.optional(z.boolean()),
    "hermes.limit": z.optional(Limit),
    steer_requeued: z.optional(text),
  }),
  "tool.generating": z.looseObject({ name: text }),
  "tool.start": z.looseObject({
    tool_id: text,
    name: text,
    context: text,
    args: z.optional(open),
    args_text: z.optional(text),
  }),
  "tool.progress": z.looseObject({ name: text, preview: text, tool_id: text }),
  "tool.complete": z.looseObject({
    tool_id: text,
    name: text,
    args: open,
    result: z.unknown(),
    duration_s: z.optional(z.number()),
    summary: z.optional(text),
    error: z.optional(text),
    inline_diff: z.optional(text),
    result_text: z.optional(text),
    todos: z.optional(z.array(z.looseObject({
      id: text,
      content: text,
      status: z.enum(["pending", "in_progress", "completed", "cancelled"]),
    }))),
  }),
  "approval.request": ApprovalRequest,
  "clarify.request": z.looseObject({
    request_id: text,
    question: text,
    choices: z.nullable(z.array(text)),
    ...call,
  }),
  "sudo.request": z.looseObject({ request_id: text, command: text, ...call }),
  "secret.request": z.looseObject({
    request_id: text,
    env_var: text,
    prompt: text,
    metadata: z.optional(open),
    ...call,
  }),
  "approval.expire": expired,
  "sudo.expire": expired,
  "secret.expire": expired,
  "request.cancel": z.looseObject({
    id: text,
    method: z.enum(["approval", "clarify", "sudo", "secret"]),
    reason: z.enum(["timeout", "interrupted", "shutdown", "resolved", "session_closed"]),
  }),
  "session.info": SessionInfo,
  "session.title": z.looseObject({ session_id: text, title: text }),
  "status.update": z.looseObject({ kind: text, text }),
  "subagent.spawn_requested": z.looseObject(agent),
  "subagent.start": agentSaid,
  "subagent.thinking": agentSaid,
  "subagent.tool": z.looseObject({ ...agent, text, tool_name: text, tool_preview: text }),
  "subagent.progress": z.looseObject({ ...agent, text, stale: z.optional(z.boolean()) }),
  "subagent.complete": z.looseObject({
    ...agent,
    text,
    status: z.enum(["completed", "failed", "error", "timeout", "interrupted"]),
    summary: text,
    preview: text,
    duration_seconds: z.number(),
    input_tokens: z.int(),
    output_tokens: z.int(),
    reasoning_tokens: z.int(),
    api_calls: z.int(),
    files_read: z.array(text),
    files_written: z.array(text),
    output_tail: z.array(z.looseObject({ tool: text, preview: text, is_error: z.boolean() })),
    cost_usd: z.optional(z.number()),
    error: z.optional(text),
  }),
  "background.complete": z.looseObject({ task_id: text, text }),
  "skin.changed": open,
  "error": z.looseObject({ message: text }),
};
