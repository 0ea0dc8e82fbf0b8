/** A model with everything a call needs, the key included. Lives in memory only; `ResolvedModel` is its public half. */
import type { ProviderEntry, ResolvedModel } from "@/core/contract.ts";

/** How long the provider keeps a marked prompt prefix; `off` = no marks. */
export type CacheTtl = "5m" | "1h" | "off";

/** A kind of server on the user's own machine that wants something of its own (core.md F.8). */
export type LocalKind = "ollama" | "lmstudio";

export interface Runtime {
  readonly model: ResolvedModel;
  /** Never logged, never in JSON. */
  readonly apiKey: string;
  /** The variable it came from, `config`, `auth.json`, or `none`. */
  readonly keySource: string;
  /** Whose pool of keys may be used instead; `null`: this key and no other. */
  readonly pool: string | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly extraBody: Readonly<Record<string, unknown>>;
  /** Settings of the provider, when the user wrote any. */
  readonly entry: ProviderEntry | null;
  readonly isLocal: boolean;
  readonly localKind: LocalKind | null;
  /** What the settings say about the window, for servers that have to be told. */
  readonly statedWindow: number | null;
  readonly cacheTtl: CacheTtl;
  /** Most output tokens; `null` when unknown. */
  readonly maxOutput: number | null;
}
