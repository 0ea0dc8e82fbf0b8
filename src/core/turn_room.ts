/**
 * Room in the model's window for one turn (core.md A.16): compresses the conversation before it is too long, and when
 * the provider has found it so. A turn that brings its own context is never compressed.
 */
import { compressionThreshold } from "./compression_policy.ts";
import { isHuge, rejectionMark } from "./rejected_turns.ts";
import type { TurnCalls } from "./turn_calls.ts";
import type { TurnInput } from "./turn_input.ts";
import type { TurnRows } from "./turn_rows.ts";

const MAX_COMPACTIONS = 3;
/** Between two compressions for one call. */
const PAUSE_MS = 2_000;
const UNKNOWN_WINDOW = 256_000;
const LARGE_PART = 0.6;
const SMALL_WINDOW = 256_000;
const LARGE_TOKENS = 120_000;
const LARGE_MESSAGES = 200;

export class TurnRoom {
  readonly #turn: TurnInput;
  readonly #rows: TurnRows;
  readonly #calls: TurnCalls;
  /** For the model call in hand. */
  #compactions = 0;
  #refunded = false;

  constructor(turn: TurnInput, rows: TurnRows, calls: TurnCalls) {
    this.#turn = turn;
    this.#rows = rows;
    this.#calls = calls;
  }

  /** Compresses by itself while the conversation is over its threshold, at most `passes` times. */
  async keepSmall(tokens: () => number, passes: number): Promise<void> {
    if (!this.#mayCompact()) return;
    const { scope } = this.#turn;
    const { compression, model } = scope.settings;
    for (let pass = 0; pass < passes && !scope.signal.aborted; pass++) {
      const threshold = compressionThreshold(this.#calls.model, model.max_tokens, compression);
      if (tokens() < threshold) return;
      if (!await this.#turn.compact(this.#calls.models.client, "automatic")) return;
    }
  }

  /** The provider found the request too long; false when nothing could be made smaller. */
  async makeRoom(): Promise<boolean> {
    const most = this.#turn.scope.settings.compression.max_attempts ?? MAX_COMPACTIONS;
    if (this.#compactions >= most || !this.#mayCompact()) return false;
    if (this.#compactions > 0 && !await this.#pause()) return false;
    this.#compactions++;
    this.#refunded = await this.#turn.compact(this.#calls.models.client, "overflow");
    return this.#refunded;
  }

  /**
   * Whether a connection that breaks off without a word may mean that the request is too long (core.md A.11): many
   * servers drop what they cannot hold.
   */
  isLarge(): boolean {
    const tokens = this.#turn.contextTokens();
    const window = this.#calls.model.contextWindow ?? UNKNOWN_WINDOW;
    if (tokens > window * LARGE_PART) return true;
    const messages = this.#turn.transcript.messages.length;
    return window <= SMALL_WINDOW && (tokens > LARGE_TOKENS || messages > LARGE_MESSAGES);
  }

  /** The model has answered. */
  answered(): void {
    this.#compactions = 0;
  }

  /** False when it was cut short. */
  async #pause(): Promise<boolean> {
    const { platform, signal } = this.#turn.scope;
    return await platform.clock.delay(PAUSE_MS, { signal }).then(() => true, () => false);
  }

  /** Whether the last model call does not count as a step; told once. */
  takeRefund(): boolean {
    const refunded = this.#refunded;
    this.#refunded = false;
    return refunded;
  }

  /** In a huge session a turn that was refused as malformed would be refused again on every resume. */
  async leaveOutTurn(): Promise<void> {
    if (this.#turn.history) return;
    const messages = this.#turn.transcript.messages.length;
    if (isHuge({ tokens: this.#turn.contextTokens(), messages })) {
      await this.#rows.append([rejectionMark(this.#rows.now())]);
    }
  }

  #mayCompact(): boolean {
    return !this.#turn.history && this.#turn.scope.settings.compression.enabled;
  }
}
