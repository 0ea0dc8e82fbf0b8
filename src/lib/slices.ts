/**
 * Long work on the one thread, a slice at a time: between two slices everybody else has a turn, so that a stop or an
 * answer is read while the work goes on.
 *
 *   const slices = new Slices();
 *   for (const row of rows) {
 *     work(row);
 *     if (slices.isOver) await slices.next();
 *   }
 *   await slices.end();
 */
const SLICE_MS = 5;

export class Slices {
  #until = performance.now() + SLICE_MS;
  #hasPaused = false;

  /** The others have waited for long enough. */
  get isOver(): boolean {
    return performance.now() >= this.#until;
  }

  /** Resolves when they have had their turn. */
  async next(): Promise<void> {
    // A timer, because an immediate comes before the runtime has looked at its sockets.
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    this.#hasPaused = true;
    this.#until = performance.now() + SLICE_MS;
  }

  /** After the last one: the rest of a slice is not put in front of what comes next. At once when there was but one. */
  async end(): Promise<void> {
    if (this.#hasPaused) await this.next();
  }
}

/** Work that may be held up wherever it yields. */
export type Steps<T> = Generator<void, T>;

/** All of it, a slice at a time. */
export async function inSlices<T>(steps: Steps<T>): Promise<T> {
  const slices = new Slices();
  for (;;) {
    const step = steps.next();
    if (step.done) {
      await slices.end();
      return step.value;
    }
    if (slices.isOver) await slices.next();
  }
}

/** Without a pause. */
export function inOneGo<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
