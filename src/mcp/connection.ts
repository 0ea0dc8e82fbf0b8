/**
 * One connection to one server, from the handshake to its end: the SDK's client over a transport of ours or the
 * SDK's (stdio; Streamable HTTP; SSE). Every request has a bound and a cancel; every error comes out as an
 * `McpFailure`. Knows nothing of tools as the core sees them, of retries or of sessions.
 */
import { abortable, within } from "@/lib/abort.ts";
import type { Platform } from "@/platform/mod.ts";
import type { ServerConfig } from "./entry_types.ts";
import { explain } from "./explain.ts";
import { McpFailure } from "./failure.ts";
import { type Link, openLink } from "./link.ts";
import { Client, type ClientOptions, type SamplingResult, StreamableHTTPClientTransport } from "./sdk.ts";
import type { ServerLog } from "./server_log.ts";
import { StdioTransport } from "./stdio_transport.ts";
import type { TokenStore } from "./token_store.ts";

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
  /** Answers `sampling/createMessage`; `null`: the server may not ask the model. */
  readonly onSampling: ((params: unknown, signal: AbortSignal) => Promise<object>) | null;
  /** Where the login of an HTTP server with `auth: "oauth"` is kept. */
  readonly tokens: (url: string) => TokenStore;
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
  const { onSampling, signal } = options;
  const link = await openLink(config, options);
  const capabilities = onSampling ? { sampling: {} } : {};
  const client = new Client({ name: "hermes", version: options.version }, { capabilities, ...more });
  if (!more.listChanged) {
    client.setNotificationHandler("notifications/tools/list_changed", () => options.onToolsChanged());
  }
  if (onSampling) answerSampling(client, onSampling);
  const opened = new LiveConnection(client, link, options.log);
  try {
    const timeout = config.connectTimeoutMs;
    await abortable(client.connect(link.transport, { signal, timeout }), signal);
  } catch (error) {
    await opened.close();
    throw whyNotConnected(opened.explain(error, config.connectTimeoutMs), link);
  }
  return opened;
}

function answerSampling(client: Client, answer: NonNullable<ConnectOptions["onSampling"]>): void {
  client.setRequestHandler("sampling/createMessage", async ({ params }, { mcpReq }) => {
    return await answer(params, mcpReq.signal) as SamplingResult;
  });
}

/** A web page is no server that will be there later. */
function whyNotConnected(failure: McpFailure, link: Link): McpFailure {
  if (!link.sawPage() || failure.kind === "aborted") return failure;
  return new McpFailure(
    "hopeless",
    "the address answers with a web page and not as an MCP server; mend url, or try on with skip_preflight",
  );
}

class LiveConnection implements Connection {
  readonly closed: Promise<string>;
  readonly #client: Client;
  readonly #link: Link;
  readonly #log: ServerLog;
  #closing: Promise<void> | null = null;

  constructor(client: Client, link: Link, log: ServerLog) {
    this.#client = client;
    this.#link = link;
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
    const { transport } = this.#link;
    if (transport instanceof StreamableHTTPClientTransport && transport.sessionId) {
      await within(transport.terminateSession().catch(() => {/* it forgets by itself */}), 500);
    }
    await this.#client.close().catch(() => {/* closed is closed */});
    await transport.close().catch(() => {/* it never started */});
    this.#link.close();
  }

  /** As an `McpFailure`; a lost connection with what its end has left. */
  explain(error: unknown, timeoutMs: number): McpFailure {
    const { transport } = this.#link;
    const lost = () => this.#lost();
    if (!(transport instanceof StdioTransport)) return explain(error, { timeoutMs, lost });
    const failure = explain(error, { timeoutMs, lost: () => transport.failure ?? lost() });
    // Of a program that has ended, a broken pipe or a missing line is only the consequence.
    const hasEnded = failure.kind === "connection" && (transport.exit?.code ?? null) !== null;
    return hasEnded ? lost() : failure;
  }

  #lost(): McpFailure {
    return new McpFailure("connection", this.#reason());
  }

  #reason(): string {
    const { transport } = this.#link;
    if (!(transport instanceof StdioTransport)) return "the connection was closed";
    const { exit } = transport;
    const how = exit?.signal ? `ended by ${exit.signal}` : `ended with code ${exit?.code ?? "unknown"}`;
    const last = this.#log.lastLine;
    return `the server ${how}${last ? ` (${last})` : ""}`;
  }
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
