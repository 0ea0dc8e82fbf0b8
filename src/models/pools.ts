/**
 * The pools of keys of all providers (core.md F.3), shared by all calls of a program. Nothing is loaded and one look at
 * `auth.json` is made where a home has none: the code of a pool comes with the first call that needs it.
 */
import type { ConfigService, Logger, ModelClient } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { type AuthFile, firstKey, parseAuth } from "./auth_key.ts";
import { LazyClient } from "./lazy_client.ts";
import type { KeyPool } from "./pool.ts";
import type { Runtime } from "./runtime.ts";

/** A key that was added is known after so long. */
const FRESH_MS = 5_000;

interface KeptAuth {
  /** On the monotonic clock. */
  readonly until: number;
  readonly exists: boolean;
  /** `null` where it is broken, too. */
  readonly file: AuthFile | null;
}

export interface PoolsDeps {
  readonly platform: Platform;
  readonly config: ConfigService;
  readonly log: Logger;
  /** Takes a value out of every text from now on. */
  keepSecret?(value: string): void;
}

export class Pools {
  readonly #deps: PoolsDeps;
  readonly #pools = new Map<string, KeyPool>();
  #auth: KeptAuth = { until: -Infinity, exists: false, file: null };

  constructor(deps: PoolsDeps) {
    this.#deps = deps;
  }

  /** The key of `auth.json` that a provider begins with. */
  firstKey(provider: string): string | null {
    return firstKey(this.#authFile().file, provider);
  }

  /** A client that goes on with the next key; the plain one where a provider has no others. */
  clientOf(runtime: Runtime, makeClient: (runtime: Runtime) => ModelClient): ModelClient {
    const plain = makeClient(runtime);
    const { pool: provider, model } = runtime;
    if (provider === null || !this.#hasPool(provider)) return plain;
    return new LazyClient(model, async () => {
      const pool = await this.#poolOf(provider, runtime);
      if (await pool.load() <= (runtime.keySource === "auth.json" ? 0 : 1)) return plain;
      const { PooledClient } = await import("./pooled_client.ts");
      const clientOf = (apiKey: string) => makeClient({ ...runtime, apiKey });
      return new PooledClient({ plain, pool, platform: this.#deps.platform, clientOf });
    });
  }

  async #poolOf(provider: string, runtime: Runtime): Promise<KeyPool> {
    const { KeyPool, borrowedKeys, strategyOf } = await import("./pool.ts");
    const { platform, config, log } = this.#deps;
    const name = [provider, runtime.model.baseUrl, runtime.keySource, runtime.apiKey].join("\n");
    let pool = this.#pools.get(name);
    if (!pool) {
      const kept = new Set<string>();
      pool = new KeyPool({
        platform,
        log,
        home: config.home,
        provider,
        strategy: () => strategyOf(config.settings(), provider),
        borrowed: () => borrowedKeys(runtime, (name) => config.env(name)),
        keepSecret: (value) => {
          if (!kept.has(value)) this.#deps.keepSecret?.(value);
          kept.add(value);
        },
      });
      this.#pools.set(name, pool);
    }
    return pool;
  }

  #hasPool(provider: string): boolean {
    const { credential_pool_strategies = {} } = this.#deps.config.settings();
    return Object.hasOwn(credential_pool_strategies, provider) || this.#authFile().exists;
  }

  /** As it was within the last seconds. */
  #authFile(): KeptAuth {
    const { platform, config } = this.#deps;
    const now = platform.clock.monotonic();
    if (config.home === "" || now < this.#auth.until) return this.#auth;
    const path = `${config.home}/auth.json`;
    const exists = platform.files.statSync(path) !== null;
    const file = exists ? parseAuth(readText(platform, path)) : null;
    return this.#auth = { until: now + FRESH_MS, exists, file };
  }
}

function readText(platform: Platform, path: string): string | null {
  try {
    return platform.files.readTextSync(path);
  } catch {
    return null; // not ours to read: it has no key for us
  }
}
