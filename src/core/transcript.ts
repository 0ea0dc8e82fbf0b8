/**
 * The conversation of one session in memory and its rows in the store, kept in step: rows are written in order,
 * each once, and a failed write keeps its messages for the next try, so nothing is lost while the store is locked
 * (core.md D.2, D.5). Compression swaps the whole content and the head at once.
 */
import { HermesError } from "./errors.ts";
import type { Content, Message, Usage } from "./messages.ts";
import type { CountedCall, CountedModel, SessionStore, UsageCost } from "./ports.ts";
import { SortedArguments } from "./sorted_arguments.ts";

export class Transcript {
  readonly #store: () => SessionStore;
  #messages: Message[];
  #unsaved: Message[] = [];
  #uncounted: CountedCall[] = [];
  #saving: Promise<boolean> | null = null;
  #warning: string | null = null;
  headId: string;
  /** Arguments of its calls, put in order for requests. */
  readonly sorted = new SortedArguments();

  constructor(store: () => SessionStore, headId: string, messages: readonly Message[] = []) {
    this.#store = store;
    this.headId = headId;
    this.#messages = [...messages];
    this.#unsaved = messages.filter((message) => message.rowId === undefined);
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** What could not be saved, for people; `null` when all is saved. */
  get warning(): string | null {
    return this.#warning;
  }

  /** Adds and writes; never throws. False while rows wait for a later try. */
  async append(messages: readonly Message[]): Promise<boolean> {
    this.#messages.push(...messages);
    this.#unsaved.push(...messages);
    return await this.flush();
  }

  /** A call of the turn; written with the rows that come next, or by the next `flush`. */
  count(call: CountedCall): void {
    this.#uncounted.push(call);
  }

  /** Writes what is not written yet, one write at a time: rows that are refused stay before those that come meanwhile. */
  async flush(): Promise<boolean> {
    while (this.#saving !== null) await this.#saving;
    if (this.#unsaved.length === 0 && this.#uncounted.length === 0) return true;
    const saving = this.#saving = this.#save();
    try {
      return await saving;
    } finally {
      this.#saving = null;
    }
  }

  /** Never throws. */
  async #save(): Promise<boolean> {
    const waiting = this.#unsaved;
    const calls = this.#uncounted;
    this.#unsaved = [];
    this.#uncounted = [];
    try {
      const ids = await this.#store().appendMessages(this.headId, waiting, calls);
      ids.forEach((id, i) => waiting[i]!.rowId = id);
      this.#warning = null;
      return true;
    } catch (error) {
      this.#unsaved = [...waiting, ...this.#unsaved];
      this.#uncounted = [...calls, ...this.#uncounted];
      this.#warning = delayed(error);
      return false;
    }
  }

  /** Replaces the content of a message, in memory and in its row; a compression may have made a new object of it. */
  async replaceContent(message: Message, content: Content): Promise<Message> {
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
  }
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
