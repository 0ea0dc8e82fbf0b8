/**
 * The body of `POST /v1/chat/completions` (api-server.md B1.1, B1.2): read loosely, as generic clients send all
 * sorts of fields, and split into what a turn needs. Fields without effect are named, never refused.
 */
import type { Content, Message, ToolCall, ToolMessage, ToolSpec } from "@/core/contract.ts";
import { isObject, type JsonObject, readBool, readId } from "../body.ts";
import { badRequest } from "../errors.ts";
import { readClientTools } from "./client_tools.ts";
import { hasContent, readContent } from "./content.ts";
import { type ModelFields, readModelFields } from "./model.ts";

export interface ChatRequest extends ModelFields {
  /** System and developer texts in order, joined by a line break; empty when there are none. */
  readonly system: string;
  /** User and assistant messages before the prompt. */
  readonly history: readonly Message[];
  /** `null` when the messages end with results of the caller's tools. */
  readonly prompt: Content | null;
  readonly results: readonly ToolMessage[];
  readonly clientTools: readonly ToolSpec[];
  /** The first thing the user said in this conversation; the prompt itself when it is the first. */
  readonly opening: Content;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Body fields that have no effect here, for `X-Hermes-Ignored`. */
  readonly ignored: readonly string[];
}

export function readChatRequest(body: JsonObject): ChatRequest {
  const { system, conversation, loose } = readMessages(body.messages);
  const { history, prompt, results } = conversation.length === 0 && loose.length > 0
    ? { history: [], prompt: null, results: loose }
    : split(conversation);
  if (prompt !== null && !hasContent(prompt)) throw badRequest("No user message found in messages");
  const first = conversation.find((message) => message.role === "user");
  const model = readModelFields(body);
  const options = isObject(body.stream_options) ? body.stream_options : {};
  const tools = readClientTools(body);
  return {
    ...model,
    system,
    history,
    prompt,
    results,
    clientTools: tools.specs,
    opening: (first?.content as Content | undefined) ?? prompt ?? "",
    stream: readBool(body.stream, false),
    includeUsage: readBool(options.include_usage, false),
    ignored: tools.ignored,
  };
}

/** The prompt is the last thing the user said, unless tools of the caller have answered since. */
function split(
  conversation: readonly Message[],
): { history: Message[]; prompt: Content | null; results: ToolMessage[] } {
  const last = conversation.findLastIndex((message) => message.role === "user");
  const tail = conversation.findLastIndex((message) => message.role !== "tool");
  if (tail > last && tail < conversation.length - 1) {
    const results = conversation.slice(tail + 1) as ToolMessage[];
    return { history: conversation.slice(0, tail + 1), prompt: null, results };
  }
  const prompt = conversation[last]?.content as Content | undefined;
  return { history: conversation.slice(0, Math.max(0, last)), prompt: prompt ?? "", results: [] };
}

interface ReadMessages {
  readonly system: string;
  readonly conversation: Message[];
  /** Results of calls that are not among the messages: they may be in the transcript of a named session. */
  readonly loose: ToolMessage[];
}

function readMessages(value: unknown): ReadMessages {
  if (!Array.isArray(value) || value.length === 0) throw badRequest("Missing or invalid 'messages' field");
  const system: string[] = [];
  const conversation: Message[] = [];
  const loose: ToolMessage[] = [];
  const answered = new Set(value.flatMap((message) => isObject(message) ? [message.tool_call_id] : []));
  for (const [index, message] of value.entries()) {
    if (!isObject(message)) throw badRequest("Each message must be an object", null, `messages[${index}]`);
    const param = `messages[${index}].content`;
    switch (readId(message.role, 40)) {
      case "system":
      case "developer":
        system.push(textOnly(readContent(message.content, param)));
        break;
      case "user":
        conversation.push({ role: "user", content: readContent(message.content, param) });
        break;
      case "assistant":
        conversation.push(readAssistant(message, param, answered));
        break;
      case "tool": {
        const result = readResult(message, param, conversation);
        if (result) (result.toolName === "" ? loose : conversation).push(result);
        break;
      }
      default:
        break;
    }
  }
  return { system: system.filter((text) => text !== "").join("\n"), conversation, loose };
}

/** Calls that no result answers are left out: providers refuse them. */
function readAssistant(message: JsonObject, param: string, answered: ReadonlySet<unknown>): Message {
  const content = textOnly(readContent(message.content, param));
  const toolCalls = (Array.isArray(message.tool_calls) ? message.tool_calls : []).flatMap(readCall)
    .filter((call) => answered.has(call.id));
  if (toolCalls.length === 0) return { role: "assistant", content };
  return { role: "assistant", content: content === "" ? null : content, toolCalls };
}

function readCall(call: unknown): ToolCall[] {
  if (!isObject(call) || typeof call.id !== "string" || !isObject(call.function)) return [];
  const { name, arguments: args } = call.function;
  if (typeof name !== "string") return [];
  return [{ id: call.id, name, arguments: typeof args === "string" ? args : JSON.stringify(args ?? {}) }];
}

/** Without a name when its call is not in the conversation; `null` when it says of none. */
function readResult(message: JsonObject, param: string, before: readonly Message[]): ToolMessage | null {
  const { tool_call_id: id } = message;
  if (typeof id !== "string") return null;
  const call = before.findLast((earlier) => earlier.role === "assistant")
    ?.toolCalls?.find((call) => call.id === id);
  return {
    role: "tool",
    toolCallId: id,
    toolName: call?.name ?? "",
    content: readContent(message.content, param),
  };
}

function textOnly(content: Content): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n");
}
