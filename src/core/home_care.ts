/**
 * What a program does for its data home when nobody waits for it: after a turn has ended, and then once in an hour.
 * The default `SOUL.md` is left there (core.md D.1) and the caches are kept within their bounds (FC-18). Nothing here
 * fails a turn; `settled` is for who closes the program.
 */
import type { CoreServices } from "./services.ts";

const EVERY_MS = 3_600_000;

type CareServices = Pick<CoreServices, "platform" | "log" | "home" | "settings">;

export class HomeCare {
  readonly #services: CareServices;
  #running: Promise<void> | null = null;
  /** On the monotonic clock. */
  #nextAt = -Infinity;

  constructor(services: CareServices) {
    this.#services = services;
  }

  /** Begins when it is due; returns at once. */
  turnEnded(): void {
    const now = this.#services.platform.clock.monotonic();
    if (this.#running !== null || now < this.#nextAt) return;
    this.#nextAt = now + EVERY_MS;
    this.#running = this.#work().finally(() => this.#running = null);
  }

  /** Resolves when nothing is under way. Never rejects. */
  async settled(): Promise<void> {
    await this.#running;
  }

  async #work(): Promise<void> {
    const { platform, log, home, settings } = this.#services;
    try {
      const [{ boundCaches }, { createDefaultSoul }] = await Promise.all([
        import("./cache_bounds.ts"),
        import("./soul.ts"),
      ]);
      await boundCaches(platform, home);
      if (!settings().agent.ignore_rules) await createDefaultSoul(platform, home);
    } catch (error) {
      log.debug(
        `The data home was not looked after: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }
}
