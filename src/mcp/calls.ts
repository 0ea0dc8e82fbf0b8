/**
 * The way of a call to its server (core.md G.3): kept away while the server fails again and again, one after the
 * other unless it takes several at once, bounded in time, cancellable, tried once more when the server has forgotten
 * the session. Where the connection comes from is its owner's business.
 */
import { abortable } from "@/lib/abort.ts";
import type { ToolContext, ToolOutcome } from "@/core/contract.ts";
import type { Clock } from "@/platform/mod.ts";
import { Breaker } from "./breaker.ts";
import type { Connection, RequestLimits } from "./connection.ts";
import type { ServerConfig } from "./entry_types.ts";
import { afterSending, asFailure, McpFailure } from "./failure.ts";
import { outcome, type ResultPlace } from "./results.ts";

export type Work<T> = (connection: Connection, limits: RequestLimits) => Promise<T>;

export interface CallDeps {
  readonly config: ServerConfig;
  readonly clock: Clock;
  /** Fires when the server is closed for good. */
  readonly ended: AbortSignal;
  /** A connection, waited for within bounds. Throws `McpFailure`. */
  reach(signal: AbortSignal): Promise<Connection>;
  /** This connection is of no more use. */
  drop(connection: Connection): Promise<void>;
}

export class Calls {
  readonly #deps: CallDeps;
  readonly #breaker: Breaker;
  /** The last of those that go one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  /** Monotonic milliseconds of the last moment of a call. */
  lastUse = 0;
  readonly #running = new Set<ToolContext>();
  #quiet = Promise.withResolvers<void>();

  constructor(deps: CallDeps) {
    this.#deps = deps;
    this.#breaker = new Breaker(() => deps.clock.monotonic());
  }

  /** The calls that have their turn now. */
  get running(): readonly ToolContext[] {
    return [...this.#running];
  }

  /** Settles when no call runs; `null` = none does. */
  get quiet(): Promise<void> | null {
    return this.#running.size === 0 ? null : this.#quiet.promise;
  }

  /** Runs `work` on the server's connection. Throws `McpFailure`. */
  async run<T>(context: ToolContext, work: Work<T>): Promise<T> {
    const rest = this.#breaker.restMs();
    if (rest > 0) {
      throw new McpFailure(
        "connection",
        `the server failed ${this.#breaker.failures} times in a row; do not retry yet, ` +
          `try again in ${Math.ceil(rest / 1000)} s or go on without it`,
      );
    }
    if (this.#deps.config.parallel) return await this.#counted(context, work);
    const before = this.#last;
    const mine = Promise.withResolvers<void>();
    this.#last = before.then(() => mine.promise);
    try {
      await abortable(before, context.signal).catch(() => {
        throw new McpFailure("aborted", "cancelled");
      });
      return await this.#counted(context, work);
    } finally {
      mine.resolve();
    }
  }

  async #counted<T>(context: ToolContext, work: Work<T>): Promise<T> {
    const limits: RequestLimits = {
      signal: AbortSignal.any([context.signal, this.#deps.ended]),
      timeoutMs: this.#deps.config.timeoutMs,
      onProgress: (text) => context.progress(text),
    };
    this.#running.add(context);
    try {
      const result = await this.#tryTwice(work, limits);
      this.#breaker.worked();
      return result;
    } catch (error) {
      const failure = asFailure(error);
      // A refusal is an answer, and a cancel says nothing about the server.
      if (failure.kind === "refused") this.#breaker.worked();
      else if (failure.kind !== "aborted") this.#breaker.failed();
      throw failure;
    } finally {
      this.#ended(context);
    }
  }

  #ended(context: ToolContext): void {
    this.lastUse = this.#deps.clock.monotonic();
    this.#running.delete(context);
    if (this.#running.size > 0) return;
    this.#quiet.resolve();
    this.#quiet = Promise.withResolvers();
  }

  async #tryTwice<T>(work: Work<T>, limits: RequestLimits): Promise<T> {
    try {
      return await this.#once(work, limits);
    } catch (error) {
      if (asFailure(error).kind !== "expired") throw error;
    }
    return await this.#once(work, limits);
  }

  async #once<T>(work: Work<T>, limits: RequestLimits): Promise<T> {
    const connection = await this.#deps.reach(limits.signal);
    this.lastUse = this.#deps.clock.monotonic();
    try {
      return await work(connection, limits);
    } catch (error) {
      const failure = afterSending(error);
      if (failure.kind === "expired" || failure.kind === "connection") await this.#deps.drop(connection);
      throw failure;
    }
  }
}

/** A failure as the model reads it. What the server said is a stranger's word; the rest is ours. */
export function failedOutcome(server: string, error: unknown, place: ResultPlace): ToolOutcome {
  const failure = asFailure(error);
  const text = `MCP server "${server}": ${place.context.redact(failure.message, "full")}`;
  if (failure.kind === "refused") return outcome(place, { error: text }, true);
  return {
    content: JSON.stringify({ error: text }),
    isError: true,
    effect: failure.sent ? "unknown" : "none",
  };
}
