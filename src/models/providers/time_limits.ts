/** How long a call may take and be silent (core.md A.5), from settings, environment and the endpoint. Milliseconds. */
import type { ModelFacts } from "@/core/contract.ts";
import { modelFacts } from "../user_providers.ts";
import { isSlowThinker } from "../traits.ts";
import type { Runtime } from "../runtime.ts";

export interface TimeLimits {
  /** Until the address has taken the connection, whoever it belongs to. */
  readonly connect: number;
  /** The whole call. */
  readonly whole: number;
  /** Until the first byte, and between two reads; `null` = only the whole-call limit. */
  readonly read: number | null;
  /** Without a chunk (keep-alive comments do not count). */
  readonly stale: number | null;
  /** The whole wait of a call that does not stream. */
  readonly unstreamed: number | null;
}

export const CONNECT_MS = 30_000;

type Env = (name: string) => string | undefined;

function seconds(env: Env, name: string, fallback: number): number {
  const value = Number(env(name));
  return Number.isFinite(value) && value > 0 ? value * 1000 : fallback * 1000;
}

function isSet(env: Env, name: string): boolean {
  return Number(env(name)) > 0;
}

export function timeLimits(
  runtime: Runtime,
  promptTokens: number,
  env: Env,
  connect: number = CONNECT_MS,
): TimeLimits {
  const { entry, model, isLocal } = runtime;
  const facts: ModelFacts = modelFacts(entry, model.model);
  const stated = facts.timeout_seconds ?? entry?.request_timeout_seconds;
  const whole = stated ? stated * 1000 : seconds(env, "HERMES_API_TIMEOUT", 1800);
  if (isLocal) return { connect, whole, read: null, stale: null, unstreamed: null };
  const slow = isSlowThinker(model.model);
  const patience = slow ? 600 : promptTokens > 100_000 ? 300 : promptTokens > 50_000 ? 240 : 180;
  const ownStale = facts.stale_timeout_seconds ?? entry?.stale_timeout_seconds;
  const stale = ownStale ? ownStale * 1000 : seconds(env, "HERMES_STREAM_STALE_TIMEOUT", patience);
  const read = seconds(env, "HERMES_STREAM_READ_TIMEOUT", 120);
  const plain = seconds(env, "HERMES_API_CALL_STALE_TIMEOUT", 90);
  return {
    connect,
    whole,
    // A model that thinks silently for minutes is not a dead connection.
    read: isSet(env, "HERMES_STREAM_READ_TIMEOUT") ? read : Math.max(read, slow || ownStale ? stale : 0),
    stale,
    unstreamed: isSet(env, "HERMES_API_CALL_STALE_TIMEOUT") ? plain : Math.max(plain, slow ? stale : 0),
  };
}
