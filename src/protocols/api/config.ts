/**
 * What the server is started with (api-server.md A2): flags before the settings, in which environment, `.env` and
 * file are joined already. Only what is fixed for the life of the process stands here; limits, routes and gates are
 * read from the settings with each request, so that an edited file counts at once.
 */
import { DEFAULT_PROFILE, profileOf } from "@/lib/profile.ts";
import type { Settings } from "@/core/contract.ts";

export interface ApiConfig {
  readonly host: string;
  /** 0 = any free port. */
  readonly port: number;
  readonly key: string;
  /** Origins that may read answers; `*` = all; empty = no browser at all. */
  readonly origins: readonly string[];
  /** Further names accepted in `Host`, lower case, without port. */
  readonly allowedHosts: readonly string[];
  readonly loopback: boolean;
  /** The virtual model of `/v1/models`. */
  readonly modelName: string;
  /** Proxies whose `X-Forwarded-*` headers count. */
  readonly trustedHosts?: readonly string[];
  /** Whether requests are counted for `GET /metrics`. */
  readonly metrics?: boolean;
  readonly logFormat?: "text" | "json";
  /** Whether each request is a line in the log. */
  readonly logRequests?: boolean;
  /** Milliseconds that running turns get after a stop signal before they are interrupted. */
  readonly drainMs?: number;
}

/** Flags of `hermes serve`. */
export interface ServeFlags {
  readonly host?: string;
  readonly port?: number;
  readonly logFormat?: "text" | "json";
  /** Seconds. */
  readonly drain?: number;
}

const DEFAULT_HOST = "127.0.0.1";
const DEFAULT_MODEL_NAME = "hermes-agent";

/** Everything but what the key guard finds out; an empty key means that none is set. */
export function readApiConfig(
  { settings: read, home }: { settings(): Settings; readonly home: string },
  flags: ServeFlags,
): Omit<ApiConfig, "loopback"> {
  const settings = read();
  const profile = profileOf(home);
  const server = settings.gateway.api_server;
  return {
    host: (flags.host ?? server.host).trim().replace(/^\[(.*)\]$/, "$1") || DEFAULT_HOST,
    port: flags.port ?? server.port,
    key: server.key,
    origins: server.cors_origins,
    allowedHosts: server.allowed_hosts.map(hostName),
    modelName: server.model_name.trim() || (profile === DEFAULT_PROFILE ? DEFAULT_MODEL_NAME : profile),
    trustedHosts: server.trusted_hosts ?? [],
    metrics: server.metrics ?? false,
    logFormat: flags.logFormat ?? "text",
    logRequests: flags.logFormat === "json" && ["DEBUG", "INFO"].includes(settings.logging.level),
    drainMs: (flags.drain ?? server.drain_seconds ?? 0) * 1000,
  };
}

/** The name in a `Host` value: lower case, no port, no brackets. */
export function hostName(value: string): string {
  const text = value.trim().toLowerCase();
  if (text.startsWith("[")) return text.slice(1, text.indexOf("]") === -1 ? undefined : text.indexOf("]"));
  const colon = text.indexOf(":");
  // More than one colon without brackets is a bare IPv6 address.
  return colon === -1 || colon !== text.lastIndexOf(":") ? text : text.slice(0, colon);
}
