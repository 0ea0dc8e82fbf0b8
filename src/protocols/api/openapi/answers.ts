/** Bodies that the server answers with, as shapes. Members that stand in every answer are required. */
import * as z from "zod/mini";
import { RUN_STATUSES } from "../run_status.ts";

const any = z.unknown();
const text = z.string();
const maybe = z.nullable(z.string());
const count = z.int().check(z.minimum(0));

export const ErrorBody = z.strictObject({
  error: z.looseObject({ message: text, type: text, param: maybe, code: maybe }),
});

export const Description = z.looseObject({
  openapi: text,
  info: z.looseObject({ title: text, version: text }),
  paths: z.record(text, z.looseObject({})),
});
export const Health = z.strictObject({ status: z.literal("ok"), platform: text, version: text });
export const DetailedHealth = z.looseObject({
  status: z.enum(["ok", "degraded"]),
  readiness: z.looseObject({ status: text, checks: z.record(text, z.looseObject({ status: text })) }),
  gateway_state: z.enum(["running", "draining"]),
  active_agents: count,
});

export const Model = z.looseObject({ id: text, object: z.literal("model"), created: count, owned_by: text });
export const ModelList = z.strictObject({ object: z.literal("list"), data: z.array(Model) });
export const ModelOptions = z.looseObject({
  providers: z.array(z.looseObject({})),
  model: text,
  provider: text,
});
export const Capabilities = z.looseObject({
  object: z.literal("hermes.api_server.capabilities"),
  model: text,
  features: z.looseObject({}),
  endpoints: z.record(text, z.strictObject({ method: text, path: text })),
});
export const NamedList = z.looseObject({
  object: z.literal("list"),
  data: z.array(z.looseObject({ name: text, description: text })),
});

/** `hermes.limit`: which limit ended the turn, the setting that raises it, and a sentence for people. */
const Limit = z.looseObject({
  kind: z.enum(["iterations", "model_calls", "tokens", "usd", "seconds", "guardrail"]),
  setting: text,
  text,
});
const Limited = z.optional(z.looseObject({ limit: z.optional(Limit) }));
/** Of a turn that is not whole. */
const Cut = z.optional(z.looseObject({
  completed: z.literal(false),
  partial: z.boolean(),
  failed: z.boolean(),
  error: text,
  error_code: z.enum([
    "output_truncated",
    "max_iterations",
    "budget_exhausted",
    "guardrail_halt",
    "content_filter",
    "agent_error",
  ]),
  limit: z.optional(Limit),
}));

const ChatUsage = z.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count });
export const ChatCompletion = z.looseObject({
  id: text,
  object: z.literal("chat.completion"),
  created: count,
  model: text,
  choices: z.array(z.looseObject({
    index: count,
    message: z.looseObject({ role: z.literal("assistant"), content: maybe, refusal: maybe }),
    finish_reason: z.enum(["stop", "length", "tool_calls", "content_filter", "error"]),
  })),
  usage: ChatUsage,
  hermes: Cut,
});
export const ChatChunk = z.looseObject({
  id: text,
  object: z.literal("chat.completion.chunk"),
  created: count,
  model: text,
  choices: z.array(z.looseObject({
    index: count,
    delta: z.looseObject({ content: z.optional(maybe) }),
    finish_reason: maybe,
  })),
});

export const ResponseObject = z.looseObject({
  id: text,
  object: z.literal("response"),
  created_at: count,
  status: z.enum(["in_progress", "completed", "incomplete", "failed"]),
  model: text,
  output: z.array(z.looseObject({ id: text, type: text })),
  error: z.nullable(z.looseObject({ code: text, message: text })),
  incomplete_details: z.nullable(z.looseObject({ reason: text })),
  hermes: Limited,
  instructions: maybe,
  previous_response_id: maybe,
  usage: z.nullable(z.looseObject({ input_tokens: count, output_tokens: count, total_tokens: count })),
  tools: z.array(any),
  metadata: z.looseObject({}),
  store: z.boolean(),
});
export const ResponseEvent = z.looseObject({ type: text, sequence_number: count });
export const ResponseDeleted = z.strictObject({
  id: text,
  object: z.literal("response"),
  deleted: z.literal(true),
});

const RunState = z.enum(RUN_STATUSES);
export const RunAccepted = z.strictObject({
  run_id: text,
  status: z.union([z.literal("started"), RunState]),
  replayed: z.boolean(),
});
export const Run = z.looseObject({
  object: z.literal("hermes.run"),
  run_id: text,
  status: RunState,
  created_at: z.number(),
  updated_at: z.number(),
  session_id: text,
  model: z.optional(text),
  last_event: z.optional(maybe),
  output: z.optional(text),
  error: z.optional(text),
  partial: z.optional(z.boolean()),
  turn_exit_reason: z.optional(text),
  hermes: Limited,
  pending_steer: z.optional(text),
  approval: z.optional(z.looseObject({ request_id: text, command: text, choices: z.array(text) })),
  clarify: z.optional(
    z.looseObject({ request_id: text, question: text, choices: z.nullable(z.array(text)) }),
  ),
  usage: z.optional(z.looseObject({ input_tokens: count, output_tokens: count, total_tokens: count })),
});
export const RunList = z.strictObject({
  object: z.literal("list"),
  data: z.array(Run),
  first_id: maybe,
  last_id: maybe,
  has_more: z.boolean(),
});
export const RunEvent = z.looseObject({
  event: text,
  run_id: text,
  timestamp: z.number(),
  seq: z.optional(count),
});
/** What a callback carries. */
export const RunCallbackEvent = z.strictObject({
  object: z.literal("event"),
  id: text,
  type: z.enum(["run.completed", "run.failed", "run.cancelled", "run.interrupted"]),
  created_at: count,
  data: Run,
});
export const RunStopped = z.union([z.strictObject({ run_id: text, status: z.literal("stopping") }), Run]);
export const Steered = z.strictObject({
  object: z.literal("hermes.run.steer"),
  run_id: text,
  accepted: z.literal(true),
});
export const Approved = z.strictObject({
  object: z.literal("hermes.run.approval_response"),
  run_id: text,
  choice: text,
  request_id: z.optional(text),
  resolved: count,
});
export const Clarified = z.strictObject({
  object: z.literal("hermes.run.clarify_response"),
  run_id: text,
  request_id: text,
  resolved: z.literal(1),
});

const Session = z.looseObject({
  id: text,
  source: text,
  title: maybe,
  model: maybe,
  started_at: z.number(),
  ended_at: z.nullable(z.number()),
  message_count: count,
  last_active: z.number(),
  preview: text,
});
export const SessionBody = z.strictObject({ object: z.literal("hermes.session"), session: Session });
export const SessionList = z.strictObject({
  object: z.literal("list"),
  data: z.array(Session),
  limit: count,
  offset: count,
  has_more: z.boolean(),
});
export const SessionDeleted = z.strictObject({
  object: z.literal("hermes.session.deleted"),
  id: text,
  deleted: z.literal(true),
});
export const MessageList = z.strictObject({
  object: z.literal("list"),
  session_id: text,
  data: z.array(
    z.looseObject({ role: text, content: z.nullable(z.union([text, z.array(z.looseObject({}))])) }),
  ),
  limit: count,
  offset: count,
  has_more: z.boolean(),
});
export const SessionAnswer = z.looseObject({
  object: z.literal("hermes.session.chat.completion"),
  session_id: text,
  message: z.strictObject({ role: z.literal("assistant"), content: text }),
  usage: z.looseObject({}),
});
export const SessionEvent = z.looseObject({ session_id: text, run_id: text, seq: count, ts: z.number() });

export const BrowserTicket = z.strictObject({
  protocol_version: z.literal(1),
  ticket: text,
  ticket_expires_at: z.number(),
  ticket_expires_in_seconds: z.number(),
  ws_path: text,
  scope: z.strictObject({
    principal_id: text,
    profile_id: text,
    session_id: text,
    controller_id: text,
    browser_profile_id: text,
    transport_family: z.enum(["local-api", "remote-api"]),
    capabilities: z.array(text),
  }),
});
