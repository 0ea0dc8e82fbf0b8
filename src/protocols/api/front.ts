/**
 * What an answer needs before the agent is there: the fixed configuration, the light half of the program, and the
 * counter of work. `/health`, the gates and refusals live on this alone.
 */
import type { HermesBase } from "@/app/mod.ts";
import type { RedactMode } from "@/core/contract.ts";
import { Admission } from "./admission.ts";
import type { ApiConfig } from "./config.ts";

/** Free space of the data home's disk; `null` when it cannot be told. */
export type DiskProbe = (path: string) => Promise<{ usedPercent: number; freeBytes: number } | null>;

export interface ApiOptions extends ApiConfig {
  readonly disk?: DiskProbe;
  /** Whether a process of this machine runs; absent: none but our own does. */
  readonly isAlive?: (pid: number) => boolean;
  /** Idle time after which a stream gets a comment; 10 s. */
  readonly keepaliveMs?: number;
}

export interface Front {
  readonly hermes: HermesBase;
  readonly options: ApiOptions;
  readonly admission: Admission;
  redact(text: string, mode?: RedactMode): string;
}

export function createFront(hermes: HermesBase, options: ApiOptions): Front {
  return {
    hermes,
    options,
    admission: new Admission(),
    redact: (text, mode) => hermes.redact(text, mode),
  };
}
