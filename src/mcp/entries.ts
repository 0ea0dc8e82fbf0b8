/**
 * One entry of `mcp_servers` (or of a session's client) as the rest of the room reads it (core.md G.1): typed,
 * defaults filled in, `${env:NAME}` expanded. A bad entry is an error text about this server and nobody else's trouble.
 */
import type { McpServerEntry } from "@/core/contract.ts";
import { suspicion } from "./entry_check.ts";

export interface ServerConfig {
  readonly name: string;
  readonly enabled: boolean;
  readonly connection: StdioConfig | HttpConfig;
  /** Milliseconds. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly keepaliveMs: number;
  readonly parallel: boolean;
  readonly include: readonly string[] | null;
  readonly exclude: readonly string[];
  readonly resources: boolean;
  readonly prompts: boolean;
}

export interface StdioConfig {
  readonly type: "stdio";
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Absolute; `null` = where the session (or the program) is. */
  readonly cwd: string | null;
}

export interface HttpConfig {
  readonly type: "http" | "sse";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** What was given, and either what it means or why it cannot be used. */
export interface Entry {
  readonly name: string;
  readonly transport: "stdio" | "http" | "sse";
  readonly config: ServerConfig | null;
  readonly error: string | null;
  /** Equal for entries that mean the same. */
  readonly print: string;
}

type Tree = Readonly<Record<string, unknown>>;

class BadEntry extends Error {}

const TEMPLATE = /\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g;

function expand(value: unknown, lookup: (name: string) => string | undefined): unknown {
  if (typeof value === "string") {
    return value.replace(TEMPLATE, (whole, name: string) => lookup(name) ?? whole);
  }
  if (Array.isArray(value)) return value.map((item) => expand(item, lookup));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, expand(item, lookup)]));
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(tree: Tree, key: string): string | null {
  const value = tree[key];
  if (value === undefined || value === null || value === "") return null;
  if (typeof value !== "string") throw new BadEntry(`${key} must be a text`);
  return value;
}

function texts(tree: Tree, key: string): readonly string[] {
  const value = tree[key] ?? [];
  if (!Array.isArray(value)) throw new BadEntry(`${key} must be a list of texts`);
  return value.map((item) => {
    if (typeof item === "string") return item;
    if (typeof item === "number" || typeof item === "boolean") return String(item);
    throw new BadEntry(`${key} must be a list of texts`);
  });
}

function textMap(tree: Tree, key: string): Record<string, string> {
  const value = tree[key] ?? {};
  if (!isTree(value)) throw new BadEntry(`${key} must be an object of texts`);
  const map: Record<string, string> = {};
  for (const [name, item] of Object.entries(value)) {
    if (item === null || item === undefined) continue;
    if (typeof item === "object") throw new BadEntry(`${key}.${name} must be a text`);
    map[name] = String(item);
  }
  return map;
}

function flag(tree: Tree, key: string, fallback: boolean): boolean {
  const value = tree[key];
  if (value === undefined || value === null) return fallback;
  if (typeof value === "boolean") return value;
  if (typeof value === "string" && /^(true|yes|on|1)$/i.test(value)) return true;
  if (typeof value === "string" && /^(false|no|off|0)$/i.test(value)) return false;
  throw new BadEntry(`${key} must be true or false`);
}

function milliseconds(tree: Tree, key: string, fallback: number, least: number): number {
  const value = tree[key];
  if (value === undefined || value === null) return fallback * 1000;
  const seconds = typeof value === "string" ? Number(value) : value;
  if (typeof seconds !== "number" || !Number.isFinite(seconds) || seconds <= 0) {
    throw new BadEntry(`${key} must be a number of seconds above 0`);
  }
  return Math.max(least, seconds) * 1000;
}

function readHttp(tree: Tree, url: string): HttpConfig {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.hostname === "") {
    throw new BadEntry("url must start with http:// or https:// and name a host");
  }
  const verify = tree["ssl_verify"];
  if (verify !== undefined && verify !== null && verify !== true) {
    throw new BadEntry("ssl_verify cannot be changed here; add the CA to the system's store");
  }
  for (const key of ["client_cert", "client_key"]) {
    if (text(tree, key) !== null) throw new BadEntry(`${key} is not supported`);
  }
  if (text(tree, "auth") !== null) {
    throw new BadEntry(`auth "${text(tree, "auth")}" is not supported; give a token in headers`);
  }
  const transport = text(tree, "transport") ?? text(tree, "type");
  return { type: transport === "sse" ? "sse" : "http", url, headers: textMap(tree, "headers") };
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
    parallel: flag(tree, "supports_parallel_tool_calls", false),
    include: tools["include"] === undefined || tools["include"] === null ? null : texts(tools, "include"),
    exclude: texts(tools, "exclude"),
    resources: flag(tools, "resources", true),
    prompts: flag(tools, "prompts", true),
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
