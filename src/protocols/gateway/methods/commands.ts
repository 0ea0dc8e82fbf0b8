/** Slash commands on this wire (tui-gateway.md B.15, D): the registry is the program's, the directives are ours. */
import * as z from "zod/mini";
import type { CommandResult, OpenedSession } from "@/core/contract.ts";
import { HermesError } from "@/core/contract.ts";
import { toRpcError } from "../domain_errors.ts";
import { RpcError } from "../errors.ts";
import { slashTimeoutMs } from "../launch.ts";
import type { LiveSession } from "../live.ts";
import type { Gateway } from "../server.ts";
import { readSkillTurn, typedSkill } from "../skill_turn.ts";
import { completeSlash, renderCatalog } from "./command_catalog.ts";
import type { Call, DefinedMethod } from "./define.ts";
import { anything, isTruthy, method, NO_PARAMS, optional } from "./define.ts";
import { findQuickCommand, runQuickCommand } from "./quick_commands.ts";
import { switchModel } from "./model_switch.ts";

const text = optional(z.string());

/** These wait for a model or the network and must not hold up what was sent after them. */
const SLOW = new Set(["model", "compress", "reload-mcp", "stop"]);
/** Refused with a warning, not with an error, when `slash.exec` meets a running turn. */
const MIRRORED = new Set(["model", "compress", "personality", "prompt"]);
/** Numbers for "the work itself failed" that differ from the method's own. */
const OWN_CODES: Readonly<Record<string, number>> = {
  compress: 5009,
  undo: 5008,
  retry: 5008,
  rollback: 5021,
};

export function commandMethods(gateway: Gateway): DefinedMethod[] {
  return [
    method({
      name: "commands.catalog",
      kind: "inline",
      params: NO_PARAMS,
      failCode: 5020,
      handle: () => renderCatalog(gateway.hermes),
    }),
    method({
      name: "complete.slash",
      kind: "worker",
      params: z.object({ text }),
      failCode: 5020,
      handle: (params) => completeSlash(gateway.hermes, params.text ?? ""),
    }),
    method({
      name: "command.resolve",
      kind: "inline",
      params: z.object({ name: text }),
      failCode: 5012,
      handle: (params) => {
        const found = gateway.hermes.commands.find(params.name ?? "", "gateway");
        if (!found) throw new RpcError(4011, `unknown command: ${params.name ?? ""}`);
        return { canonical: found.name, description: found.description, category: found.category };
      },
    }),
    method({
      name: "command.dispatch",
      kind: (params) => isSlow(gateway, params) ? "worker" : "inline",
      params: z.object({
        session_id: anything,
        command: text,
        name: text,
        arg: text,
        confirm_expensive_model: anything,
      }),
      failCode: 5030,
      handle: (params, call) => {
        const asked = splitCommand(params.command, params.name, params.arg);
        const confirmed = isTruthy(params.confirm_expensive_model);
        return dispatch(gateway, params.session_id, { ...asked, confirmed }, call);
      },
    }),
    method({
      name: "slash.exec",
      kind: "worker",
      params: z.object({ session_id: anything, command: text, confirm_expensive_model: anything }),
      failCode: 5030,
      handle: (params, call) => {
        const confirmed = isTruthy(params.confirm_expensive_model);
        const asked = { ...splitCommand(params.command ?? "", undefined, undefined), confirmed };
        return execSlash(gateway, params.session_id, asked, call);
      },
    }),
  ];
}

// ── Running ─────────────────────────────────────────────────────────────────────────────────────────────────

interface Asked {
  readonly name: string;
  readonly args: string;
  /** The price of a model was shown and accepted. */
  readonly confirmed?: boolean;
}

function splitCommand(
  command: string | undefined,
  name: string | undefined,
  arg: string | undefined,
): Asked {
  if (command === undefined) {
    return { name: (name ?? "").trim().replace(/^\//, ""), args: (arg ?? "").trim() };
  }
  const line = command.trim().replace(/^\//, "");
  const end = line.search(/\s/);
  return end === -1 ? { name: line, args: "" } : { name: line.slice(0, end), args: line.slice(end).trim() };
}

function isSlow(gateway: Gateway, params: Readonly<Record<string, unknown>>): boolean {
  const asText = (value: unknown) => typeof value === "string" ? value : undefined;
  const { name } = splitCommand(asText(params["command"]), asText(params["name"]), undefined);
  const quick = findQuickCommand(gateway.hermes, name);
  return quick ? quick.type === "exec" : SLOW.has(gateway.hermes.commands.find(name, "gateway")?.name ?? "");
}

/** The stages of D.1: the user's own commands first, then the registry. */
async function dispatch(
  gateway: Gateway,
  sid: unknown,
  asked: Asked,
  { client, signal }: Call,
): Promise<Record<string, unknown>> {
  const { hermes } = gateway;
  const quick = findQuickCommand(hermes, asked.name);
  if (quick) return await runQuickCommand(gateway, quick, asked.args, gateway.live.maybe(sid), signal);
  const command = hermes.commands.find(asked.name, "gateway");
  if (!command) return await dispatchSkill(gateway, sid, asked, signal);
  const live = gateway.live.require(sid);
  if (command.needsIdle && live.running) {
    throw new RpcError(4009, `session busy: /${command.name} has to wait`);
  }
  if (command.name === "model" && asked.args !== "") {
    return await dispatchModel(gateway, live, asked, signal);
  }
  const { createCommandHost } = await import("./command_host.ts");
  const host = createCommandHost({ gateway, live, client, signal });
  const context = { session: live.session, surface: "gateway", signal, host } as const;
  try {
    return renderDirective(await hermes.commands.run(command.name, asked.args, context));
  } catch (error) {
    throw toRpcError(error, OWN_CODES[command.name] ?? 5030);
  }
}

async function dispatchSkill(
  gateway: Gateway,
  sid: unknown,
  asked: Asked,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const live = asked.name === "" ? undefined : gateway.live.maybe(sid);
  const { invokeSkill, isSkill } = await import("./skills.ts");
  const skill = live ? await invokeSkill(gateway.hermes, live, asked.name, asked.args, signal) : null;
  if (skill) return skill;
  if (!live && await isSkill(gateway.hermes, asked.name)) throw new RpcError(4001, "session not found");
  throw new RpcError(4018, `not a dispatchable command: ${asked.name || "(none)"}`);
}

async function dispatchModel(
  gateway: Gateway,
  live: LiveSession,
  { args, confirmed = false }: Asked,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { model, global, warning, question } = await switchModel(gateway, live, args, { confirmed, signal })
    .catch((error) => {
      throw toRpcError(error, 5001);
    });
  const saved = global ? ", saved as the default" : "";
  return {
    type: "exec",
    output: question ?? `Model: ${model.model} (${model.label})${saved}`,
    value: model.model,
    provider: model.provider,
    scope: global ? "global" : "session",
    ...(warning === undefined ? {} : { warning }),
    ...(question === null ? {} : { confirm_required: true, confirm_message: question }),
  };
}

function renderDirective(result: CommandResult): Record<string, unknown> {
  if (result.type === "text") return { type: "exec", output: result.text, ...openedFields(result.opened) };
  const skill = readSkillTurn(result.message);
  const typed = skill && typedSkill(skill);
  return {
    type: result.type,
    // People edit what they have typed, the model is sent the skill.
    message: typed !== null && result.type === "prefill" ? typed : result.message,
    ...(typed !== null && result.type === "send" ? { display: typed } : {}),
    ...(result.notice === undefined ? {} : { notice: result.notice }),
  };
}

/** Where a command has opened a session, the host may switch to it. */
function openedFields(opened: OpenedSession | undefined): Record<string, unknown> {
  return opened ? { session_id: opened.sessionId, stored_session_id: opened.storedId } : {};
}

/** Text is printed as `{output}`; what the host has to do something about stays a directive. */
async function execSlash(
  gateway: Gateway,
  sid: unknown,
  asked: Asked,
  call: Call,
): Promise<Record<string, unknown>> {
  gateway.live.require(sid);
  if (asked.name === "") throw new RpcError(4004, "command is required");
  try {
    const directive = await inTime(
      gateway,
      asked,
      (signal) => dispatch(gateway, sid, asked, { ...call, signal }),
      call,
    );
    // Hosts ask `command.dispatch` for a skill then.
    if (directive["type"] === "skill") {
      throw new RpcError(4018, `/${asked.name} is a skill: use command.dispatch`);
    }
    if (directive["type"] !== "exec") return directive;
    const { type: _, ...shown } = directive;
    return shown;
  } catch (error) {
    const name = gateway.hermes.commands.find(asked.name, "gateway")?.name ?? "";
    if (!MIRRORED.has(name) || !isBusy(error)) throw error;
    return { output: "", warning: error.message };
  }
}

/** What waits for a model or the network has bounds of its own. */
async function inTime<T>(
  { hermes }: Gateway,
  asked: Asked,
  run: (signal: AbortSignal) => Promise<T>,
  call: Call,
): Promise<T> {
  if (SLOW.has(hermes.commands.find(asked.name, "gateway")?.name ?? "")) return await run(call.signal);
  const timeoutMs = slashTimeoutMs(hermes);
  const stop = new AbortController();
  const late = hermes.platform.clock.delay(timeoutMs, { signal: stop.signal }).then(() => {
    throw new RpcError(5030, `/${asked.name} did not answer within ${timeoutMs / 1000} s`);
  });
  late.catch(() => {/* told by the race, or not needed */});
  try {
    return await Promise.race([run(AbortSignal.any([call.signal, stop.signal])), late]);
  } finally {
    stop.abort();
  }
}

function isBusy(error: unknown): error is Error {
  return (error instanceof RpcError && error.code === 4009) ||
    (error instanceof HermesError && error.code === "session_busy");
}
