/** Waiting lines by name: who comes later goes on when the one before has left. Nothing is kept for an empty line. */
export class Lines {
  readonly #last = new Map<string, Promise<void>>();

  /** Waits for its turn; the result leaves the line and may be called again without effect. */
  async enter(name: string): Promise<() => void> {
    const before = this.#last.get(name);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#last.set(name, promise);
    await before;
    return () => {
      if (this.#last.get(name) === promise) this.#last.delete(name);
      resolve();
    };
  }
}
