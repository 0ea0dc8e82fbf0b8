/**
 * What the routes share: the facade, the fixed configuration, and the server's own live state. Built once by
 * the server, handed to every handler; no route keeps state of its own.
 */
import type { Hermes } from "@/app/mod.ts";
import { ChatSessions } from "./chat_sessions.ts";
import { type ApiOptions, createFront, type Front } from "./front.ts";
import { IdempotencyCache } from "./idempotency.ts";
import { Lines } from "./lines.ts";
import { LiveTurns } from "./live_turns.ts";
import { Runs } from "./runs.ts";
import { SessionPool } from "./session_pool.ts";
import { TurnPlaces } from "./turn_places.ts";

export type { ApiOptions, DiskProbe } from "./front.ts";

export interface ApiService extends Front {
  readonly hermes: Hermes;
  /** Names this server among those that have written to the same store. */
  readonly instance: string;
  readonly turns: LiveTurns;
  readonly pool: SessionPool;
  readonly chats: ChatSessions;
  readonly places: TurnPlaces;
  readonly runs: Runs;
  readonly idempotency: IdempotencyCache;
  /** Named conversations of `/v1/responses`: one turn at a time, each going on from the one before. */
  readonly conversations: Lines;
  /** Concurrent turns allowed now; 0 = no limit. */
  limit(): number;
}

export function createService(
  hermes: Hermes,
  options: ApiOptions,
  front: Front = createFront(hermes, options),
): ApiService {
  const pool = new SessionPool(hermes);
  const turns = new LiveTurns();
  const instance = hermes.platform.ids.hex(16);
  return {
    ...front,
    hermes,
    instance,
    turns,
    pool,
    chats: new ChatSessions(hermes, pool, options.key),
    places: new TurnPlaces(hermes, pool),
    runs: new Runs(hermes, {
      instance,
      turns,
      ...(options.isAlive === undefined ? {} : { isAlive: options.isAlive }),
    }),
    conversations: new Lines(),
    idempotency: new IdempotencyCache(hermes.platform.clock),
    limit: () => Math.max(0, hermes.settings().gateway.api_server.max_concurrent_runs),
  };
}
