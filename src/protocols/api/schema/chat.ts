/**
 * The body of `POST /v1/chat/completions` (api-server.md B1.1, B1.2): read loosely, as generic clients send all
 * sorts of fields, and split into what a turn needs. Fields without effect are named, never refused.
 */
import type { Content, Message } from "@/core/mod.ts";
import { isObject, type JsonObject, readBool, readId } from "../body.ts";
import { badRequest } from "../errors.ts";
import { hasContent, readContent } from "./content.ts";
import { type ModelFields, readModelFields } from "./model.ts";

export interface ChatRequest extends ModelFields {
  /** System and developer texts in order, joined by a line break; empty when there are none. */
  readonly system: string;
  /** User and assistant messages before the prompt. */
  readonly history: readonly Message[];
  readonly prompt: Content;
  /** The first thing the user said in this conversation; the prompt itself when it is the first. */
  readonly opening: Content;
  readonly stream: boolean;
  readonly includeUsage: boolean;
  /** Body fields that have no effect here, for `X-Hermes-Ignored`. */
  readonly ignored: readonly string[];
}

const IGNORED_FIELDS = ["tools", "tool_choice", "functions"];

export function readChatRequest(body: JsonObject): ChatRequest {
  const { system, conversation } = readMessages(body.messages);
  const last = conversation.findLastIndex((message) => message.role === "user");
  const prompt = conversation[last]?.content ?? "";
  if (!hasContent(prompt)) throw badRequest("No user message found in messages");
  const first = conversation.find((message) => message.role === "user");
  const model = readModelFields(body);
  const options = isObject(body.stream_options) ? body.stream_options : {};
  return {
    ...model,
    system,
    history: conversation.slice(0, last),
    prompt,
    opening: first?.content ?? prompt,
    stream: readBool(body.stream, false),
    includeUsage: readBool(options.include_usage, false),
    ignored: [...IGNORED_FIELDS.filter((name) => isGiven(body[name])), ...model.ignoredOptions],
  };
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function readMessages(value: unknown): { system: string; conversation: Message[] } {
  if (!Array.isArray(value) || value.length === 0) throw badRequest("Missing or invalid 'messages' field");
  const system: string[] = [];
  const conversation: Message[] = [];
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
        conversation.push({ role: "assistant", content: textOnly(readContent(message.content, param)) });
        break;
      default:
        // Tool and function results belong to tools that ran elsewhere.
        break;
    }
  }
  return { system: system.filter((text) => text !== "").join("\n"), conversation };
}

function textOnly(content: Content): string {
  if (typeof content === "string") return content;
  return content.flatMap((part) => part.type === "text" ? [part.text] : []).join("\n");
}
