/**
 * What one session has to do with tools outside the program: asks for them, says when their list moved, and keeps
 * reports until a door listens. Without servers it holds nothing and costs nothing.
 */
import type { CoreEventBody } from "./events.ts";
import type { ExternalTools, McpServerEntry, McpServerStatus, SessionTools } from "./external_tools.ts";
import type { Tool, ToolSpec } from "./ports.ts";

export interface OutsideHost {
  readonly id: string;
  readonly surface: string;
  readonly cwd: string;
  readonly closed: boolean;
  publish(turnId: string, body: CoreEventBody): void;
}

export class OutsideTools {
  readonly #host: OutsideHost;
  readonly #tools: SessionTools | null;
  /** Reports that nobody could hear yet. */
  readonly #untold: string[] = [];
  #heard = false;

  constructor(host: OutsideHost, external: ExternalTools | undefined) {
    this.#host = host;
    this.#tools = external?.attach({
      sessionId: host.id,
      surface: host.surface,
      get cwd() {
        return host.cwd;
      },
      report: (text) => this.#report(text),
      changed: () => {
        if (!host.closed) host.publish("", { type: "session.change", what: "tools" });
      },
    }) ?? null;
  }

  /** A door listens from now on. */
  heard(): void {
    if (this.#heard) return;
    this.#heard = true;
    queueMicrotask(() => {
      for (const text of this.#untold.splice(0)) this.#report(text);
    });
  }

  #report(text: string): void {
    if (this.#host.closed) return;
    if (this.#heard) this.#host.publish("", { type: "status", kind: "warn", text });
    else this.#untold.push(text);
  }

  /** `builtIn` and the outside ones behind them; a built-in one of the same name wins. */
  joinTools(builtIn: readonly Tool[]): readonly Tool[] {
    return join(builtIn, this.#tools?.tools());
  }

  joinSpecs(builtIn: readonly ToolSpec[]): readonly ToolSpec[] {
    return join(builtIn, this.#tools?.specs());
  }

  settling(signal: AbortSignal): Promise<void> | null {
    return this.#tools?.settling(signal) ?? null;
  }

  setServers(servers: readonly McpServerEntry[]): void {
    this.#tools?.setServers(servers);
  }

  status(): readonly McpServerStatus[] {
    return this.#tools?.status() ?? [];
  }

  async close(): Promise<void> {
    await this.#tools?.close();
  }
}

function join<T extends { readonly name: string }>(
  builtIn: readonly T[],
  outside: readonly T[] = [],
): readonly T[] {
  if (outside.length === 0) return builtIn;
  const names = new Set(builtIn.map((tool) => tool.name));
  return [...builtIn, ...outside.filter((tool) => !names.has(tool.name))];
}
