/** `hermes mcp [list|test <name>]`: the MCP servers of the configuration, and whether one of them works. */
import type { Hermes } from "@/app/mod.ts";
import type { McpServerStatus } from "@/core/contract.ts";
import type { Platform } from "@/platform/mod.ts";
import { parseCommandLine, type ParsedArgs, UsageError } from "./args.ts";
import { hermesOptions, withHermes } from "./hermes_session.ts";
import { MCP } from "./specs.ts";
import { type Terminal, withTerminal } from "./terminal.ts";
import { table, withoutControls } from "./text_layout.ts";

interface Context {
  readonly hermes: Hermes;
  readonly terminal: Terminal;
  readonly parsed: ParsedArgs;
  readonly words: readonly string[];
}

const SUBCOMMANDS: Readonly<Record<string, (context: Context) => Promise<number>>> = { list, test };
const DEFAULT_TIMEOUT_S = 15;

export async function run(args: readonly string[], platform: Platform): Promise<number> {
  const parsed = parseCommandLine(MCP, args);
  const [name = "list", ...words] = parsed.positionals;
  const subcommand = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (!subcommand) throw new UsageError(`unknown subcommand "${name}"; there are: list, test`);
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

async function list({ hermes, terminal, parsed }: Context): Promise<number> {
  const servers = await hermes.mcp.status();
  if (parsed.has("json")) {
    terminal.line(JSON.stringify({ servers }, null, 2));
    return 0;
  }
  if (servers.length === 0) {
    terminal.line(`no MCP servers; they stand under mcp_servers in ${hermes.config.path}`);
    return 0;
  }
  const rows = servers.map((server) => [server.name, server.transport, stateOf(server)]);
  for (const line of table(rows, terminal.columns)) terminal.line(line);
  return 0;
}

async function test({ hermes, terminal, parsed, words }: Context): Promise<number> {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) {
    throw new UsageError("mcp test takes one name: hermes mcp test <name>");
  }
  const seconds = parsed.positive("timeout") ?? DEFAULT_TIMEOUT_S;
  const result = await hermes.mcp.test(name, seconds * 1000);
  if (!result) throw new UsageError(`no MCP server "${name}" in ${hermes.config.path}`);
  const { status, ms } = result;
  const tools = result.tools.map((tool) => ({ name: tool.name, description: tool.description }));
  if (parsed.has("json")) {
    terminal.line(JSON.stringify({ ...status, duration_ms: Math.round(ms), offered: tools }, null, 2));
  } else if (status.connected) {
    terminal.line(
      `${name} works: ${tools.length} tool${tools.length === 1 ? "" : "s"}, ready in ${Math.round(ms)} ms`,
    );
    const rows = tools.map((tool) =>
      [`  ${tool.name}`, tool.description.split("\n", 1)[0] ?? ""].map(withoutControls)
    );
    for (const line of table(rows, terminal.columns)) terminal.line(line);
  } else {
    const why = status.status === "connecting"
      ? `no answer within ${seconds} s`
      : withoutControls(status.error ?? status.status);
    terminal.note(`hermes: MCP server "${name}" does not work: ${why}`);
    terminal.note(`  see: ${hermes.home}/logs`);
  }
  return status.connected ? 0 : 1;
}
