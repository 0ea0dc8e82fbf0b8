/**
 * The database, and memory for what it does not take (api-server.md A1 step 3). A write that the disk refuses is made
 * in memory, said on stderr, and lost at a restart; the next one tries the disk again. A database that cannot be opened
 * at all is another matter: then there are no sessions either, and whoever needs it says so. Nor is there a substitute
 * for what the disk does not read: taken for gone, it would be a conversation that was lost without a word.
 */
import type { Hermes } from "@/app/mod.ts";
import { HermesError, type Store } from "@/core/contract.ts";

/** What fails by itself. */
export type Part = "responses" | "runs";

export class Fallback {
  readonly #hermes: Pick<Hermes, "store" | "platform" | "log">;
  readonly #failing = new Set<Part>();
  #opening: Promise<Store> | null = null;
  #memory: Store | null = null;

  constructor(hermes: Pick<Hermes, "store" | "platform" | "log">) {
    this.#hermes = hermes;
  }

  /** Throws `store_failed` when there is no database to work with. */
  get disk(): Store {
    return this.#hermes.store();
  }

  /** `null` as long as the disk has taken everything. */
  get memory(): Store | null {
    return this.#memory;
  }

  /** Whether the disk has refused the last write of this part. */
  isFailing(part: Part): boolean {
    return this.#failing.has(part);
  }

  async write<T>(
    part: Part,
    onDisk: (disk: Store) => Promise<T>,
    inMemory: (memory: Store) => Promise<T>,
  ): Promise<T> {
    const { disk } = this;
    try {
      const done = await onDisk(disk);
      if (this.#failing.delete(part)) this.#hermes.log.warn(`api: ${part} are kept on disk again`);
      return done;
    } catch (error) {
      if (!isRefusal(error, part)) throw error;
      this.#tell(part, error);
      this.#opening ??= this.#open();
      return await inMemory(await this.#opening);
    }
  }

  close(): void {
    this.#memory?.close();
  }

  #tell(part: Part, error: HermesError): void {
    if (this.#failing.has(part)) return;
    this.#failing.add(part);
    this.#hermes.log.warn(
      `api: ${part} cannot be written to disk and are kept in memory, until this server ends: ${error.message}`,
    );
  }

  async #open(): Promise<Store> {
    const { openStore } = await import("@/store/mod.ts");
    const { platform, log } = this.#hermes;
    return this.#memory = openStore(":memory:", { platform, log });
  }
}

/**
 * A lock goes away by itself, and a run that is refused for it may be sent again, or is saved with its next event. The
 * turn of a response is over by then: nobody comes back with it.
 */
function isRefusal(error: unknown, part: Part): error is HermesError {
  const isLocked = error instanceof HermesError && error.code === "store_locked";
  return isDiskFailure(error) || (isLocked && part === "responses");
}

/** Not a lock. */
export function isDiskFailure(error: unknown): error is HermesError {
  return error instanceof HermesError && error.code === "store_failed";
}
