/**
 * The body of `POST /v1/responses` (api-server.md B2.1): what the turn needs, and what the response object shows
 * again without effect. Read loosely; what cannot be honoured is named or refused, never half done.
 */
import type { Content, Message, ToolMessage, ToolSpec } from "@/core/contract.ts";
import { isObject, type JsonObject, readBool } from "../body.ts";
import { badRequest } from "../errors.ts";
import { readClientTools } from "./client_tools.ts";
import { readHistory, readInput, requirePrompt } from "./conversation.ts";
import { type ModelFields, readModelFields } from "./model.ts";
import { readText } from "./runs.ts";

export interface ResponseRequest extends ModelFields {
  /** `null` when the input ends with results of the caller's tools. */
  readonly prompt: Content | null;
  readonly results: readonly ToolMessage[];
  readonly earlier: readonly Message[];
  readonly system: readonly string[];
  /** `null` = those of the previous response, if there is one. */
  readonly instructions: string | null;
  readonly previousResponseId: string | null;
  readonly conversation: string | null;
  readonly history: readonly Message[] | null;
  readonly store: boolean;
  readonly stream: boolean;
  readonly truncation: "auto" | "disabled";
  readonly clientTools: readonly ToolSpec[];
  /** Slots of the response object that repeat the request. */
  readonly echo: Readonly<Record<string, unknown>>;
  readonly ignored: readonly string[];
}

export function readResponseRequest(body: JsonObject): ResponseRequest {
  if (body.input === undefined || body.input === null) {
    throw badRequest("Missing 'input' field", null, "input");
  }
  if (readBool(body.background, false)) {
    throw badRequest(
      "'background' is not supported here; use POST /v1/runs",
      "unsupported_parameter",
      "background",
    );
  }
  const input = readInput(body.input);
  requirePrompt(input);
  const previousResponseId = readText(body.previous_response_id, "previous_response_id");
  const conversation = readConversation(body.conversation);
  if (previousResponseId !== null && conversation !== null) {
    throw badRequest("'previous_response_id' and 'conversation' exclude each other", null, "conversation");
  }
  const model = readModelFields(withEffort(body));
  const clientTools = readClientTools(body);
  const truncation = body.truncation === "auto" ? "auto" : "disabled";
  return {
    ...model,
    prompt: input.prompt,
    results: input.results,
    earlier: input.earlier,
    system: input.system,
    instructions: readText(body.instructions, "instructions"),
    previousResponseId,
    conversation,
    history: readHistory(body.conversation_history),
    store: readBool(body.store, true),
    stream: readBool(body.stream, false),
    truncation,
    clientTools: clientTools.specs,
    echo: { ...echoOf(body), truncation, ...clientTools.echo },
    ignored: clientTools.ignored,
  };
}

/** `reasoning.effort` is another name for `model_options.reasoning_effort`. */
function withEffort(body: JsonObject): JsonObject {
  const effort = isObject(body.reasoning) ? body.reasoning.effort : undefined;
  return effort === undefined ? body : { ...body, reasoning_effort: body.reasoning_effort ?? effort };
}

function readConversation(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const name = isObject(value) ? value.id : value;
  if (typeof name === "string" && name.trim() !== "") return name;
  throw badRequest(
    "'conversation' must be a name or an object with an 'id'",
    "unsupported_parameter",
    "conversation",
  );
}

const NUMBERS = {
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
} as const;
const INTEGERS_OR_NULL = ["max_output_tokens", "max_tool_calls"] as const;
const TEXTS_OR_NULL = ["user", "safety_identifier", "prompt_cache_key"] as const;

function echoOf(body: JsonObject): Record<string, unknown> {
  const echo: Record<string, unknown> = {
    parallel_tool_calls: readBool(body.parallel_tool_calls, true),
    text: readFormat(body.text),
    reasoning: readReasoning(body.reasoning),
    service_tier: typeof body.service_tier === "string" ? body.service_tier : "default",
    metadata: readMetadata(body.metadata),
  };
  for (const [name, fallback] of Object.entries(NUMBERS)) {
    echo[name] = typeof body[name] === "number" ? body[name] : fallback;
  }
  for (const name of INTEGERS_OR_NULL) echo[name] = Number.isInteger(body[name]) ? body[name] : null;
  for (const name of TEXTS_OR_NULL) echo[name] = typeof body[name] === "string" ? body[name] : null;
  return echo;
}

/** A JSON schema is shown with all fields that the response object has for it. */
function readFormat(value: unknown): unknown {
  if (!isObject(value) || !isObject(value.format) || typeof value.format.type !== "string") {
    return { format: { type: "text" } };
  }
  const { format } = value;
  if (format.type !== "json_schema") return value;
  const { description, schema, strict } = format;
  return {
    ...value,
    format: {
      ...format,
      description: typeof description === "string" ? description : null,
      schema: isObject(schema) ? schema : null,
      strict: strict === true,
    },
  };
}

function readReasoning(value: unknown): unknown {
  if (!isObject(value)) return null;
  const text = (field: unknown) => typeof field === "string" ? field : null;
  return { effort: text(value.effort), summary: text(value.summary) };
}

function readMetadata(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
}
