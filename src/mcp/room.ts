/**
 * Everything that runs once there is a server: the configured servers of the process and the views of its sessions.
 * Loaded at the first server, so a program without any pays nothing for it.
 */
import { within } from "@/lib/abort.ts";
import type { McpServerEntry, McpServerStatus, ToolHost } from "@/core/contract.ts";
import type { Connect } from "./connection.ts";
import { type Entry, readConfigured, readGiven } from "./entries.ts";
import type { HttpConfig } from "./entry_types.ts";
import { allowedEnvironment } from "./environment.ts";
import { McpFailure } from "./failure.ts";
import type { LoginOptions, LoginResult } from "./login.ts";
import { configuredServers, isSelected } from "./selection.ts";
import { McpServer, type ServerDeps } from "./server.ts";
import type { McpDeps, McpTestResult } from "./service.ts";
import { SessionView } from "./session_view.ts";
import { TokenStore } from "./token_store.ts";

const RELOAD_MS = 4_000;

/** The SDK is loaded with the first connection. */
const connectLazily: Connect = async (config, options) => {
  const { openConnection } = await import("./connection.ts");
  return await openConnection(config, options);
};

export class Room {
  readonly #deps: McpDeps;
  readonly #connect: Connect;
  readonly #shared = new Map<string, McpServer>();
  readonly #views = new Set<SessionView>();
  /** Surfaces whose servers were started; a reload starts them again. */
  readonly #surfaces = new Set<string>();

  constructor(deps: McpDeps) {
    this.#deps = deps;
    this.#connect = deps.connect ?? connectLazily;
  }

  attach(host: ToolHost): SessionView {
    const view = new SessionView(host, {
      now: () => this.#deps.platform.clock.monotonic(),
      shared: (surface) => this.#selected(surface),
      sharedStartMs: () => (this.#deps.config.settings().mcp_discovery_timeout ?? 1.5) * 1000,
      create: (entry, session, listeners) =>
        new McpServer(entry, {
          ...this.#serverDeps(),
          onChange: listeners.onChange,
          onTrouble: (text) => {
            this.#warn(text);
            listeners.onTrouble(text);
          },
          cwd: session.cwd,
          env: () => this.#deps.childEnv(),
        }),
    });
    this.#views.add(view);
    this.startShared(host.surface);
    view.catchUp();
    return view;
  }

  setServers(view: SessionView, servers: readonly McpServerEntry[]): void {
    view.setServers(readGiven(servers));
  }

  async detach(view: SessionView): Promise<void> {
    this.#views.delete(view);
    await view.close();
  }

  /** The configured servers of the process, started or not. */
  status(): readonly McpServerStatus[] {
    return this.#entries().map((entry) => this.#shared.get(entry.name)?.status() ?? describe(entry));
  }

  /** Ends every connection, reads the configuration again, starts anew; waits a bounded time for the servers. */
  async reload(): Promise<void> {
    const old = [...this.#shared.values()];
    this.#shared.clear();
    await Promise.all([
      ...old.map((server) => server.close()),
      ...[...this.#views].map((view) => view.restart()),
    ]);
    for (const surface of this.#surfaces) this.startShared(surface);
    const starting = [...this.#shared.values()].map((server) => server.settled);
    await within(Promise.all(starting), RELOAD_MS);
    for (const view of this.#views) view.moved();
  }

  async close(): Promise<void> {
    const servers = [...this.#shared.values()];
    const views = [...this.#views];
    this.#shared.clear();
    this.#views.clear();
    await Promise.all([...servers.map((server) => server.close()), ...views.map((view) => view.close())]);
  }

  /** One configured server, started for this alone and ended again; `null` when there is none of that name. */
  async test(name: string, timeoutMs: number): Promise<McpTestResult | null> {
    const entry = this.#entries().find((one) => one.name === name);
    if (!entry) return null;
    const { platform } = this.#deps;
    const since = platform.clock.monotonic();
    const config = entry.config && { ...entry.config, enabled: true };
    const server = new McpServer({ ...entry, config }, {
      ...this.#serverDeps(),
      cwd: platform.cwd(),
      env: () => allowedEnvironment(platform.env(), platform.os),
      onChange: () => {},
      onTrouble: () => {},
    });
    try {
      await within(server.settled, timeoutMs);
      return { status: server.status(), tools: server.tools, ms: platform.clock.monotonic() - since };
    } finally {
      await server.close();
    }
  }

  /** Throws `McpFailure`; `null` = there is none of that name. */
  async login(name: string, options: LoginOptions): Promise<LoginResult | null> {
    const found = this.#login(name);
    if (!found) return null;
    const { login } = await import("./login.ts");
    return await login(found.http, found.store, this.#deps.platform, options);
  }

  /** Forgets what the login has given; `null` = there is no server of that name. */
  async logout(name: string): Promise<boolean | null> {
    return await this.#login(name)?.store.remove() ?? null;
  }

  #login(name: string): { http: HttpConfig; store: TokenStore } | null {
    const entry = this.#entries().find((one) => one.name === name);
    if (!entry) return null;
    const http = entry.config?.connection;
    if (!entry.config) throw new McpFailure("hopeless", entry.error ?? "the entry cannot be used");
    if (!http || http.type === "stdio" || !http.oauth) {
      throw new McpFailure(
        "hopeless",
        'its entry does not ask for a login: that is url with "auth": "oauth"',
      );
    }
    return { http, store: this.#tokens(name, http.url) };
  }

  /** Starts the configured servers of a surface that do not run yet; needs no session. */
  startShared(surface: string): void {
    this.#surfaces.add(surface);
    for (const entry of this.#entries()) {
      if (this.#shared.has(entry.name) || !this.#isSelected(entry.name, surface)) continue;
      this.#shared.set(entry.name, this.#createShared(entry));
    }
  }

  #createShared(entry: Entry): McpServer {
    const { platform } = this.#deps;
    const concerned = () =>
      [...this.#views].filter((view) =>
        !view.shadows(entry.name) && this.#isSelected(entry.name, view.host.surface)
      );
    return new McpServer(entry, {
      ...this.#serverDeps(),
      cwd: platform.cwd(),
      env: () => allowedEnvironment(platform.env(), platform.os),
      onChange: () => {
        for (const view of concerned()) view.moved();
      },
      onTrouble: (text) => {
        this.#warn(text);
        for (const view of concerned()) view.trouble(entry.name, text);
      },
    });
  }

  /** On the command line the session's own report is on stderr already. */
  #warn(text: string): void {
    if (this.#deps.surface !== "cli") this.#deps.log.warn(text);
  }

  #serverDeps(): Pick<ServerDeps, "platform" | "log" | "redact" | "home" | "version" | "connect" | "tokens"> {
    const { platform, log, redact, config, version } = this.#deps;
    const tokens = (server: string, url: string) => this.#tokens(server, url);
    return { platform, log, redact, home: config.home, version, connect: this.#connect, tokens };
  }

  #tokens(server: string, url: string): TokenStore {
    const { platform, config, keepSecret } = this.#deps;
    return new TokenStore(server, url, { platform, home: config.home, keepSecret });
  }

  #selected(surface: string): McpServer[] {
    return [...this.#shared.values()].filter((server) => this.#isSelected(server.name, surface));
  }

  #isSelected(name: string, surface: string): boolean {
    const { config } = this.#deps;
    return isSelected(name, config.settings(), surface, config.env("HERMES_TUI_TOOLSETS"));
  }

  #entries(): Entry[] {
    return readConfigured(configuredServers(this.#deps), (name) => this.#deps.config.env(name));
  }
}

/** An entry that was never started. */
export function describe(entry: Entry): McpServerStatus {
  const disabled = entry.config?.enabled === false;
  return {
    name: entry.name,
    transport: entry.transport,
    tools: 0,
    connected: false,
    disabled,
    status: disabled ? "disabled" : entry.error ? "failed" : "configured",
    ...(entry.error ? { error: entry.error } : {}),
  };
}
