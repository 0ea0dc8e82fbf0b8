/**
 * Conversations as `/v1/responses` and `/v1/runs` take them (api-server.md B2.1, B4.1): a string, or items, or a
 * `conversation_history`. Calls and their results come in pairs; what has lost its other half is left out, since no
 * provider takes it.
 */
import { type Content, type Message, textOf, type ToolMessage } from "@/core/contract.ts";
import { isObject, type JsonObject } from "../body.ts";
import { badRequest } from "../errors.ts";
import { hasContent, readContent } from "./content.ts";

export interface ReadInput {
  /** Texts of system and developer items, in order. */
  readonly system: readonly string[];
  /** Messages before the prompt. */
  readonly earlier: readonly Message[];
  /** `null` when the input ends with results of the caller's tools. */
  readonly prompt: Content | null;
  /** Results at the end of the input; those of calls that are not in the input may belong to the chain. */
  readonly results: readonly ToolMessage[];
}

const SKIPPED = new Set(["reasoning", "item_reference", "compaction"]);

/** Throws 400 for what cannot be read; `param` is the field's name. */
export function readInput(value: unknown, param = "input"): ReadInput {
  if (typeof value === "string") return split([], [{ role: "user", content: value }], []);
  if (!Array.isArray(value)) throw badRequest("'input' must be a string or array", null, param);
  const outputs = new Map<string, JsonObject>();
  for (const item of value) {
    if (isObject(item) && item.type === "function_call_output" && typeof item.call_id === "string") {
      outputs.set(item.call_id, item);
    }
  }
  const system: string[] = [];
  const messages: Message[] = [];
  value.forEach((item, i) => readItem(item, `${param}[${i}].content`, { system, messages, outputs }));
  // What is left has no call in this input.
  const loose = [...outputs].map(([id, item]) => resultOf(id, "", item));
  return split(system, messages, loose);
}

interface Reading {
  readonly system: string[];
  readonly messages: Message[];
  /** Results that have not met their call. */
  readonly outputs: Map<string, JsonObject>;
}

function readItem(item: unknown, param: string, into: Reading): void {
  if (typeof item === "string") return void into.messages.push({ role: "user", content: item });
  if (!isObject(item)) throw badRequest("Each input item must be a string or an object", null, param);
  const type = item.type === undefined ? "message" : typeof item.type === "string" ? item.type : "";
  if (type === "message") return readMessage(item, param, into);
  if (type === "function_call") return readCall(item, into);
  if (type === "function_call_output" || SKIPPED.has(type)) return;
  throw badRequest(
    `Input item type "${type.slice(0, 40)}" is not supported`,
    "unsupported_content_type",
    param,
  );
}

function readMessage(item: JsonObject, param: string, into: Reading): void {
  const role = typeof item.role === "string" ? item.role : "user";
  const content = readContent(item.content, param);
  if (role === "system" || role === "developer") {
    const text = textOf(content);
    if (text !== "") into.system.push(text);
  } else if (role === "assistant") into.messages.push({ role: "assistant", content: textOf(content) });
  else if (role === "user") into.messages.push({ role: "user", content });
}

function readCall(item: JsonObject, into: Reading): void {
  const { call_id: id, name } = item;
  if (typeof id !== "string" || typeof name !== "string") return;
  const output = into.outputs.get(id);
  if (!output) return;
  into.outputs.delete(id);
  const args = typeof item.arguments === "string" ? item.arguments : JSON.stringify(item.arguments ?? {});
  into.messages.push(
    { role: "assistant", content: null, toolCalls: [{ id, name, arguments: args }] },
    resultOf(id, name, output),
  );
}

function resultOf(toolCallId: string, toolName: string, item: JsonObject): ToolMessage {
  const { output } = item;
  const content = typeof output === "string" ? output : readContent(output, "input.output");
  return { role: "tool", toolCallId, toolName, content };
}

function split(system: readonly string[], messages: readonly Message[], loose: ToolMessage[]): ReadInput {
  const last = messages.findLastIndex((message) => message.role === "user");
  const tail = messages.findLastIndex((message) => message.role !== "tool");
  const results = messages.slice(tail + 1) as ToolMessage[];
  const endsWithResults = results.length > 0 && tail > last;
  if (endsWithResults || (loose.length > 0 && messages.length === 0)) {
    return { system, earlier: messages.slice(0, tail + 1), prompt: null, results: [...results, ...loose] };
  }
  const end = messages.at(-1);
  const isOpen = end?.role === "assistant" && !end.toolCalls && !hasContent(end.content ?? "");
  const prompt = isOpen ? "" : messages[last]?.content ?? "";
  return { system, earlier: messages.slice(0, Math.max(0, last)), prompt, results: [] };
}

export function requirePrompt(input: ReadInput): void {
  if (input.prompt !== null && !hasContent(input.prompt)) {
    throw badRequest("No user message found in input", null, "input");
  }
}

/** `null` when absent. Throws 400 unless it is a list of `{role, content}`. */
export function readHistory(value: unknown): readonly Message[] | null {
  if (value === undefined || value === null) return null;
  if (!Array.isArray(value)) {
    throw badRequest("'conversation_history' must be an array", null, "conversation_history");
  }
  return value.flatMap((entry, i): Message[] => {
    const param = `conversation_history[${i}]`;
    if (!isObject(entry) || typeof entry.role !== "string" || !("content" in entry)) {
      throw badRequest("Each entry needs 'role' and 'content'", null, param);
    }
    const content = readContent(entry.content, `${param}.content`);
    if (entry.role === "user") return [{ role: "user", content }];
    if (entry.role === "assistant") return [{ role: "assistant", content: textOf(content) }];
    return [];
  });
}
