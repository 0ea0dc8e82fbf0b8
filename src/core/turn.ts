/**
 * The agent loop: one user message to one outcome (core.md A.2–A.8, A.15). The one place that decides how a turn
 * ends. Nothing is thrown out of it; each end, whatever its cause, leaves a history that providers accept.
 *
 *   user row ─► ┌ model call ─► tool calls? ─► batch ─► steer ─┐ ─► answer row ─► turn.end
 *               └──────────────────────────────────────────────┘
 */
import { abortable, isAbort } from "@/lib/abort.ts";
import type { StreamRedactor } from "@/lib/stream_redact.ts";
import type { CallIds } from "./call_ids.ts";
import { parseArguments, storableArguments } from "./arguments.ts";
import { limitsMoney, type ReachedBudget, reachedBudget } from "./budgets.ts";
import { compressionThreshold } from "./compression_policy.ts";
import { DELEGATE_TOOL } from "./delegation_tools.ts";
import type { ModelFailure } from "./errors.ts";
import type { CoreEventBody, TurnOutcome, TurnResult } from "./events.ts";
import type { AssistantMessage, Content, Message, ToolCall, ToolMessage, Usage } from "./messages.ts";
import { seesImages } from "./eyes.ts";
import { Failover, type Resting } from "./failover.ts";
import { describeImages, hasImages, withoutImages, withTrueTypes } from "./inbound_images.ts";
import { NO_USAGE, promptTokens, textOf } from "./messages.ts";
import type { ModelAnswer } from "./model_call.ts";
import { callModel } from "./model_call.ts";
import type { ModelClient, ModelCost, RawToolCall, ResolvedModel, ToolSpec, UsageTotals } from "./ports.ts";
import { isHuge, rejectionMark, withoutRejected } from "./rejected_turns.ts";
import { repairForRequest } from "./request_repair.ts";
import { batchLimit, spillResult } from "./result_limits.ts";
import type { UserInput } from "./session_api.ts";
import { type Steering, withSteer } from "./steering.ts";
import { runToolCalls } from "./tool_calls.ts";
import { repairToolName } from "./tool_names.ts";
import type { Transcript } from "./transcript.ts";
import type { TurnScope } from "./turn_scope.ts";
import { TurnSpending } from "./turn_spending.ts";

/** What a turn is given; all of it lives at least as long as the turn. */
export interface TurnInput {
  readonly input: UserInput;
  readonly scope: TurnScope;
  readonly transcript: Transcript;
  readonly steering: Steering;
  readonly callIds: CallIds;
  /** The primary, then the fallbacks, each made when it is needed. */
  readonly client: ModelClient;
  readonly fallbacks: readonly (() => ModelClient)[];
  readonly resting: Resting;
  readonly toolSpecs: readonly ToolSpec[];
  /** Names among them that the caller executes; absent: none. */
  readonly clientTools?: ReadonlySet<string>;
  readonly systemPrompt: string;
  readonly history: readonly Message[] | null;
  readonly reasoningEffort: string | null;
  readonly maxTokens: number | null;
  /** `null` = no cap. */
  readonly maxSteps: number | null;
  backpressure(): Promise<void> | null;
  onShown(text: string, reasoning: string): void;
  readonly redactStream?: () => StreamRedactor;
  estimateCost(usage: Usage, model: ResolvedModel): ModelCost;
  /** What session and day have used, this turn included. */
  usageTotals(): { readonly session: UsageTotals; readonly day: UsageTotals };
  /** Tokens of the next request, estimated. */
  contextTokens(): number;
  /** Makes the history smaller; false when it cannot or must not now. */
  compact(client: ModelClient, cause: "overflow" | "automatic"): Promise<boolean>;
}

const SUMMARY_REQUEST =
  "You have used up the number of steps for this task. Do not call tools. Say what was done, " +
  "what was found and what is left to do.";
const NO_SUMMARY = "I reached the iteration limit and couldn't generate a summary.";
const EMPTY_NUDGE =
  "The tools have answered. Go on: use their results and give the answer, or call the next tool.";
const CONTINUE =
  "Your answer was cut off by the output limit. Continue exactly where it stopped, without repeating.";
const UNPRICED: ModelCost = { usd: null, status: "unknown", source: "none" };
const MAX_GROWTH = 4;
const MAX_COMPACTIONS = 3;
const PREFLIGHT_PASSES = 3;
const OUTPUT_CAP = 32_768;
/** Tools that only keep house: text that came with them may have been the answer (core.md A.8 "Empty"). */
const HOUSEKEEPING: ReadonlySet<string> = new Set(["todo", "memory", "skill_manage", "session_search"]);

interface Ending {
  readonly outcome: TurnOutcome;
  readonly text: string;
  readonly exitReason: string;
  readonly partial?: boolean;
  readonly failure?: ModelFailure;
  readonly clientCalls?: readonly ToolCall[];
}

/** Runs one turn to its end; never throws. */
export async function runTurn(turn: TurnInput): Promise<TurnResult> {
  const runner = new Turn(turn);
  return await runner.run();
}

class Turn {
  readonly #turn: TurnInput;
  readonly #scope: TurnScope;
  readonly #models: Failover;
  readonly #spent: TurnSpending;
  #toldUnpriced = false;
  #reasoning = "";
  #userRowId: number | null = null;
  #compactions = 0;
  #badNames = 0;
  #badJson = 0;
  #empty = 0;
  #growth = 0;
  /** Tokens of the answer that the output cap has cut last. */
  #cutAt = 0;
  /** Text that was shown with an answer that is asked for again. */
  #discarded = "";
  /** Text that came with the last batch, when that was only housekeeping. */
  #aside = "";
  #cleaned: { from: string; to: string } | null = null;
  /** The last model call does not count as a step. */
  #refunded = false;
  /** Parts of an answer that the output cap has cut. */
  #parts: string[] = [];
  /** Messages of this turn only; with `history` they follow it in requests. */
  #own: Message[] = [];
  /** For the next request only, never stored. */
  #nudge: string | null = null;

  constructor(turn: TurnInput) {
    this.#turn = turn;
    this.#scope = turn.scope;
    this.#spent = new TurnSpending(turn.scope.platform);
    this.#models = new Failover(turn.client, turn.fallbacks, turn.resting);
  }

  async run(): Promise<TurnResult> {
    let ending: Ending;
    try {
      await this.#begin();
      ending = await this.#loop();
    } catch (error) {
      ending = this.#crashed(error);
    }
    return await this.#end(ending);
  }

  async #begin(): Promise<void> {
    const { input } = this.#turn;
    if (input.results) return await this.#goOn(input.results);
    const user: Message = {
      role: "user",
      content: withTrueTypes(wellFormed(input.content)),
      timestamp: this.#now(),
      ...(input.displayText === undefined ? {} : { displayText: input.displayText }),
      ...(input.displayKind === undefined ? {} : { displayKind: input.displayKind }),
    };
    await this.#append([user]);
    this.#userRowId = user.rowId ?? null;
    const text = input.displayText ?? textOf(input.content);
    this.#publish({ type: "turn.start", text, userRowId: this.#userRowId });
    await this.#lookAtImages(user);
    if (this.#models.isAway) this.#tellFallback(`${this.#turn.client.info.model} is left alone for a while`);
    await this.#keepSmall(() => this.#turn.contextTokens(), PREFLIGHT_PASSES);
  }

  /** For a model that does not see: another one says first what the images show (core.md B.10). */
  async #lookAtImages(user: Message): Promise<void> {
    const { content } = user;
    const { eyes, settings, signal } = this.#scope;
    if (!eyes || content === null || !hasImages(content)) return;
    if (seesImages(this.#models.client.info, settings)) return;
    if (eyes.describer !== null) {
      this.#publish({ type: "status", kind: "lifecycle", text: `Looking at images with ${eyes.describer}` });
    }
    const described = await describeImages(content, eyes, signal).catch((error) => {
      if (isAbort(error)) return null; // The loop sees the cancel.
      throw error;
    });
    if (described === null) return;
    for (const problem of described.problems) {
      this.#publish({ type: "status", kind: "warn", text: this.#scope.guard.redact(problem, "full") });
    }
    const changed = await this.#turn.transcript.replaceContent(user, described.content);
    const at = this.#own.lastIndexOf(user);
    if (at !== -1) this.#own[at] = changed;
  }

  /** With what the caller's tools have given, instead of a message of the user. */
  async #goOn(results: readonly ToolMessage[]): Promise<void> {
    await this.#append(results.map((result) => ({ ...result, timestamp: this.#now() })));
    this.#publish({ type: "turn.start", text: "", userRowId: null });
    await this.#keepSmall(() => this.#turn.contextTokens(), PREFLIGHT_PASSES);
  }

  async #loop(): Promise<Ending> {
    const { maxSteps } = this.#turn;
    for (let step = 1; maxSteps === null || step <= maxSteps; step++) {
      if (this.#scope.signal.aborted) return await this.#interrupted(null);
      this.#publish({ type: "step.start", step });
      await this.#deliverSteer();
      const budget = this.#reachedBudget();
      const ending = budget ? await this.#outOfBudget(budget) : await this.#step();
      if (ending) return ending;
      if (this.#refunded) step--;
      this.#refunded = false;
    }
    const budget = this.#reachedBudget();
    return budget ? await this.#outOfBudget(budget) : await this.#summarise(maxSteps!);
  }

  #reachedBudget(): ReachedBudget | null {
    const { budgets } = this.#scope.settings;
    return reachedBudget(budgets, { prompt: this.#spent.totals(), kept: () => this.#turn.usageTotals() });
  }

  /** One model call and what follows from it; `null` = go on. */
  async #step(): Promise<Ending | null> {
    const answer = await this.#call(this.#turn.toolSpecs);
    if (answer.type === "cancelled") return await this.#interrupted(answer);
    if (answer.type === "failed") return await this.#failed(answer);
    if (answer.reasoning) this.#reasoning = this.#masked(answer.reasoning);
    if (answer.toolCalls.length > 0) return await this.#withTools(answer);
    if (answer.finish === "length") return await this.#cutOff(answer);
    if (answer.finish === "content_filter") return await this.#refused(answer);
    if (!answer.text.trim()) return await this.#emptyAnswer(answer);
    return await this.#answered(answer);
  }

  async #call(tools: readonly ToolSpec[], extra: string | null = null): Promise<ModelAnswer> {
    const nudge = extra ?? this.#nudge ?? (this.#parts.length > 0 ? CONTINUE : null);
    this.#nudge = null;
    const messages = [...this.#context()];
    if (this.#parts.length > 0) messages.push({ role: "assistant", content: this.#parts.join("") });
    if (nudge) messages.push({ role: "user", content: nudge });
    const alreadyShown = this.#discarded;
    this.#discarded = "";
    const answer = await callModel(this.#models.client, {
      system: this.#models.prompt(this.#turn.systemPrompt),
      messages: this.#asSeen(repairForRequest(messages)),
      tools,
      sessionId: this.#scope.sessionId,
      ...this.#maxTokens(),
      ...(this.#turn.reasoningEffort ? { reasoningEffort: this.#turn.reasoningEffort } : {}),
    }, {
      platform: this.#scope.platform,
      signal: this.#scope.signal,
      maxAttempts: (failure) => this.#models.attempts(failure, this.#scope.settings.agent.api_max_retries),
      alreadyShown,
      publish: (body) => this.#publish(body),
      ...(this.#turn.redactStream ? { redactStream: this.#turn.redactStream } : {}),
      backpressure: () => this.#turn.backpressure(),
      onShown: (text, reasoning) => this.#turn.onShown(text, reasoning),
    });
    this.#spent.sent(answer.attempts);
    if (answer.type === "done") await this.#record(answer.usage);
    return answer;
  }

  #asSeen(messages: readonly Message[]): readonly Message[] {
    return seesImages(this.#models.client.info, this.#scope.settings) ? messages : withoutImages(messages);
  }

  #maxTokens(): { maxTokens?: number } {
    const base = this.#turn.maxTokens;
    if (this.#growth === 0) return base === null ? {} : { maxTokens: base };
    const grown = Math.min(OUTPUT_CAP, (base ?? 4_096) * 2 ** this.#growth);
    return { maxTokens: Math.max(grown, 2 * this.#cutAt) };
  }

  #growAfter(answer: ModelAnswer): void {
    this.#growth++;
    this.#cutAt = answer.usage?.output ?? 0;
  }

  /** Every answered call counts, also where the provider tells no numbers. */
  async #record(usage: Usage | null): Promise<void> {
    const model = this.#models.client.info;
    const cost: ModelCost = usage ? this.#turn.estimateCost(usage, model) : UNPRICED;
    if (cost.usd === null) this.#warnUnpriced(model.model);
    const counted = this.#spent.answered(usage ?? NO_USAGE, cost);
    const adding = this.#turn.transcript.addUsage(usage ?? NO_USAGE, model, counted);
    await abortable(adding, this.#scope.signal).catch(() => {/* a cancel does not wait for a lock */});
    if (!usage) return;
    this.#publish({ type: "usage", usage, total: this.#spent.usage });
  }

  /** A limit on money that cannot see a call must not look as if it did. */
  #warnUnpriced(model: string): void {
    if (this.#toldUnpriced || !limitsMoney(this.#scope.settings.budgets)) return;
    this.#toldUnpriced = true;
    const text = `The price of ${model} is unknown: the usd budget does not count its calls`;
    this.#publish({ type: "status", kind: "warn", text });
  }

  // ── Tool calls ────────────────────────────────────────────────────────────────────────────────────────────

  async #withTools(answer: ModelAnswer): Promise<Ending | null> {
    if (this.#isCut(answer)) return await this.#cutCalls(answer);
    const raw = this.#repairNames(answer.toolCalls);
    if (this.#hasBadJson(raw) && this.#badJson < 3) {
      this.#badJson++;
      this.#discarded = answer.text;
      return null;
    }
    this.#badJson = 0;
    const wrong = raw.find((call) => !this.#scope.tools.has(call.name) && !this.#isClient(call));
    this.#badNames = wrong ? this.#badNames + 1 : 0;
    this.#aside = raw.every((call) => HOUSEKEEPING.has(call.name)) ? answer.text : "";
    const few = keepFew(raw, this.#scope.settings.delegation.max_concurrent_children);
    const calls = dropDuplicates(few).map((call, i) => this.#turn.callIds.assign(call, i));
    const stored = calls.map((call) => ({ ...call, arguments: storableArguments(call.arguments) }));
    await this.#appendAnswer(answer, stored);
    const asked = calls.filter((call) => this.#isClient(call));
    const results = await runToolCalls(
      asked.length === 0 ? calls : calls.filter((call) => !this.#isClient(call)),
      this.#scope,
    );
    for (const { usage, cost } of this.#scope.takeChildCalls?.() ?? []) this.#spent.byChild(usage, cost);
    this.#own.push(...results);
    await this.#bound(results);
    this.#empty = 0;
    this.#growth = 0;
    if (this.#scope.signal.aborted) return await this.#interrupted(null);
    if (wrong && this.#badNames >= 3) return await this.#wrongTool(wrong.name);
    const { halt } = this.#scope.guardrails;
    if (halt !== null) return await this.#halted(halt);
    if (asked.length === 0) {
      const { usage } = answer;
      const used = usage ? promptTokens(usage) + usage.output : 0;
      await this.#keepSmall(() => used || this.#turn.contextTokens(), 1);
      return null;
    }
    return {
      outcome: "completed",
      text: answer.text,
      exitReason: "client_tool_calls",
      clientCalls: stored.filter((call) => this.#isClient(call)),
    };
  }

  #isClient(call: { readonly name: string }): boolean {
    return this.#turn.clientTools?.has(call.name) ?? false;
  }

  /** Truncated arguments are never executed (core.md A.8). */
  #isCut(answer: ModelAnswer): boolean {
    if (answer.finish === "length") return true;
    return answer.toolCalls.some((call) => parseArguments(call.arguments).type === "truncated");
  }

  #hasBadJson(calls: readonly RawToolCall[]): boolean {
    return calls.some((call) => parseArguments(call.arguments).type === "invalid");
  }

  async #cutCalls(answer: ModelAnswer): Promise<Ending | null> {
    if (this.#growth < MAX_GROWTH) {
      this.#growAfter(answer);
      this.#discarded = answer.text;
      return null;
    }
    const text = [...this.#parts, answer.text].join("") ||
      "The output limit cut off a tool call again and again; it was not executed.";
    await this.#appendText(text, answer, "incomplete");
    return { outcome: "max_tokens", text, exitReason: "text_response(finish_reason=length)", partial: true };
  }

  #repairNames(calls: readonly RawToolCall[]): RawToolCall[] {
    const names = [...this.#scope.tools.keys(), ...this.#turn.clientTools ?? []];
    return calls.map((call) => ({ ...call, name: repairToolName(call.name, names) ?? call.name }));
  }

  async #wrongTool(name: string): Promise<Ending> {
    const text = `Model generated invalid tool call: ${name || "(empty name)"}`;
    await this.#appendText(text, null, "incomplete");
    const failure = this.#failure("invalid_response", text);
    return {
      outcome: "failed",
      text,
      exitReason: "all_retries_exhausted_no_response",
      partial: true,
      failure,
    };
  }

  /** The largest results of a batch go to files until the batch fits (core.md A.13). */
  async #bound(results: readonly ToolMessage[]): Promise<void> {
    const limit = batchLimit(this.#models.client.info.contextWindow);
    const sizes = results.map((message) => textOf(message.content).length);
    let total = sizes.reduce((a, b) => a + b, 0);
    const order = results.map((_, i) => i).sort((a, b) => sizes[b]! - sizes[a]!);
    for (const i of order) {
      if (total <= limit || sizes[i]! < 8_000) return;
      const message = results[i]!;
      if (message.toolName === "read_file") continue;
      const text = textOf(message.content);
      const short = await spillResult(this.#scope.platform, message.toolCallId, text);
      await this.#replace(message, short);
      total -= text.length - short.length;
    }
  }

  // ── Steering ──────────────────────────────────────────────────────────────────────────────────────────────

  async #deliverSteer(): Promise<void> {
    const last = this.#own.at(-1);
    if (last?.role !== "tool" || this.#turn.steering.empty) return;
    const text = this.#turn.steering.take()!;
    await this.#replace(last, withSteer(last.content, text));
    this.#publish({ type: "steer.delivered", text });
  }

  // ── Ends ──────────────────────────────────────────────────────────────────────────────────────────────────

  async #answered(answer: ModelAnswer): Promise<Ending> {
    const text = [...this.#parts, answer.text].join("");
    await this.#appendText(text, answer, answer.finish);
    return { outcome: "completed", text, exitReason: `text_response(finish_reason=${answer.finish})` };
  }

  /** The output cap cut the text: ask to go on with a larger cap, a few times (core.md A.8). */
  async #cutOff(answer: ModelAnswer): Promise<Ending | null> {
    if (answer.text.trim() && this.#growth < MAX_GROWTH - 1) {
      this.#parts.push(answer.text);
      this.#growAfter(answer);
      return null;
    }
    const joined = [...this.#parts, answer.text].join("");
    const text = joined ||
      "The whole output limit was spent on thinking; there is no answer. Raise model.max_tokens or lower the " +
        "reasoning effort.";
    await this.#appendText(text, answer, "length");
    return { outcome: "max_tokens", text, exitReason: "text_response(finish_reason=length)", partial: true };
  }

  async #refused(answer: ModelAnswer): Promise<Ending | null> {
    const failure = this.#failure("content_policy", "The provider's content filter refused the answer");
    if (!answer.text && this.#useFallback(failure)) return null;
    const text = answer.text || failure.message;
    await this.#appendText(text, answer, "content_filter");
    return { outcome: "refused", text, exitReason: "text_response(finish_reason=content_filter)", failure };
  }

  /** core.md A.8 "Empty": one nudge after tools, then retries, then the fallback, then an honest end. */
  async #emptyAnswer(answer: ModelAnswer): Promise<Ending | null> {
    this.#empty++;
    if (this.#parts.length > 0) return await this.#answered(answer);
    if (this.#aside) return await this.#answeredBefore(this.#aside, answer);
    if (this.#empty <= 3) {
      if (this.#empty === 1 && this.#own.at(-1)?.role === "tool") this.#nudge = EMPTY_NUDGE;
      return null;
    }
    const failure = this.#failure(
      "invalid_response",
      "The model gave an empty answer, also when asked again",
    );
    if (this.#useFallback(failure)) return null;
    return { outcome: "failed", text: "", exitReason: "empty_response_exhausted", failure };
  }

  /** The answer came with the last housekeeping calls and has been shown then. */
  async #answeredBefore(text: string, answer: ModelAnswer): Promise<Ending> {
    await this.#appendText(text, answer, "stop", false);
    return { outcome: "completed", text, exitReason: "fallback_prior_turn_content" };
  }

  async #failed(answer: ModelAnswer): Promise<Ending | null> {
    const failure = answer.failure!;
    if (answer.text) {
      const text = [...this.#parts, answer.text].join("");
      await this.#appendText(text, answer, "incomplete");
      return { outcome: "failed", text, exitReason: "partial_stream_recovery", partial: true, failure };
    }
    const tooLong = failure.kind === "context_overflow" || failure.kind === "payload_too_large";
    if (tooLong && await this.#compact()) return null;
    if (this.#scope.signal.aborted) return await this.#interrupted(answer);
    if (this.#useFallback(failure)) return null;
    const exitReason = "all_retries_exhausted_no_response";
    const text = this.#parts.join("");
    if (failure.status === 400 && text === "") await this.#leaveOut();
    if (text) await this.#appendText(text, answer, "incomplete");
    return { outcome: "failed", text, exitReason, partial: text !== "", failure };
  }

  /** In a huge session a turn that was refused as malformed would be refused again on every resume. */
  async #leaveOut(): Promise<void> {
    if (this.#turn.history) return;
    const messages = this.#turn.transcript.messages.length;
    if (isHuge({ tokens: this.#turn.contextTokens(), messages })) {
      await this.#append([rejectionMark(this.#now())]);
    }
  }

  async #compact(): Promise<boolean> {
    if (this.#compactions >= MAX_COMPACTIONS || !this.#mayCompact()) return false;
    this.#compactions++;
    this.#refunded = await this.#turn.compact(this.#models.client, "overflow");
    return this.#refunded;
  }

  #mayCompact(): boolean {
    return !this.#turn.history && this.#scope.settings.compression.enabled;
  }

  /** Compresses by itself while the conversation is over its threshold (core.md A.16). */
  async #keepSmall(tokens: () => number, passes: number): Promise<void> {
    if (!this.#mayCompact()) return;
    for (let pass = 0; pass < passes && !this.#scope.signal.aborted; pass++) {
      const { compression, model } = this.#scope.settings;
      const limit = compressionThreshold(
        this.#models.client.info.contextWindow,
        model.max_tokens,
        compression,
      );
      if (tokens() < limit) return;
      if (!await this.#turn.compact(this.#models.client, "automatic")) return;
    }
  }

  #useFallback(failure: ModelFailure): boolean {
    if (!this.#models.advance(failure)) return false;
    this.#tellFallback(failure.message);
    this.#empty = 0;
    return true;
  }

  #tellFallback(why: string): void {
    const { model, provider } = this.#models.client.info;
    const text = `${why} — going on with ${model} (${provider}) for this turn`;
    this.#publish({ type: "status", kind: "lifecycle", text });
  }

  async #outOfBudget(budget: ReachedBudget): Promise<Ending> {
    return await this.#stopped(budget.text, `budget_exhausted(${budget.key})`);
  }

  async #halted(why: string): Promise<Ending> {
    const text =
      `Stopped: the model was going in circles. ${why}. Say how to go on, or ask for something else.`;
    return await this.#stopped(text, "guardrail_halt");
  }

  /** A limit ends the turn: what was shown stays, and the limit says so itself. */
  async #stopped(why: string, exitReason: string): Promise<Ending> {
    const shown = this.#parts.join("");
    const told = shown ? `\n\n${why}` : why;
    this.#publish({ type: "text.delta", text: told });
    const text = shown + told;
    await this.#appendText(text, null, "incomplete");
    return { outcome: "max_turns", text, exitReason, partial: true };
  }

  async #summarise(max: number): Promise<Ending> {
    this.#parts = [];
    const answer = await this.#call([], SUMMARY_REQUEST);
    if (answer.type === "cancelled") return await this.#interrupted(answer);
    const text = answer.type === "done" && answer.text.trim() ? answer.text : NO_SUMMARY;
    await this.#appendText(text, answer, "stop");
    return { outcome: "max_turns", text, exitReason: `max_iterations_reached(${max}/${max})`, partial: true };
  }

  async #interrupted(answer: ModelAnswer | null): Promise<Ending> {
    this.#turn.steering.take();
    const shown = [...this.#parts, answer?.text ?? ""].join("");
    const seconds = Math.round((answer?.elapsedMs ?? 0) / 1000);
    const stored = shown ||
      (answer
        ? `Operation interrupted: waiting for model response (${seconds}s elapsed).`
        : "Operation interrupted.");
    await this.#appendText(stored, answer, "interrupted", shown !== "");
    const exitReason = answer ? "interrupted_during_api_call" : "interrupted_by_user";
    return { outcome: "cancelled", text: shown, exitReason, partial: shown !== "" };
  }

  #crashed(error: unknown): Ending {
    const message = error instanceof Error ? error.message : String(error);
    const failure = this.#failure("unknown", `Internal error: ${this.#scope.guard.redact(message, "full")}`);
    return { outcome: "failed", text: "", exitReason: "unknown", failure };
  }

  async #end(ending: Ending): Promise<TurnResult> {
    await abortable(this.#turn.transcript.flush(), this.#scope.signal).catch(
      () => {/* it goes on by itself */},
    );
    const warning = this.#turn.transcript.warning;
    const cost = this.#spent.cost();
    const { model, provider } = this.#models.client.info;
    const result: TurnResult = {
      outcome: ending.outcome,
      text: this.#clean(ending.text),
      reasoning: this.#reasoning,
      exitReason: ending.exitReason,
      partial: ending.partial ?? false,
      failure: ending.failure ?? null,
      usage: this.#spent.usage,
      apiCalls: this.#spent.calls,
      model,
      provider,
      pendingSteer: this.#turn.steering.take(),
      userRowId: this.#userRowId,
      ...(cost ? { cost } : {}),
      ...(warning ? { warning } : {}),
      ...(ending.clientCalls ? { clientCalls: ending.clientCalls } : {}),
    };
    return result;
  }

  // ── Rows ──────────────────────────────────────────────────────────────────────────────────────────────────

  async #appendAnswer(answer: ModelAnswer, calls: readonly ToolCall[]): Promise<void> {
    const text = [...this.#parts, answer.text].join("");
    this.#parts = [];
    const message = this.#assistant(text || null, answer, "tool_calls");
    await this.#append([{ ...message, toolCalls: calls }]);
    if (text) this.#publish({ type: "text.end", text: this.#clean(text), final: false });
  }

  async #appendText(
    text: string,
    answer: ModelAnswer | null,
    finishReason: string,
    shown = true,
  ): Promise<void> {
    await this.#append([this.#assistant(text, answer, finishReason)]);
    if (shown) this.#publish({ type: "text.end", text: this.#clean(text), final: true });
  }

  /** Without secrets, as it is stored and handed out. */
  #clean(text: string): string {
    if (this.#cleaned?.from !== text) {
      this.#cleaned = { from: text, to: this.#masked(text) };
    }
    return this.#cleaned.to;
  }

  #masked(text: string): string {
    return this.#scope.guard.redact(text, "terminal");
  }

  #assistant(text: string | null, answer: ModelAnswer | null, finishReason: string): AssistantMessage {
    return {
      role: "assistant",
      content: text === null ? null : this.#clean(text),
      finishReason,
      timestamp: this.#now(),
      ...(answer?.reasoning ? { reasoning: this.#masked(answer.reasoning) } : {}),
      ...(answer?.reasoningContent === undefined
        ? {}
        : { reasoningContent: this.#masked(answer.reasoningContent) }),
      // Signed by the provider: changed by one character it would be refused.
      ...(answer?.reasoningDetails ? { reasoningDetails: answer.reasoningDetails } : {}),
    };
  }

  async #append(messages: readonly Message[]): Promise<void> {
    this.#own.push(...messages);
    await this.#scope.store(messages);
  }

  async #replace(message: ToolMessage, content: ToolMessage["content"]): Promise<void> {
    const changed = await this.#turn.transcript.replaceContent(message, content);
    const at = this.#own.lastIndexOf(message);
    if (at !== -1) this.#own[at] = changed;
  }

  #context(): readonly Message[] {
    if (this.#turn.history) return [...this.#turn.history, ...this.#own];
    return withoutRejected(this.#turn.transcript.messages);
  }

  #failure(kind: ModelFailure["kind"], message: string): ModelFailure {
    const { model, provider } = this.#models.client.info;
    return { kind, message, model, provider, retryable: false };
  }

  #publish(body: CoreEventBody): void {
    this.#scope.publish(body);
  }

  #now(): number {
    return this.#scope.platform.clock.now() / 1000;
  }
}

/** Half characters are refused by providers. */
function wellFormed(content: Content): Content {
  if (typeof content === "string") return content.toWellFormed();
  return content.map((part) => part.type === "text" ? { ...part, text: part.text.toWellFormed() } : part);
}

/** At most `max` orders for children in one answer; the rest is left out (core.md A.7). */
function keepFew(calls: readonly RawToolCall[], max: number): readonly RawToolCall[] {
  let orders = 0;
  return calls.filter((call) => call.name !== DELEGATE_TOOL || ++orders <= max);
}

/** Exact repeats within one answer run once (core.md A.7). */
function dropDuplicates(calls: readonly RawToolCall[]): RawToolCall[] {
  const seen = new Set<string>();
  return calls.filter((call) => {
    const key = `${call.name}\n${call.arguments}`;
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
