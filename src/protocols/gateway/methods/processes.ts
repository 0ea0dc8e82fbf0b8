/** Background processes of a session, toolsets, and what fills its window (tui-gateway.md B.17, B.18). */
import * as z from "zod/mini";
import type { Hermes } from "@/app/mod.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Gateway } from "../server.ts";
import type { DefinedMethod } from "./define.ts";
import { anything, method, optional } from "./define.ts";

export function processMethods(gateway: Gateway): DefinedMethod[] {
  const { hermes, live: sessions } = gateway;
  return [
    method({
      name: "process.list",
      kind: "worker",
      params: z.object({ session_id: anything }),
      failCode: 5010,
      handle: (params) => ({
        processes: hermes.processes(sessions.require(params.session_id).session).list(),
      }),
    }),
    method({
      name: "process.kill",
      kind: "worker",
      params: z.object({ session_id: anything, process_id: optional(z.string()) }),
      failCode: 5010,
      handle: async (params) => {
        const id = params.process_id?.trim() ?? "";
        if (id === "") throw new RpcError(4012, "process_id is required");
        const { session } = sessions.require(params.session_id);
        if (!await hermes.processes(session).kill(id)) throw new RpcError(4044, `no such process: ${id}`);
        return { killed: true, process_id: id };
      },
    }),
    method({
      name: "tools.configure",
      kind: "worker",
      params: z.object({
        action: optional(z.string()),
        names: optional(z.array(z.string())),
        session_id: anything,
      }),
      failCode: 5035,
      handle: (params) => configureTools(gateway, params),
    }),
    method({
      name: "session.context_breakdown",
      kind: "worker",
      params: z.object({ session_id: anything }),
      failCode: 5000,
      handle: (params) => breakDown(hermes, sessions.require(params.session_id)),
    }),
  ];
}

// ── tools ───────────────────────────────────────────────────────────────────────────────────────────────────

export interface Configured {
  readonly changed: readonly string[];
  readonly enabled_toolsets: readonly string[];
  readonly info: Record<string, unknown> | null;
  readonly missing_servers: readonly string[];
  readonly reset: boolean;
  readonly unknown: readonly string[];
}

interface ConfigureParams {
  readonly action?: string | undefined;
  readonly names?: readonly string[] | undefined;
  readonly session_id?: unknown;
}

/** Toolsets go and come by the configuration; sessions take it up with their next turn, their history stays. */
export async function configureTools(gateway: Gateway, params: ConfigureParams): Promise<Configured> {
  const { hermes } = gateway;
  const { action, names = [] } = params;
  if (action !== "enable" && action !== "disable") {
    throw new RpcError(4017, `unknown action: ${action ?? ""}`);
  }
  if (names.length === 0) throw new RpcError(4018, "names is required");
  const sid = params.session_id;
  const live = sid === undefined || sid === null ? undefined : gateway.live.require(sid);
  const known = new Set(hermes.tools.map((tool) => tool.toolset));
  const disabled = new Set(hermes.settings().agent.disabled_toolsets);
  const changed = [...new Set(names)].filter((name) =>
    known.has(name) && disabled.has(name) === (action === "enable")
  );
  if (changed.length > 0) {
    for (const name of changed) action === "enable" ? disabled.delete(name) : disabled.add(name);
    await hermes.config.write(["agent", "disabled_toolsets"], [...disabled]);
    for (const each of gateway.live.all()) each.emitInfo();
  }
  return {
    changed,
    enabled_toolsets: [...known].filter((name) => !disabled.has(name)).sort(),
    info: live?.info() ?? null,
    missing_servers: [],
    reset: false,
    unknown: names.filter((name) => !known.has(name)),
  };
}

// ── context ─────────────────────────────────────────────────────────────────────────────────────────────────

const CHARS_PER_TOKEN = 4;

/** An estimate: what the next request would hold, by kind. */
function breakDown(hermes: Hermes, live: LiveSession): Record<string, unknown> {
  const { session } = live;
  const tokens = (text: string) => Math.ceil(text.length / CHARS_PER_TOKEN);
  const row = session.stored ? hermes.store().getSession(session.headId) : null;
  const offered = new Set(session.toolNames());
  const tools = hermes.tools.filter((tool) => offered.has(tool.name)).map((
    { name, description, parameters },
  ) => ({
    name,
    description,
    parameters,
  }));
  const parts: Record<string, number> = {
    system_prompt: tokens(row?.systemPrompt ?? ""),
    tools: tokens(JSON.stringify(tools)),
    user: 0,
    assistant: 0,
    tool_results: 0,
  };
  for (const message of session.history()) {
    const kind = message.role === "tool" ? "tool_results" : message.role;
    const calls = message.role === "assistant" ? JSON.stringify(message.toolCalls ?? []) : "";
    parts[kind]! += tokens(JSON.stringify(message.content ?? "") + (calls === "[]" ? "" : calls));
  }
  return {
    categories: Object.entries(parts).map(([name, count]) => ({ name, tokens: count })),
    estimated_total: Object.values(parts).reduce((sum, count) => sum + count, 0),
    context_max: session.usage().contextMax,
  };
}
