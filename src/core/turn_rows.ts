/**
 * The rows that one turn writes, and the conversation as its requests see it. A row is stored before the event that
 * mentions it; its text is without secrets, as it is stored and handed out (core.md A.1, D.5).
 */
import { abortable } from "@/lib/abort.ts";
import type { AssistantMessage, Message, ToolCall, ToolMessage, UserMessage } from "./messages.ts";
import type { ModelAnswer } from "./model_call.ts";
import type { CountedCall } from "./ports.ts";
import { withoutRejected } from "./rejected_turns.ts";
import type { TurnInput } from "./turn_input.ts";

export class TurnRows {
  readonly #turn: TurnInput;
  /** Messages of this turn only; with `history` they follow it in requests. */
  readonly #own: Message[] = [];
  /** What to call when the calls that wait in the transcript are written. */
  readonly #counted: (() => void)[] = [];
  #cleaned: { from: string; to: string } | null = null;
  /** Output tokens that no row has taken yet. */
  #tokens = 0;

  constructor(turn: TurnInput) {
    this.#turn = turn;
  }

  /** The newest message of this turn. */
  get last(): Message | undefined {
    return this.#own.at(-1);
  }

  async append(messages: readonly Message[]): Promise<void> {
    this.#own.push(...messages);
    await this.#turn.scope.store(messages);
    this.#tellCounted();
  }

  /** Rows that were not taken by the store. */
  takeBack(messages: readonly Message[]): void {
    this.#own.splice(this.#own.length - messages.length);
  }

  /** An answered call goes into the store with the rows that follow from it; `tell` is called then. */
  count(call: CountedCall, tell: () => void): void {
    this.#turn.transcript.count(call);
    this.#tokens += call.usage.output;
    this.#counted.push(tell);
  }

  /** Writes and tells the calls that no row took along. */
  async settle(): Promise<void> {
    if (this.#counted.length === 0) return;
    const { transcript, scope } = this.#turn;
    await abortable(transcript.flush(), scope.signal).catch(() => {/* a cancel does not wait for a lock */});
    this.#tellCounted();
  }

  #tellCounted(): void {
    for (const tell of this.#counted.splice(0)) tell();
  }

  /** Results that were stored as they landed. */
  landed(results: readonly ToolMessage[]): void {
    this.#own.push(...results);
  }

  /** The message as it is now. */
  async replace(message: UserMessage | ToolMessage, content: ToolMessage["content"]): Promise<Message> {
    const changed = await this.#turn.transcript.replaceContent(message, content);
    const at = this.#own.lastIndexOf(message);
    if (at !== -1) this.#own[at] = changed;
    return changed;
  }

  /** What a request is built from. */
  context(): readonly Message[] {
    if (this.#turn.history) return [...this.#turn.history, ...this.#own];
    return withoutRejected(this.#turn.transcript.messages);
  }

  /** An answer with tool calls, before any of them runs. */
  async appendCalls(text: string, answer: ModelAnswer, calls: readonly ToolCall[]): Promise<void> {
    await this.append([{ ...this.#assistant(text || null, answer, "tool_calls"), toolCalls: calls }]);
    if (text) this.#turn.scope.publish({ type: "text.end", text: this.clean(text), final: false });
  }

  /**
   * The last row of the turn. `shown`: the text has been on the stream; false: it was made up for the row. `addendum`
   * is shown after it and not stored: the model is never sent it as words of its own.
   */
  async appendText(
    text: string,
    answer: ModelAnswer | null,
    finishReason: string,
    shown = true,
    addendum = "",
  ): Promise<void> {
    // Nothing follows it: the conversation is given back with it.
    this.#turn.transcript.endTurn();
    await this.append([this.#assistant(text, answer, finishReason)]);
    const { scope } = this.#turn;
    if (addendum) scope.publish({ type: "text.delta", text: shown ? addendum : addendum.trimStart() });
    const whole = shown ? text + addendum : addendum.trimStart();
    if (whole !== "" || shown) scope.publish({ type: "text.end", text: this.clean(whole), final: true });
  }

  #assistant(text: string | null, answer: ModelAnswer | null, finishReason: string): AssistantMessage {
    const tokenCount = this.#tokens;
    this.#tokens = 0;
    return {
      role: "assistant",
      content: text === null ? null : this.clean(text),
      finishReason,
      timestamp: this.now(),
      ...(tokenCount === 0 ? {} : { tokenCount }),
      ...(answer?.reasoning ? { reasoning: this.masked(answer.reasoning) } : {}),
      ...(answer?.reasoningContent === undefined
        ? {}
        : { reasoningContent: this.masked(answer.reasoningContent) }),
      // Signed by the provider: changed by one character it would be refused.
      ...(answer?.reasoningDetails ? { reasoningDetails: answer.reasoningDetails } : {}),
    };
  }

  /** Without secrets; remembers the last text, because an end asks for it again. */
  clean(text: string): string {
    if (this.#cleaned?.from !== text) this.#cleaned = { from: text, to: this.masked(text) };
    return this.#cleaned.to;
  }

  masked(text: string): string {
    return this.#turn.scope.guard.redact(text, "terminal");
  }

  /** Unix seconds. */
  now(): number {
    return this.#turn.scope.platform.clock.now() / 1000;
  }
}
