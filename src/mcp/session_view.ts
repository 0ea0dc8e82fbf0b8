/**
 * The servers of one session (core.md D8, G.5): its own, and those of the configuration that it does not shadow by
 * name. It decides what a turn waits for and tells its host about each server in trouble once.
 */
import { within } from "@/lib/abort.ts";
import type { McpServerStatus, Tool, ToolHost, ToolSpec } from "@/core/contract.ts";
import type { Entry } from "./entries.ts";
import { McpServer } from "./server.ts";

/** How long a turn waits for the session's own servers, counted from their start (acp.md C5). */
const OWN_START_MS = 4_000;

export interface ViewDeps {
  now(): number;
  /** The configured servers that this surface uses. */
  shared(surface: string): readonly McpServer[];
  /** How long a turn waits for those, counted from their start. */
  sharedStartMs(): number;
  create(entry: Entry, host: ToolHost, listeners: {
    onChange: () => void;
    onTrouble: (text: string) => void;
  }): McpServer;
}

export class SessionView {
  readonly host: ToolHost;
  readonly #deps: ViewDeps;
  #own: readonly McpServer[] = [];
  #ownCwd = "";
  #tools: readonly Tool[] | null = null;
  #specs: readonly ToolSpec[] | null = null;
  #waited = false;
  /** Servers whose trouble was told; they are forgotten when they work again. */
  readonly #told = new Set<string>();
  readonly #closing = new Set<Promise<void>>();

  constructor(host: ToolHost, deps: ViewDeps) {
    this.host = host;
    this.#deps = deps;
  }

  /** In the order in which the model sees them: the configuration's, then the session's. */
  #servers(): readonly McpServer[] {
    const mine = new Set(this.#own.map((server) => server.name));
    const shared = this.#deps.shared(this.host.surface).filter((server) => !mine.has(server.name));
    return [...shared, ...this.#own];
  }

  tools(): readonly Tool[] {
    if (this.#tools) return this.#tools;
    const byName = new Map<string, Tool>();
    for (const server of this.#servers()) {
      for (const tool of server.tools) if (!byName.has(tool.name)) byName.set(tool.name, tool);
    }
    this.#tools = [...byName.values()];
    return this.#tools;
  }

  specs(): readonly ToolSpec[] {
    this.#specs ??= this.tools().map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }));
    return this.#specs;
  }

  status(): readonly McpServerStatus[] {
    return this.#servers().map((server) => server.status());
  }

  /** Servers that mean the same go on running; the others are replaced. */
  setServers(entries: readonly Entry[]): void {
    const { cwd } = this.host;
    const kept = cwd === this.#ownCwd ? this.#own : [];
    const next = entries.map((entry) =>
      kept.find((server) => server.entry.print === entry.print) ?? this.#create(entry)
    );
    for (const server of this.#own) if (!next.includes(server)) this.#end(server);
    this.#own = next;
    this.#ownCwd = cwd;
    this.#waited = false;
    this.moved();
  }

  /** Starts the session's own servers anew. */
  async restart(): Promise<void> {
    const entries = this.#own.map((server) => server.entry);
    for (const server of this.#own) this.#end(server);
    await Promise.all(this.#closing);
    this.#own = entries.map((entry) => this.#create(entry));
    this.#told.clear();
    this.#waited = false;
    this.moved();
  }

  #create(entry: Entry): McpServer {
    return this.#deps.create(entry, this.host, {
      onChange: () => this.moved(),
      onTrouble: (text) => this.trouble(entry.name, text),
    });
  }

  #end(server: McpServer): void {
    const closing: Promise<void> = server.close().finally(() => this.#closing.delete(closing));
    this.#closing.add(closing);
  }

  /** A list or a state moved somewhere. */
  moved(): void {
    this.#tools = null;
    this.#specs = null;
    for (const { name, connected } of this.#told.size > 0 ? this.status() : []) {
      if (connected) this.#told.delete(name);
    }
    this.host.changed();
  }

  trouble(name: string, text: string): void {
    if (this.#told.has(name)) return;
    this.#told.add(name);
    this.host.report(text);
  }

  /** Tells a session that came later what others have been told already. */
  catchUp(): void {
    for (const { name, status, error } of this.status()) {
      if (status === "failed") {
        this.trouble(name, `MCP server "${name}" cannot be used: ${error ?? "unknown reason"}`);
      }
    }
  }

  /** True when a configured server of this name is hidden by one of the session's own. */
  shadows(name: string): boolean {
    return this.#own.some((server) => server.name === name);
  }

  settling(signal: AbortSignal): Promise<void> | null {
    if (this.#waited) return null;
    const now = this.#deps.now();
    const starting = this.#servers().filter((server) => server.starting);
    const left = starting.map((server) => {
      const bound = this.#own.includes(server) ? OWN_START_MS : this.#deps.sharedStartMs();
      return { server, ms: server.startedAt + bound - now };
    }).filter(({ ms }) => ms > 0);
    if (left.length === 0) {
      this.#waited = true;
      return null;
    }
    return this.#wait(left, signal);
  }

  async #wait(left: readonly { server: McpServer; ms: number }[], signal: AbortSignal): Promise<void> {
    const stopped = Promise.withResolvers<void>();
    const onAbort = () => stopped.resolve();
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const all = Promise.all(left.map(({ server, ms }) => within(server.settled, ms)));
    await Promise.race([all, stopped.promise]);
    signal.removeEventListener("abort", onAbort);
    if (!signal.aborted) this.#waited = true;
  }

  async close(): Promise<void> {
    for (const server of this.#own) this.#end(server);
    this.#own = [];
    this.#tools = [];
    this.#specs = [];
    await Promise.all(this.#closing);
  }
}
