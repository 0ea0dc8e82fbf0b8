/**
 * The background processes that one run has started (api-server.md B4.7): a stopped run takes its own with it and
 * leaves those that its session had before.
 */
import type { Session } from "@/core/contract.ts";
import type { ApiService } from "./service.ts";

export class RunProcesses {
  readonly #api: ApiService;
  readonly #session: Session;
  #before: ReadonlySet<string> | null = null;

  constructor(api: ApiService, session: Session) {
    this.#api = api;
    this.#session = session;
  }

  /** The run begins: what runs now is not its own. */
  note(): void {
    this.#before = new Set(this.#running());
  }

  /** Ends those that have come since; a run that never began has none. */
  async end(): Promise<void> {
    const before = this.#before;
    if (!before) return;
    const own = this.#running().filter((id) => !before.has(id));
    const control = this.#api.hermes.processes(this.#session);
    await Promise.all(own.map((id) => control.kill(id).catch(() => {/* it has ended by itself */})));
  }

  #running(): string[] {
    return this.#api.hermes.processes(this.#session).list()
      .filter((process) => process.status === "running")
      .map((process) => String(process.session_id));
  }
}
