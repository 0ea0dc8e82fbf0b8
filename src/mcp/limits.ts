/**
 * How long a connection may live (core.md G.1): without a sign of life, without a call, and at all. A call that runs is
 * never cut by the last two.
 */
import { abortable, LONGEST_TIMER_MS } from "@/lib/abort.ts";
import type { Clock } from "@/platform/mod.ts";
import type { Calls } from "./calls.ts";
import type { Connection } from "./connection.ts";
import type { ServerConfig } from "./entry_types.ts";
import { asFailure } from "./failure.ts";

/** `idle`: it rests until the next call. `old`: another one takes its place at once. */
export type Limit = "idle" | "old";

const PING_MS = 10_000;

export interface LimitedLife {
  readonly config: Pick<ServerConfig, "idleMs" | "lifetimeMs">;
  readonly calls: Calls;
  readonly clock: Clock;
  /** The connection is over in another way. */
  readonly signal: AbortSignal;
  /** Runs in the same moment in which no call was running: a later one must not get this connection. */
  onReached(): void;
}

/** Settles when a limit is reached and no call runs; `null` when `signal` fires before. */
export async function reachedLimit(life: LimitedLife): Promise<Limit | null> {
  const { config: { idleMs, lifetimeMs }, calls, clock, signal } = life;
  if (idleMs === null && lifetimeMs === null) return null;
  const openedAt = clock.monotonic();
  while (!signal.aborted) {
    const now = clock.monotonic();
    const idleAt = Math.max(openedAt, calls.lastUse) + (idleMs ?? Infinity);
    const oldAt = openedAt + (lifetimeMs ?? Infinity);
    const { quiet } = calls;
    if (now < Math.min(idleAt, oldAt)) {
      const wait = Math.min(Math.min(idleAt, oldAt) - now, LONGEST_TIMER_MS);
      await clock.delay(wait, { signal }).catch(() => {/* the connection is over */});
    } else if (quiet) await abortable(quiet, signal).catch(() => {/* likewise */});
    else {
      life.onReached();
      return now >= oldAt ? "old" : "idle";
    }
  }
  return null;
}

export interface KeptLife {
  readonly config: Pick<ServerConfig, "keepaliveMs">;
  readonly calls: Calls;
  readonly clock: Clock;
  readonly connection: Connection;
  readonly signal: AbortSignal;
}

/** Pings where nothing was said for a while; closes a connection that does not answer. Settles when it is over. */
export async function keepAlive({ config, calls, clock, connection, signal }: KeptLife): Promise<void> {
  const { keepaliveMs } = config;
  for (;;) {
    await clock.delay(keepaliveMs, { signal }).catch(() => {/* the connection is over */});
    if (signal.aborted) return;
    if (clock.monotonic() - calls.lastUse < keepaliveMs) continue;
    try {
      await connection.request("ping", {}, { signal, timeoutMs: PING_MS });
    } catch (error) {
      if (asFailure(error).kind !== "refused" && !signal.aborted) return void connection.close();
    }
  }
}
