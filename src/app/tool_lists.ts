/** The built-in tools of each surface (core.md B.2), worked out anew only when the settings have changed. */
import type { ConfigService, Logger, Settings, Tool, ToolSpec } from "@/core/contract.ts";
import { selectTools } from "@/tools/mod.ts";

export interface ToolList {
  readonly tools: readonly Tool[];
  readonly specs: readonly ToolSpec[];
}

export interface ToolLists {
  /** The same object until the settings change. */
  of(surface: string): ToolList;
}

/** Names that mean nothing are told once, on stderr. */
export function createToolLists(
  tools: readonly Tool[],
  { config, log }: { config: ConfigService; log: Logger },
): ToolLists {
  const lists = new Map<string, ToolList>();
  const told = new Set<string>();
  let madeFor: Settings | null = null;

  function make(surface: string, settings: Settings): ToolList {
    const chosen = selectTools(tools, { surface, settings, env: config.env("HERMES_TUI_TOOLSETS") });
    for (const name of chosen.unknown) {
      if (told.has(name) || Object.hasOwn(settings.mcp_servers ?? {}, name.replace(/^mcp-/, ""))) continue;
      told.add(name);
      log.warn(`There is no toolset "${name}"; ignored`);
    }
    const specs = chosen.tools.map(({ name, description, parameters }) => ({
      name,
      description,
      parameters,
    }));
    return { tools: chosen.tools, specs };
  }

  return {
    of(surface) {
      const settings = config.settings();
      if (settings !== madeFor) lists.clear();
      madeFor = settings;
      const list = lists.get(surface) ?? make(surface, settings);
      lists.set(surface, list);
      return list;
    },
  };
}
