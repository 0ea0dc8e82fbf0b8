/**
 * Makes a history that every strict provider accepts (core.md A.1 "Request-time repair", FC-12): alternating
 * roles, every call answered exactly once and right after its call, in call order. Works on a copy; the history
 * itself is never changed here.
 */
import { inOneGo, type Steps } from "@/lib/slices.ts";
import type { AssistantMessage, Content, Message, ToolCall, ToolMessage, UserMessage } from "./messages.ts";
import { SortedArguments } from "./sorted_arguments.ts";

const STUB = "[Result unavailable: the call was interrupted before a result was recorded]";
/** Messages of one step. */
const STEP = 64;

/** The repaired copy; `sorted` remembers over requests. */
export function repairForRequest(
  history: readonly Message[],
  sorted: SortedArguments = new SortedArguments(),
): Message[] {
  return inOneGo(repairInSteps(history, sorted));
}

/** As `repairForRequest`, in steps: thousands of messages take tens of milliseconds. */
export function* repairInSteps(history: readonly Message[], sorted: SortedArguments): Steps<Message[]> {
  const paired = pairResults(history);
  yield;
  const merged = mergeAdjacent(mergeAdjacent(paired).filter((m) => !isThoughtOnly(m)));
  for (let at = 0; at < merged.length; at++) {
    if (at % STEP === 0) yield;
    merged[at] = withSortedArguments(withoutMargins(merged[at]!), sorted);
  }
  return merged;
}

function withSortedArguments(message: Message, sorted: SortedArguments): Message {
  if (message.role !== "assistant" || message.toolCalls === undefined) return message;
  const toolCalls = sorted.of(message.toolCalls);
  return toolCalls === message.toolCalls ? message : { ...message, toolCalls };
}

/** No space around texts and no half characters, which strict providers refuse; the message itself when it is sound. */
function withoutMargins(message: Message): Message {
  const { content } = message;
  if (typeof content !== "string") return message;
  const text = (content.isWellFormed() ? content : content.toWellFormed()).trim();
  return text === content ? message : { ...message, content: text };
}

function isThoughtOnly(message: Message): boolean {
  return message.role === "assistant" && !message.content?.trim() && !message.toolCalls?.length;
}

/** Each assistant message is followed by exactly one result per call, in call order; strays are left out. */
function pairResults(history: readonly Message[]): Message[] {
  const out: Message[] = [];
  for (let i = 0; i < history.length; i++) {
    const message = history[i]!;
    if (message.role === "tool") continue;
    if (message.role !== "assistant" || !message.toolCalls?.length) {
      out.push(message.role === "assistant" ? withoutEmptyCalls(message) : message);
      continue;
    }
    const results = new Map<string, ToolMessage>();
    for (let j = i + 1; j < history.length; j++) {
      const next = history[j]!;
      if (next.role === "tool" && !results.has(next.toolCallId)) results.set(next.toolCallId, next);
      else if (next.role !== "tool" && next.role !== "user") break;
      else if (next.role === "user" && !next.displayKind) break;
    }
    const calls = soundCalls(message.toolCalls);
    out.push(calls === message.toolCalls ? message : { ...message, toolCalls: calls });
    for (const call of calls) {
      out.push(
        results.get(call.id) ??
          { role: "tool", toolCallId: call.id, toolName: call.name, content: STUB, effect: "unknown" },
      );
    }
  }
  return out;
}

/** Each id once and no call without a name; the list itself when it is sound. */
function soundCalls(calls: readonly ToolCall[]): readonly ToolCall[] {
  const ids = new Set(calls.map((call) => call.id));
  if (ids.size === calls.length && calls.every((call) => call.name.trim() !== "")) return calls;
  return calls.filter((call) => ids.delete(call.id)).map((call) =>
    call.name.trim() === "" ? { ...call, name: "invalid_tool_call" } : call
  );
}

function withoutEmptyCalls(message: AssistantMessage): AssistantMessage {
  if (message.toolCalls === undefined) return message;
  const { toolCalls: _, ...rest } = message;
  return rest;
}

/** No two user and no two assistant messages in a row. */
function mergeAdjacent(messages: readonly Message[]): Message[] {
  const out: Message[] = [];
  for (const message of messages) {
    const last = out.at(-1);
    if (message.role === "user" && last?.role === "user") out[out.length - 1] = mergeUsers(last, message);
    else if (message.role === "assistant" && last?.role === "assistant" && !last.toolCalls?.length) {
      out[out.length - 1] = mergeAssistants(last, message);
    } else out.push(message);
  }
  return out;
}

function mergeUsers(a: UserMessage, b: UserMessage): UserMessage {
  return { role: "user", content: joinContent(a.content, b.content) };
}

function joinContent(a: Content, b: Content): Content {
  if (typeof a === "string" && typeof b === "string") return a && b ? `${a}\n${b}` : a + b;
  return [...asParts(a), ...asParts(b)];
}

function asParts(content: Content): Exclude<Content, string> {
  return typeof content === "string" ? (content ? [{ type: "text", text: content }] : []) : content;
}

function mergeAssistants(a: AssistantMessage, b: AssistantMessage): AssistantMessage {
  const content = [a.content, b.content].filter(Boolean).join("\n");
  return { ...b, content: content || null };
}
