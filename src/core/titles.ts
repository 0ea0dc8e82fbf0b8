/**
 * A title of its own for a conversation that has none (core.md A.18): after the first exchange, in the background,
 * where the config names a model for it or wants the session's own (`auxiliary.title_generation`). It delays nothing,
 * fails silently, never replaces a title, and ends with its session. What asks the model is loaded with the first one.
 */
import { auxiliaryEntries, isForOwnModel } from "./auxiliary.ts";
import type { TurnResult } from "./events.ts";
import { isUserTurn, textOf } from "./messages.ts";
import type { LiveSession } from "./session.ts";

export const TITLE_TASK = "title_generation";
/** Turns of the user after which it is too late. */
const LAST_TURN = 2;

export class TitleWriter {
  readonly #session: LiveSession;
  #controller: AbortController | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(session: LiveSession) {
    this.#session = session;
  }

  /** Called when a turn has ended; returns at once. */
  after(result: TurnResult): void {
    const session = this.#session;
    if (result.outcome !== "completed" || result.text === "" || this.#controller) return;
    if (session.title !== null || session.closed || session.source === "subagent") return;
    const settings = session.services.settings();
    if (auxiliaryEntries(settings, TITLE_TASK).length === 0 && !isForOwnModel(settings, TITLE_TASK)) return;
    const turns = session.history().filter(isUserTurn);
    if (turns.length === 0 || turns.length > LAST_TURN) return;
    const controller = this.#controller = new AbortController();
    const asked = turns[0]!.displayText ?? textOf(turns[0]!.content);
    const { log } = session.services;
    this.#writing = this.#write({ asked, answer: result.text }, controller.signal)
      .catch((error) => log.debug(`No title: ${error instanceof Error ? error.message : String(error)}`))
      .finally(() => this.#controller = null);
  }

  /** Ends what is under way. */
  async close(): Promise<void> {
    this.#controller?.abort();
    await this.#writing;
  }

  async #write(exchange: { asked: string; answer: string }, signal: AbortSignal): Promise<void> {
    const { askForTitle } = await import("./title_call.ts");
    const title = await askForTitle(this.#session, exchange, signal);
    if (title !== "" && !signal.aborted) await this.#session.adoptTitle(title);
  }
}
