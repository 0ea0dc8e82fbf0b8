/**
 * The children of one session that outlive the turn that ordered them (core.md I.4). Their results are stored first
 * and announced then; a turn takes them in when the session's door starts one. They end with their session: what came
 * of them by then is written into the conversation, without a turn.
 */
import type { Child } from "./delegation_child.ts";
import type { Desk } from "./delegation.ts";
import { type ChildResult, DELEGATION_KIND } from "./delegation_api.ts";
import { boundAll, laterText } from "./delegation_summary.ts";
import type { LiveSession } from "./session.ts";

/** How often the store hears that the program which runs them is alive. */
const TOUCH_MS = 30_000;

export class Background {
  readonly #session: LiveSession;
  readonly #desk: Desk;
  readonly #closing = new AbortController();
  readonly #jobs = new Set<Promise<void>>();
  #touching: ReturnType<typeof setInterval> | undefined;

  /** The one of a session; it ends with it. */
  static of(session: LiveSession, desk: Desk): Background {
    return session.scope.state("core.background_delegations", () => new Background(session, desk));
  }

  constructor(session: LiveSession, desk: Desk) {
    this.#session = session;
    this.#desk = desk;
  }

  start(id: string, children: readonly Child[]): void {
    const job = this.#run(id, children).catch((error) => this.#lost(id, error));
    this.#jobs.add(job);
    this.#touching ??= setInterval(() => void this.#touch(), TOUCH_MS);
    void job.finally(() => {
      this.#jobs.delete(job);
      if (this.#jobs.size === 0) this.#stopTouching();
    });
  }

  async dispose(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#jobs);
    this.#stopTouching();
  }

  async #run(id: string, children: readonly Child[]): Promise<void> {
    const startedMs = this.#desk.services.platform.clock.monotonic();
    const results: ChildResult[] = [];
    let kept: Promise<boolean> = Promise.resolve(false);
    // The last one to end is not told of before the results of all are stored.
    const keep = async (result: ChildResult) => {
      if (results.push(result) < children.length) return;
      results.sort((a, b) => a.taskIndex - b.taskIndex);
      kept = this.#keep(id, results, startedMs);
      await kept.catch(() => {/* `#lost` tells it */});
    };
    await Promise.all(children.map((child) => child.run(this.#closing.signal, keep)));
    if (await kept) this.#session.changed("delegation");
  }

  /** True when they wait for a later turn; false when there will be none, and they are in the conversation. */
  async #keep(id: string, results: readonly ChildResult[], startedMs: number): Promise<boolean> {
    const { clock } = this.#desk.services.platform;
    const isClosed = this.#closing.signal.aborted || this.#session.closed;
    const bounded = await boundAll(this.#desk, this.#session, id, results);
    const text = laterText(id, bounded, (clock.monotonic() - startedMs) / 1000);
    await this.#desk.services.delegations!().finish(id, {
      state: bounded.every((result) => result.status === "completed") ? "completed" : "failed",
      text: isClosed ? null : text,
      result: JSON.stringify(bounded),
      at: clock.now() / 1000,
    });
    if (!isClosed) return true;
    await this.#session.transcript.append([{
      role: "user",
      content: text,
      displayKind: DELEGATION_KIND,
      timestamp: clock.now() / 1000,
    }]);
    return false;
  }

  #lost(id: string, error: unknown): void {
    const { log, guard } = this.#desk.services;
    const why = guard.redact(error instanceof Error ? error.message : String(error), "terminal");
    log.error(`The results of ${id} were lost: ${why}`);
    const text = `The results of the background task ${id} could not be kept: ${why}`;
    this.#session.publish("", { type: "status", kind: "error", text });
  }

  async #touch(): Promise<void> {
    const { services, owner } = this.#desk;
    try {
      await services.delegations!().touch(owner, services.platform.clock.now() / 1000);
    } catch (error) {
      services.log.debug(`Background delegations are not seen as alive: ${String(error)}`);
    }
  }

  #stopTouching(): void {
    clearInterval(this.#touching);
    this.#touching = undefined;
  }
}
