/**
 * What a program does for its data home when nobody waits for it: after a turn has ended, and then once in an hour.
 * The default `SOUL.md` is left there (core.md D.1), the caches are kept within their bounds (FC-18) and old sessions go
 * (core.md D.10). Nothing here fails a turn; `settled` is for who closes the program.
 */
import type { CoreServices } from "./services.ts";

const EVERY_MS = 3_600_000;
/** What a program of one turn may give to old sessions at its end. */
const LAST_MS = 250;

type CareServices = Pick<CoreServices, "platform" | "log" | "home" | "settings" | "store">;

export class HomeCare {
  readonly #services: CareServices;
  #running: Promise<void> | null = null;
  /** On the monotonic clock. */
  #nextAt = -Infinity;
  /** Likewise: what can wait for another time is left from here on. */
  #stopAt = Infinity;

  readonly #isLive: (id: string) => boolean;

  /** `isLive`: a session that this program has open, by the id of its row. */
  constructor(services: CareServices, isLive: (id: string) => boolean) {
    this.#services = services;
    this.#isLive = isLive;
  }

  /** Begins when it is due; returns at once. */
  turnEnded(): void {
    const now = this.#services.platform.clock.monotonic();
    if (this.#running !== null || now < this.#nextAt) return;
    this.#nextAt = now + EVERY_MS;
    this.#running = this.#work().finally(() => this.#running = null);
  }

  /** Resolves soon, when nothing is under way: the program wants to end. Never rejects. */
  async settled(): Promise<void> {
    this.#stopAt = this.#services.platform.clock.monotonic() + LAST_MS;
    await this.#running;
  }

  async #work(): Promise<void> {
    const { platform, log, home, settings } = this.#services;
    try {
      const [{ boundCaches }, { createDefaultSoul }, { pruneSessions }] = await Promise.all([
        import("./cache_bounds.ts"),
        import("./soul.ts"),
        import("./session_pruning.ts"),
      ]);
      await boundCaches(platform, home);
      if (!settings().agent.ignore_rules) await createDefaultSoul(platform, home);
      await pruneSessions(this.#services, {
        isLive: this.#isLive,
        shouldStop: () => platform.clock.monotonic() >= this.#stopAt,
      });
    } catch (error) {
      log.debug(
        `The data home was not looked after: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}
