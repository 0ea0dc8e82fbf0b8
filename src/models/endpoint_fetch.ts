/**
 * Requests by the system's way, but for the origins of entries that say something about certificates. By origin, so
 * that a list, a test call and a turn are all made the same way, and no other server is believed.
 */
import type { ProviderEntry, Settings } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import type { EndpointTls, TlsClients } from "./endpoint_tls.ts";
import { PROVIDERS } from "./provider_table.ts";
import type { ResolveContext } from "./resolve_types.ts";
import { rowAddress } from "./targets.ts";
import { overrideOf, userProviders } from "./user_providers.ts";

/** An address of the settings with the entry that was written for it. */
export interface Written {
  readonly baseUrl: string;
  readonly entry: ProviderEntry;
}

/** What an entry wants of certificates; `null`: the usual. */
export function tlsOf({ ssl_ca_cert, ssl_verify = true }: ProviderEntry): EndpointTls | null {
  // `true` and `false` come as texts from the environment.
  const said = typeof ssl_verify === "string" ? ssl_verify.trim() : ssl_verify;
  if (said === false || (typeof said === "string" && /^(false|no|off|0)$/i.test(said))) {
    return { verify: false, ca: null };
  }
  const file = typeof said === "string" && !/^(true|yes|on|1|)$/i.test(said) ? said : null;
  const ca = ssl_ca_cert?.trim() || file;
  return ca === null ? null : { verify: true, ca };
}

/** The addresses of the settings: the user's own endpoints, and known providers that an entry adds to. */
export function writtenAddresses(context: ResolveContext): readonly Written[] {
  const { settings } = context;
  const known = PROVIDERS.flatMap((row) => {
    const entry = overrideOf(settings, row.id);
    const baseUrl = entry === null ? null : rowAddress(row, context);
    return entry === null || baseUrl === null ? [] : [{ baseUrl, entry }];
  });
  return [...userProviders(settings), ...known];
}

function originOf(url: string): string {
  try {
    return new URL(url).origin;
  } catch {
    return "";
  }
}

/** The platform with such a `fetch`. `written` is asked again whenever the settings are others. */
export function withEndpointTls(
  platform: Platform,
  settings: () => Settings,
  written: () => readonly Written[],
): Platform {
  let known: { readonly settings: Settings; readonly ways: ReadonlyMap<string, EndpointTls> } | null = null;
  let clients: Promise<TlsClients> | null = null;
  function wayTo(url: string): EndpointTls | null {
    const now = settings();
    if (known?.settings !== now) known = { settings: now, ways: waysOf(written()) };
    return known.ways.size === 0 ? null : known.ways.get(originOf(url)) ?? null;
  }
  return {
    ...platform,
    fetch: async (url, init) => {
      const tls = wayTo(url);
      if (tls === null) return await platform.fetch(url, init);
      clients ??= import("./endpoint_tls.ts").then((loaded) => new loaded.TlsClients(platform));
      return await (await clients).fetch(tls, url, init);
    },
  };
}

function waysOf(written: readonly Written[]): ReadonlyMap<string, EndpointTls> {
  const ways = new Map<string, EndpointTls>();
  for (const { baseUrl, entry } of written) {
    const tls = tlsOf(entry);
    if (tls !== null && !ways.has(originOf(baseUrl))) ways.set(originOf(baseUrl), tls);
  }
  return ways;
}
