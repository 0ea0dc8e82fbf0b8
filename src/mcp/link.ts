/** The line to one server, not yet spoken on: a child's pipes, or HTTP with its certificates and its login. */
import type { ConnectOptions } from "./connection.ts";
import type { HttpConfig, ServerConfig, StdioConfig } from "./entry_types.ts";
import { openHttpClient } from "./http_client.ts";
import { type Fetch, trackedFetch } from "./http_fetch.ts";
import { StoredTokenAuth } from "./oauth.ts";
import {
  parseJSONRPCMessage,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
} from "./sdk.ts";
import { StdioTransport } from "./stdio_transport.ts";

export interface Link {
  readonly transport: Transport;
  /** True when a web page came where an MCP server was looked for (core.md G.1 `skip_preflight`). */
  sawPage(): boolean;
  /** Lets go of what the transport was given; the transport is closed by its owner. */
  close(): void;
}

/** Throws `McpFailure`; then nothing is left open. */
export async function openLink({ name, connection }: ServerConfig, options: ConnectOptions): Promise<Link> {
  return connection.type === "stdio"
    ? { transport: stdioTransport(connection, options), sawPage: () => false, close: () => {} }
    : await httpLink(name, connection, options);
}

function stdioTransport(config: StdioConfig, { platform, log, cwd, env }: ConnectOptions): Transport {
  return new StdioTransport({
    command: config.command.startsWith("~/") ? platform.homeDir() + config.command.slice(1) : config.command,
    args: config.args,
    cwd,
    env,
    platform,
    log,
    parse: parseJSONRPCMessage,
  });
}

async function httpLink(name: string, config: HttpConfig, options: ConnectOptions): Promise<Link> {
  const client = await openHttpClient(config.url, config.tls, options.platform);
  let sawPage = false;
  const tracked = trackedFetch(client);
  const fetch: Fetch = async (url, init) => {
    const response = await tracked(url, init);
    const isPage = response.ok && /^text\/html\b/i.test(response.headers.get("content-type") ?? "");
    if (isPage && config.preflight && String(url) === new URL(config.url).href) sawPage = true;
    return response;
  };
  const http = {
    requestInit: { headers: { ...config.headers } },
    fetch,
    ...(config.oauth ? { authProvider: new StoredTokenAuth(name, options.tokens(config.url), tracked) } : {}),
  };
  const url = new URL(config.url);
  const transport = config.type === "sse"
    ? new SSEClientTransport(url, http) as Transport
    : new StreamableHTTPClientTransport(url, http) as Transport;
  return { transport, sawPage: () => sawPage, close: () => client.close() };
}
