/**
 * One entry of `mcp_servers` (or of a session's client) as the rest of the room reads it (core.md G.1): typed,
 * defaults filled in, `${env:NAME}` expanded. A bad entry is an error text about this server and nobody else's trouble.
 */
import type { McpServerEntry } from "@/core/contract.ts";
import { suspicion } from "./entry_check.ts";
import {
  BadEntry,
  flag,
  isTree,
  limit,
  milliseconds,
  text,
  textMap,
  texts,
  type Tree,
  whole,
} from "./entry_fields.ts";
import { readHttp } from "./entry_http.ts";
import type { HttpConfig, SamplingConfig, ServerConfig, StdioConfig } from "./entry_types.ts";

/** What was given, and either what it means or why it cannot be used. */
export interface Entry {
  readonly name: string;
  readonly transport: "stdio" | "http" | "sse";
  readonly config: ServerConfig | null;
  readonly error: string | null;
  /** Equal for entries that mean the same. */
  readonly print: string;
}

const TEMPLATE = /\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g;

function expand(value: unknown, lookup: (name: string) => string | undefined): unknown {
  if (typeof value === "string") {
    return value.replace(TEMPLATE, (whole, name: string) => lookup(name) ?? whole);
  }
  if (Array.isArray(value)) return value.map((item) => expand(item, lookup));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expand(item, lookup)]));
}

/** Off unless it is configured: `true`, or an object without `enabled: false`. */
function readSampling(tree: Tree): SamplingConfig | null {
  const given = tree["sampling"] ?? false;
  const isTold = !isTree(given);
  if (isTold && !flag(tree, "sampling", false)) return null;
  const limits: Tree = isTold ? {} : given;
  if (!flag(limits, "enabled", true)) return null;
  return {
    model: text(limits, "model"),
    maxTokens: whole(limits, "max_tokens_cap", 4_096, { least: 1, most: 1_000_000 }),
    timeoutMs: milliseconds(limits, "timeout", 60, 0.05),
    perMinute: whole(limits, "max_rpm", 10, { least: 1, most: 10_000 }),
  };
}

function readConnection(tree: Tree): StdioConfig | HttpConfig {
  const [command, url] = [text(tree, "command"), text(tree, "url")];
  if (command !== null && url !== null) throw new BadEntry("give either command or url, not both");
  if (url !== null) return readHttp(tree, url);
  if (command === null) throw new BadEntry("command or url is missing");
  const stdio: StdioConfig = {
    type: "stdio",
    command,
    args: texts(tree, "args"),
    env: textMap(tree, "env"),
    cwd: text(tree, "cwd"),
  };
  const reason = suspicion(stdio.command, stdio.args);
  if (reason) throw new BadEntry(`not started for safety: ${reason}`);
  return stdio;
}

function readConfig(name: string, tree: Tree): ServerConfig {
  const tools = tree["tools"] ?? {};
  if (!isTree(tools)) throw new BadEntry("tools must be an object");
  return {
    name,
    enabled: flag(tree, "enabled", true),
    connection: readConnection(tree),
    timeoutMs: milliseconds(tree, "timeout", 300, 0.05),
    connectTimeoutMs: milliseconds(tree, "connect_timeout", 60, 0.05),
    keepaliveMs: milliseconds(tree, "keepalive_interval", 180, 5),
    idleMs: limit(tree, "idle_timeout"),
    lifetimeMs: limit(tree, "max_lifetime"),
    parallel: flag(tree, "supports_parallel_tool_calls", false),
    include: tools["include"] === undefined || tools["include"] === null ? null : texts(tools, "include"),
    exclude: texts(tools, "exclude"),
    resources: flag(tools, "resources", true),
    prompts: flag(tools, "prompts", true),
    sampling: readSampling(tree),
  };
}

function transportOf(tree: Tree): Entry["transport"] {
  if (typeof tree["url"] !== "string") return "stdio";
  return tree["transport"] === "sse" || tree["type"] === "sse" ? "sse" : "http";
}

/** Never throws: what is wrong is in `error`. */
export function readEntry(
  name: string,
  given: unknown,
  lookup: (name: string) => string | undefined,
): Entry {
  const tree = isTree(given) ? expand(given, lookup) as Tree : {};
  const base = { name, transport: transportOf(tree), print: JSON.stringify([name, tree]) };
  try {
    if (!isTree(given)) throw new BadEntry("the entry must be an object");
    if (name.trim() === "") throw new BadEntry("the name is empty");
    return { ...base, config: readConfig(name, tree), error: null };
  } catch (error) {
    if (!(error instanceof BadEntry)) throw error;
    return { ...base, config: null, error: error.message };
  }
}

/** Entries of the configuration, in its order. */
export function readConfigured(
  servers: Readonly<Record<string, unknown>>,
  lookup: (name: string) => string | undefined,
): Entry[] {
  return Object.entries(servers).map(([name, given]) => readEntry(name, given, lookup));
}

/** Entries of a session's client; a later one of the same name wins. Their texts are taken as they are. */
export function readGiven(servers: readonly McpServerEntry[]): Entry[] {
  const byName = new Map(servers.map((server) => [server.name, server]));
  return [...byName.values()].map(({ name, ...rest }) => readEntry(name, rest, () => undefined));
}
