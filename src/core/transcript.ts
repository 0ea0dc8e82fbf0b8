/**
 * The conversation of one session in memory and its rows in the store, kept in step: rows are written in order,
 * each once, and a failed write keeps its messages for the next try, so nothing is lost while the store is locked
 * (core.md D.2, D.5). Compression swaps the whole content and the head at once.
 *
 * The rows of a turn are this program's alone: its first write takes the conversation, its last gives it back
 * (`session_turn_leases`, core.md D.4). Where another program has it, or has deleted it before, the turn's rows are
 * dropped; what is deleted during a turn is told, and the turn goes on.
 */
import { HermesError } from "./errors.ts";
import type { Content, Message, Usage } from "./messages.ts";
import type { CountedCall, CountedModel, SessionStore, TurnStep, UsageCost } from "./ports.ts";
import { SortedArguments } from "./sorted_arguments.ts";

const DELETED = "Another program has deleted this conversation";
const NOT_SAVED = `${DELETED}: nothing more of it is saved`;

export class Transcript {
  readonly #store: () => SessionStore;
  readonly #isStored: () => boolean;
  #messages: Message[];
  #unsaved: Message[] = [];
  #uncounted: CountedCall[] = [];
  #saving: Promise<boolean> | null = null;
  #warning: string | null = null;
  /** The warning was taken since saving has begun to fail. */
  #isTold = false;
  #turn: "none" | "open" | "closing" = "none";
  /** The store has given the conversation to this turn. */
  #held = false;
  /** The last write has found no conversation. */
  #isGone = false;
  #isTaking = false;
  /** Unsaved rows of earlier turns. */
  #earlier: ReadonlySet<Message> = new Set();
  #refusal: HermesError | null = null;
  /** The newest row that is known here; 0 = none. */
  #lastRowId: number;
  #mustBeCurrent = false;
  headId: string;
  /** Arguments of its calls, put in order for requests. */
  readonly sorted = new SortedArguments();

  /** `isStored`: the conversation has a row of its own, or had one. */
  constructor(
    store: () => SessionStore,
    headId: string,
    messages: readonly Message[] = [],
    isStored: () => boolean = () => true,
  ) {
    this.#store = store;
    this.#isStored = isStored;
    this.headId = headId;
    this.#messages = [...messages];
    this.#unsaved = messages.filter((message) => message.rowId === undefined);
    this.#lastRowId = newestOf(messages);
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** What could not be saved, for people; `null` when all is saved. */
  get warning(): string | null {
    return this.#warning;
  }

  /** The warning, once for each time that saving begins to fail (acp.md D6); `null` when there is nothing new. */
  takeWarning(): string | null {
    if (this.#isTold || this.#warning === null) return null;
    this.#isTold = true;
    return this.#warning;
  }

  /** Another program has deleted the conversation. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Why the rows of this turn were not taken; `null` when they were. */
  get refusal(): HermesError | null {
    return this.#refusal;
  }

  /**
   * The rows that come belong to one turn. `mustBeCurrent`: they are refused, with `data.moved`, where the stored
   * conversation is not the one that is known here.
   */
  beginTurn(mustBeCurrent = false): void {
    this.#mustBeCurrent = mustBeCurrent;
    this.#refusal = null;
    this.#earlier = new Set(this.#unsaved);
    if (this.#isGone) this.#held = false;
    this.#turn = "open";
  }

  /** The turn has told why it was refused: what comes is no part of it. */
  forgetRefusal(): void {
    this.#refusal = null;
  }

  /** The next write is the last of the turn. */
  endTurn(): void {
    if (this.#turn === "open") this.#turn = "closing";
  }

  /**
   * Runs `work` while no other program runs a turn in the conversation, which is stored. Throws `session_busy` when one
   * does now, `session_not_found` when one has deleted it.
   */
  async alone<T>(work: () => Promise<T>): Promise<T> {
    this.beginTurn();
    this.#isTaking = true;
    await this.flush();
    this.#isTaking = false;
    const refusal = this.#refusal;
    this.#refusal = null;
    if (refusal) throw refusal;
    try {
      return await work();
    } finally {
      await this.giveBack();
    }
  }

  /** For a turn that has ended, or never will. */
  async giveBack(): Promise<void> {
    this.endTurn();
    if (this.#turn !== "none") await this.flush();
  }

  /**
   * Adds and writes. False while rows wait for a later try. Throws only what refuses the turn: `session_busy`, another
   * program has the conversation, and `session_not_found`, one has deleted it before the turn began.
   */
  async append(messages: readonly Message[]): Promise<boolean> {
    if (this.#refusal) throw this.#refusal;
    this.#messages.push(...messages);
    this.#unsaved.push(...messages);
    const isSaved = await this.flush();
    if (this.#refusal) throw this.#refusal;
    return isSaved;
  }

  /** A call of the turn; written with the rows that come next, or by the next `flush`. */
  count(call: CountedCall): void {
    this.#uncounted.push(call);
  }

  /**
   * Writes what is not written yet, one write at a time: rows that are refused stay before those that come meanwhile.
   * Never throws.
   */
  async flush(): Promise<boolean> {
    let isSaved = true;
    do {
      while (this.#saving !== null) await this.#saving;
      if (!this.#isDue) {
        if (this.#turn === "closing") this.#turn = "none";
        break;
      }
      const saving = this.#saving = this.#save();
      try {
        isSaved = await saving;
      } finally {
        this.#saving = null;
      }
      // A first write that took long has outlived its turn: the conversation is given back at once.
    } while (isSaved && this.#isLeaving);
    return isSaved;
  }

  get #isDue(): boolean {
    if (this.#unsaved.length > 0 || this.#uncounted.length > 0) return true;
    return this.#isLeaving || (this.#isTaking && !this.#held);
  }

  get #isLeaving(): boolean {
    return this.#turn === "closing" && this.#held;
  }

  get #step(): TurnStep | undefined {
    if (this.#turn === "none") return undefined;
    if (this.#turn === "open") return this.#held ? "go_on" : "begin";
    return this.#held ? "end" : "alone";
  }

  async #save(): Promise<boolean> {
    const waiting = this.#unsaved;
    const calls = this.#uncounted;
    const step = this.#step;
    const after = step === "begin" && this.#mustBeCurrent ? this.#lastRowId : undefined;
    this.#unsaved = [];
    this.#uncounted = [];
    try {
      const ids = await this.#store().appendMessages(this.headId, waiting, calls, step, after);
      ids.forEach((id, i) => waiting[i]!.rowId = id);
      this.#lastRowId = ids.at(-1) ?? this.#lastRowId;
      this.#warning = null;
      this.#isTold = false;
      this.#isGone = false;
      this.#moved(step);
      return true;
    } catch (error) {
      const refusal = this.#refusalIn(error, step);
      if (refusal !== null) {
        this.#refuse(refusal, waiting);
        return false;
      }
      this.#unsaved = [...waiting, ...this.#unsaved];
      this.#uncounted = [...calls, ...this.#uncounted];
      this.#warning = this.#isGone ? NOT_SAVED : delayed(error);
      return false;
    }
  }

  /** What ends the turn; `null` for what a later try may cure, and where the turn has begun and can no more be saved. */
  #refusalIn(error: unknown, step: TurnStep | undefined): HermesError | null {
    if (!(error instanceof HermesError)) return null;
    this.#isGone = error.code === "session_not_found" && this.#isStored();
    if (this.#isGone) return step === "begin" ? new HermesError(error.code, DELETED, error.data) : null;
    return step !== undefined && error.code === "session_busy" ? error : null;
  }

  /** A turn may have begun or ended while its rows were written. */
  #moved(step: TurnStep | undefined): void {
    if (step === "begin") this.#held = true;
    if (step !== "end" && step !== "alone") return;
    this.#held = false;
    if (this.#turn === "closing") this.#turn = "none";
  }

  /** The conversation is another program's: what this turn has not written yet is not part of it. */
  #refuse(error: HermesError, waiting: readonly Message[]): void {
    const dropped = new Set([...waiting, ...this.#unsaved].filter((message) => !this.#earlier.has(message)));
    this.#messages = this.#messages.filter((message) => !dropped.has(message));
    this.#unsaved = waiting.filter((message) => !dropped.has(message));
    this.#uncounted = [];
    this.#held = false;
    this.#turn = "none";
    this.#refusal = error;
  }

  /** Replaces the content of a message, in memory and in its row; a compression may have made a new object of it. */
  async replaceContent(message: Message, content: Content): Promise<Message> {
    // What is being written has no row id yet.
    while (this.#saving !== null) await this.#saving;
    const at = this.#messages.findLastIndex((m) => m === message || isSameResult(m, message));
    const current = at === -1 ? message : this.#messages[at]!;
    const changed = { ...current, content } as Message;
    if (at !== -1) this.#messages[at] = changed;
    const pending = this.#unsaved.indexOf(current);
    if (pending !== -1) this.#unsaved[pending] = changed;
    else if (current.rowId !== undefined) {
      try {
        await this.#store().updateContent(current.rowId, content);
      } catch (error) {
        this.#warning = delayed(error);
      }
    }
    return changed;
  }

  async addUsage(
    usage: Usage,
    model: CountedModel,
    cost: UsageCost,
  ): Promise<void> {
    try {
      await this.#store().addUsage(this.headId, usage, model, cost);
    } catch (error) {
      this.#warning = delayed(error);
    }
  }

  /** The content after a compression, a rewind or a reset, already in the store. */
  swap(headId: string, messages: readonly Message[]): void {
    this.headId = headId;
    this.#messages = [...messages];
    this.#unsaved = [];
    this.#lastRowId = newestOf(messages);
  }

  /** The same with what another program has stored; rows of ours that wait follow it. */
  reload(headId: string, messages: readonly Message[]): void {
    const waiting = this.#unsaved;
    this.swap(headId, [...messages, ...waiting]);
    this.#unsaved = waiting;
  }
}

function newestOf(messages: readonly Message[]): number {
  return messages.reduce((newest, { rowId = 0 }) => Math.max(newest, rowId), 0);
}

function isSameResult(a: Message, b: Message): boolean {
  return a.role === "tool" && b.role === "tool" && a.toolCallId === b.toolCallId;
}

/** With the class of the failure, where it has one (core.md D.2). */
function delayed(error: unknown): string {
  const name = error instanceof HermesError ? error.data["class"] : undefined;
  const why = error instanceof Error ? error.message : String(error);
  return `Saving is delayed${typeof name === "string" ? ` (${name})` : ""}: ${why}`;
}
