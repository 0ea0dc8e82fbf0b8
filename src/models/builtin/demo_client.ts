/**
 * `builtin:demo`: a small rule-based model without any network (spec/README.md §4). It answers through the same
 * chunks as a real one: streamed words, thoughts, and real tool calls that the agent loop runs. It always says what
 * it is in its first answer of a session.
 */
import { isAbort } from "@/lib/abort.ts";
import {
  type Message,
  type ModelChunk,
  type ModelClient,
  type ModelRequest,
  type RawToolCall,
  type ResolvedModel,
  textOf,
  type ToolCall,
} from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { ABILITIES, type DemoCall, type DoneCall, findIntent, type Intent } from "./demo_rules.ts";
import { summarise } from "./demo_summary.ts";
import { estimatedUsage } from "./script_client.ts";

const NOTICE = "This is the built-in demo of hermes, a small set of rules and not an AI. ";
/** Pace of the stream: short answers flow, long ones take no longer than this in all. */
const WORD_MS = 6;
const WHOLE_MS = 2_000;

interface Reply {
  readonly thought: string;
  readonly text: string;
  readonly call: DemoCall | null;
}

export class DemoClient implements ModelClient {
  readonly info: ResolvedModel;
  readonly #platform: Platform;

  constructor(info: ResolvedModel, platform: Platform) {
    this.info = info;
    this.#platform = platform;
  }

  async *stream(
    request: ModelRequest,
    { signal }: { signal: AbortSignal },
  ): AsyncGenerator<readonly ModelChunk[]> {
    const reply = replyTo(request);
    try {
      yield* this.#words("reasoning", reply.thought, signal);
      yield* this.#words("text", reply.text, signal);
    } catch (error) {
      if (isAbort(error)) return;
      throw error;
    }
    if (signal.aborted) return;
    const toolCalls = reply.call ? [rawCall(reply.call, request)] : [];
    if (reply.call) yield [{ type: "tool_name", name: reply.call.name }];
    yield [{
      type: "done",
      finish: toolCalls.length > 0 ? "tool_calls" : "stop",
      toolCalls,
      usage: estimatedUsage(request, reply.text.length + reply.thought.length),
    }];
  }

  async *#words(
    type: "text" | "reasoning",
    text: string,
    signal: AbortSignal,
  ): AsyncGenerator<readonly ModelChunk[]> {
    const words = text.match(/\s*\S+\s*?(?=\s|$)|\s+$/g) ?? [];
    const perStep = Math.max(1, Math.ceil(words.length * WORD_MS / WHOLE_MS));
    for (let at = 0; at < words.length; at += perStep) {
      if (at > 0) await this.#platform.clock.delay(WORD_MS, { signal });
      if (signal.aborted) return;
      yield words.slice(at, at + perStep).map((word) => ({ type, text: word }));
    }
  }
}

/** Ids that never repeat in a conversation without any randomness: the place in the history. */
function rawCall(call: DemoCall, request: ModelRequest): RawToolCall {
  return { id: `demo_${request.messages.length}`, name: call.name, arguments: JSON.stringify(call.args) };
}

function replyTo(request: ModelRequest): Reply {
  const { messages } = request;
  const asked = messages.findLastIndex((message) => message.role === "user");
  const question = asked === -1 ? "" : textOf(messages[asked]!.content);
  const isFirst = !messages.some((message) => message.role === "assistant" && !message.toolCalls?.length);
  const answer = (text: string, thought = ""): Reply => ({
    thought,
    text: isFirst ? `${NOTICE}${text}` : text,
    call: null,
  });
  const recalled = recall(question, messages.slice(0, Math.max(0, asked)));
  if (recalled) return answer(recalled);
  const intent = findIntent(question);
  if (!intent) return answer(whatICanDo(isFirst));
  const done = doneCalls(messages.slice(asked + 1));
  const call = intent.next(done);
  if (call && !isOffered(call, request)) return answer(without(call, intent));
  if (call) {
    return done.length === 0
      ? { thought: intent.thought, text: intent.intro, call }
      : { thought: "", text: "", call };
  }
  return intent.answer === undefined ? answer(summarise(done)) : answer(intent.answer, intent.thought);
}

function isOffered(call: DemoCall, request: ModelRequest): boolean {
  return request.tools.some((tool) => tool.name === call.name);
}

function without(call: DemoCall, intent: Intent): string {
  if (intent.kind === "remember") {
    return "I keep it for this conversation: ask me “what do you remember?”. There is no memory tool here that outlives it.";
  }
  return `For that I would use the tool \`${call.name}\`, which is not offered to me here.`;
}

function whatICanDo(introduced: boolean): string {
  const opening = introduced
    ? "I understand a few plain requests:"
    : "I am only the built-in demo of hermes and do not understand that. I understand:";
  const list = ABILITIES.map((ability) => `- ${ability}`).join("\n");
  return `${opening}\n\n${list}\n\nFor a real model run \`hermes setup\`, or set a provider key.`;
}

/** "What do you remember?" is answered from the conversation itself. */
function recall(question: string, before: readonly Message[]): string | null {
  if (!/^\s*what (do|did) (you|i) (remember|ask|tell|say)/i.test(question)) return null;
  const facts = before.flatMap((message) => message.role === "user" ? [textOf(message.content).trim()] : [])
    .filter((text) => text !== "");
  if (facts.length === 0) return "Nothing yet: this is the beginning of our conversation.";
  return `In this conversation you said:\n\n${
    facts.slice(-10).map((fact) => `- ${fact.split("\n")[0]!.slice(0, 200)}`).join("\n")
  }`;
}

function doneCalls(messages: readonly Message[]): DoneCall[] {
  const calls = new Map<string, ToolCall>();
  const done: DoneCall[] = [];
  for (const message of messages) {
    if (message.role === "assistant") {
      for (const call of message.toolCalls ?? []) calls.set(call.id, call);
    }
    if (message.role !== "tool") continue;
    const call = calls.get(message.toolCallId);
    const text = textOf(message.content);
    done.push({
      name: call?.name ?? message.toolName,
      args: parseObject(call?.arguments ?? "") ?? {},
      result: parseObject(text),
      text,
    });
  }
  return done;
}

function parseObject(text: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? value as Record<string, unknown>
      : null;
  } catch {
    return null;
  }
}
