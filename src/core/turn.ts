/**
 * The agent loop: one user message to one outcome (core.md A.2–A.8, A.15). Nothing is thrown out of it. What an answer
 * with tool calls leads to is in `turn_tools.ts`, how a turn ends in `turn_ends.ts`.
 *
 *   user row ─► ┌ model call ─► tool calls? ─► batch ─► steer ─┐ ─► answer row ─► turn.end
 *               └──────────────────────────────────────────────┘
 */
import { abortable } from "@/lib/abort.ts";
import type { TurnResult } from "./events.ts";
import { withTrueTypes } from "./inbound_images.ts";
import { type Content, type Message, textOf, type ToolMessage, type UserMessage } from "./messages.ts";
import type { ModelAnswer } from "./model_call.ts";
import type { SessionNotice } from "./ports.ts";
import { withSteer } from "./steering.ts";
import { storeFirstRows } from "./turn_begin.ts";
import { TurnCalls } from "./turn_calls.ts";
import { Draft } from "./turn_draft.ts";
import { type Ending, TurnEnds } from "./turn_ends.ts";
import { TurnImages } from "./turn_images.ts";
import type { TurnInput } from "./turn_input.ts";
import { failureOf } from "./turn_results.ts";
import { TurnRoom } from "./turn_room.ts";
import { TurnRows } from "./turn_rows.ts";
import { TurnTools } from "./turn_tools.ts";

const PREFLIGHT_PASSES = 3;

/** Runs one turn to its end; never throws. */
export async function runTurn(turn: TurnInput): Promise<TurnResult> {
  return await new Turn(turn).run();
}

class Turn {
  readonly #turn: TurnInput;
  readonly #rows: TurnRows;
  readonly #images: TurnImages;
  readonly #calls: TurnCalls;
  readonly #room: TurnRoom;
  readonly #ends: TurnEnds;
  readonly #tools: TurnTools;
  #reasoning = "";
  #userRowId: number | null = null;

  constructor(turn: TurnInput) {
    const draft = new Draft();
    const rows = this.#rows = new TurnRows(turn);
    const images = this.#images = new TurnImages(turn, rows);
    const calls = this.#calls = new TurnCalls(turn, rows, draft, images);
    const room = this.#room = new TurnRoom(turn, rows, calls);
    const parts = { turn, draft, rows, calls, room };
    this.#turn = turn;
    this.#ends = new TurnEnds(parts);
    this.#tools = new TurnTools(parts, this.#ends);
  }

  async run(): Promise<TurnResult> {
    let ending: Ending;
    try {
      await this.#begin();
      ending = await this.#loop();
    } catch (error) {
      ending = refusedEnding(this.#turn) ?? this.#ends.crashed(error);
    }
    return await this.#end(ending);
  }

  async #begin(): Promise<void> {
    const { input, scope } = this.#turn;
    if (input.results) return await this.#goOn(input.results);
    const user: UserMessage = {
      role: "user",
      content: withTrueTypes(wellFormed(input.content)),
      timestamp: this.#rows.now(),
      ...(input.displayText === undefined ? {} : { displayText: input.displayText }),
      ...(input.displayKind === undefined ? {} : { displayKind: input.displayKind }),
    };
    const text = input.displayText ?? textOf(input.content);
    await this.#beginWith([user], text);
    this.#userRowId = user.rowId ?? null;
    scope.publish({ type: "turn.start", text, userRowId: this.#userRowId });
    for (const warning of this.#turn.warnings ?? []) {
      scope.publish({ type: "status", kind: "warn", text: warning });
    }
    await this.#images.prepare(user, this.#calls.sees);
    if (this.#calls.models.isAway) {
      this.#calls.tellFallback(`${this.#turn.client.info.model} is left alone for a while`);
    }
    await this.#room.keepSmall(() => this.#turn.contextTokens(), PREFLIGHT_PASSES);
  }

  /** With what the caller's tools have given, instead of a message of the user. */
  async #goOn(results: readonly ToolMessage[]): Promise<void> {
    await this.#beginWith(results.map((result) => ({ ...result, timestamp: this.#rows.now() })), "", []);
    this.#turn.scope.publish({ type: "turn.start", text: "", userRowId: null });
    await this.#room.keepSmall(() => this.#turn.contextTokens(), PREFLIGHT_PASSES);
  }

  /** The first rows of the turn; one that is refused with them has begun all the same, for who listens. */
  async #beginWith(
    rows: readonly Message[],
    text: string,
    notices: readonly SessionNotice[] = this.#turn.takeNotices(),
  ): Promise<void> {
    try {
      await storeFirstRows(this.#turn, this.#rows, [...this.#told(notices), ...rows]);
    } catch (error) {
      this.#turn.putBackNotices(notices);
      this.#turn.scope.publish({ type: "turn.start", text, userRowId: null });
      throw error;
    }
  }

  async #loop(): Promise<Ending> {
    const { maxSteps, scope } = this.#turn;
    for (let step = 1; maxSteps === null || step <= maxSteps; step++) {
      if (scope.signal.aborted) return await this.#ends.interrupted(null);
      scope.publish({ type: "step.start", step });
      await this.#deliverSteer();
      await this.#deliverNews();
      const budget = this.#calls.reachedBudget();
      const ending = budget ? await this.#ends.outOfBudget(budget) : await this.#step();
      if (ending) return ending;
      if (this.#room.takeRefund()) step--;
    }
    const budget = this.#calls.reachedBudget();
    return budget ? await this.#ends.outOfBudget(budget) : await this.#ends.outOfSteps(maxSteps!);
  }

  /** One model call and what follows from it; `null` = go on. */
  async #step(): Promise<Ending | null> {
    const ends = this.#ends;
    const answer = await this.#call();
    if (answer.type === "cancelled") return await ends.interrupted(answer);
    if (answer.type === "failed") return await ends.failed(answer);
    this.#room.answered();
    if (answer.reasoning) this.#reasoning = this.#rows.masked(answer.reasoning);
    const ending = await this.#follow(answer);
    await this.#rows.settle();
    return ending;
  }

  /** Images that the provider finds too large are sent once more, smaller (core.md A.11 `image_too_large`). */
  async #call(): Promise<ModelAnswer> {
    const specs = this.#turn.toolSpecs;
    const answer = await this.#calls.call(specs);
    if (!answer.failure?.imageTooLarge || answer.text !== "") return answer;
    return await this.#images.tighten() ? await this.#calls.call(specs) : answer;
  }

  async #follow(answer: ModelAnswer): Promise<Ending | null> {
    const ends = this.#ends;
    if (answer.toolCalls.length > 0) return await this.#tools.take(answer);
    if (answer.finish === "stop" && answer.text.trim()) return await ends.answered(answer);
    await this.#rows.settle();
    if (answer.finish === "length") return await ends.cutOff(answer);
    if (answer.finish === "content_filter") return await ends.refused(answer);
    if (!answer.text.trim()) return await ends.empty(answer);
    return await ends.answered(answer);
  }

  async #deliverSteer(): Promise<void> {
    const { last } = this.#rows;
    if (last?.role !== "tool" || this.#turn.steering.empty) return;
    const text = this.#turn.steering.take()!;
    await this.#rows.replace(last, withSteer(last.content, text));
    this.#turn.scope.publish({ type: "steer.delivered", text });
  }

  /** What happened meanwhile, between two calls: a row of its own, no turn of the user. */
  async #deliverNews(): Promise<void> {
    const news = this.#told(this.#turn.takeNotices());
    if (news.length > 0) await this.#rows.append(news);
  }

  #told(notices: readonly SessionNotice[]): readonly UserMessage[] {
    return notices.map(({ kind, text }) => ({
      role: "user",
      content: text,
      displayKind: kind,
      timestamp: this.#rows.now(),
    }));
  }

  async #end(reached: Ending): Promise<TurnResult> {
    const { transcript, scope, steering } = this.#turn;
    transcript.endTurn();
    await this.#rows.settle();
    await abortable(transcript.flush(), scope.signal).catch(() => {/* it goes on by itself */});
    const { warning } = transcript;
    const ending = refusedEnding(this.#turn) ?? reached;
    const { spent, model: { model, provider } } = this.#calls;
    const cost = spent.cost();
    return {
      outcome: ending.outcome,
      text: this.#rows.clean(ending.text),
      reasoning: this.#reasoning,
      exitReason: ending.exitReason,
      partial: ending.partial ?? false,
      failure: ending.failure ?? null,
      usage: spent.usage,
      apiCalls: spent.calls,
      model,
      provider,
      pendingSteer: steering.take(),
      userRowId: this.#userRowId,
      ...(cost ? { cost } : {}),
      ...(warning ? { warning } : {}),
      ...(ending.clientCalls ? { clientCalls: ending.clientCalls } : {}),
    };
  }
}

/** Another program runs a turn in the conversation, or has taken it over; `null` where it is ours. */
function refusedEnding({ transcript: { refusal }, scope: { signal } }: TurnInput): Ending | null {
  if (refusal === null) return null;
  if (signal.aborted) return { outcome: "cancelled", text: "", exitReason: "interrupted_by_user" };
  return { outcome: "failed", text: "", exitReason: refusal.code, failure: failureOf(refusal) };
}

/** Half characters are refused by providers. */
function wellFormed(content: Content): Content {
  if (typeof content === "string") return content.toWellFormed();
  return content.map((part) => part.type === "text" ? { ...part, text: part.text.toWellFormed() } : part);
}
