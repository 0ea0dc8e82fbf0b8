/**
 * Who has the floor in a session: at most one turn runs, or one piece of work outside turns; the others wait, first in,
 * first out. It owns every turn from submit to end, and knows nothing of what a turn does.
 */
import { throwIfAborted } from "@/lib/abort.ts";
import { HermesError } from "./errors.ts";
import type { TurnResult } from "./events.ts";
import type { SubmitOptions, TurnHandle, UserInput } from "./session_api.ts";
import { cancelledResult } from "./turn_results.ts";

export interface QueuedTurn {
  readonly id: string;
  readonly input: UserInput;
  readonly options: SubmitOptions;
  readonly controller: AbortController;
  readonly settle: (result: TurnResult) => void;
  unlink: () => void;
}

export interface QueueOwner {
  readonly id: string;
  readonly closed: boolean;
  newTurnId(): string;
  /** Never throws; ends with `finish`. */
  runTurn(turn: QueuedTurn): void;
}

export class TurnQueue {
  readonly #owner: QueueOwner;
  readonly #waiting: QueuedTurn[] = [];
  readonly #idleWaiters: (() => void)[] = [];
  #active: QueuedTurn | null = null;
  /** Model work outside turns (`/model`, `/compact`): the session is busy meanwhile. */
  #occupied: AbortController | null = null;

  constructor(owner: QueueOwner) {
    this.#owner = owner;
  }

  get active(): QueuedTurn | null {
    return this.#active;
  }

  get running(): boolean {
    return this.#active !== null || this.#occupied !== null;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  submit(input: UserInput, options: SubmitOptions): TurnHandle {
    const id = this.#owner.newTurnId();
    const controller = new AbortController();
    const { promise, resolve } = Promise.withResolvers<TurnResult>();
    const onAbort = () => this.#cancel(queued);
    const queued: QueuedTurn = {
      id,
      input,
      options,
      controller,
      settle: resolve,
      unlink: () => options.signal?.removeEventListener("abort", onAbort),
    };
    options.signal?.addEventListener("abort", onAbort, { once: true });
    const position = this.#waiting.length + (this.running ? 1 : 0);
    if (this.#owner.closed || options.signal?.aborted) settle(queued, cancelledResult());
    else {
      this.#waiting.push(queued);
      this.#startNext();
    }
    return { id, position, done: promise, cancel: onAbort };
  }

  interrupt(options: { keepQueue?: boolean }): { running: boolean; dropped: number } {
    const { running } = this;
    const dropped = options.keepQueue ? [] : this.#waiting.splice(0);
    for (const queued of dropped) {
      queued.controller.abort();
      settle(queued, cancelledResult());
    }
    this.#active?.controller.abort();
    this.#occupied?.abort();
    return { running, dropped: dropped.length };
  }

  /** Resolves when nothing runs and nothing waits to. */
  idle(): Promise<void> {
    if (!this.running) return Promise.resolve();
    return new Promise((resolve) => this.#idleWaiters.push(resolve));
  }

  #cancel(queued: QueuedTurn): void {
    queued.controller.abort();
    const at = this.#waiting.indexOf(queued);
    if (at === -1) return;
    this.#waiting.splice(at, 1);
    settle(queued, cancelledResult());
  }

  #startNext(): void {
    if (this.running) return;
    const next = this.#waiting.shift();
    if (!next) {
      for (const resolve of this.#idleWaiters.splice(0)) resolve();
      return;
    }
    this.#active = next;
    this.#owner.runTurn(next);
  }

  /** The turn has ended: whoever hears of it through `tell` finds the session free. */
  finish(turn: QueuedTurn, result: TurnResult, tell: () => void): void {
    this.#active = null;
    tell();
    settle(turn, result);
    this.#startNext();
  }

  /**
   * Runs `work` while no turn can start, and waits for its end: an interrupt reaches it through the signal, so what
   * it changes is never changed behind a later turn. Throws `session_busy`.
   */
  async occupy<T>(signal: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    if (this.running) {
      const sessionId = this.#owner.id;
      throw new HermesError("session_busy", "session busy: a turn is running", { sessionId });
    }
    const controller = new AbortController();
    this.#occupied = controller;
    const joined = signal ? AbortSignal.any([signal, controller.signal]) : controller.signal;
    try {
      throwIfAborted(joined);
      return await work(joined);
    } finally {
      this.#occupied = null;
      this.#startNext();
    }
  }
}

function settle(queued: QueuedTurn, result: TurnResult): void {
  queued.unlink();
  queued.settle(result);
}
