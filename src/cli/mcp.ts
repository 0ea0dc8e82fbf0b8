/** `hermes mcp`: the MCP servers of the configuration, whether they work, and logins at those that want one. */
import type { Hermes } from "@/app/mod.ts";
import type { McpServerStatus } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, type ParsedArgs, UsageError } from "./args.ts";
import { EXIT } from "./exit_codes.ts";
import { hermesOptions, withHermes } from "./hermes_session.ts";
import { adviceFor } from "./mcp_advice.ts";
import { add, remove } from "./mcp_entries.ts";
import { login, logout } from "./mcp_login.ts";
import { MCP } from "./specs.ts";
import { type Terminal, withTerminal } from "./terminal.ts";
import { table, withoutControls } from "./text_layout.ts";

export interface McpContext {
  readonly hermes: Hermes;
  readonly terminal: Terminal;
  readonly parsed: ParsedArgs;
  readonly words: readonly string[];
}

const SUBCOMMANDS: Readonly<Record<string, (context: McpContext) => Promise<number>>> = {
  list,
  test,
  add,
  remove,
  login,
  logout,
};
const DEFAULT_TIMEOUT_S = 15;

export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(MCP, args);
  const [name = "list", ...words] = parsed.positionals;
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (!subcommand) {
    throw new UsageError(`unknown subcommand "${name}"; there are: ${Object.keys(SUBCOMMANDS).join(", ")}`);
  }
  return await withTerminal(
    platform,
    (terminal) =>
      withHermes(
        platform,
        hermesOptions(parsed),
        (hermes) => subcommand({ hermes, terminal, parsed, words }),
      ),
  );
}

function stateOf({ status, error }: McpServerStatus): string {
  return withoutControls(error ? `${status}: ${error}` : status);
}

async function list({ hermes, terminal, parsed }: McpContext): Promise<number> {
  const servers = await hermes.mcp.status();
  if (parsed.has("json")) {
    terminal.line(JSON.stringify({ servers }, null, 2));
    return EXIT.done;
  }
  if (servers.length === 0) {
    terminal.line(`no MCP servers; they stand under mcp_servers in ${hermes.config.path}`);
    terminal.line("  to add one: hermes mcp add --help");
    return EXIT.done;
  }
  const rows = servers.map((server) => [server.name, server.transport, stateOf(server)]);
  for (const line of table(rows, terminal.columns)) terminal.line(line);
  return EXIT.done;
}

type Tested = NonNullable<Awaited<ReturnType<Hermes["mcp"]["test"]>>>;

async function test(context: McpContext): Promise<number> {
  const { hermes, terminal, parsed, words } = context;
  const [name, ...more] = words;
  if (more.length > 0) {
    throw new UsageError("mcp test takes one name, or none for all: hermes mcp test [name]");
  }
  const seconds = parsed.positive("timeout") ?? DEFAULT_TIMEOUT_S;
  const names = name === undefined ? await enabledNames(hermes) : [name];
  const results = await Promise.all(names.map((one) => hermes.mcp.test(one, seconds * 1000)));
  const found = results.filter((result) => result !== null);
  if (name !== undefined && found.length === 0) {
    throw new UsageError(`no MCP server "${name}" in ${hermes.config.path}`);
  }
  if (parsed.has("json")) {
    const told = found.map(jsonOf);
    terminal.line(JSON.stringify(name === undefined ? { servers: told } : told[0], null, 2));
  } else if (found.length === 0) {
    terminal.line(`no MCP servers to test; they stand under mcp_servers in ${hermes.config.path}`);
  } else for (const result of found) tell(result, seconds, context);
  return found.every(({ status }) => status.connected) ? EXIT.done : EXIT.failed;
}

async function enabledNames(hermes: Hermes): Promise<string[]> {
  return (await hermes.mcp.status()).filter(({ disabled }) => !disabled).map(({ name }) => name);
}

function jsonOf({ status, tools, ms }: Tested): Record<string, unknown> {
  const offered = tools.map(({ name, description }) => ({ name, description }));
  return { ...status, duration_ms: Math.round(ms), offered };
}

function tell({ status, tools, ms }: Tested, seconds: number, { hermes, terminal }: McpContext): void {
  const { name } = status;
  if (status.connected) {
    const count = `${tools.length} tool${tools.length === 1 ? "" : "s"}`;
    terminal.line(`${name} works: ${count}, ready in ${Math.round(ms)} ms`);
    const rows = tools.map((tool) =>
      [`  ${tool.name}`, tool.description.split("\n", 1)[0] ?? ""].map(withoutControls)
    );
    for (const line of table(rows, terminal.columns)) terminal.line(line);
    return;
  }
  const { error } = status;
  const why = status.status !== "connecting"
    ? withoutControls(error ?? status.status)
    : `no answer within ${seconds} s${error ? `; the last try: ${withoutControls(error)}` : ""}`;
  terminal.note(`hermes: MCP server "${name}" does not work: ${why}`);
  const advice = adviceFor(status, seconds);
  if (advice) terminal.note(`  do:  ${advice}`);
  if (status.transport === "stdio") terminal.note(`  see: ${hermes.home}/logs`);
}
