/** Slash commands on this wire (tui-gateway.md B.15, D): the registry is the program's, the directives are ours. */
import * as z from "zod/mini";
import type { CommandInfo, CommandResult } from "@/core/mod.ts";
import { HermesError } from "@/core/mod.ts";
import { RpcError } from "../errors.ts";
import type { LiveSession } from "../live.ts";
import type { Method } from "../peer.ts";
import type { Gateway } from "../server.ts";
import { anything, method, NO_PARAMS, optional } from "./define.ts";
import { switchModel } from "./model_switch.ts";

const text = optional(z.string());

/** These wait for a model or the network and must not hold up what was sent after them. */
const SLOW = new Set(["model", "compress"]);
/** Refused with a warning, not with an error, when `slash.exec` meets a running turn. */
const MIRRORED = new Set(["model", "compress", "personality", "prompt"]);

export function commandMethods(gateway: Gateway): Method[] {
  const { commands } = gateway.hermes;
  return [
    method({
      name: "commands.catalog",
      kind: "inline",
      params: NO_PARAMS,
      failCode: 5020,
      handle: () => renderCatalog(commands.list("gateway")),
    }),
    method({
      name: "command.resolve",
      kind: "inline",
      params: z.object({ name: text }),
      failCode: 5012,
      handle: (params) => {
        const found = commands.find(params.name ?? "", "gateway");
        if (!found) throw new RpcError(4011, `unknown command: ${params.name ?? ""}`);
        return { canonical: found.name, description: found.description, category: found.category };
      },
    }),
    method({
      name: "command.dispatch",
      kind: (params) => SLOW.has(requestedName(gateway, params)) ? "worker" : "inline",
      params: z.object({ session_id: anything, command: text, name: text, arg: text }),
      failCode: 5030,
      handle: (params, { signal }) => {
        const asked = splitCommand(params.command, params.name, params.arg);
        const command = commands.find(asked.name, "gateway");
        if (!command) throw new RpcError(4018, `not a dispatchable command: ${asked.name || "(none)"}`);
        return dispatch(gateway, gateway.live.require(params.session_id), command, asked.args, signal);
      },
    }),
    method({
      name: "slash.exec",
      kind: "worker",
      params: z.object({ session_id: anything, command: text }),
      failCode: 5030,
      handle: (params, { signal }) => execSlash(gateway, params.session_id, params.command ?? "", signal),
    }),
  ];
}

// ── Catalogue ───────────────────────────────────────────────────────────────────────────────────────────────

function renderCatalog(list: readonly CommandInfo[]): Record<string, unknown> {
  const categories = new Map<string, [string, string][]>();
  const sub: Record<string, string[]> = {};
  const canon: Record<string, string> = {};
  for (const command of list) {
    const pairs = categories.get(command.category) ?? [];
    categories.set(command.category, [...pairs, describe(command)]);
    for (const alias of command.aliases) canon[`/${alias.toLowerCase()}`] = `/${command.name}`;
    const words = subcommands(command.argsHint);
    if (words.length > 0) sub[`/${command.name}`] = words;
  }
  return {
    pairs: list.map(describe),
    sub,
    canon,
    categories: [...categories].map(([name, pairs]) => ({ name, pairs })),
    skill_count: 0,
    warning: "",
  };
}

function describe(command: CommandInfo): [string, string] {
  const usage = command.argsHint === "" ? "" : ` (usage: /${command.name} ${command.argsHint})`;
  return [`/${command.name}`, command.description + usage];
}

/** The words of `[a|b|c]`. */
function subcommands(argsHint: string): string[] {
  const inner = /^\[([\w-]+(?:\|[\w-]+)+)\]$/.exec(argsHint)?.[1];
  return inner ? inner.split("|") : [];
}

// ── Running ─────────────────────────────────────────────────────────────────────────────────────────────────

function splitCommand(
  command: string | undefined,
  name: string | undefined,
  arg: string | undefined,
): { name: string; args: string } {
  if (command === undefined) return { name: (name ?? "").trim(), args: (arg ?? "").trim() };
  const line = command.trim().replace(/^\//, "");
  const end = line.search(/\s/);
  return end === -1 ? { name: line, args: "" } : { name: line.slice(0, end), args: line.slice(end).trim() };
}

function requestedName(gateway: Gateway, params: Readonly<Record<string, unknown>>): string {
  const asText = (value: unknown) => typeof value === "string" ? value : undefined;
  const asked = splitCommand(asText(params["command"]), asText(params["name"]), undefined);
  return gateway.hermes.commands.find(asked.name, "gateway")?.name ?? "";
}

async function dispatch(
  gateway: Gateway,
  live: LiveSession,
  command: CommandInfo,
  args: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  if (command.needsIdle && live.busy) throw new RpcError(4009, `session busy: /${command.name} has to wait`);
  if (command.name === "model" && args !== "") return await dispatchModel(gateway, live, args, signal);
  const context = { session: live.session, surface: "gateway", signal } as const;
  return renderDirective(await gateway.hermes.commands.run(command.name, args, context));
}

async function dispatchModel(
  gateway: Gateway,
  live: LiveSession,
  args: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { model, global, warning } = await switchModel(gateway, live, args, signal);
  const saved = global ? ", saved as the default" : "";
  return {
    type: "exec",
    output: `Model: ${model.model} (${model.label})${saved}`,
    value: model.model,
    provider: model.provider,
    scope: global ? "global" : "session",
    ...(warning === undefined ? {} : { warning }),
  };
}

function renderDirective(result: CommandResult): Record<string, unknown> {
  if (result.type === "text") return { type: "exec", output: result.text };
  return {
    type: result.type,
    message: result.message,
    ...(result.notice === undefined ? {} : { notice: result.notice }),
  };
}

/** Text is printed as `{output}`; what the host has to do something about stays a directive. */
async function execSlash(
  gateway: Gateway,
  sid: unknown,
  line: string,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const live = gateway.live.require(sid);
  const asked = splitCommand(line, undefined, undefined);
  if (asked.name === "") throw new RpcError(4004, "command is required");
  const command = gateway.hermes.commands.find(asked.name, "gateway");
  if (!command) throw new RpcError(4018, `not a slash command here: /${asked.name}`);
  try {
    const directive = await dispatch(gateway, live, command, asked.args, signal);
    if (directive["type"] !== "exec") return directive;
    const { type: _, ...shown } = directive;
    return shown;
  } catch (error) {
    if (!MIRRORED.has(command.name) || !isBusy(error)) throw error;
    return { output: "", warning: error.message };
  }
}

function isBusy(error: unknown): error is Error {
  return (error instanceof RpcError && error.code === 4009) ||
    (error instanceof HermesError && error.code === "session_busy");
}
