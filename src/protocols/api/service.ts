/**
 * What the routes share: the facade, the fixed configuration, and the server's own live state. Built once by
 * the server, handed to every handler; no route keeps state of its own.
 */
import type { Hermes } from "@/app/mod.ts";
import type { RedactMode } from "@/core/mod.ts";
import { Admission } from "./admission.ts";
import { ChatSessions } from "./chat_sessions.ts";
import type { ApiConfig } from "./config.ts";
import { IdempotencyCache } from "./idempotency.ts";
import { LiveTurns } from "./live_turns.ts";
import { SessionPool } from "./session_pool.ts";

/** Free space of the data home's disk; `null` when it cannot be told. */
export type DiskProbe = (path: string) => Promise<{ usedPercent: number; freeBytes: number } | null>;

export interface ApiOptions extends ApiConfig {
  readonly disk?: DiskProbe;
  /** Idle time after which a stream gets a comment; 10 s. */
  readonly keepaliveMs?: number;
}

export interface ApiService {
  readonly hermes: Hermes;
  readonly options: ApiOptions;
  readonly admission: Admission;
  readonly turns: LiveTurns;
  readonly chats: ChatSessions;
  readonly idempotency: IdempotencyCache;
  redact(text: string, mode?: RedactMode): string;
  /** Concurrent turns allowed now; 0 = no limit. */
  limit(): number;
}

export function createService(hermes: Hermes, options: ApiOptions): ApiService {
  const sessions = new SessionPool(hermes);
  return {
    hermes,
    options,
    admission: new Admission(),
    turns: new LiveTurns(),
    chats: new ChatSessions(hermes, sessions, options.key),
    idempotency: new IdempotencyCache(hermes.platform.clock),
    redact: (text, mode) => hermes.redact(text, mode),
    limit: () => Math.max(0, hermes.settings().gateway.api_server.max_concurrent_runs),
  };
}
