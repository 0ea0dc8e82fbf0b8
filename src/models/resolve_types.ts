/** What the steps of resolving hand to each other; see resolve.ts for the steps. */
import type { ProviderEntry, Settings } from "@/core/contract.ts";
import type { Catalog } from "./catalog.ts";
import type { Offered } from "./only_model.ts";
import type { ProviderRow } from "./provider_table.ts";
import type { UserProvider } from "./user_providers.ts";

export interface ModelFlags {
  readonly model?: string;
  readonly provider?: string;
  /** `--demo`: the same as `--model builtin:demo`. */
  readonly demo?: boolean;
}

export interface ResolveContext {
  readonly settings: Settings;
  readonly flags: ModelFlags;
  env(name: string): string | undefined;
  readonly catalog: Catalog;
  /** A window that an endpoint stated about one of its models earlier. */
  statedWindow(baseUrl: string, model: string): number | null;
  /** The same, of this run only and without a look at the disk. */
  learnedWindow(baseUrl: string, model: string): number | null;
  /** The first key that `auth.json` has for a provider. */
  pooledKey(provider: string): string | null;
  /** What an endpoint has said that it offers, however long ago. */
  offered(baseUrl: string): Offered;
}

/** The end of every refusal that a set-up would cure. */
export const SETUP_ADVICE =
  "Run `hermes setup`, set a provider key such as OPENROUTER_API_KEY or OPENAI_API_KEY " +
  "(or CUSTOM_BASE_URL for an endpoint of your own), or try the built-in demo with `--demo`.";

/** Where a call goes, before the model's name is settled. */
export interface Target {
  readonly provider: string;
  readonly label: string;
  readonly baseUrl: string;
  readonly row: ProviderRow | null;
  readonly user: UserProvider | null;
  readonly entry: ProviderEntry | null;
  /** Found by looking around, not named by anybody. */
  readonly isAuto: boolean;
}

export interface Wanted {
  /** Empty: the provider's own default. */
  readonly model: string;
  /** `null`: automatic. */
  readonly provider: string | null;
  readonly baseUrl: string | null;
  readonly source: string;
}
