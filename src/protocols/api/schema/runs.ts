/** The bodies of `/v1/runs` and its controls (api-server.md B4.1, B4.5, B4.6). */
import type { Content, Message } from "@/core/contract.ts";
import { isObject, type JsonObject, readBool } from "../body.ts";
import { badRequest } from "../errors.ts";
import { checkSessionId } from "../session_headers.ts";
import { readContent } from "./content.ts";
import { readHistory, readInput, requirePrompt } from "./conversation.ts";
import { type ModelFields, readModelFields } from "./model.ts";

export interface RunRequest extends ModelFields {
  readonly prompt: Content;
  readonly earlier: readonly Message[];
  /** System and developer items of the input. */
  readonly system: readonly string[];
  readonly sessionId: string | null;
  /** `null` = those of the previous response, if there is one. */
  readonly instructions: string | null;
  readonly history: readonly Message[] | null;
  readonly previousResponseId: string | null;
  /** Whoever started it can answer questions. */
  readonly clarify: boolean;
}

export function readRunRequest(body: JsonObject): RunRequest {
  if (!body.input || (Array.isArray(body.input) && body.input.length === 0)) {
    throw badRequest("Missing 'input' field", null, "input");
  }
  const input = readInput(body.input);
  requirePrompt(input);
  if (input.prompt === null) throw badRequest("No user message found in input", null, "input");
  if (body.author !== undefined && body.author !== null && !isObject(body.author)) {
    throw badRequest("'author' must be an object", null, "author");
  }
  return {
    ...readModelFields(body),
    prompt: input.prompt,
    earlier: input.earlier,
    system: input.system,
    sessionId: readSessionId(body.session_id),
    instructions: readText(body.instructions, "instructions"),
    history: readHistory(body.conversation_history),
    previousResponseId: readText(body.previous_response_id, "previous_response_id"),
    clarify: readBool(body.clarify, false),
  };
}

function readSessionId(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "string") throw badRequest("'session_id' must be a string", null, "session_id");
  return checkSessionId(value);
}

/** `null` when absent or empty. */
export function readText(value: unknown, param: string): string | null {
  if (value === undefined || value === null || value === "") return null;
  if (typeof value !== "string") throw badRequest(`'${param}' must be a string`, null, param);
  return value;
}

const MAX_REQUEST_ID = 256;

/** Names one of several waiting requests; `null` when absent. Throws 400 with `code`. */
export function readRequestId(value: unknown, code: string): string | null {
  if (value === undefined || value === null) return null;
  if (typeof value !== "string" || value === "" || value.length > MAX_REQUEST_ID) {
    throw badRequest("request_id must be a non-empty string", code, "request_id");
  }
  return value;
}

/** The text of a steer; throws 400 `invalid_steer_input` when there is none. */
export function readSteer(body: JsonObject): string {
  const value = body.input ?? body.message ?? body.text;
  let content: Content;
  try {
    content = readContent(value, "input");
  } catch {
    throw badRequest("Steer text must be a string or text parts", "invalid_steer_input", "input");
  }
  const text = typeof content === "string"
    ? content
    : content.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n");
  if (text.trim() === "") throw badRequest("Steer text is empty", "invalid_steer_input", "input");
  return text.trim();
}
