/**
 * A model that is called with several keys (core.md F.3, A.11): a limit is met once more with the same key, then the
 * next one has its turn; a key without money or that is refused makes way at once. Only what has not begun to answer
 * is repeated, and only when no key is left does anybody hear of it: then the failover chain has its turn.
 */
import { isAbort } from "@/lib/abort.ts";
import type { ModelChunk, ModelClient, ModelRequest, ResolvedModel } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import type { KeyPool, PoolKey } from "./pool.ts";

type Batch = readonly ModelChunk[];
type Failed = Extract<ModelChunk, { type: "error" }>;

const USUAL_WAIT_MS = 1_000;
/** A longer wait is worse than another key. */
const LONGEST_WAIT_MS = 5_000;

/** The status by which a failure makes a key rest, by its kind. */
const CODES: Readonly<Partial<Record<Failed["failure"]["kind"], number>>> = {
  rate_limit: 429,
  billing: 402,
  auth: 401,
};

export interface PooledClientOptions {
  /** For when the last key was taken away meanwhile. */
  readonly plain: ModelClient;
  readonly pool: KeyPool;
  readonly platform: Platform;
  clientOf(secret: string): ModelClient;
}

export class PooledClient implements ModelClient {
  readonly info: ResolvedModel;
  readonly #options: PooledClientOptions;
  readonly #clients = new Map<string, ModelClient>();

  constructor(options: PooledClientOptions) {
    this.info = options.plain.info;
    this.#options = options;
  }

  async *stream(request: ModelRequest, options: { signal: AbortSignal }): AsyncGenerator<Batch> {
    const { pool, plain } = this.#options;
    if (await pool.load() === 0) {
      yield* plain.stream(request, options);
      return;
    }
    const tried = new Set<string>();
    let failed: Batch = [];
    for (let key = pool.pick(tried); key !== null; key = pool.pick(tried)) {
      tried.add(key.id);
      const again = yield* this.#attempt(key, request, options);
      if (again === null) return;
      failed = again;
    }
    yield failed;
  }

  /** `null` when the answer was passed on, whatever it was; else the failure, which makes way for another key. */
  async *#attempt(
    key: PoolKey,
    request: ModelRequest,
    options: { signal: AbortSignal },
  ): AsyncGenerator<Batch, Batch | null> {
    const { pool, platform } = this.#options;
    let failed = yield* this.#once(key, request, options);
    const limit = failed && failureIn(failed);
    if (limit?.failure.kind === "rate_limit" && !key.isResting) {
      const waitMs = Math.min(limit.failure.retryAfterMs ?? USUAL_WAIT_MS, LONGEST_WAIT_MS);
      try {
        await platform.clock.delay(waitMs, { signal: options.signal });
      } catch (error) {
        if (isAbort(error)) return null;
        throw error;
      }
      failed = yield* this.#once(key, request, options);
    }
    if (failed === null) return null;
    await pool.note(key, CODES[failureIn(failed)!.failure.kind]!);
    return failed;
  }

  /** A failure that another key may cure is given back, before anything was passed on. */
  async *#once(
    key: PoolKey,
    request: ModelRequest,
    options: { signal: AbortSignal },
  ): AsyncGenerator<Batch, Batch | null> {
    let isFirst = true;
    for await (const batch of this.#clientOf(key).stream(request, options)) {
      const found = failureIn(batch);
      if (isFirst && found && CODES[found.failure.kind] !== undefined) return batch;
      isFirst = false;
      yield batch;
    }
    if (!options.signal.aborted) await this.#options.pool.note(key, null);
    return null;
  }

  #clientOf({ id, secret }: PoolKey): ModelClient {
    const name = `${id}\n${secret}`;
    let client = this.#clients.get(name);
    if (!client) this.#clients.set(name, client = this.#options.clientOf(secret));
    return client;
  }
}

/** The failure that a batch begins with. */
function failureIn([first]: Batch): Failed | null {
  return first?.type === "error" ? first : null;
}
