/** Read-only views of tools, processes and settings (tui-gateway.md B.18), for hosts that draw lists of them. */
import * as z from "zod/mini";
import type { Tool } from "@/core/contract.ts";
import type { LiveSession } from "../live.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, NO_PARAMS } from "./define.ts";

const MAX_COMMAND = 80;
const maybeOn = z.object({ session_id: anything });

export function viewMethods(gateway: Gateway): DefinedMethod[] {
  const { hermes } = gateway;
  const sessionOf = (sid: unknown) => (sid ?? null) === null ? undefined : gateway.live.require(sid);
  const groups = (sid: unknown) => groupsOf(gateway, sessionOf(sid));
  return [
    method({
      name: "toolsets.list",
      kind: "inline",
      params: maybeOn,
      failCode: 5032,
      handle: (params) => ({ toolsets: groups(params.session_id).map(({ tools: _, ...shown }) => shown) }),
    }),
    method({
      name: "tools.list",
      kind: "inline",
      params: maybeOn,
      failCode: 5031,
      handle: (params) => ({ toolsets: groups(params.session_id) }),
    }),
    method({
      name: "tools.show",
      kind: "inline",
      params: maybeOn,
      failCode: 5034,
      handle: (params) => showTools(gateway, sessionOf(params.session_id)),
    }),
    method({
      name: "agents.list",
      kind: "inline",
      params: NO_PARAMS,
      failCode: 5033,
      handle: () => ({
        processes: gateway.live.all().flatMap(({ session }) => hermes.processes(session).list()).map(
          ({ session_id, command, status, uptime_seconds }) => ({
            session_id,
            command: String(command).slice(0, MAX_COMMAND).toWellFormed(),
            status,
            uptime: uptime_seconds,
          }),
        ),
      }),
    }),
    method({
      name: "plugins.list",
      kind: "inline",
      params: NO_PARAMS,
      handle: () => ({ plugins: [] }),
    }),
    method({
      name: "config.show",
      kind: "inline",
      params: maybeOn,
      failCode: 5030,
      handle: (params) => ({ sections: sectionsOf(gateway, sessionOf(params.session_id)) }),
    }),
  ];
}

interface Group {
  readonly name: string;
  readonly description: string;
  readonly tool_count: number;
  readonly enabled: boolean;
  readonly tools: readonly string[];
}

function byToolset(tools: readonly Tool[]): [string, Tool[]][] {
  const sets = new Map<string, Tool[]>();
  for (const tool of tools) sets.set(tool.toolset, [...sets.get(tool.toolset) ?? [], tool]);
  return [...sets].sort(([a], [b]) => a < b ? -1 : 1);
}

/** Those of the session, MCP servers included; without one, the program's own. */
function groupsOf({ hermes }: Gateway, live: LiveSession | undefined): Group[] {
  const disabled = hermes.settings().agent.disabled_toolsets;
  const all = new Map([...hermes.tools, ...live?.session.tools() ?? []].map((tool) => [tool.name, tool]));
  const offered = live && new Set(live.session.toolNames());
  return byToolset([...all.values()]).map(([name, tools]) => ({
    name,
    description: tools.map((tool) => tool.name).join(", "),
    tool_count: tools.length,
    enabled: offered ? tools.some((tool) => offered.has(tool.name)) : !disabled.includes(name),
    tools: tools.map((tool) => tool.name),
  }));
}

/** What the model is offered, or would be; the first sentence of each. */
function showTools({ hermes }: Gateway, live: LiveSession | undefined): Record<string, unknown> {
  const disabled = hermes.settings().agent.disabled_toolsets;
  const offered = live && new Set(live.session.toolNames());
  const tools = live
    ? live.session.tools().filter((tool) => offered!.has(tool.name))
    : hermes.tools.filter((tool) => !disabled.includes(tool.toolset));
  return {
    sections: byToolset(tools).map(([name, members]) => ({
      name,
      tools: members.map((tool) => ({ name: tool.name, description: firstSentence(tool.description) })),
    })),
    total: tools.length,
  };
}

function firstSentence(text: string): string {
  return text.split("\n")[0]!.split(". ")[0]!;
}

/** The settings that people ask about, as rows of text. */
function sectionsOf({ hermes }: Gateway, live: LiveSession | undefined): Record<string, unknown>[] {
  const settings = hermes.settings();
  const model = live?.session.model;
  const section = (title: string, rows: Readonly<Record<string, unknown>>) => ({
    title,
    rows: Object.entries(rows).map(([name, value]) => [name, hermes.redact(String(value ?? ""))]),
  });
  return [
    section("Model", {
      Model: model?.model ?? settings.model.default,
      Provider: model?.provider ?? settings.model.provider,
      "Base URL": model?.baseUrl ?? settings.model.base_url,
    }),
    section("Agent", {
      "Max turns": settings.agent.max_turns ?? "no limit",
      Approvals: settings.approvals.mode,
      "While a turn runs": settings.display.busy_input_mode,
      "Tool progress": live?.toolProgress() ?? settings.display.tool_progress,
    }),
    section("Environment", {
      "Working directory": live?.session.cwd ?? hermes.platform.cwd(),
      "Config file": hermes.config.path,
    }),
  ];
}
