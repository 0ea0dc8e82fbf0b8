/**
 * The stored row of a session: written with its first turn or on demand, once, and kept in step with what the session
 * changes. Its title is here, because only the store decides whether it is free.
 */
import { HermesError } from "./errors.ts";
import type { NewSessionRow, SessionPatch } from "./ports.ts";
import type { CoreServices } from "./services.ts";
import type { Transcript } from "./transcript.ts";

export interface RecordOwner {
  readonly id: string;
  readonly closed: boolean;
  readonly services: Pick<CoreServices, "store" | "log">;
  readonly transcript: Transcript;
  /** The row as it would be written now, without its title. */
  newRow(): NewSessionRow;
}

export class SessionRecord {
  readonly #owner: RecordOwner;
  #title: string | null;
  #stored: boolean;
  #naming = false;

  constructor(owner: RecordOwner, { stored, title }: { stored: boolean; title: string | null }) {
    this.#owner = owner;
    this.#stored = stored;
    this.#title = title;
  }

  get title(): string | null {
    return this.#title;
  }

  /** True once the row exists, or is being written. */
  get stored(): boolean {
    return this.#stored;
  }

  /** True while a title that somebody chose is being written. */
  get isNaming(): boolean {
    return this.#naming;
  }

  get #headId(): string {
    return this.#owner.transcript.headId;
  }

  /** While the database is locked the row is left to the first turn. */
  async storeUnlessLocked(): Promise<void> {
    try {
      await this.store(null, true);
    } catch (error) {
      if (!(error instanceof HermesError) || error.code !== "store_locked") throw error;
    }
  }

  async store(title: string | null = null, isUrgent = false): Promise<void> {
    if (this.#stored) return;
    this.#stored = true;
    const { services, transcript } = this.#owner;
    try {
      const stored = await services.store().createSession({
        ...this.#owner.newRow(),
        ...(title === null ? {} : { title }),
      }, isUrgent);
      this.#title ??= stored;
    } catch (error) {
      this.#stored = false;
      throw error;
    }
    if (transcript.messages.length > 0) await transcript.flush();
  }

  /** Nothing to do while there is no row: it is written as the session is then. */
  async update(patch: SessionPatch): Promise<void> {
    if (this.#stored) await this.#owner.services.store().updateSession(this.#headId, patch);
  }

  /** A title that is refused leaves no row behind: a session that is not stored yet is stored with it or not at all. */
  async setTitle(title: string | null): Promise<void> {
    this.#naming = true;
    try {
      if (!this.#stored) await this.store(title);
      else this.#title = await this.#owner.services.store().setTitle(this.#headId, title);
    } finally {
      this.#naming = false;
    }
  }

  /** For a conversation without a title; a number is added where the title is taken. True when it has it now. */
  async adoptTitle(title: string): Promise<boolean> {
    const store = this.#owner.services.store();
    if (this.#owner.closed || !this.#stored || this.#title !== null || this.#naming) return false;
    if (store.getSession(this.#headId)?.title !== null) return false;
    const stored = await store.setTitle(this.#headId, store.nextTitle(title), "llm");
    this.#title ??= stored;
    return true;
  }

  /** The conversation moved to another row (compression). */
  moved(title: string | null): void {
    this.#title = title;
  }

  /** Never throws. */
  async end(reason: string): Promise<void> {
    if (!this.#stored) return;
    const { services, id } = this.#owner;
    try {
      await services.store().endSession(this.#headId, reason);
    } catch (error) {
      services.log.warn(`Cannot mark session ${id} as ended: ${String(error)}`);
    }
  }
}
