/**
 * Tools that live outside the program (MCP servers), as the core needs them (core.md G, D8). The list of a session
 * may move at any time; the core looks at it when a turn starts and never in between. A server that is slow or dead
 * is told about once and never fails a session.
 */
import type { Tool, ToolSpec } from "./ports.ts";

/** A server as a session's client gives it (core.md G.5), in the words of `mcp_servers.<name>`. */
export interface McpServerEntry {
  readonly name: string;
  /** stdio: program, arguments, and what is added to its environment. */
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** HTTP: Streamable HTTP unless `transport` is `sse`. */
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly transport?: "http" | "sse";
}

/** One server for people and hosts (core.md G.4). */
export interface McpServerStatus {
  readonly name: string;
  readonly transport: "stdio" | "http" | "sse";
  /** Tools it offers now. */
  readonly tools: number;
  readonly connected: boolean;
  readonly disabled: boolean;
  /** `configured`: known, not started yet. */
  readonly status: "connected" | "disabled" | "connecting" | "failed" | "configured";
  readonly error?: string;
}

/** The session that the tools belong to. */
export interface ToolHost {
  readonly sessionId: string;
  readonly surface: string;
  /** Directory in which its own servers are started. */
  readonly cwd: string;
  /** For people: a server failed or is slow. */
  report(text: string): void;
  /** The list moved; it counts from the next turn on. */
  changed(): void;
}

/** The outside tools of one session. */
export interface SessionTools {
  /** What the next turn is offered; the same array while nothing moves. */
  tools(): readonly Tool[];
  specs(): readonly ToolSpec[];
  /** What the coming turn should wait for, bounded; `null` = nothing. Never rejects. */
  settling(signal: AbortSignal): Promise<void> | null;
  /** Replaces the session's own servers; those of the configuration stay, but for equal names. */
  setServers(servers: readonly McpServerEntry[]): void;
  status(): readonly McpServerStatus[];
  /** Ends the session's own servers. Idempotent. */
  close(): Promise<void>;
}

export interface ExternalTools {
  attach(host: ToolHost): SessionTools;
}
