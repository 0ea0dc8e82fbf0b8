/**
 * What rooms below keep for as long as a session lives, disposed in reverse order on close, and what they have to tell
 * the model beside its calls.
 */
import type { SessionNotice, SessionScope } from "./ports.ts";

/** Of more than these the oldest are dropped. */
const MAX_NOTICES = 100;

interface Disposable {
  dispose(): void | Promise<void>;
}

function isDisposable(value: object): value is Disposable {
  return typeof (value as Partial<Disposable>).dispose === "function";
}

export class SessionState implements SessionScope {
  readonly sessionId: string;
  readonly #values = new Map<string, object>();
  readonly #onTold: () => void;
  #notices: SessionNotice[] = [];

  constructor(sessionId: string, onTold: () => void = () => {}) {
    this.sessionId = sessionId;
    this.#onTold = onTold;
  }

  state<T extends object>(key: string, create: () => T): T {
    let value = this.#values.get(key) as T | undefined;
    if (!value) {
      value = create();
      this.#values.set(key, value);
    }
    return value;
  }

  tell(notice: SessionNotice): void {
    this.#notices.push(notice);
    if (this.#notices.length > MAX_NOTICES) this.#notices.shift();
    if (!notice.quiet) this.#onTold();
  }

  /** All that wait; they go on waiting. */
  waitingNotices(): readonly SessionNotice[] {
    this.#notices = this.#notices.filter((notice) => !notice.isKnown?.());
    return this.#notices;
  }

  /** How many wait that are worth a turn. */
  get notices(): number {
    return this.waitingNotices().filter(({ quiet }) => !quiet).length;
  }

  /** All that wait, each handed out once. */
  takeNotices(): readonly SessionNotice[] {
    const notices = this.waitingNotices();
    this.#notices = [];
    return notices;
  }

  /** They were taken for a turn that has not brought them. */
  putBack(notices: readonly SessionNotice[]): void {
    this.#notices.unshift(...notices);
  }

  async dispose(): Promise<void> {
    const values = [...this.#values.values()].reverse();
    this.#values.clear();
    await Promise.all(
      values.filter(isDisposable).map((value) => Promise.resolve(value.dispose()).catch(() => {/* gone */})),
    );
  }
}
