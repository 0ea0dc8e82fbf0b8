/**
 * When old sessions go by themselves (core.md D.10): once in `sessions.min_interval_hours` over all programs of a home,
 * by the stamp in `state_meta`. Empty sessions of the gateway always go, the others where `sessions.auto_prune` says so.
 */
import type { CoreServices } from "./services.ts";

const STAMP = "sessions_pruned_at";
const HOUR = 3_600;
const DAY = 24 * HOUR;
/** Conversations in one go; the rest follows an hour later. */
const AT_ONCE = 500;
/** The thread stands still for some 5 ms per MiB while the file is written anew. */
const REWRITE_UP_TO = 8 << 20;

export type PruningServices = Pick<CoreServices, "platform" | "log" | "home" | "settings" | "store">;

export interface PruningLimits {
  isLive(id: string): boolean;
  /** True when the program wants to end: what is left waits for the next time. */
  shouldStop(): boolean;
}

/** Does what is due; a stamp of the future counts as none: the clock was put back. */
export async function pruneSessions(services: PruningServices, limits: PruningLimits): Promise<void> {
  const { platform, log, home } = services;
  const store = services.store();
  const { auto_prune, retention_days, min_interval_hours } = services.settings().sessions ?? DEFAULTS;
  const now = platform.clock.now() / 1000;
  const last = Number(store.getMeta(STAMP) ?? NaN);
  const interval = min_interval_hours * HOUR;
  if (last <= now && now - last < interval) return;
  // Whoever else looks meanwhile finds it done; what is not finished comes again in an hour.
  await store.setMeta(STAMP, String(now - Math.max(0, interval - HOUR)));
  const { removed, isMore } = await (await store.pruning()).prune({
    before: auto_prune ? now - retention_days * DAY : null,
    snapshots: `${home}/snapshots`,
    rewriteUpTo: REWRITE_UP_TO,
    limit: AT_ONCE,
    ...limits,
  });
  if (removed > 0) log.info(`${removed} old ${removed === 1 ? "session was" : "sessions were"} deleted`);
  if (!isMore) await store.setMeta(STAMP, String(now));
}

const DEFAULTS = { auto_prune: false, retention_days: 90, min_interval_hours: 24 };
