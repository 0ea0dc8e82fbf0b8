/**
 * The light front of the room: knows which sessions there are and loads the rest with the first server. Nothing of
 * it is on the path of a program that has no server, and nothing here waits.
 */
import type {
  ConfigService,
  ExternalTools,
  Logger,
  McpServerEntry,
  McpServerStatus,
  SessionTools,
  Tool,
  ToolHost,
  ToolSpec,
} from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import type { Connect } from "./connection.ts";
import type { LoginOptions, LoginResult } from "./login.ts";
import type { Room } from "./room.ts";
import { configuredServers } from "./selection.ts";
import type { SessionView } from "./session_view.ts";

export interface McpDeps {
  readonly platform: Platform;
  readonly config: ConfigService;
  readonly log: Logger;
  readonly redact: (text: string) => string;
  /** Takes a text out of all that is shown, until the function it gives is called. */
  readonly keepSecret: (value: string) => () => void;
  readonly version: string;
  /** Surface of the program: `acp`, `tui`, `api_server`, `cli`. */
  readonly surface: string;
  /** Environment of servers that a session's client gave (core.md C.12). */
  readonly childEnv: () => Readonly<Record<string, string>>;
  /** Tests put another way of connecting here. */
  readonly connect?: Connect;
}

/** What a server showed when it was tried. */
export interface McpTestResult {
  readonly status: McpServerStatus;
  readonly tools: readonly Tool[];
  /** Until it was ready, or given up. */
  readonly ms: number;
}

export interface Mcp extends ExternalTools {
  /** Starts the configured servers of a surface now, before its first session. */
  start(surface: string): Promise<void>;
  /** The configured servers (core.md G.4). */
  status(): Promise<readonly McpServerStatus[]>;
  /** `reload.mcp`: ends all connections, reads the configuration again, starts anew; at most about 6 s. */
  reload(): Promise<void>;
  /** Starts one configured server for this alone and ends it again; `null` when there is none of that name. */
  test(name: string, timeoutMs: number): Promise<McpTestResult | null>;
  /**
   * A person logs in at a server with `auth: "oauth"`; `null` when there is none of that name. Throws an `Error` that
   * says why nobody is logged in.
   */
  login(name: string, options: LoginOptions): Promise<LoginResult | null>;
  /** Forgets a login; false = there was none, `null` = no such server. */
  logout(name: string): Promise<boolean | null>;
  /** Ends every server. Idempotent. */
  close(): Promise<void>;
}

const NO_TOOLS: readonly Tool[] = [];
const NO_SPECS: readonly ToolSpec[] = [];

type LoadRoom = () => Promise<Room>;

/** Builds the front; starts nothing. */
export function createMcp(deps: McpDeps): Mcp {
  const handles = new Set<Handle>();
  let loading: Promise<Room> | null = null;
  let reloading: Promise<void> = Promise.resolve();
  let closed = false;
  const load: LoadRoom = () => loading ??= import("./room.ts").then(({ Room }) => new Room(deps));
  const isConfigured = () => Object.keys(configuredServers(deps)).length > 0;

  async function reload(): Promise<void> {
    if (closed || (!loading && !isConfigured())) return;
    const room = await load();
    await Promise.all([...handles].map((handle) => handle.join()));
    await room.reload();
  }

  return {
    attach(host) {
      const handle = new Handle(host, load, () => handles.delete(handle));
      handles.add(handle);
      if (isConfigured() && !closed) void handle.join();
      return handle;
    },
    start: async (surface) => {
      if (isConfigured() && !closed) (await load()).startShared(surface);
    },
    status: async () => isConfigured() ? (await load()).status() : [],
    reload: () => {
      reloading = reloading.catch(() => {/* told to whoever asked for it */}).then(reload);
      return reloading;
    },
    test: async (name, timeoutMs) => isConfigured() ? await (await load()).test(name, timeoutMs) : null,
    login: async (name, options) => isConfigured() ? await (await load()).login(name, options) : null,
    logout: async (name) => isConfigured() ? await (await load()).logout(name) : null,
    close: async () => {
      closed = true;
      await Promise.all([...handles].map((handle) => handle.close()));
      if (loading) await (await loading).close();
    },
  };
}

/** One session; becomes a view of the room when there is a server to look at. */
class Handle implements SessionTools {
  readonly #host: ToolHost;
  readonly #load: LoadRoom;
  readonly #forget: () => void;
  #room: Room | null = null;
  #view: SessionView | null = null;
  #joining: Promise<void> | null = null;
  #given: readonly McpServerEntry[] = [];
  #closing: Promise<void> | null = null;

  constructor(host: ToolHost, load: LoadRoom, forget: () => void) {
    this.#host = host;
    this.#load = load;
    this.#forget = forget;
  }

  tools(): readonly Tool[] {
    return this.#view?.tools() ?? NO_TOOLS;
  }

  specs(): readonly ToolSpec[] {
    return this.#view?.specs() ?? NO_SPECS;
  }

  status(): readonly McpServerStatus[] {
    return this.#view?.status() ?? this.#given.map(({ name, url, transport }) => ({
      name,
      transport: url === undefined ? "stdio" : transport ?? "http",
      tools: 0,
      connected: false,
      disabled: false,
      status: "connecting",
    }));
  }

  setServers(servers: readonly McpServerEntry[]): void {
    if (this.#closing) return;
    this.#given = servers;
    if (this.#view) this.#room!.setServers(this.#view, servers);
    else if (servers.length > 0) void this.join();
  }

  /** Becomes a view. Never rejects. */
  join(): Promise<void> {
    this.#joining ??= this.#join().catch((error) =>
      this.#host.report(
        `MCP servers cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      )
    );
    return this.#joining;
  }

  async #join(): Promise<void> {
    const room = await this.#load();
    if (this.#closing) return;
    this.#room = room;
    this.#view = room.attach(this.#host);
    if (this.#given.length > 0) room.setServers(this.#view, this.#given);
  }

  settling(signal: AbortSignal): Promise<void> | null {
    if (!this.#joining) return null;
    return this.#view ? this.#view.settling(signal) : this.#joinAndSettle(signal);
  }

  async #joinAndSettle(signal: AbortSignal): Promise<void> {
    await this.#joining;
    await this.#view?.settling(signal);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    this.#forget();
    await this.#joining;
    if (this.#view) await this.#room!.detach(this.#view);
  }
}
