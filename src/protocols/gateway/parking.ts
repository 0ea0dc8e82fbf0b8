/**
 * Sessions whose connection has gone (tui-gateway.md A.8): closed at once where the host asked for it, else parked,
 * and closed later when they are idle and nobody has come back. What runs, waits for an answer or is attached is
 * never closed here; stored conversations stay resumable. Owns its timers until `stop`.
 */
import { isAbort } from "@/lib/abort.ts";
import type { LiveSession } from "./live.ts";
import type { Client } from "./peer.ts";
import type { Gateway } from "./server.ts";

const SCAN_MS = 300_000;

export class Parking {
  readonly #gateway: Gateway;
  readonly #onFault: (where: string, error: unknown) => void;
  /** Ends the wait of a parked session, and the scan. */
  readonly #waits = new Map<LiveSession, AbortController>();
  readonly #scan = new AbortController();

  constructor(gateway: Gateway, onFault: (where: string, error: unknown) => void) {
    this.#gateway = gateway;
    this.#onFault = onFault;
    this.#repeat(SCAN_MS, this.#scan.signal, () => this.#closeExpired());
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
    const idle = all.filter(isReapable).sort((a, b) => a.usedAt - b.usedAt);
    for (const live of idle.slice(0, all.length - limit)) this.#close(live, "lru_evict");
  }

  stop(): void {
    this.#scan.abort();
    for (const wait of this.#waits.values()) wait.abort();
    this.#waits.clear();
  }

  /** Looks after every grace while the session is parked; a running turn puts the end off, another park starts anew. */
  #reapLater(live: LiveSession): void {
    const graceMs = this.#seconds("HERMES_TUI_WS_ORPHAN_REAP_GRACE_S", 20) * 1000;
    if (graceMs === 0) return;
    this.#waits.get(live)?.abort();
    const wait = new AbortController();
    this.#waits.set(live, wait);
    this.#repeat(graceMs, wait.signal, () => {
      const isParked = !live.attached && !live.session.closed;
      if (isParked && !isReapable(live)) return;
      if (isParked) this.#close(live, "ws_orphan_reap");
      wait.abort();
      this.#waits.delete(live);
    });
  }

  /** Every `ms` until the signal fires. */
  #repeat(ms: number, signal: AbortSignal, look: () => void): void {
    const { clock } = this.#gateway.hermes.platform;
    const go = async () => {
      while (!signal.aborted) {
        await clock.delay(ms, { signal });
        look();
      }
    };
    go().catch((error) => isAbort(error) ? undefined : this.#onFault("parking", error));
  }

  #closeExpired(): void {
    const oldest = this.#gateway.hermes.platform.clock.monotonic() -
      1000 * this.#seconds("HERMES_TUI_SESSION_TTL_S", 6 * 3600);
    for (const live of this.#gateway.live.all()) {
      if (isReapable(live) && live.usedAt < oldest) this.#close(live, "idle_timeout");
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
