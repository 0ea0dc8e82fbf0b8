/**
 * The model calls of one turn: what each request holds, what it has cost, and which model answers now. It owns the
 * failover chain of the turn (core.md A.11) and its spending; what follows from an answer is not its business.
 */
import { isAbort } from "@/lib/abort.ts";
import { inSlices } from "@/lib/slices.ts";
import { limitsMoney, type ReachedBudget, reachedBudget } from "./budgets.ts";
import type { ModelFailure } from "./errors.ts";
import { seesImages } from "./eyes.ts";
import { Failover } from "./failover.ts";
import { withoutImages } from "./inbound_images.ts";
import { type Message, NO_USAGE, type Usage } from "./messages.ts";
import { callModel, type ModelAnswer } from "./model_call.ts";
import type { ModelCost, ModelRequest, ResolvedModel, ToolSpec } from "./ports.ts";
import { dumpRequest } from "./request_dump.ts";
import { repairInSteps } from "./request_repair.ts";
import type { Draft } from "./turn_draft.ts";
import type { TurnImages } from "./turn_images.ts";
import type { TurnInput } from "./turn_input.ts";
import type { TurnRows } from "./turn_rows.ts";
import { TurnSpending } from "./turn_spending.ts";

const UNPRICED: ModelCost = { usd: null, status: "unknown", source: "none" };

export class TurnCalls {
  readonly models: Failover;
  readonly spent: TurnSpending;
  readonly #turn: TurnInput;
  readonly #rows: TurnRows;
  readonly #draft: Draft;
  readonly #images: TurnImages;
  #toldUnpriced = false;

  constructor(turn: TurnInput, rows: TurnRows, draft: Draft, images: TurnImages) {
    this.#turn = turn;
    this.#rows = rows;
    this.#draft = draft;
    this.#images = images;
    this.models = new Failover(turn.client, turn.fallbacks, turn.resting);
    this.spent = new TurnSpending(turn.scope.platform);
  }

  /** The model in force. */
  get model(): ResolvedModel {
    return this.models.client.info;
  }

  /** Whether the model in force looks at images itself. */
  get sees(): boolean {
    return seesImages(this.model, this.#turn.scope.settings);
  }

  /** One call with all its tries; `extra` is said to the model in this request only. */
  async call(tools: readonly ToolSpec[], extra: string | null = null): Promise<ModelAnswer> {
    const { scope, reasoningEffort, fast, redactStream } = this.#turn;
    const request: ModelRequest = {
      system: this.models.prompt(this.#turn.systemPrompt),
      messages: await this.#messages(extra),
      tools,
      sessionId: scope.sessionId,
      ...this.#draft.maxTokens(this.#turn.maxTokens),
      ...(reasoningEffort ? { reasoningEffort } : {}),
      ...(fast ? { fast } : {}),
      ...(this.#images.canTighten ? { shrinks: true } : {}),
    };
    const answer = await callModel(this.models.client, request, {
      platform: scope.platform,
      signal: scope.signal,
      maxAttempts: (failure, isMidStream) => this.#maxAttempts(failure, isMidStream),
      alreadyShown: this.#draft.takeDiscarded(),
      publish: (body) => scope.publish(body),
      ...(redactStream ? { redactStream } : {}),
      backpressure: () => this.#turn.backpressure(),
      onShown: (text, reasoning) => this.#turn.onShown(text, reasoning),
    });
    this.spent.sent(answer.attempts);
    if (answer.type === "done") {
      this.#turn.patience.answered();
      this.#record(answer.usage);
    }
    if (answer.failure && this.#turn.dumpsRequests) await dumpRequest(request, answer.failure, scope);
    return answer;
  }

  #maxAttempts(failure: ModelFailure, isMidStream: boolean): number {
    const { patience, scope } = this.#turn;
    const most = this.models.attempts(failure, scope.settings.agent.api_max_retries);
    return patience.attempts(failure, isMidStream, most);
  }

  async #messages(extra: string | null): Promise<readonly Message[]> {
    const nudge = this.#draft.takeNudge();
    const said = extra ?? nudge;
    const messages = [...this.#turn.prefill ?? [], ...this.#rows.context()];
    if (this.#draft.hasParts) messages.push({ role: "assistant", content: this.#draft.text });
    if (said) messages.push({ role: "user", content: said });
    const repaired = await inSlices(repairInSteps(messages, this.#turn.transcript.sorted));
    if (!this.sees) return withoutImages(repaired);
    // Cancelled meanwhile, the call ends before anything is sent.
    return await this.#images.fitAll(repaired).catch((error) => {
      if (isAbort(error)) return repaired;
      throw error;
    });
  }

  /** Every answered call counts, also where the provider tells no numbers. */
  #record(usage: Usage | null): void {
    const { scope, estimateCost } = this.#turn;
    const { model } = this;
    const cost: ModelCost = usage ? estimateCost(usage, model) : UNPRICED;
    if (cost.usd === null) this.#warnUnpriced(model.model);
    const counted = this.spent.answered(usage ?? NO_USAGE, cost);
    const total = this.spent.usage;
    this.#rows.count({ usage: usage ?? NO_USAGE, model, cost: counted }, () => {
      if (usage) scope.publish({ type: "usage", usage, total });
    });
  }

  /** A limit on money that cannot see a call must not look as if it did. */
  #warnUnpriced(model: string): void {
    const { scope } = this.#turn;
    if (this.#toldUnpriced || !limitsMoney(scope.settings.budgets)) return;
    this.#toldUnpriced = true;
    const text = `The price of ${model} is unknown: the usd budget does not count its calls`;
    scope.publish({ type: "status", kind: "warn", text });
  }

  /** The first limit that is reached; `null` = the turn may go on. */
  reachedBudget(): ReachedBudget | null {
    const { budgets } = this.#turn.scope.settings;
    return reachedBudget(budgets, { prompt: this.spent.totals(), kept: () => this.#turn.usageTotals() });
  }

  /** Goes on with the next model of the chain; false when there is none. */
  useFallback(failure: ModelFailure): boolean {
    if (!this.models.advance(failure)) return false;
    this.tellFallback(failure.message);
    this.#draft.empty = 0;
    return true;
  }

  tellFallback(why: string): void {
    const { model, provider } = this.model;
    const text = `${why} — going on with ${model} (${provider}) for this turn`;
    this.#turn.scope.publish({ type: "status", kind: "lifecycle", text });
  }

  /** A failure of the model in force that another try does not mend. */
  failure(kind: ModelFailure["kind"], message: string): ModelFailure {
    const { model, provider } = this.model;
    return { kind, message, model, provider, retryable: false };
  }
}
