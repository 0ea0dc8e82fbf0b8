/**
 * What an answer needs before the agent is there: the fixed configuration, the light half of the program, and the
 * counters of work. `/health`, the gates and refusals live on this alone.
 */
import type { HermesBase } from "@/app/mod.ts";
import type { RedactMode } from "@/core/contract.ts";
import { Admission } from "./admission.ts";
import type { ApiConfig } from "./config.ts";
import { Metrics } from "./metrics.ts";
import { RateLimits } from "./rate_limits.ts";

/** Free space of the data home's disk; `null` when it cannot be told. */
export type DiskProbe = (path: string) => Promise<{ usedPercent: number; freeBytes: number } | null>;

export interface ApiOptions extends ApiConfig {
  readonly disk?: DiskProbe;
  /** Whether a process of this machine runs; absent: none but our own does. */
  readonly isAlive?: (pid: number) => boolean;
  /** Idle time after which a stream gets a comment; 10 s. */
  readonly keepaliveMs?: number;
  /** Turns a request into a WebSocket; throws for what is no handshake. Absent: there are none. */
  readonly upgrade?: (request: Request) => { readonly socket: WebSocket; readonly response: Response };
}

export interface Front {
  readonly hermes: HermesBase;
  readonly options: ApiOptions;
  readonly admission: Admission;
  readonly limits: RateLimits;
  /** `null`: nobody has asked for them. */
  readonly metrics: Metrics | null;
  /** Unix seconds. */
  readonly startedAt: number;
  redact(text: string, mode?: RedactMode): string;
}

export function createFront(hermes: HermesBase, options: ApiOptions): Front {
  return {
    hermes,
    options,
    admission: new Admission(),
    limits: new RateLimits(hermes.platform.clock),
    metrics: options.metrics === true ? new Metrics() : null,
    startedAt: hermes.platform.clock.now() / 1000,
    redact: (text, mode) => hermes.redact(text, mode),
  };
}
