/**
 * One write in steps: a transaction that stays open from the first step to the last, and the thread is free between
 * them. All or nothing, like any other; whoever writes meanwhile waits for its end (`writer.ts`).
 */
import { Slices, type Steps } from "@/lib/slices.ts";
import type { Db } from "./db.ts";
import { toStoreError } from "./errors.ts";

export class LongWrite<T> {
  /** Rejects with what a write rejects with. */
  readonly result: Promise<T>;
  readonly #db: Db;
  readonly #steps: Steps<T>;
  readonly #settle: { resolve(value: T): void; reject(error: unknown): void };
  /** The last step was done; it is to be kept. */
  #done: { readonly value: T } | null = null;
  #hasEnded = false;

  /** The transaction has begun. */
  constructor(db: Db, steps: Steps<T>) {
    this.#db = db;
    this.#steps = steps;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.result = promise;
    this.#settle = { resolve, reject };
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  /** Resolves when it has ended, one way or the other. */
  async run(): Promise<void> {
    const slices = new Slices();
    // What led to it was a slice already; and keeping much, the last step, takes as long as one.
    await slices.next();
    while (!this.#hasEnded) {
      this.#advance();
      if (!this.#hasEnded && (slices.isOver || this.#done)) await slices.next();
    }
  }

  /** Does what is left at once. */
  finish(): void {
    while (!this.#hasEnded) this.#advance();
  }

  /** Keeping much takes long by itself, so it is a step of its own. */
  #advance(): void {
    try {
      if (this.#done === null) {
        const step = this.#steps.next();
        if (step.done) this.#done = { value: step.value };
        return;
      }
      this.#db.commitAlone();
      this.#hasEnded = true;
      this.#settle.resolve(this.#done.value);
    } catch (error) {
      this.#hasEnded = true;
      this.#db.rollBack();
      this.#settle.reject(toStoreError(error));
    }
  }
}
