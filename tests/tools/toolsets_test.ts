import type { Settings, Tool } from "@/core/mod.ts";
import { createTools, selectTools } from "@/tools/mod.ts";
import { assertEquals } from "../support/assert.ts";

const TOOLS = createTools({
  env: () => undefined,
  sessions: () => {
    throw new Error("not needed");
  },
});

function names(
  surface: string,
  over: Record<string, unknown> = {},
  env = "",
): { tools: string; unknown: string[] } {
  const settings = {
    toolsets: [],
    platform_toolsets: {},
    ...over,
    agent: { disabled_toolsets: [], coding_context: "auto", ...over["agent"] as object },
  } as unknown as Settings;
  const { tools, unknown } = selectTools(TOOLS, { surface, settings, env });
  return { tools: [...new Set(tools.map((tool: Tool) => tool.toolset))].join(" "), unknown: [...unknown] };
}

const ALL = "terminal file web vision todo memory session_search delegation clarify";

Deno.test("selectTools() gives every surface its bundle", () => {
  assertEquals(["acp", "tui", "cli", "api_server"].map((surface) => names(surface).tools), [
    ALL,
    ALL,
    ALL,
    ALL,
  ]);
});

Deno.test("selectTools() follows platform_toolsets of the surface; tui goes by cli, acp is fixed", () => {
  const own = { platform_toolsets: { cli: ["file", "todo"], api_server: ["debugging"], acp: ["todo"] } };
  assertEquals(["tui", "cli", "api_server", "acp"].map((surface) => names(surface, own).tools), [
    "file todo",
    "file todo",
    "terminal file web",
    ALL,
  ]);
  assertEquals(names("cli", { toolsets: ["todo"] }).tools, "todo");
  assertEquals(names("cli", { platform_toolsets: { cli: ["hermes-cli"] } }).tools, ALL);
  assertEquals(names("cli", { platform_toolsets: { cli: [] } }).tools, "");
  assertEquals(names("cli", { platform_toolsets: { cli: ["safe"] } }), { tools: "web vision", unknown: [] });
});

const searching = {
  surface: "tui",
  settings: { toolsets: [], platform_toolsets: {}, agent: { disabled_toolsets: [] } } as unknown as Settings,
  env: "search",
};

Deno.test("selectTools() lets HERMES_TUI_TOOLSETS decide on the gateway only, and names what it does not know", () => {
  assertEquals(selectTools(TOOLS, searching).tools.map((tool) => tool.name), ["web_search"]);
  assertEquals(names("tui", {}, "file, nonsense"), { tools: "file", unknown: ["nonsense"] });
  assertEquals(names("tui", { platform_toolsets: { cli: ["file"] } }, "all").tools, ALL);
  assertEquals(names("cli", {}, "file").tools, ALL);
});

Deno.test("selectTools() takes disabled_toolsets off last; a bundle's name takes nothing away", () => {
  const off = (...disabled_toolsets: string[]) => names("tui", { agent: { disabled_toolsets } }, "*").tools;
  assertEquals(off("terminal", "memory"), "file web vision todo session_search delegation clarify");
  assertEquals(off("hermes-cli"), ALL);
  assertEquals(off("all"), "");
});

Deno.test("selectTools() keeps to tools for code in focus", () => {
  assertEquals(
    names("tui", { agent: { coding_context: "focus", disabled_toolsets: ["clarify"] } }).tools,
    ALL.replace(" clarify", ""),
  );
});
