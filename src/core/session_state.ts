/** Values that live as long as a session and belong to rooms below; disposed in reverse order on close. */
import type { SessionScope } from "./ports.ts";

interface Disposable {
  dispose(): void | Promise<void>;
}

function isDisposable(value: object): value is Disposable {
  return typeof (value as Partial<Disposable>).dispose === "function";
}

export class SessionState implements SessionScope {
  readonly sessionId: string;
  readonly #values = new Map<string, object>();

  constructor(sessionId: string) {
    this.sessionId = sessionId;
  }

  state<T extends object>(key: string, create: () => T): T {
    let value = this.#values.get(key) as T | undefined;
    if (!value) {
      value = create();
      this.#values.set(key, value);
    }
    return value;
  }

  async dispose(): Promise<void> {
    const values = [...this.#values.values()].reverse();
    this.#values.clear();
    await Promise.all(
      values.filter(isDisposable).map((value) => Promise.resolve(value.dispose()).catch(() => {/* gone */})),
    );
  }
}
