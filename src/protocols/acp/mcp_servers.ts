/** MCP servers of session requests (acp.md A6.14, C5) in the core's words. Pure; starting them is the core's. */
import type { McpServerEntry } from "@/core/contract.ts";
import type { McpServer } from "./schema.ts";

function asRecord(
  pairs: readonly { readonly name: string; readonly value: string }[],
): Record<string, string> {
  return Object.fromEntries(pairs.map(({ name, value }) => [name, value]));
}

function entryOf(server: McpServer): McpServerEntry {
  const { name } = server;
  if ("url" in server && (server.type === "http" || server.type === "sse")) {
    return { name, url: server.url, headers: asRecord(server.headers), transport: server.type };
  }
  const { command, args, env } = server as Extract<McpServer, { command: string }>;
  return { name, command, args, env: asRecord(env) };
}

/** The later of two servers with one name counts. */
export function mcpEntries(servers: readonly McpServer[]): McpServerEntry[] {
  return [...new Map(servers.map((server) => [server.name, entryOf(server)])).values()];
}
