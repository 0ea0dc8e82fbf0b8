/**
 * Shapes that several results and events share (tui-gateway.md B.0). Objects are open: a host must ignore members it
 * does not know, so that the gateway can add some.
 */
import * as z from "zod/mini";

const text = z.string();
const open = z.record(z.string(), z.unknown());

export const Usage = z.looseObject({
  model: z.optional(text),
  input: z.int(),
  output: z.int(),
  reasoning: z.optional(z.int()),
  prompt: z.optional(z.int()),
  completion: z.optional(z.int()),
  total: z.int(),
  calls: z.int(),
  context_used: z.optional(z.int()),
  context_max: z.optional(z.int()),
  context_percent: z.optional(z.int()),
  cache_read: z.optional(z.int()),
  cache_write: z.optional(z.int()),
  active_subagents: z.optional(z.int()),
  compressions: z.optional(z.int()),
  cost_usd: z.optional(z.number()),
  cost_status: z.optional(z.enum(["exact", "estimated"])),
});

export const McpServer = z.looseObject({
  name: text,
  transport: z.enum(["stdio", "http", "sse"]),
  tools: z.int(),
  connected: z.boolean(),
  status: z.enum(["configured", "connecting", "connected", "disabled", "failed"]),
  disabled: z.optional(z.boolean()),
});

export const SessionInfo = z.looseObject({
  model: text,
  provider: text,
  reasoning_effort: text,
  service_tier: text,
  fast: z.boolean(),
  approval_mode: z.enum(["manual", "smart", "off"]),
  yolo: z.boolean(),
  tools: z.record(z.string(), z.array(text)),
  skills: z.record(z.string(), z.array(text)),
  mcp_servers: z.array(McpServer),
  cwd: text,
  branch: text,
  personality: text,
  title: text,
  profile_name: text,
  running: z.boolean(),
  usage: Usage,
  version: text,
  release_date: text,
  update_behind: z.nullable(z.int()),
  update_command: text,
  desktop_contract: z.int(),
  credential_warning: z.optional(text),
  config_warning: z.optional(text),
  lazy: z.optional(z.literal(true)),
});

export const TranscriptMessage = z.looseObject({
  role: z.enum(["user", "assistant", "system", "tool"]),
  text: z.optional(text),
  name: z.optional(text),
  context: z.optional(text),
  row_id: z.optional(z.int()),
  timestamp: z.optional(z.number()),
  display_kind: z.optional(text),
  display_metadata: z.optional(open),
  reasoning: z.optional(text),
  tool_call_id: z.optional(text),
  args: z.optional(open),
});

export const OpenRequest = z.looseObject({
  id: text,
  method: z.enum(["approval", "clarify", "sudo", "secret"]),
  params: open,
});

/** An event of a session as it was sent. */
export const KeptEvent = z.looseObject({
  type: text,
  session_id: text,
  payload: z.optional(open),
  seq: z.int(),
});

export const Inflight = z.looseObject({ user: text, assistant: text, streaming: z.boolean() });

export const LivePayload = z.looseObject({
  session_id: text,
  session_key: text,
  message_count: z.int(),
  messages: z.array(TranscriptMessage),
  info: SessionInfo,
  running: z.boolean(),
  started_at: z.number(),
  status: z.enum(["idle", "starting", "waiting", "working", "streaming"]),
  inflight: z.optional(z.nullable(Inflight)),
  queued: z.optional(z.looseObject({ user: text })),
  open_requests: z.array(OpenRequest),
  resumed: z.optional(text),
});

export const ApprovalRequest = z.looseObject({
  request_id: text,
  command: text,
  description: text,
  pattern_key: text,
  pattern_keys: z.array(text),
  allow_permanent: z.boolean(),
  allow_session: z.optional(z.boolean()),
  choices: z.array(z.enum(["once", "session", "always", "deny"])),
  smart_denied: z.optional(z.boolean()),
  tool_name: z.optional(text),
  tool_id: text,
});

export const ProviderRow = z.looseObject({
  slug: text,
  name: text,
  is_current: z.boolean(),
  is_user_defined: z.boolean(),
  models: z.array(text),
  total_models: z.int(),
  source: text,
  authenticated: z.boolean(),
});

export const SpawnTree = z.looseObject({
  session_id: text,
  started_at: z.nullable(z.number()),
  finished_at: z.number(),
  label: text,
  subagents: z.array(z.unknown()),
});

/** What slash commands answer (D.1). */
export const Directive = z.looseObject({
  type: z.enum(["exec", "alias", "send", "skill", "prefill"]),
  name: z.optional(text),
  display: z.optional(text),
  output: z.optional(text),
  target: z.optional(text),
  arg: z.optional(text),
  message: z.optional(text),
  notice: z.optional(text),
  session_id: z.optional(text),
  stored_session_id: z.optional(text),
  value: z.optional(text),
  provider: z.optional(text),
  scope: z.optional(text),
  warning: z.optional(text),
});

/** By the name under which hosts get them. */
export const SHAPES = {
  Usage,
  McpServer,
  SessionInfo,
  TranscriptMessage,
  OpenRequest,
  KeptEvent,
  Inflight,
  LivePayload,
  ApprovalRequest,
  ProviderRow,
  SpawnTree,
  Directive,
} as const;
