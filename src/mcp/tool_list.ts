/** What one server lists, as tools to offer, and what its owner is to know of the list (core.md C.10, G.2). */
import { scanForInjection } from "@/lib/injection_scan.ts";
import type { Tool } from "@/core/contract.ts";
import { type Calls, failedOutcome } from "./calls.ts";
import type { Connection } from "./connection.ts";
import type { ServerConfig } from "./entry_types.ts";
import { makeTools } from "./tools.ts";

export class ToolList {
  readonly #config: ServerConfig;
  readonly #calls: Calls;
  readonly #warn: (text: string) => void;
  readonly #scanned = new Set<string>();
  readonly #warned = new Set<string>();

  constructor(config: ServerConfig, calls: Calls, log: { warn(text: string): void }) {
    this.#config = config;
    this.#calls = calls;
    this.#warn = (text) => log.warn(text);
  }

  /** Throws `McpFailure`. */
  async read(connection: Connection, signal: AbortSignal): Promise<readonly Tool[]> {
    const limits = { signal, timeoutMs: this.#config.connectTimeoutMs };
    const listed = connection.offers.tools ? await connection.listAll("tools/list", limits) : [];
    this.#scan(listed);
    return makeTools(listed, connection.offers, {
      config: this.#config,
      call: (context, work) => this.#calls.run(context, work),
      collided: (remote, name) => this.#warnOnce(`the tool "${remote}" is left out: another is ${name}`),
      failed: (error, place) => failedOutcome(this.#config.name, error, place),
    });
  }

  /** Descriptions that try to give orders are told in the log, once each; they change nothing. */
  #scan(listed: readonly Record<string, unknown>[]): void {
    for (const { name, description } of listed) {
      if (typeof description !== "string" || this.#scanned.has(description)) continue;
      this.#scanned.add(description);
      const found = scanForInjection(description, "all");
      if (found.length > 0) this.#warnOnce(`the description of "${String(name)}" has ${found.join(", ")}`);
    }
  }

  #warnOnce(text: string): void {
    if (this.#warned.has(text)) return;
    this.#warned.add(text);
    this.#warn(`MCP server "${this.#config.name}": ${text}`);
  }
}
