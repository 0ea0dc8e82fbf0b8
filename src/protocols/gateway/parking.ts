/**
 * Sessions whose connection has gone (tui-gateway.md A.8): closed at once where the host asked for it, else parked,
 * and closed later when they are idle and nobody has come back. What runs, waits for an answer or is attached is
 * never closed here; stored conversations stay resumable. Owns its timers until `stop`.
 */
import type { LiveSession } from "./live.ts";
import type { Client } from "./peer.ts";
import type { Gateway } from "./server.ts";

const SCAN_MS = 300_000;

export class Parking {
  readonly #gateway: Gateway;
  readonly #onFault: (where: string, error: unknown) => void;
  readonly #timers = new Set<ReturnType<typeof setTimeout>>();
  readonly #scan: ReturnType<typeof setInterval>;

  constructor(gateway: Gateway, onFault: (where: string, error: unknown) => void) {
    this.#gateway = gateway;
    this.#onFault = onFault;
    this.#scan = setInterval(() => this.#closeExpired(), SCAN_MS);
  }

  /** The connection is gone; its turns go on. */
  disconnect(client: Client): void {
    for (const live of this.#gateway.live.all()) {
      if (live.audience.has(client)) this.leave(live, client);
    }
  }

  /** One listener less; the session is parked with the last one. */
  leave(live: LiveSession, client: Client): void {
    live.audience.remove(client);
    if (!live.attached) this.park(live);
  }

  /** Nobody listens to this session any more. */
  park(live: LiveSession): void {
    if (live.closeOnDisconnect) this.#close(live, "ws_disconnect");
    else this.#reapLater(live);
  }

  /** Makes room when more sessions are live than may be: the longest idle parked ones go. */
  trim(): void {
    const limit = this.#gateway.hermes.settings().max_live_sessions;
    const all = this.#gateway.live.all();
    if (!limit || all.length <= limit) return;
    const idle = all.filter(isReapable).sort((a, b) => a.lastActive - b.lastActive);
    for (const live of idle.slice(0, all.length - limit)) this.#close(live, "lru_evict");
  }

  stop(): void {
    clearInterval(this.#scan);
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Looks again after every grace while the session is parked; a running turn puts the end off. */
  #reapLater(live: LiveSession): void {
    const graceMs = this.#seconds("HERMES_TUI_WS_ORPHAN_REAP_GRACE_S", 20) * 1000;
    if (graceMs === 0) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      if (live.attached || live.session.closed) return;
      if (isReapable(live)) this.#close(live, "ws_orphan_reap");
      else this.#reapLater(live);
    }, graceMs);
    this.#timers.add(timer);
  }

  #closeExpired(): void {
    const oldest = this.#gateway.hermes.platform.clock.now() / 1000 -
      this.#seconds("HERMES_TUI_SESSION_TTL_S", 6 * 3600);
    for (const live of this.#gateway.live.all()) {
      if (isReapable(live) && live.lastActive < oldest) this.#close(live, "idle_timeout");
    }
  }

  #close(live: LiveSession, reason: string): void {
    this.#gateway.live.close(live.sid, reason).catch((error) => this.#onFault(reason, error));
  }

  #seconds(name: string, fallback: number): number {
    const text = this.#gateway.hermes.platform.env()[name];
    const value = text === undefined || text.trim() === "" ? NaN : Number(text);
    return Number.isFinite(value) && value >= 0 ? value : fallback;
  }
}

function isReapable(live: LiveSession): boolean {
  return !live.attached && live.status === "idle" && !live.session.running && !live.awaitsResults;
}
