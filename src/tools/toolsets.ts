/**
 * Which tools a surface offers (core.md B.2): the surface's own bundle, `toolsets` or `platform_toolsets.<surface>`,
 * `HERMES_TUI_TOOLSETS` on the gateway, and `agent.disabled_toolsets` taken off last. Names only; no tool is made here.
 */
import { isCodingFocus, type Settings, type Tool } from "@/core/mod.ts";

/** Toolsets that stand for others. A name that is not here and belongs to no tool is unknown. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  search: ["web"],
  debugging: ["terminal", "web", "file"],
  safe: ["web", "vision", "image_gen"],
  coding: [
    "terminal",
    "file",
    "web",
    "vision",
    "skills",
    "todo",
    "memory",
    "session_search",
    "clarify",
    "code_execution",
    "delegation",
  ],
};
const EVERYTHING = new Set(["all", "*"]);
/** Tools of a toolset that the group names only in part. */
const ONLY: Readonly<Record<string, readonly string[]>> = { search: ["web_search"] };
/** Known although no tool of this build belongs to them. */
const RESERVED = new Set([
  "web",
  "terminal",
  "file",
  "vision",
  "image_gen",
  "tts",
  "skills",
  "browser",
  "todo",
  "memory",
  "session_search",
  "clarify",
  "cronjob",
  "code_execution",
  "delegation",
  "no_mcp",
]);
/** Toolsets a surface never has. */
const NEVER: Readonly<Record<string, readonly string[]>> = {
  acp: ["cronjob", "image_gen", "tts"],
  api_server: ["tts"],
};

export interface ToolsetQuery {
  /** `acp`, `tui`, `api_server`, `cli`. */
  readonly surface: string;
  readonly settings: Settings;
  /** `HERMES_TUI_TOOLSETS`. */
  readonly env: string | undefined;
}

export interface ToolsetChoice {
  readonly tools: readonly Tool[];
  /** Names that are no toolset; some of them may be MCP servers, which are chosen elsewhere by the same lists. */
  readonly unknown: readonly string[];
}

/** The tools of a surface, in the order of `tools`. */
export function selectTools(tools: readonly Tool[], query: ToolsetQuery): ToolsetChoice {
  const unknown: string[] = [];
  const wanted = expand(wantedNames(query), tools, unknown);
  // A bundle's name takes away its extras only, and all built-in tools are core ones.
  const taken = query.settings.agent.disabled_toolsets.filter((name) => !isBundle(name));
  const disabled = expand(taken, tools, unknown) ?? new Set(tools);
  const never = NEVER[query.surface] ?? [];
  return {
    tools: tools.filter((tool) =>
      (wanted === null || wanted.has(tool)) && !disabled.has(tool) && !never.includes(tool.toolset)
    ),
    unknown: [...new Set(unknown)],
  };
}

/** `null`: no list, so everything the surface may have. */
function wantedNames({ surface, settings, env }: ToolsetQuery): readonly string[] | null {
  const key = surface === "tui" ? "cli" : surface;
  if (surface === "tui") {
    const named = (env ?? "").split(",").map((name) => name.trim()).filter(Boolean);
    if (named.length > 0) return named;
    if (isCodingFocus(settings)) return ["coding"];
  }
  if (surface === "acp") return null;
  const own = settings.platform_toolsets[key] ?? settings.platform_toolsets[surface];
  if (Array.isArray(own)) return own.map(String);
  return settings.toolsets.length > 0 ? settings.toolsets : null;
}

/** The tools that names stand for; `null` when they stand for everything. */
function expand(
  names: readonly string[] | null,
  tools: readonly Tool[],
  unknown: string[],
): Set<Tool> | null {
  if (names === null || names.some((name) => EVERYTHING.has(name))) return null;
  const found = new Set<Tool>();
  for (const name of names) {
    const members = membersOf(name, tools);
    if (members.length === 0 && !RESERVED.has(name) && !Object.hasOwn(GROUPS, name)) unknown.push(name);
    for (const tool of members) found.add(tool);
  }
  return found;
}

/** `hermes-cli` and the like: what the surface has anyway. */
function isBundle(name: string): boolean {
  return name.startsWith("hermes-");
}

function membersOf(name: string, tools: readonly Tool[]): readonly Tool[] {
  if (isBundle(name)) return tools;
  const toolsets = GROUPS[name] ?? [name];
  const only = ONLY[name];
  return tools.filter((tool) => toolsets.includes(tool.toolset) && (only?.includes(tool.name) ?? true));
}
