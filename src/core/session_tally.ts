/**
 * What a session has used, and how large its next request is. Turns add their sums when they end; calls beside them
 * (summaries, titles, children in the background) one by one.
 */
import { localDay } from "./budgets.ts";
import type { ChildCall } from "./delegation_api.ts";
import { TokenEstimator } from "./estimate.ts";
import type { TurnResult } from "./events.ts";
import { addUsage, type Usage } from "./messages.ts";
import type { ResolvedModel, ToolSpec } from "./ports.ts";
import type { CoreServices } from "./services.ts";
import type { Transcript } from "./transcript.ts";

/** Characters of a prompt that is not built yet, about. */
const PROMPT_GUESS = 3_000;

export interface TallyOwner {
  readonly services: Pick<CoreServices, "models" | "platform">;
  readonly transcript: Transcript;
  readonly systemPrompt: string | null;
  toolSpecs(): readonly ToolSpec[];
}

export class SessionTally {
  readonly #owner: TallyOwner;
  readonly #estimator = new TokenEstimator();
  #usage: Usage;
  #calls: number;
  #lastPromptTokens: number | null = null;

  constructor(owner: TallyOwner, usage: Usage, calls: number) {
    this.#owner = owner;
    this.#usage = usage;
    this.#calls = calls;
  }

  get usage(): Usage {
    return this.#usage;
  }

  get calls(): number {
    return this.#calls;
  }

  /** A turn has ended. */
  add({ usage, apiCalls }: TurnResult): void {
    this.#usage = addUsage(this.#usage, usage);
    this.#calls += apiCalls;
  }

  notePrompt(tokens: number): void {
    this.#lastPromptTokens = tokens;
  }

  /** The next request has little to do with the last one. */
  forgetPrompt(): void {
    this.#lastPromptTokens = null;
  }

  /** Tokens of the next request: estimated, and never fewer than the last one had. */
  contextTokens(): number {
    const estimated = this.#estimator.messages(this.#owner.transcript.messages) + this.fixedTokens();
    return Math.max(estimated, this.#lastPromptTokens ?? 0);
  }

  /** Of them those that no compression makes fewer: prompt and tools. */
  fixedTokens(): number {
    const { systemPrompt } = this.#owner;
    return Math.ceil((systemPrompt?.length ?? PROMPT_GUESS) / 4) +
      this.#estimator.tools(this.#owner.toolSpecs());
  }

  /** A model call beside the turns (summary, title) counts like any other. */
  async countSideCall(usage: Usage, model: ResolvedModel): Promise<void> {
    this.#usage = addUsage(this.#usage, usage);
    this.#calls++;
    const { models, platform } = this.#owner.services;
    const cost = models.estimateCost(usage, model);
    const day = localDay(platform.clock.now());
    await this.#owner.transcript.addUsage(usage, model, { ...cost, day, seconds: 0 });
  }

  /**
   * A model call of a child adds to what this session has used; the child counts for the day. A call that a turn waits
   * for comes into the sums with the turn.
   */
  countChildCall({ usage, model, cost }: ChildCall, { inTurn }: { inTurn: boolean }): void {
    if (!inTurn) {
      this.#usage = addUsage(this.#usage, usage);
      this.#calls++;
    }
    void this.#owner.transcript.addUsage(usage, model, { ...cost, day: null, seconds: 0 });
  }
}
