/**
 * The one place that decides how a turn ends (core.md A.2, A.8, A.15). Each end, whatever its cause, leaves a last
 * assistant row behind everything that was shown, so that the history is one that providers accept. `null` where the
 * turn goes on after all.
 */
import { announcesAction, mayContinue } from "./announcements.ts";
import type { ReachedBudget } from "./budgets.ts";
import type { ModelFailure } from "./errors.ts";
import type { TurnOutcome } from "./events.ts";
import type { ToolCall } from "./messages.ts";
import type { ModelAnswer } from "./model_call.ts";
import type { TurnCalls } from "./turn_calls.ts";
import { BLANK_LINE, type Draft } from "./turn_draft.ts";
import type { TurnInput } from "./turn_input.ts";
import type { TurnRoom } from "./turn_room.ts";
import type { TurnRows } from "./turn_rows.ts";

export interface Ending {
  readonly outcome: TurnOutcome;
  readonly text: string;
  readonly exitReason: string;
  readonly partial?: boolean;
  readonly failure?: ModelFailure;
  readonly clientCalls?: readonly ToolCall[];
}

/** What the parts of a running turn share. */
export interface TurnParts {
  readonly turn: TurnInput;
  readonly draft: Draft;
  readonly rows: TurnRows;
  readonly calls: TurnCalls;
  readonly room: TurnRoom;
}

/** Times the output cap is raised for one answer. */
export const MAX_GROWTH = 4;
const MAX_EMPTY = 3;
/** Empty answers in a row whose thought is handed back. */
const MAX_THOUGHTS = 2;
const THOUGHT_CHARS = 4_000;
const MAX_ANNOUNCEMENTS = 2;
const INTENT_NUDGE = "Do it now: call the tools that it takes. If nothing is to be done, give the answer.";
const EMPTY_NUDGE =
  "The tools have answered. Go on: use their results and give the answer, or call the next tool.";
const SUMMARY_REQUEST =
  "You have used up the number of steps for this task. Do not call tools. Say what was done, " +
  "what was found and what is left to do.";
const NO_SUMMARY = "I reached the iteration limit and couldn't generate a summary.";
const BROKE_OFF = /reset|closed|broke|abort|unexpected (?:end|eof)|end of file|disconnect|hang ?up/i;
const UNREACHED = /\(connect\)|connect error|dns|refused|unreachable|no route/i;
const ONLY_THOUGHT =
  "The whole output limit was spent on thinking; there is no answer. Raise model.max_tokens or lower the " +
  "reasoning effort.";

export class TurnEnds {
  readonly #turn: TurnInput;
  readonly #draft: Draft;
  readonly #rows: TurnRows;
  readonly #calls: TurnCalls;
  readonly #room: TurnRoom;

  constructor({ turn, draft, rows, calls, room }: TurnParts) {
    this.#turn = turn;
    this.#draft = draft;
    this.#rows = rows;
    this.#calls = calls;
    this.#room = room;
  }

  async answered(answer: ModelAnswer): Promise<Ending | null> {
    if (this.#isOnlyAnnounced(answer)) {
      await this.#rows.settle();
      this.#turn.scope.publish({ type: "text.delta", text: BLANK_LINE });
      this.#draft.keepAnnouncement(answer.text, INTENT_NUDGE);
      return null;
    }
    return await this.#answer(answer);
  }

  /** The last row, and below it what people are told of edits that failed; the text as it is shown. */
  async #tell(text: string, answer: ModelAnswer | null, finishReason: string, shown = true): Promise<string> {
    const footer = this.#turn.scope.failedEdits?.footer() ?? "";
    const addendum = footer === "" ? "" : BLANK_LINE + footer;
    await this.#rows.appendText(text, answer, finishReason, shown, addendum);
    return text + addendum;
  }

  #isOnlyAnnounced(answer: ModelAnswer): boolean {
    const { scope, toolSpecs } = this.#turn;
    if (toolSpecs.length === 0 || this.#draft.announcements >= MAX_ANNOUNCEMENTS) return false;
    return mayContinue(scope.settings.agent.intent_ack_continuation, this.#calls.model) &&
      announcesAction(answer.text);
  }

  async #answer(answer: ModelAnswer): Promise<Ending> {
    const own = this.#draft.with(answer.text);
    const text = await this.#tell(own, answer, answer.finish);
    return { outcome: "completed", text, exitReason: `text_response(finish_reason=${answer.finish})` };
  }

  /** The output cap cut the text: ask to go on with a larger cap, a few times. */
  async cutOff(answer: ModelAnswer): Promise<Ending | null> {
    if (answer.text.trim() && this.#draft.growth < MAX_GROWTH - 1) {
      this.#draft.keepPart(answer);
      return null;
    }
    return await this.cutShort(answer, ONLY_THOUGHT);
  }

  /** The output cap has won; `otherwise` is the text where none has come. */
  async cutShort(answer: ModelAnswer, otherwise: string, finishReason = "length"): Promise<Ending> {
    const own = this.#draft.with(answer.text) || otherwise;
    const text = await this.#tell(own, answer, finishReason);
    return { outcome: "max_tokens", text, exitReason: "text_response(finish_reason=length)", partial: true };
  }

  async refused(answer: ModelAnswer): Promise<Ending | null> {
    const failure = this.#calls.failure("content_policy", "The provider's content filter refused the answer");
    if (!answer.text && this.#calls.useFallback(failure)) return null;
    const text = answer.text || failure.message;
    await this.#rows.appendText(text, answer, "content_filter");
    return { outcome: "refused", text, exitReason: "text_response(finish_reason=content_filter)", failure };
  }

  /** One nudge after tools, its own thought handed back, retries, then the fallback, then an honest end. */
  async empty(answer: ModelAnswer): Promise<Ending | null> {
    const draft = this.#draft;
    draft.empty++;
    if (draft.hasParts) return await this.#answer(answer);
    if (draft.aside) return await this.#answeredBefore(draft.aside, answer);
    if (draft.empty <= MAX_EMPTY) {
      const isAfterTools = draft.empty === 1 && this.#rows.last?.role === "tool";
      if (isAfterTools) draft.nudge(EMPTY_NUDGE);
      else if (answer.reasoning && draft.empty <= MAX_THOUGHTS) draft.nudge(thoughtNudge(answer.reasoning));
      return null;
    }
    const why = "The model gave an empty answer, also when asked again";
    const failure = this.#calls.failure("invalid_response", why);
    if (this.#calls.useFallback(failure)) return null;
    return { outcome: "failed", text: "", exitReason: "empty_response_exhausted", failure };
  }

  /** The answer came with the last housekeeping calls and has been shown then. */
  async #answeredBefore(own: string, answer: ModelAnswer): Promise<Ending> {
    const { scope } = this.#turn;
    const wasHidden = scope.hidesInterim === true;
    if (wasHidden) scope.publish({ type: "text.delta", text: this.#rows.clean(own) });
    const text = await this.#tell(own, answer, "stop", wasHidden);
    return { outcome: "completed", text, exitReason: "fallback_prior_turn_content" };
  }

  /** What was shown stays; an overflow is mended by a compression; then the fallbacks, where they may help, then the end. */
  async failed(answer: ModelAnswer): Promise<Ending | null> {
    const failure = this.#explained(answer.failure!);
    if (answer.text) {
      const text = this.#draft.with(answer.text);
      await this.#rows.appendText(text, answer, "incomplete");
      return { outcome: "failed", text, exitReason: "partial_stream_recovery", partial: true, failure };
    }
    const mayBeTooLong = isTooLong(failure) || (brokeOff(failure) && this.#room.isLarge());
    if (mayBeTooLong && await this.#room.makeRoom()) return null;
    if (this.#turn.scope.signal.aborted) return await this.interrupted(answer);
    if (!this.#isForTheUser(failure) && this.#calls.useFallback(failure)) return null;
    const { text } = this.#draft;
    if (failure.status === 400 && text === "") await this.#room.leaveOutTurn();
    if (text) await this.#rows.appendText(text, answer, "incomplete");
    const exitReason = "all_retries_exhausted_no_response";
    return { outcome: "failed", text, exitReason, partial: text !== "", failure };
  }

  /** The turn stops with advice instead of going on elsewhere (core.md A.11). */
  #isForTheUser(failure: ModelFailure): boolean {
    return failure.kind === "ssl" || (isTooLong(failure) && !this.#turn.scope.settings.compression.enabled);
  }

  /** Who has switched compression off learns that it would have helped. */
  #explained(failure: ModelFailure): ModelFailure {
    if (!isTooLong(failure) || this.#turn.scope.settings.compression.enabled) return failure;
    const message = `${failure.message} (compaction_disabled: compression.enabled is false)`;
    return { ...failure, message };
  }

  /** Names of tools that do not exist, again and again. */
  async wrongTool(name: string): Promise<Ending> {
    const text = `Model generated invalid tool call: ${name || "(empty name)"}`;
    await this.#rows.appendText(text, null, "incomplete");
    const failure = this.#calls.failure("invalid_response", text);
    return {
      outcome: "failed",
      text,
      exitReason: "all_retries_exhausted_no_response",
      partial: true,
      failure,
    };
  }

  async outOfBudget(budget: ReachedBudget): Promise<Ending> {
    return await this.#stopped(budget.text, `budget_exhausted(${budget.key})`);
  }

  /** The guardrails have stopped the turn (core.md A.14). */
  async halted(why: string): Promise<Ending> {
    const text =
      `Stopped: the model was going in circles. ${why}. Say how to go on, or ask for something else.`;
    return await this.#stopped(text, "guardrail_halt");
  }

  /** A limit ends the turn: what was shown stays, and the limit says so itself. */
  async #stopped(why: string, exitReason: string): Promise<Ending> {
    const shown = this.#draft.text;
    const told = shown ? `\n\n${why}` : why;
    this.#turn.scope.publish({ type: "text.delta", text: told });
    const text = await this.#tell(shown + told, null, "incomplete");
    return { outcome: "max_turns", text, exitReason, partial: true };
  }

  /** The steps are used up (core.md A.6): one more call, without tools, for what was done and what is left. */
  async outOfSteps(max: number): Promise<Ending> {
    this.#draft.drop();
    const answer = await this.#calls.call([], SUMMARY_REQUEST);
    if (answer.type === "cancelled") return await this.interrupted(answer);
    const own = answer.type === "done" && answer.text.trim() ? answer.text : NO_SUMMARY;
    const text = await this.#tell(own, answer, "stop");
    return { outcome: "max_turns", text, exitReason: `max_iterations_reached(${max}/${max})`, partial: true };
  }

  /** `null`: between two model calls. */
  async interrupted(answer: ModelAnswer | null): Promise<Ending> {
    const { scope, steering } = this.#turn;
    // Who stops a turn means what was said to it, too; a turn that fell silent has not been told to forget it.
    if (!scope.silence?.stopped) steering.take();
    const shown = this.#draft.with(answer?.text ?? "");
    const seconds = Math.round((answer?.elapsedMs ?? 0) / 1000);
    const stored = shown ||
      (answer
        ? `Operation interrupted: waiting for model response (${seconds}s elapsed).`
        : "Operation interrupted.");
    await this.#rows.appendText(stored, answer, "interrupted", shown !== "");
    const exitReason = answer ? "interrupted_during_api_call" : "interrupted_by_user";
    return { outcome: "cancelled", text: shown, exitReason, partial: shown !== "" };
  }

  /** A fault of ours. */
  crashed(error: unknown): Ending {
    const message = error instanceof Error ? error.message : String(error);
    const told = `Internal error: ${this.#turn.scope.guard.redact(message, "full")}`;
    const failure = this.#calls.failure("unknown", told);
    return { outcome: "failed", text: "", exitReason: "unknown", failure };
  }
}

function isTooLong({ kind }: ModelFailure): boolean {
  return kind === "context_overflow" || kind === "payload_too_large";
}

/** A server was there and went away, also when asked again; one that cannot be reached is another matter. */
function brokeOff({ kind, status, message }: ModelFailure): boolean {
  return kind === "connection" && status === undefined && BROKE_OFF.test(message) && !UNREACHED.test(message);
}

/** For a model that has thought and then said nothing. */
function thoughtNudge(reasoning: string): string {
  const thought = reasoning.slice(-THOUGHT_CHARS).toWellFormed();
  return `Your last reply held only thought and no answer:\n\n${thought}\n\nGo on from there and give the answer.`;
}
