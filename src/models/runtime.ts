/** A model with everything a call needs, the key included. Lives in memory only; `ResolvedModel` is its public half. */
import type { ProviderEntry, ResolvedModel } from "@/core/mod.ts";

export interface Runtime {
  readonly model: ResolvedModel;
  /** Never logged, never in JSON. */
  readonly apiKey: string;
  /** The variable it came from, `config`, or `none`. */
  readonly keySource: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly extraBody: Readonly<Record<string, unknown>>;
  /** Settings of the provider, when the user wrote any. */
  readonly entry: ProviderEntry | null;
  readonly isLocal: boolean;
}
