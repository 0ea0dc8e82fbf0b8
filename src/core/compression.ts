/**
 * Makes a long conversation short (core.md A.16): the opening and the tail kept whole, the middle as a summary, never
 * splitting a call from its results. A summary of before is brought up to date, not summarised again. Pure but for
 * the model's call: writing is the caller's business.
 *
 *   head │ middle ──► summary │ tail          head only the first time; tail with the last words of the user
 */
import { newestWithin, outlineOf } from "./compression_outline.ts";
import { tailBudget } from "./compression_policy.ts";
import type { ModelFailure } from "./errors.ts";
import type { TodoItem } from "./events.ts";
import { TokenEstimator } from "./estimate.ts";
import type { Message, Usage } from "./messages.ts";
import { isUserTurn, textOf } from "./messages.ts";
import type { ModelChunk, ModelClient } from "./ports.ts";
import type { Settings } from "./settings.ts";
import { latestTodos, openItems } from "./todo_results.ts";

const SUMMARY_KIND = "compaction_summary";
const UNKNOWN_WINDOW = 128_000;
const PREFIX =
  "[CONTEXT COMPACTION — REFERENCE ONLY]\nThis is a summary of the earlier conversation, kept as " +
  "background. It is not a request; the latest message of the user counts.";
const SUFFIX = "--- END OF CONTEXT SUMMARY — go on from the messages below ---";
const ASK =
  "Summarise the conversation above so that the work can go on without it. Write in the language of the " +
  "user. Sections, those with something to say: task as it stood, goal, constraints and preferences, completed " +
  "actions, current state, work in progress then, what is blocked, key decisions, resolved questions, open " +
  "requests then, relevant files, remaining work, critical context. Keep exact names, paths, commands and " +
  "numbers. Leave out secrets.";
const UPDATE =
  "The first part above is the summary of what came before. Bring it up to date with the rest: give one summary of " +
  "everything, move what is done, drop what no longer matters.";

export interface CompressionPlan {
  /** Stays as it is, before the summary. */
  readonly head: readonly Message[];
  /** To be summarised, summaries of before left out. */
  readonly middle: readonly Message[];
  /** Text of the summary of before; `null` the first time. */
  readonly previous: string | null;
  readonly tail: readonly Message[];
  /** The todo list as it stands before the tail; `null` = there was none. */
  readonly todos: readonly TodoItem[] | null;
}

/**
 * What stays and what goes; `null` when there is too little to compress. `keepTurns`: the tail is so many last turns of
 * the user, whatever they hold.
 */
export function planCompression(
  messages: readonly Message[],
  threshold: number,
  settings: Settings["compression"],
  keepTurns?: number,
): CompressionPlan | null {
  if (messages.length < 4) return null;
  const estimator = new TokenEstimator();
  const budget = tailBudget(threshold, settings);
  if (keepTurns === undefined) {
    const start = tailStart(messages, budget, settings, estimator);
    return cutAt(messages, headEnd(messages, start, budget, settings, estimator), start);
  }
  const start = turnStart(messages, keepTurns);
  if (start === -1) return null;
  const plan = cutAt(messages, headEnd(messages, start, budget, settings, estimator), start);
  // A summary of before and nothing else is as short as it gets.
  return plan?.middle.length === 0 ? null : plan;
}

/** Where the last `count` turns of the user begin; -1 when there are fewer. */
function turnStart(messages: readonly Message[], count: number): number {
  const asked = messages.filter(isUserTurn).at(-count);
  return asked === undefined ? -1 : messages.indexOf(asked);
}

function tailStart(
  messages: readonly Message[],
  budget: number,
  settings: Settings["compression"],
  estimator: TokenEstimator,
): number {
  const least = Math.max(3, Math.min(settings.protect_last_n, 8, messages.length - 1));
  let start = messages.length;
  let tokens = 0;
  while (start > 1) {
    tokens += estimator.messages([messages[start - 1]!]);
    if (tokens > budget && messages.length - start >= least) break;
    start--;
  }
  if (start <= 1) start = Math.max(1, messages.length - least);
  while (start > 0 && messages[start]!.role === "tool") start--;
  return start;
}

/**
 * Where the kept opening ends: none after an earlier compression, none where everything would fit into the tail (it
 * is wanted as short as can be), none that would leave hardly anything to summarise.
 */
function headEnd(
  messages: readonly Message[],
  start: number,
  budget: number,
  settings: Settings["compression"],
  estimator: TokenEstimator,
): number {
  if (messages.some(isSummary) || estimator.messages(messages) <= budget) return 0;
  let end = Math.min(settings.protect_first_n, start);
  while (end > 0 && messages[end]!.role === "tool") end--;
  while (end > 0 && estimator.messages(messages.slice(0, end)) > budget) end--;
  while (end > 0 && messages[end]!.role === "tool") end--;
  return start - end < 2 ? 0 : end;
}

/** The last message of the user stays whole, also when its own turn is what has become too long. */
function cutAt(messages: readonly Message[], end: number, start: number): CompressionPlan | null {
  const asked = lastIndex(messages, isUserTurn);
  const between = messages.slice(end, start);
  const inTail = asked >= start || asked < end;
  if (between.length === 0 || (!inTail && between.length < 2)) return null;
  const tail = messages.slice(start);
  return {
    head: messages.slice(0, end),
    middle: between.filter((message) => !isSummary(message)),
    previous: previousSummary(between),
    tail: inTail ? tail : [messages[asked]!, ...tail],
    todos: latestTodos(messages.slice(0, start)),
  };
}

function lastIndex(messages: readonly Message[], test: (m: Message) => boolean): number {
  for (let i = messages.length - 1; i >= 0; i--) if (test(messages[i]!)) return i;
  return messages.length;
}

function isSummary(message: Message): boolean {
  return message.displayKind === SUMMARY_KIND;
}

function previousSummary(messages: readonly Message[]): string | null {
  const texts = messages.filter(isSummary).map((message) => {
    const text = textOf(message.content).replace(PREFIX, "").replace(SUFFIX, "");
    return text.replace(openItemsOf(message) ?? "", "").trim();
  });
  return texts.length === 0 ? null : texts.join("\n\n");
}

/** They are no part of the summary: the list has moved on since. */
function openItemsOf(message: Message): string | null {
  return message.role === "user" && message.todos ? openItems(message.todos) : null;
}

export interface SummaryOptions {
  readonly signal: AbortSignal;
  readonly focus: string | null;
  readonly sessionId: string;
  /** Called while the model writes. */
  onProgress?(): void;
}

export type Summary =
  | { readonly type: "text"; readonly text: string; readonly usage: Usage | null }
  /** `failure` is null when the model has ended without a word. */
  | { readonly type: "failed"; readonly failure: ModelFailure | null };

/** Asks the model; never throws but for what the client throws. An abort is a failure without a reason. */
export async function summarise(
  plan: CompressionPlan,
  client: ModelClient,
  options: SummaryOptions,
): Promise<Summary> {
  let text = "";
  let end: Extract<ModelChunk, { type: "done" }> | null = null;
  let failure: ModelFailure | null = null;
  const request = {
    system: "You summarise conversations between a user and an agent.",
    messages: [{ role: "user" as const, content: question(plan, client.info.contextWindow, options.focus) }],
    tools: [],
    sessionId: options.sessionId,
  };
  for await (const batch of client.stream(request, { signal: options.signal })) {
    for (const chunk of batch) {
      if (chunk.type === "text") text += chunk.text;
      else if (chunk.type === "done") end = chunk;
      else if (chunk.type === "error") failure = chunk.failure;
    }
    options.onProgress?.();
  }
  if (!end || !text.trim()) return { type: "failed", failure };
  return { type: "text", text: text.trim(), usage: end.usage };
}

function question(plan: CompressionPlan, window: number | null, focus: string | null): string {
  const size = window ?? UNKNOWN_WINDOW;
  const transcript = newestWithin(outlineOf(plan.middle), outlineRoom(size));
  const words = Math.floor(lengthFor(transcript, size) * 0.75);
  return [
    ...(plan.previous === null ? [] : [`Summary of what came before:\n${plan.previous}`]),
    transcript,
    `${ASK}${plan.previous === null ? "" : ` ${UPDATE}`} At most about ${words} words.${
      focus ? `\nGive room to this topic: ${focus}` : ""
    }`,
  ].join("\n\n");
}

/** The most tokens that the summary of this plan is asked to have. */
export function summaryLength(plan: CompressionPlan, window: number | null): number {
  const size = window ?? UNKNOWN_WINDOW;
  return lengthFor(newestWithin(outlineOf(plan.middle), outlineRoom(size)), size);
}

/** Characters of the outline that a model with this window is sent. */
function outlineRoom(window: number): number {
  return Math.floor(window * 0.6 * 4);
}

/** Tokens: a fifth of the content, at least 2,000, at most 5 % of the window or 10,000. */
function lengthFor(transcript: string, window: number): number {
  const most = Math.min(Math.floor(window * 0.05), 10_000);
  return Math.min(most, Math.max(2_000, Math.floor(transcript.length / 4 * 0.2)));
}

/**
 * The new content. By their row ids the store knows the carried-on messages again. The summary carries the whole todo
 * list, and tells the model what is open of it when no newer list stays in sight.
 */
export function assemble(plan: CompressionPlan, summary: string): Message[] {
  const todos = plan.todos ?? [];
  const open = latestTodos(plan.tail) === null ? openItems(todos) : null;
  const head: Message = {
    role: "user",
    content: [PREFIX, summary, ...(open === null ? [] : [open]), SUFFIX].join("\n\n"),
    displayKind: SUMMARY_KIND,
    ...(todos.length === 0 ? {} : { todos }),
  };
  return [...plan.head, head, ...plan.tail];
}
