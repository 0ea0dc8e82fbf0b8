/**
 * The answer in the making (core.md A.8): what earlier calls of the turn have left that the next one has to know. Parts
 * that the output cap has cut, how often it was raised, what was shown and is asked for again. It lives as long as the
 * turn; a batch of tool calls ends an answer and begins the next one.
 */
import type { ModelAnswer } from "./model_call.ts";

const CONTINUE =
  "Your answer was cut off by the output limit. Continue exactly where it stopped, without repeating.";
const OUTPUT_CAP = 32_768;
const BASE_TOKENS = 4_096;
/** Between texts that are shown as one. */
export const BLANK_LINE = "\n\n";

export class Draft {
  #parts: string[] = [];
  /** Times the output cap was raised. */
  #growth = 0;
  /** Tokens of the answer that the output cap has cut last. */
  #cutAt = 0;
  /** For the next request only, never stored. */
  #nudge: string | null = null;
  /** Text that was shown with an answer that is asked for again. */
  #discarded = "";
  /** Text that came with the last batch, when that was only housekeeping. */
  aside = "";
  /** Empty answers in a row. */
  empty = 0;
  /** Answers of this turn that only announced something. */
  announcements = 0;

  get growth(): number {
    return this.#growth;
  }

  /** The parts so far. */
  get text(): string {
    return this.#parts.join("");
  }

  get hasParts(): boolean {
    return this.#parts.length > 0;
  }

  /** The parts so far and what has come last. */
  with(text: string): string {
    return [...this.#parts, text].join("");
  }

  /** The same, and a new answer begins. */
  take(text: string): string {
    const whole = this.with(text);
    this.#parts = [];
    return whole;
  }

  drop(): void {
    this.#parts = [];
  }

  /** The output cap has cut this text: the next call goes on with it. */
  keepPart(answer: ModelAnswer): void {
    this.#parts.push(answer.text);
    this.#grow(answer);
  }

  /** The text only announces what is to be done: the next call does it, and its text follows after a blank line. */
  keepAnnouncement(text: string, nudge: string): void {
    this.announcements++;
    this.#parts.push(`${text}${BLANK_LINE}`);
    this.#nudge = nudge;
  }

  /** The output cap has cut this answer, which is of no use: the next call gives it again, with a larger cap. */
  growAndRepeat(answer: ModelAnswer): void {
    this.#grow(answer);
    this.repeat(answer);
  }

  /** The next call gives this answer again. */
  repeat(answer: ModelAnswer): void {
    this.#discarded = answer.text;
  }

  #grow(answer: ModelAnswer): void {
    this.#growth++;
    this.#cutAt = answer.usage?.output ?? 0;
  }

  /** Tool calls have run: what went wrong before them no longer counts. */
  batchDone(): void {
    this.empty = 0;
    this.#growth = 0;
  }

  nudge(text: string): void {
    this.#nudge = text;
  }

  /** What the next request says beyond the conversation; `null` = nothing. */
  takeNudge(): string | null {
    const nudge = this.#nudge ?? (this.hasParts ? CONTINUE : null);
    this.#nudge = null;
    return nudge;
  }

  /** Text that need not be shown once more. */
  takeDiscarded(): string {
    const text = this.#discarded;
    this.#discarded = "";
    return text;
  }

  /** The output cap of the next call; never smaller than what the cut answer took. */
  maxTokens(base: number | null): { maxTokens?: number } {
    if (this.#growth === 0) return base === null ? {} : { maxTokens: base };
    const grown = Math.min(OUTPUT_CAP, (base ?? BASE_TOKENS) * 2 ** this.#growth);
    return { maxTokens: Math.max(grown, 2 * this.#cutAt) };
  }
}
