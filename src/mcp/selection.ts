/** Which configured servers a surface uses (core.md B.2, acp.md C5). Pure. */
import type { ConfigService, Settings } from "@/core/contract.ts";
import { toolsetName } from "./names.ts";

type Servers = Readonly<Record<string, unknown>>;

/** The entries of the configuration; none where the host's environment says so. */
export function configuredServers(
  { config, surface }: { readonly config: ConfigService; readonly surface: string },
): Servers {
  if (surface === "acp" && config.env("HERMES_ACP_SKIP_CONFIGURED_MCP") === "1") return {};
  return config.settings().mcp_servers ?? {};
}

/**
 * `platform_toolsets.<surface>` that names a server turns the others off, `no_mcp` all of them; on the gateway
 * `HERMES_TUI_TOOLSETS` (`env`) stands above it and names all that there is. `agent.disabled_toolsets` is taken away
 * last. ACP has all that are configured.
 */
export function isSelected(name: string, settings: Settings, surface: string, env?: string): boolean {
  const means = (listed: string) => listed === name || listed === toolsetName(name);
  if (settings.agent.disabled_toolsets.some(means)) return false;
  if (surface === "acp") return true;
  const named = surface === "tui" ? namesIn(env) : [];
  if (named.length > 0) {
    return !named.includes("no_mcp") && named.some((item) => item === "all" || item === "*" || means(item));
  }
  const listed = settings.platform_toolsets?.[surface === "tui" ? "cli" : surface];
  if (!Array.isArray(listed)) return true;
  if (listed.includes("no_mcp")) return false;
  const servers = Object.keys(settings.mcp_servers ?? {});
  const namesOne = listed.some((item) =>
    servers.some((server) => item === server || item === toolsetName(server))
  );
  return !namesOne || listed.some((item) => typeof item === "string" && means(item));
}

function namesIn(list: string | undefined): string[] {
  return (list ?? "").split(",").map((name) => name.trim()).filter(Boolean);
}
