/**
 * What the routes share: the facade, the fixed configuration, and the server's own live state. Built once by
 * the server; a handler gets the view of whoever asks, in which other keys' things are not there. No route keeps
 * state of its own.
 */
import type { Hermes } from "@/app/mod.ts";
import type { Family } from "./browser/protocol.ts";
import { BrowserSlot } from "./browser/slot.ts";
import { type Caller, FULL } from "./callers.ts";
import { Callbacks } from "./callbacks.ts";
import { ChatSessions } from "./chat_sessions.ts";
import { type ApiOptions, createFront, type Front } from "./front.ts";
import { IdempotencyCache } from "./idempotency.ts";
import { keepThings, type Kept } from "./kept/mod.ts";
import { Lines } from "./lines.ts";
import { LiveTurns } from "./live_turns.ts";
import { OwnRuns } from "./own_runs.ts";
import { Runs } from "./runs.ts";
import { SessionPool } from "./session_pool.ts";
import { TurnPlaces } from "./turn_places.ts";

export type { ApiOptions, DiskProbe } from "./front.ts";

/** The part that depends on who asks. */
interface Rooms {
  readonly turns: LiveTurns;
  readonly pool: SessionPool;
  readonly chats: ChatSessions;
  readonly places: TurnPlaces;
  readonly runs: OwnRuns;
}

export interface ApiService extends Front, Rooms {
  readonly hermes: Hermes;
  readonly caller: Caller;
  /** Who asks, for the audit trail: the key's name and the program's. */
  readonly client?: string;
  /** Where they ask from; absent: not by a request. */
  readonly family?: Family;
  /** Names this server among those that have written to the same store. */
  readonly instance: string;
  /** Runs of all keys, for the server's start and end. */
  readonly allRuns: Runs;
  readonly callbacks: Callbacks;
  /** Runs and responses, on disk or, while that fails, in memory. */
  readonly kept: Kept;
  readonly idempotency: IdempotencyCache;
  /** Browsers that were lent to sessions. */
  readonly browsers: BrowserSlot;
  /** Named conversations of `/v1/responses`: one turn at a time, each going on from the one before. */
  readonly conversations: Lines;
  /** What is made once and never changes: the API's own description. */
  readonly texts: Map<string, string>;
  /** Concurrent turns allowed now; 0 = no limit. */
  limit(): number;
  /** The service as this caller sees it. */
  as(caller: Caller): ApiService;
}

export function createService(
  hermes: Hermes,
  options: ApiOptions,
  front: Front = createFront(hermes, options),
): ApiService {
  const instance = hermes.platform.ids.hex(16);
  const kept = keepThings(hermes);
  const callbacks = new Callbacks(hermes, kept, front.metrics);
  const allRuns = new Runs(hermes, {
    instance,
    store: () => kept.runs,
    onEnded: (status) => {
      front.metrics?.runEnded(status);
      callbacks.wake();
    },
    ...(options.isAlive === undefined ? {} : { isAlive: options.isAlive }),
  });
  const base = { turns: new LiveTurns(), pool: new SessionPool(hermes) };
  base.turns.whenEnded((result) => front.metrics?.turnEnded(result));
  const rooms = roomsByCaller(hermes, { ...base, allRuns, key: options.key });
  const service: ApiService = {
    ...front,
    ...rooms(FULL),
    hermes,
    caller: FULL,
    instance,
    allRuns,
    callbacks,
    kept,
    conversations: new Lines(),
    texts: new Map(),
    browsers: new BrowserSlot(),
    idempotency: new IdempotencyCache(hermes.platform.clock),
    limit: () => Math.max(0, hermes.settings().gateway.api_server.max_concurrent_runs),
    as: (caller) => caller === FULL ? service : { ...service, ...rooms(caller), caller },
  };
  return service;
}

interface Shared {
  readonly turns: LiveTurns;
  readonly pool: SessionPool;
  readonly allRuns: Runs;
  readonly key: string;
}

/** One set of rooms per key and workspace, since they serialise what belongs together. */
function roomsByCaller(hermes: Hermes, shared: Shared): (caller: Caller) => Rooms {
  const made = new Map<string, Rooms>();
  return (caller) => {
    const name = JSON.stringify([caller.keyId, caller.workspace]);
    const known = made.get(name);
    if (known) return known;
    const pool = shared.pool.as(caller);
    const principal = caller.keyId === null ? shared.key : `key:${caller.keyId}`;
    const rooms: Rooms = {
      pool,
      turns: shared.turns.as(caller),
      chats: new ChatSessions(hermes, pool, principal),
      places: new TurnPlaces(hermes, pool, caller),
      runs: new OwnRuns(shared.allRuns, caller),
    };
    made.set(name, rooms);
    return rooms;
  };
}
