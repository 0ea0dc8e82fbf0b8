/**
 * Asks an endpoint on the user's own machine or network for its models when no model is named (core.md F.8): once in
 * a run of the program, and again only as long as the answer does not settle it or has grown too old.
 */
import { HermesError, type ModelChoice } from "@/core/contract.ts";
import { abortable } from "@/lib/abort.ts";
import type { Platform } from "@/platform/mod.ts";
import type { ModelLists } from "./model_lists.ts";
import { NOT_ASKED, type Offered } from "./only_model.ts";
import { resolveRuntime } from "./resolve.ts";
import type { ResolveContext } from "./resolve_types.ts";
import type { Runtime } from "./runtime.ts";

const ASK_MS = 2_000;
const TTL_MS = 3_600_000;

export class UnnamedModels {
  readonly #platform: Platform;
  readonly #lists: ModelLists;
  /** By base URL: when it was asked (milliseconds that only grow), and why that gave nothing. */
  readonly #asked = new Map<string, { readonly at: number; readonly fault: string | null }>();
  readonly #asking = new Map<string, Promise<void>>();

  constructor(platform: Platform, lists: ModelLists) {
    this.#platform = platform;
    this.#lists = lists;
  }

  offered(baseUrl: string): Offered {
    const ids = this.#lists.lastIds(baseUrl);
    return ids === null ? { ids: [], fault: this.#asked.get(baseUrl)?.fault ?? null } : { ids, fault: null };
  }

  /** `null` when nothing has to be asked. Never rejects: what came of it is told by resolving. */
  settling(
    choice: ModelChoice,
    context: ResolveContext,
    signal: AbortSignal | undefined,
  ): Promise<void> | null {
    const runtime = unnamedRuntime(choice, context);
    if (runtime === null) return null;
    const { baseUrl } = runtime.model;
    const asked = this.#asked.get(baseUrl);
    const isFresh = asked && asked.fault === null && this.#platform.clock.monotonic() - asked.at < TTL_MS;
    if (isFresh && this.#lists.lastIds(baseUrl)?.length === 1) return null;
    let asking = this.#asking.get(baseUrl);
    if (!asking) {
      asking = this.#ask(runtime).finally(() => this.#asking.delete(baseUrl));
      this.#asking.set(baseUrl, asking);
    }
    return signal
      ? abortable(asking, signal).catch(() => {/* cancelled: others may still wait for it */})
      : asking;
  }

  async #ask({ model: { baseUrl, apiMode }, apiKey, headers }: Runtime): Promise<void> {
    const outcome = await this.#lists.ask({ baseUrl, apiKey, apiMode, headers, timeoutMs: ASK_MS });
    const fault = outcome.type === "listed" ? null : outcome.reason;
    this.#asked.set(baseUrl, { at: this.#platform.clock.monotonic(), fault });
  }
}

/** Where a choice without a name goes; `null` when it has one, or goes nowhere that could be asked. */
function unnamedRuntime(choice: ModelChoice, context: ResolveContext): Runtime | null {
  let isUnnamed = false;
  const offered = (): Offered => {
    isUnnamed = true;
    return { ...NOT_ASKED, ids: ["unnamed"] };
  };
  try {
    const runtime = resolveRuntime(choice, { ...context, offered });
    return isUnnamed ? runtime : null;
  } catch (error) {
    if (error instanceof HermesError) return null;
    throw error;
  }
}
