/**
 * One connection to one server, from the handshake to its end: the SDK's client over a transport of ours or the
 * SDK's (stdio; Streamable HTTP; SSE). Every request has a bound and a cancel; every error comes out as an
 * `McpFailure`. Knows nothing of tools as the core sees them, of retries or of sessions.
 */
import { abortable, isAbort, within } from "@/lib/abort.ts";
import type { Platform } from "@/platform/mod.ts";
import type { HttpConfig, ServerConfig, StdioConfig } from "./entries.ts";
import { asFailure, McpFailure } from "./failure.ts";
import { trackedFetch } from "./http_fetch.ts";
import {
  Client,
  type ClientOptions,
  parseJSONRPCMessage,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from "./sdk.ts";
import type { ServerLog } from "./server_log.ts";
import { StdioTransport } from "./stdio_transport.ts";

export interface RequestLimits {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** What the server says meanwhile. */
  readonly onProgress?: (text: string) => void;
}

export type ListMethod = "tools/list" | "resources/list" | "prompts/list";

export interface Connection {
  readonly offers: { readonly tools: boolean; readonly resources: boolean; readonly prompts: boolean };
  /** Settles with the reason when the connection is over, whoever ended it. */
  readonly closed: Promise<string>;
  /** All pages of a list, objects only, otherwise as they came. */
  listAll(method: ListMethod, limits: RequestLimits): Promise<readonly Record<string, unknown>[]>;
  /** Any other request; the result as it came. */
  request(
    method: "tools/call" | "resources/read" | "prompts/get" | "ping",
    params: Record<string, unknown>,
    limits: RequestLimits,
  ): Promise<Record<string, unknown>>;
  /** Ends it within about a second. Idempotent. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  readonly platform: Platform;
  readonly version: string;
  /** For a stdio server: where and with what it is started. */
  readonly cwd: string;
  readonly env: Record<string, string>;
  readonly log: ServerLog;
  readonly signal: AbortSignal;
  readonly onToolsChanged: () => void;
}

export type Connect = (config: ServerConfig, options: ConnectOptions) => Promise<Connection>;

/** Results are taken as they come: one odd tool must not hide all the others of its server. */
const AS_IT_COMES = {
  "~standard": {
    version: 1 as const,
    vendor: "hermes",
    validate: (value: unknown) => ({ value: value as Record<string, unknown> }),
  },
};

/** A server whose pages never end is cut off here. */
const MAX_PAGES = 64;

/** Connects and shakes hands. Throws `McpFailure`; then nothing is left running. */
export const openConnection: Connect = async (config, options) => {
  try {
    return await shakeHands(config, options, {});
  } catch (error) {
    if (config.connection.type !== "http" || !refusesRevision(error)) throw error;
    // A server that knows the newest revision only refuses the older handshake.
    return await shakeHands(config, options, {
      versionNegotiation: { mode: "auto" },
      listChanged: { tools: { autoRefresh: false, onChanged: () => options.onToolsChanged() } },
    });
  }
};

function refusesRevision(error: unknown): boolean {
  return error instanceof McpFailure && (error.kind === "refused" || /\bHTTP 400\b/.test(error.message));
}

async function shakeHands(
  config: ServerConfig,
  options: ConnectOptions,
  more: ClientOptions,
): Promise<Connection> {
  const transport = createTransport(config.connection, options);
  const client = new Client({ name: "hermes", version: options.version }, { capabilities: {}, ...more });
  if (!more.listChanged) {
    client.setNotificationHandler("notifications/tools/list_changed", () => options.onToolsChanged());
  }
  const opened = new LiveConnection(client, transport, options.log);
  try {
    const timeout = config.connectTimeoutMs;
    await abortable(client.connect(transport, { signal: options.signal, timeout }), options.signal);
  } catch (error) {
    await opened.close();
    throw opened.explain(error, config.connectTimeoutMs);
  }
  return opened;
}

function createTransport(config: StdioConfig | HttpConfig, options: ConnectOptions): Transport {
  const { platform, log } = options;
  if (config.type === "stdio") {
    return new StdioTransport({
      command: config.command.startsWith("~/")
        ? platform.homeDir() + config.command.slice(1)
        : config.command,
      args: config.args,
      cwd: options.cwd,
      env: options.env,
      platform,
      log,
      parse: parseJSONRPCMessage,
    });
  }
  const http = { requestInit: { headers: { ...config.headers } }, fetch: trackedFetch(platform) };
  const url = new URL(config.url);
  return config.type === "sse"
    ? new SSEClientTransport(url, http) as Transport
    : new StreamableHTTPClientTransport(url, http) as Transport;
}

class LiveConnection implements Connection {
  readonly closed: Promise<string>;
  readonly #client: Client;
  readonly #transport: Transport;
  readonly #log: ServerLog;
  #closing: Promise<void> | null = null;

  constructor(client: Client, transport: Transport, log: ServerLog) {
    this.#client = client;
    this.#transport = transport;
    this.#log = log;
    this.closed = new Promise((resolve) => {
      client.onclose = () => resolve(this.#reason());
    });
    client.onerror = () => {/* told by the request it broke; a stray line of a server is no event */};
  }

  get offers(): Connection["offers"] {
    const capabilities = this.#client.getServerCapabilities() ?? {};
    return {
      tools: capabilities.tools !== undefined,
      resources: capabilities.resources !== undefined,
      prompts: capabilities.prompts !== undefined,
    };
  }

  async listAll(method: ListMethod, limits: RequestLimits): Promise<readonly Record<string, unknown>[]> {
    const key = method.slice(0, method.indexOf("/"));
    const all: Record<string, unknown>[] = [];
    let cursor: unknown;
    for (let page = 0; page < MAX_PAGES; page++) {
      const result = await this.request(method, cursor === undefined ? {} : { cursor }, limits);
      const items = Array.isArray(result[key]) ? result[key] : [];
      all.push(...items.filter((item) => typeof item === "object" && item !== null));
      if (typeof result["nextCursor"] !== "string" || result["nextCursor"] === cursor) break;
      cursor = result["nextCursor"];
    }
    return all;
  }

  async request(
    method: string,
    params: Record<string, unknown>,
    limits: RequestLimits,
  ): Promise<Record<string, unknown>> {
    const { signal, timeoutMs, onProgress } = limits;
    try {
      const result = await this.#client.request({ method, params }, AS_IT_COMES, {
        signal,
        timeout: timeoutMs,
        ...(onProgress ? { onprogress: (step: Step) => onProgress(progressText(step)) } : {}),
      });
      return (result as Record<string, unknown> | null) ?? {};
    } catch (error) {
      throw signal.aborted ? new McpFailure("aborted", "cancelled") : this.explain(error, timeoutMs);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    if (this.#transport instanceof StreamableHTTPClientTransport && this.#transport.sessionId) {
      await within(this.#transport.terminateSession().catch(() => {/* it forgets by itself */}), 500);
    }
    await this.#client.close().catch(() => {/* closed is closed */});
    await this.#transport.close().catch(() => {/* it never started */});
  }

  get #startFailure(): McpFailure | null {
    return this.#transport instanceof StdioTransport ? this.#transport.failure : null;
  }

  #reason(): string {
    if (!(this.#transport instanceof StdioTransport)) return "the connection was closed";
    const { exit } = this.#transport;
    const how = exit?.signal ? `ended by ${exit.signal}` : `ended with code ${exit?.code ?? "unknown"}`;
    const last = this.#log.lastLine;
    return `the server ${how}${last ? ` (${last})` : ""}`;
  }

  explain(error: unknown, timeoutMs: number): McpFailure {
    if (error instanceof McpFailure) return error;
    if (isAbort(error)) return new McpFailure("aborted", "cancelled");
    if (error instanceof UnauthorizedError) {
      return new McpFailure("expired", "the server wants other credentials");
    }
    if (error instanceof SdkHttpError) return httpFailure(error);
    if (error instanceof ProtocolError) return new McpFailure("refused", error.message);
    if (!(error instanceof SdkError)) return networkFailure(error);
    switch (error.code) {
      case SdkErrorCode.RequestTimeout:
        return new McpFailure("timeout", `no answer within ${Math.round(timeoutMs / 100) / 10} s`);
      case SdkErrorCode.ConnectionClosed:
      case SdkErrorCode.NotConnected:
        return this.#startFailure ?? new McpFailure("connection", this.#reason());
      default:
        return asFailure(error);
    }
  }
}

function httpFailure(error: SdkHttpError): McpFailure {
  const { status } = error;
  if (status === 401 || status === 403) {
    return new McpFailure("expired", `the server refused the credentials (HTTP ${status})`);
  }
  if (status === 404) {
    return new McpFailure("expired", "the server does not know this address or session (HTTP 404)");
  }
  return new McpFailure("connection", `the server answered with HTTP ${status}`);
}

function networkFailure(error: unknown): McpFailure {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return asFailure(cause);
}

interface Step {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

function progressText(step: Step): string {
  const count = step.total ? `${step.progress}/${step.total}` : `${step.progress}`;
  return step.message ? `${step.message} (${count})` : count;
}
