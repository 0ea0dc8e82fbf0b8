/**
 * A title of its own for a conversation that has none (core.md A.18): after the first exchange, in the background, by
 * the model of `auxiliary.title_generation`, else by the session's own. It delays nothing, fails silently, never
 * replaces a title, and ends with its time or its session. What asks the model is loaded with the first one.
 */
import { abortable } from "@/lib/abort.ts";
import { auxiliaryEntries, auxiliaryWishes, isForOwnModel, isSwitchedOff } from "./auxiliary.ts";
import type { TurnResult } from "./events.ts";
import { isUserTurn, textOf } from "./messages.ts";
import type { LiveSession } from "./session.ts";

export const TITLE_TASK = "title_generation";
/** Turns of the user after which it is too late. */
const LAST_TURN = 2;
/** Seconds that one model may take, where the config names none. */
const USUAL_S = 30;
/** Where people keep their conversations; what programs ask for over HTTP gets a title only from a model named for it. */
const KEPT: ReadonlySet<string> = new Set(["acp", "tui", "cli"]);
/** Sources of sessions that no list shows (core.md D.6). */
const UNSEEN: ReadonlySet<string> = new Set(["subagent", "tool"]);
const BUILT_IN = "builtin";

export class TitleWriter {
  readonly #session: LiveSession;
  #controller: AbortController | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(session: LiveSession) {
    this.#session = session;
  }

  /** Called when a turn has ended; returns at once. `oneShot`: its caller leaves now. */
  after(result: TurnResult, { oneShot = false }: { readonly oneShot?: boolean }): void {
    const session = this.#session;
    if (result.outcome !== "completed" || result.text === "" || oneShot || this.#controller) return;
    if (session.title !== null || session.record.isNaming || session.closed) return;
    if (UNSEEN.has(session.source) || !this.#isWanted()) return;
    const turns = session.history().filter(isUserTurn);
    if (turns.length === 0 || turns.length > LAST_TURN) return;
    const controller = this.#controller = new AbortController();
    const limit = setTimeout(() => controller.abort(), this.#bound());
    const asked = turns[0]!.displayText ?? textOf(turns[0]!.content);
    const { log } = session.services;
    this.#writing = this.#write({ asked, answer: result.text }, controller.signal)
      .catch((error) => log.debug(`No title: ${error instanceof Error ? error.message : String(error)}`))
      .finally(() => {
        clearTimeout(limit);
        this.#controller = null;
      });
  }

  /** Ends what is under way; waits neither for a model nor for the database. */
  async close(): Promise<void> {
    this.#controller?.abort();
    await this.#writing;
  }

  /** By default the session's own model does it, unless it is a built-in one, or rests after a failure. */
  #isWanted(): boolean {
    const { model, surface, resting, services } = this.#session;
    const settings = services.settings();
    if (isSwitchedOff(settings, TITLE_TASK)) return false;
    if (auxiliaryEntries(settings, TITLE_TASK).length > 0) return true;
    if (model === null || resting.has(model)) return false;
    if (isForOwnModel(settings, TITLE_TASK)) return true;
    return KEPT.has(surface) && model.provider !== BUILT_IN;
  }

  /** Milliseconds, for all models of the chain. */
  #bound(): number {
    const settings = this.#session.services.settings();
    const models = Math.max(1, auxiliaryEntries(settings, TITLE_TASK).length);
    return (auxiliaryWishes(settings, TITLE_TASK).seconds ?? USUAL_S) * models * 1000;
  }

  async #write(exchange: { asked: string; answer: string }, signal: AbortSignal): Promise<void> {
    const { askForTitle } = await import("./title_call.ts");
    const title = await abortable(askForTitle(this.#session, exchange, signal), signal);
    if (title !== "") await abortable(this.#session.adoptTitle(title), signal);
  }
}
