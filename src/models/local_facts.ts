/**
 * What servers of the user's own have said about their models, asked once an hour at the first call (core.md F.8).
 * A refusal is asked about again each time: the user may have just cured it.
 */
import type { Platform } from "@/platform/mod.ts";
import type { ModelLists } from "./model_lists.ts";
import type { LocalServerFacts } from "./providers/local_server.ts";
import type { Runtime } from "./runtime.ts";

const TTL_MS = 3_600_000;
const MAX_KEPT = 100;

export class LocalFacts {
  readonly #platform: Platform;
  readonly #lists: ModelLists;
  readonly #kept = new Map<string, { readonly facts: LocalServerFacts; readonly at: number }>();

  constructor(platform: Platform, lists: ModelLists) {
    this.#platform = platform;
    this.#lists = lists;
  }

  /** `null` for all other servers, and when the signal fires. */
  async of(runtime: Runtime, signal: AbortSignal): Promise<LocalServerFacts | null> {
    if (runtime.localKind === null) return null;
    const { model, baseUrl } = runtime.model;
    const key = `${model}@${baseUrl}\n${runtime.statedWindow}`;
    const kept = this.#kept.get(key);
    if (kept && this.#platform.clock.monotonic() - kept.at < TTL_MS) return kept.facts;
    const { askLocalServer } = await import("./providers/local_server.ts");
    let facts: LocalServerFacts;
    try {
      facts = await askLocalServer(runtime, this.#platform, signal);
    } catch (error) {
      if (signal.aborted) return null;
      throw error;
    }
    if (facts.window !== null) await this.#lists.learnWindow(baseUrl, model, facts.window);
    if (facts.refusal === null) this.#keep(key, facts);
    return facts;
  }

  #keep(key: string, facts: LocalServerFacts): void {
    this.#kept.set(key, { facts, at: this.#platform.clock.monotonic() });
    if (this.#kept.size > MAX_KEPT) this.#kept.delete(this.#kept.keys().next().value!);
  }
}
