/**
 * Makes a long conversation short (core.md A.16): a summary of the middle, the tail kept whole, never splitting a
 * call from its results. Rotation is one transaction of the store: the old row ends as `compression`, a child row
 * carries on. A failure leaves everything as it was.
 */
import type { Message } from "./messages.ts";
import { isUserTurn, textOf } from "./messages.ts";
import type { ModelClient } from "./ports.ts";
import type { Settings } from "./settings.ts";
import { TokenEstimator } from "./estimate.ts";

const PREFIX =
  "[CONTEXT COMPACTION — REFERENCE ONLY]\nThis is a summary of the earlier conversation, kept as " +
  "background. It is not a request; the latest message of the user counts.";
const SUFFIX = "--- END OF CONTEXT SUMMARY — go on from the messages below ---";
const ASK =
  "Summarise the conversation above so that the work can go on without it. Write in the language of the " +
  "user. Sections: task, constraints and preferences, completed actions, current state, key decisions, open " +
  "questions, relevant files, remaining work. Keep exact names, paths, commands and numbers. Leave out secrets.";

export interface CompressionPlan {
  /** To be summarised. */
  readonly middle: readonly Message[];
  readonly tail: readonly Message[];
}

/** Where the tail begins; `null` when there is too little to compress. */
export function planCompression(
  messages: readonly Message[],
  window: number | null,
  settings: Settings["compression"],
): CompressionPlan | null {
  if (messages.length < 4) return null;
  const estimator = new TokenEstimator();
  const size = window ?? 256_000;
  const target = Math.floor(size * settings.threshold * Math.min(0.8, Math.max(0.1, settings.target_ratio)));
  const least = Math.max(3, Math.min(settings.protect_last_n, 8, messages.length - 1));
  let start = messages.length;
  let tokens = 0;
  while (start > 1) {
    tokens += estimator.messages([messages[start - 1]!]);
    if (tokens > target && messages.length - start >= least) break;
    start--;
  }
  if (start <= 1) start = Math.max(1, messages.length - least);
  while (start > 0 && messages[start]!.role === "tool") start--;
  return cutAt(messages, start);
}

/** The last message of the user stays whole, also when its own turn is what has become too long. */
function cutAt(messages: readonly Message[], start: number): CompressionPlan | null {
  const asked = lastIndex(messages, isUserTurn);
  const middle = messages.slice(0, start);
  if (asked >= start) return middle.length === 0 ? null : { middle, tail: messages.slice(start) };
  if (middle.length < 2) return null;
  return { middle, tail: [messages[asked]!, ...messages.slice(start)] };
}

function lastIndex(messages: readonly Message[], test: (m: Message) => boolean): number {
  for (let i = messages.length - 1; i >= 0; i--) if (test(messages[i]!)) return i;
  return messages.length;
}

function outline(message: Message): string {
  const text = textOf(message.content);
  const short = text.length > 4_000 ? `${text.slice(0, 3_000)}\n[…]\n${text.slice(-800)}` : text;
  if (message.role === "tool") return `tool ${message.toolName}: ${short.slice(0, 600)}`;
  const calls = message.role === "assistant"
    ? (message.toolCalls ?? []).map((c) => `\n→ ${c.name} ${c.arguments.slice(0, 500)}`).join("")
    : "";
  return `${message.role}: ${short}${calls}`;
}

/** Keeps the transcript of what is summarised within the model's window: newest parts win. */
function bounded(lines: readonly string[], window: number | null): string {
  const limit = Math.floor((window ?? 128_000) * 0.6 * 4);
  const kept: string[] = [];
  let size = 0;
  for (let i = lines.length - 1; i >= 0 && size < limit; i--) {
    kept.unshift(lines[i]!);
    size += lines[i]!.length;
  }
  return kept.join("\n\n");
}

/** The new content: summary, then the tail. `null` when the model gave no summary. */
export async function summarise(
  plan: CompressionPlan,
  client: ModelClient,
  options: {
    signal: AbortSignal;
    focus: string | null;
    sessionId: string;
    redact(text: string): string;
  },
): Promise<Message[] | null> {
  const transcript = bounded(plan.middle.map(outline), client.info.contextWindow);
  const focus = options.focus ? `\nGive room to this topic: ${options.focus}` : "";
  let summary = "";
  let done = false;
  const request = {
    system: "You summarise conversations between a user and an agent.",
    messages: [{ role: "user" as const, content: `${transcript}\n\n${ASK}${focus}` }],
    tools: [],
    sessionId: options.sessionId,
  };
  for await (const batch of client.stream(request, { signal: options.signal })) {
    for (const chunk of batch) {
      if (chunk.type === "text") summary += chunk.text;
      else if (chunk.type === "done") done = true;
    }
  }
  if (!done || !summary.trim()) return null;
  const head: Message = {
    role: "user",
    content: `${PREFIX}\n\n${options.redact(summary.trim())}\n\n${SUFFIX}`,
    displayKind: "compaction_summary",
  };
  // By their row ids the store knows the carried-on messages again, so that the transcript shows each once.
  return [head, ...plan.tail];
}
