/** `hermes mcp add` and `remove`: entries of `mcp_servers`, written into config.jsonc with its comments kept. */
import { isSafePlace } from "@/lib/safe_place.ts";
import { UsageError } from "./args.ts";
import { EXIT } from "./exit_codes.ts";
import type { McpContext } from "./mcp.ts";

const NAME = /^[A-Za-z0-9][\w.-]{0,59}$/;
const HOW = "hermes mcp add <name> <url>, or: hermes mcp add <name> -- <command> [args…]";

export async function add({ hermes, terminal, parsed, words }: McpContext): Promise<number> {
  const [name, first, ...others] = words;
  if (name === undefined || first === undefined) {
    throw new UsageError(`mcp add takes a name and a server: ${HOW}`);
  }
  if (!NAME.test(name)) {
    throw new UsageError(`"${name}" is no name for a server: letters, digits, ".", "_" and "-", at most 60`);
  }
  const entry = entryOf(first, others, { sse: parsed.has("sse"), oauth: parsed.has("oauth") });
  if (parsed.has("oauth")) refuseUnsafeLogin(first);
  const { config } = hermes;
  if (Object.hasOwn(hermes.settings().mcp_servers ?? {}, name)) {
    terminal.note(
      `hermes: there is an MCP server "${name}" already; take it out first: hermes mcp remove ${name}`,
    );
    return EXIT.failed;
  }
  await config.write(["mcp_servers", name], entry);
  terminal.line(`${name}: written to ${config.path}`);
  terminal.line(`  now: hermes mcp ${parsed.has("oauth") ? "login" : "test"} ${name}`);
  return EXIT.done;
}

function entryOf(
  first: string,
  others: readonly string[],
  wish: { readonly sse: boolean; readonly oauth: boolean },
): Record<string, unknown> {
  if (!/^[a-z]+:\/\//i.test(first)) {
    if (wish.sse || wish.oauth) throw new UsageError(`--sse and --oauth are for a url: ${HOW}`);
    return { command: first, ...(others.length > 0 ? { args: others } : {}) };
  }
  if (others.length > 0) throw new UsageError(`a server behind a url takes no arguments: ${HOW}`);
  if (!URL.canParse(first) || !/^https?:$/.test(new URL(first).protocol)) {
    throw new UsageError(`${first} is no address of a server: it starts with http:// or https://`);
  }
  return { url: first, ...(wish.sse ? { transport: "sse" } : {}), ...(wish.oauth ? { auth: "oauth" } : {}) };
}

function refuseUnsafeLogin(url: string): void {
  if (isSafePlace(new URL(url))) return;
  throw new UsageError(
    `--oauth needs an https:// address: over ${new URL(url).origin} the login could be read on its way; ` +
      "plain http is for this machine alone",
  );
}

export async function remove({ hermes, terminal, words }: McpContext): Promise<number> {
  const [name, ...more] = words;
  if (name === undefined || more.length > 0) {
    throw new UsageError("mcp remove takes one name: hermes mcp remove <name>");
  }
  const { config } = hermes;
  if (!Object.hasOwn(hermes.settings().mcp_servers ?? {}, name)) {
    throw new UsageError(`no MCP server "${name}" in ${config.path}`);
  }
  // Its login goes first: without the entry nobody would know what the file is for. Most have none.
  const wasLoggedIn = await hermes.mcp.logout(name).catch(() => false);
  await config.write(["mcp_servers", name], undefined);
  terminal.line(`${name}: taken out of ${config.path}${wasLoggedIn ? ", and its login deleted" : ""}`);
  return EXIT.done;
}
